"""Build a graph's arrays from stored segments and edge sets: the whole graph, or a part of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from graphquery.csr import EdgeBlock, compress, index_type
from graphquery.errors import StoreDamagedError, UnknownNameError, closest
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.storage import Columns, GraphStorage, bases_of, sliced
from semiring.base import Array
from semiring.support.door import checked


@checked
@dataclass(frozen=True, slots=True)
class Around:
    """The nodes to build a graph around: they and all of their ancestors are built, nothing else.

    An empty field sets no condition. The part is closed under ancestors, so it answers questions
    about these nodes and their ancestors exactly as the whole graph does.
    """

    modules: Collection[str] = ()
    executions: Collection[int] = ()
    relations: Collection[str] = ()

    def admits(self, segment: Segment) -> bool:
        """Return True if a segment meets the conditions on modules, executions and relations."""
        return (
            (not self.modules or segment.module in self.modules)
            and (not self.executions or segment.execution in self.executions)
            and (not self.relations or segment.relation in self.relations)
        )


def build(
    segments: Iterable[Segment],
    edge_sets: Iterable[EdgeSet],
    columns: Columns,
    around: Around | None = None,
) -> GraphStorage:
    """Build the edges of a graph in both directions.

    Parameters
    ----------
    segments, edge_sets
        As stored. Nodes get their ids in the order of segments.
    columns
        Reads a column of a file; called for the ordinals of edges now, and for values when they
        are asked for.
    around
        Build these nodes and their ancestors only; files of other segments are not read.

    Raises
    ------
    StoreDamagedError
        Two segments of one name, edges at unknown segments, ordinals that are not nodes.
    UnknownNameError
        No segment is meant by `around`.

    Notes
    -----
    O(edges · log(edges of a segment)) time. Memory beside the result: the ordinals that are
    stored, as read.
    """
    segments, edge_sets = tuple(segments), tuple(edge_sets)
    position = positions(segments, edge_sets)
    if around is not None:
        segments, edge_sets = _towards(segments, edge_sets, around)
        position = positions(segments, edge_sets)
    bases = bases_of(segments).tolist()
    invocations = sum(s.count for s in segments if s.kind is Kind.INVOCATION)
    size = bases[-1] + invocations
    read = _reader(columns)
    forward, backward = [], []
    for edges in edge_sets:
        source, target = position[edges.source], position[edges.target]
        ends = (
            _ordinals(edges, edges.sources, "source", segments[source].count, read),
            _ordinals(edges, edges.targets, "target", segments[target].count, read),
        )
        a, b = bases[source], bases[target]
        forward.append(EdgeBlock(edges.count, a, ends[0], b, ends[1], edges.port))
        backward.append(EdgeBlock(edges.count, b, ends[1], a, ends[0], edges.port))
    links = {(position[edges.source], position[edges.target]) for edges in edge_sets if edges.count}
    outgoing = compress(size, forward)
    forward.clear()
    return GraphStorage(segments, tuple(sorted(links)), outgoing, compress(size, backward), columns)


def positions(segments: tuple[Segment, ...], edge_sets: tuple[EdgeSet, ...]) -> dict[str, int]:
    """Return the position of each segment in the sequence, by name.

    Raises
    ------
    StoreDamagedError
        Two segments have one name, or edges join an unknown segment.
    """
    position: dict[str, int] = {}
    for number, segment in enumerate(segments):
        if segment.name in position:
            raise StoreDamagedError(
                f"Two segments have the name {segment.name}.\nGive each segment its own name."
            )
        position[segment.name] = number
    for edges in edge_sets:
        for end in (edges.source, edges.target):
            if end not in position:
                raise StoreDamagedError(
                    f"Edges from {edges.source} to {edges.target}: there is no segment {end}.\n"
                    "The store is damaged: check it."
                )
    return position


def _towards(
    segments: tuple[Segment, ...], edge_sets: tuple[EdgeSet, ...], around: Around
) -> tuple[tuple[Segment, ...], tuple[EdgeSet, ...]]:
    """Return the segments that `around` admits and all segments upstream, with their edge sets."""
    wanted = [segment.name for segment in segments if around.admits(segment)]
    if not wanted:
        raise UnknownNameError(_nothing_meant(segments, around))
    preceding: dict[str, set[str]] = {}
    for edges in edge_sets:
        preceding.setdefault(edges.target, set()).add(edges.source)
    kept = set(wanted)
    while wanted:
        for name in preceding.get(wanted.pop(), ()):
            if name not in kept:
                kept.add(name)
                wanted.append(name)
    return (
        tuple(segment for segment in segments if segment.name in kept),
        tuple(edges for edges in edge_sets if edges.target in kept),
    )


def _nothing_meant(segments: tuple[Segment, ...], around: Around) -> str:
    conditions: list[tuple[str, Collection[Any], set[Any]]] = [
        ("module", around.modules, {segment.module for segment in segments}),
        ("execution", around.executions, {segment.execution for segment in segments}),
        ("relation", around.relations, {segment.relation for segment in segments}),
    ]
    for what, wanted, there in conditions:
        for name in wanted:
            if name not in there:
                known = (str(item) for item in there if item is not None)
                return f"The graph has no {what} {name!r}.\n{closest(str(name), known)}"
    return "No nodes meet all conditions at once.\nLeave one out."


def _reader(columns: Columns) -> Callable[[str, str], Any]:
    """Return a cached `columns` that reads each column of a file once for all edge sets."""
    memo: dict[tuple[str, str], Any] = {}

    def read(file: str, column: str) -> Any:
        if (file, column) not in memo:
            memo[file, column] = _integers(columns(file, column), file, column)
        return memo[file, column]

    return read


def _integers(column: Any, file: str, name: str) -> Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.Array):
        if column.null_count:
            raise StoreDamagedError(f"Column {name!r} of {file} has NULLs.\nThe store is damaged.")
        column = column.to_numpy(zero_copy_only=False)
    if column.dtype.kind not in "iu":
        raise StoreDamagedError(
            f"Column {name!r} of {file} has type {column.dtype}; ordinals are integers.\nThe store"
            " is damaged: check it."
        )
    ordinals: Array = column
    return ordinals


def _ordinals(
    edges: EdgeSet, how: Ordinals, name: str, count: int, read: Callable[[str, str], Any]
) -> Array | int | None:
    """Return one end of the edges of a set, checked against the number of nodes there."""
    where = f"Edges from {edges.source} to {edges.target}"
    if how is Ordinals.COLUMN:
        assert edges.file is not None
        ordinals: Array = sliced(read(edges.file, name), where, name, edges)
        if len(ordinals) == 0:
            return ordinals
        low, high = int(ordinals.min()), int(ordinals.max())
        if low < 0 or high >= count:
            raise StoreDamagedError(
                f"{where}: ordinal {low if low < 0 else high} in column {name!r} of {edges.file}"
                f" is not a node; there are {count:,}.\nThe store is damaged: check it."
            )
        return ordinals.astype(index_type(count), copy=False)
    if how is Ordinals.ONE:
        if edges.count and count < 1:
            raise StoreDamagedError(f"{where}: the {name} has no node.\nThe store is damaged.")
        return 0
    if edges.count > count:
        raise StoreDamagedError(
            f"{where}: {edges.count:,} edges at {count:,} nodes of the {name}, one at each.\nThe"
            " store is damaged: check it."
        )
    return None
