"""Nodes as messages carry them: by segment and ordinal, which compaction does not change.

A node that stands for a zoomed invocation has the segment of the invocation, and the ordinal
-1 - n where the invocation is node n of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.errors import WireError
from graphquery.federation.serving.site import Site
from graphquery.graph import ProvenanceGraph
from semiring.arrays.segments import union
from semiring.base import Array


@dataclass(frozen=True, slots=True, eq=False)
class StoredNodes:
    """Nodes of one store.

    Parameters
    ----------
    ordinals
        By the place of their segment in the store, int64 and ascending.
    names
        The names of the segments, by place.
    """

    ordinals: Mapping[int, Array] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(ordinals) for ordinals in self.ordinals.values())

    def joined(self, other: StoredNodes) -> StoredNodes:
        """Return the union of both sets of nodes."""
        ordinals_by_segment = dict(self.ordinals)
        for segment_number, ordinals in other.ordinals.items():
            known = ordinals_by_segment.get(segment_number)
            ordinals_by_segment[segment_number] = (
                ordinals if known is None else union(known, ordinals)
            )
        return StoredNodes(ordinals_by_segment, {**self.names, **other.names})

    def first(self, limit: int | None) -> dict[int, Array]:
        """Return the first `limit` nodes, in the order of their store."""
        limited = {}
        left = len(self) if limit is None else limit
        for segment_number in sorted(self.ordinals):
            if left > 0:
                limited[segment_number] = self.ordinals[segment_number][:left]
                left -= len(limited[segment_number])
        return limited


def split(site: Site, graph: ProvenanceGraph, ids: Array) -> list[tuple[int, Array]]:
    """Return node ids as segment numbers, each with its ordinals."""
    storage = graph.storage
    zoomed = ids >= storage.count
    stands_for = storage.invocations[ids[zoomed] - storage.count]
    plain = np.concatenate([ids[~zoomed], stands_for])
    places = storage.segment_of(plain)
    ordinals = plain - storage.bases[places]
    hidden = np.arange(len(plain)) >= len(plain) - len(stands_for)
    ordinals = np.where(hidden, -1 - ordinals, ordinals)
    order = np.lexsort((ordinals, places))
    segments_used, starts = np.unique(places[order], return_index=True)
    parts = np.split(ordinals[order], starts[1:]) if len(segments_used) else []
    return list(zip(segments_used.tolist(), parts, strict=True))


def ids_of(graph: ProvenanceGraph, segment_number: int, ordinals: Array) -> Array:
    """Return the inverse of `split` for one segment.

    Raises
    ------
    WireError
        The segment has no such nodes.
    """
    storage = graph.storage
    if not 0 <= segment_number < len(storage.segments):
        raise WireError("There is no such segment.")
    base, end = storage.bases[segment_number], storage.bases[segment_number + 1]
    plain = base + np.where(ordinals < 0, -1 - ordinals, ordinals)
    if len(plain) and not base <= int(plain.min()) <= int(plain.max()) < end:
        raise WireError("There is no such node.")
    zoomed = ordinals < 0
    ids: Array = np.array(plain, dtype=np.int64)
    ids[zoomed] = storage.count + np.searchsorted(storage.invocations, plain[zoomed])
    if not bool(graph.has(ids).all()):
        raise WireError("There is no such node in the graph.")
    return ids


def to_message(parts: list[tuple[int, Array]], names: Any) -> tuple[list[Any], pa.Table]:
    """Return nodes as a list of segments (number, name, count) and a table of ordinals."""
    segments = [
        [segment_number, names[segment_number], len(ordinals)] for segment_number, ordinals in parts
    ]
    ordinals = np.concatenate([*(part for _, part in parts), np.empty(0, np.int64)])
    narrow = np.int32 if len(ordinals) and np.abs(ordinals).max() < 2**31 - 1 else np.int64
    return segments, pa.table({"ordinal": pa.array(ordinals.astype(narrow))})


def from_message(segments: Any, table: pa.Table | None) -> StoredNodes:
    """Return the inverse of `to_message`.

    Raises
    ------
    WireError
        A message that does not hold nodes.
    """
    if table is None:
        raise WireError("A reply has no table of nodes.")
    try:
        ordinals = table.column("ordinal").cast(pa.int64()).to_numpy()
        ordinals_by_segment, names, start = {}, {}, 0
        for segment_number, name, count in segments:
            ordinals_by_segment[int(segment_number)] = ordinals[start : start + count]
            names[int(segment_number)] = str(name)
            start += count
    except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise WireError(f"Nodes of a reply cannot be understood: {error!r}.") from error
    if start != len(ordinals) or len(ordinals_by_segment) != len(segments):
        raise WireError("The number of nodes in a reply differs from the number that it declares.")
    return StoredNodes(ordinals_by_segment, names)
