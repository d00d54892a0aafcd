"""The storage that all graphs over the same data share: segments, edges in both directions,
values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from graphquery.csr import Csr
from graphquery.errors import StoreDamagedError
from graphquery.model import EdgeSet, Kind, Port, Segment
from graphquery.stages import Stages, stages
from semiring.base import Array

Columns: TypeAlias = Callable[[str, str], Any]
"""Reads a column of a file, by both names, as a numpy array, Arrow array or chunked array."""

COPIES = frozenset({Kind.INPUT.value, Kind.OUTPUT.value, Kind.STATE.value})
"""Labels of v-nodes that copy the value of their predecessor."""

JOINT_LABELS = frozenset({"·", "⊗"})
_JOINT_KINDS = frozenset({Kind.INPUT, Kind.OUTPUT, Kind.STATE})


def role(segment: Segment) -> Kind:
    """Return the role of a segment's nodes: their kind, or the kind that a copying v-node's label
    names.

    A v-node labelled i, o or s stands beside the p-node of a tuple that enters or leaves a module,
    for a value of the tuple, which it copies from its predecessor.
    """
    if segment.kind is Kind.VALUE and segment.label in COPIES:
        return Kind(segment.label)
    return segment.kind


class GraphStorage:
    """The arrays of a graph; never changed once built.

    A node's id is its segment's base and its ordinal. Behind the last stored node every m-node has
    an id for the node that stands for the invocation when it is zoomed out.

    Parameters
    ----------
    segments
        In the order of their ids.
    links
        Pairs of positions of segments that edges join, each once.
    outgoing, incoming
        Of `size` nodes each; zoomed nodes have no edges in them.
    columns
        Reads values.
    """

    def __init__(
        self,
        segments: tuple[Segment, ...],
        links: tuple[tuple[int, int], ...],
        outgoing: Csr,
        incoming: Csr,
        columns: Columns,
    ) -> None:
        self.segments = segments
        self.links = links
        self.outgoing = outgoing
        self.incoming = incoming
        self.bases = bases_of(segments)
        self.count = int(self.bases[-1])
        self._columns = columns
        self._read: dict[tuple[str, str], pa.Array] = {}
        self._idle: list[Array] = []

    @cached_property
    def position(self) -> dict[str, int]:
        """The position of every segment by its name."""
        return {segment.name: position for position, segment in enumerate(self.segments)}

    @cached_property
    def invocations(self) -> Array:
        """The ids of all m-nodes, ascending: the k-th's zoomed node has the id ``count + k``."""
        parts = [
            self.ids_of(position)
            for position, segment in enumerate(self.segments)
            if segment.kind is Kind.INVOCATION
        ]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    @cached_property
    def modules(self) -> dict[str, tuple[int, ...]]:
        """The positions of every module's segments."""
        segments_of_module: dict[str, list[int]] = {}
        for position, segment in enumerate(self.segments):
            if segment.module is not None:
                segments_of_module.setdefault(segment.module, []).append(position)
        return {module: tuple(positions) for module, positions in segments_of_module.items()}

    @property
    def size(self) -> int:
        """The number of ids: stored nodes and possible zoomed ones."""
        return self.count + len(self.invocations)

    @property
    def nbytes(self) -> int:
        """The bytes of the edges."""
        return self.outgoing.nbytes + self.incoming.nbytes

    @cached_property
    def joint(self) -> Array:
        """Boolean array over all ids: products, which need all of their edges."""
        flags = [s.label in JOINT_LABELS or s.kind in _JOINT_KINDS for s in self.segments]
        return self.spread(flags)

    @cached_property
    def fragile(self) -> Array:
        """Boolean array over all ids: joint nodes, and nodes with one incoming edge."""
        fragile: Array = self.joint | (np.diff(self.incoming.offsets) == 1)
        return fragile

    @cached_property
    def subtracts(self) -> bool:
        """True if there are edges from the right operands of `⊖`."""
        ports = self.incoming.ports
        return ports is not None and bool((ports == Port.SUBTRAHEND).any())

    @cached_property
    def stages(self) -> Stages:
        """The segments in topological order."""
        return stages(len(self.segments), self.links)

    @contextmanager
    def counters(self) -> Iterator[tuple[Array, list[Array]]]:
        """Lend a counter per id, all zero, and a list for the ids that the caller counts.

        The array is cleared by that list and used again, since touching fresh memory takes longer
        than counting; threads that count at the same time get an array each.
        """
        counts = (
            self._idle.pop() if self._idle else np.zeros(self.size, self.incoming.offsets.dtype)
        )
        touched: list[Array] = []
        yield counts, touched
        for ids in touched:
            counts[ids] = 0
        self._idle.append(counts)

    def ids_of(self, position: int) -> Array:
        """Return the ids of a segment's nodes."""
        return np.arange(self.bases[position], self.bases[position + 1], dtype=np.int64)

    def spread(self, flags: Iterable[bool]) -> Array:
        """Return a Boolean per segment as an array over all ids; False for zoomed nodes."""
        spread = np.zeros(self.size, dtype=np.bool_)
        spread[: self.count] = np.repeat(
            np.fromiter(flags, np.bool_, len(self.segments)), np.diff(self.bases)
        )
        return spread

    def segment_of(self, ids: Array) -> Array:
        """Return the positions of the segments of stored nodes."""
        return np.searchsorted(self.bases, ids, side="right") - 1

    def by_segment(self, ids: Array) -> Iterator[tuple[Segment, Array, Array]]:
        """Yield stored nodes by segment.

        Yields
        ------
        tuple
            A segment, the places in `ids` of its nodes, and their ordinals.
        """
        if len(ids) == 0:
            return
        positions = self.segment_of(ids)
        order = np.argsort(positions, kind="stable")
        used, starts = np.unique(positions[order], return_index=True)
        for position, places in zip(used, np.split(order, starts[1:]), strict=True):
            yield self.segments[position], places, ids[places] - self.bases[position]

    def column(self, segment: Segment, name: str) -> pa.Array:
        """Return a column of values of a segment's nodes, by ordinal; read once.

        Raises
        ------
        StoreDamagedError
            If the segment has no file, or its column another length.
        """
        if segment.file is None:
            raise StoreDamagedError(f"The nodes of {segment.name} have no values.")
        if (segment.file, name) not in self._read:
            self._read[segment.file, name] = arrow(self._columns(segment.file, name))
        return sliced(self._read[segment.file, name], segment.name, name, segment)


def bases_of(segments: tuple[Segment, ...]) -> Array:
    """Return the first id of every segment, and the number of nodes."""
    bases = np.zeros(len(segments) + 1, dtype=np.int64)
    np.cumsum([segment.count for segment in segments], out=bases[1:])
    return bases


def sliced(column: Any, owner: str, name: str, piece: Segment | EdgeSet) -> Any:
    """Return the slice of a file's column that belongs to a segment or edge set."""
    offset = piece.offset
    if len(column) < offset + piece.count:
        raise StoreDamagedError(
            f"Column {name!r} of {piece.file} has {len(column):,} rows, and {owner} needs rows"
            f" {offset:,} to {offset + piece.count:,}.\nThe store is damaged: check it."
        )
    if offset == 0 and len(column) == piece.count:
        return column
    if isinstance(column, np.ndarray):
        return column[offset : offset + piece.count]
    return column.slice(offset, piece.count)


def arrow(column: Any) -> pa.Array:
    """Return a reader's column, in any of its forms, as one Arrow array."""
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks()
    return column if isinstance(column, pa.Array) else pa.array(column)
