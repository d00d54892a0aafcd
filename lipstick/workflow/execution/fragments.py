"""What an invocation adds to the stored graph: new segments, and new sets of edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from graphquery.model import EdgeSet, Ordinals, Port, Segment
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class NewSegment:
    """A segment to be stored, and its values."""

    segment: Segment
    values: pa.Table | None


@dataclass(frozen=True, slots=True)
class NewEdges:
    """An edge set to be stored, and the ordinals that are not implied."""

    edges: EdgeSet
    sources: Array | None
    targets: Array | None


@dataclass(frozen=True, slots=True)
class Fragment:
    """What an invocation adds to the stored graph."""

    segments: tuple[NewSegment, ...] = ()
    edges: tuple[NewEdges, ...] = ()


def new_edges(
    source: Segment, target: Segment, sources: Array, targets: Array, port: int = Port.OPERAND
) -> NewEdges:
    """Edges between two segments; ordinals that follow from their number are not stored."""
    count = len(sources)
    ends = [_implied(sources), _implied(targets)]
    arrays = [
        array if end is Ordinals.COLUMN else None
        for array, end in zip((sources, targets), ends, strict=True)
    ]
    file = "" if Ordinals.COLUMN in ends else None
    edges = EdgeSet(source.name, target.name, count, ends[0], ends[1], file, port)
    return NewEdges(edges, arrays[0], arrays[1])


def _implied(ordinals: Array) -> Ordinals:
    if not ordinals.any():
        return Ordinals.ONE
    if bool((ordinals == np.arange(len(ordinals))).all()):
        return Ordinals.ALL
    return Ordinals.COLUMN
