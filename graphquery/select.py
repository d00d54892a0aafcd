"""Selections: sets of nodes found by conditions, and the nodes reachable from them.

In the spirit of ProQL (Karvounarakis, Ives, Tannen, *Querying Data Provenance*, SIGMOD 2010): find
nodes, follow edges, filter by conditions, and query the result.

    graph.select(kind="o", module="dealer1", where={"Model": "Civic"}).ancestors().select(kind="i")
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from graphquery.errors import SelectionError, ValuesError, closest
from graphquery.model import Kind, Segment
from graphquery.protocol import Nodes, NodeSelection
from graphquery.values import VALUE_COLUMN, current
from semiring.arrays.comparison import compare_arrays
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.comparison import OPERATORS
from semiring.support.door import checked

if TYPE_CHECKING:
    from graphquery.graph import ProvenanceGraph

_ATTRIBUTES = ("kind", "label", "module", "invocation", "execution", "relation")
_DISPLAYED = 20


@checked
class Selection(NodeSelection):
    """Nodes of one graph in memory, each once; immutable.

    Attributes
    ----------
    graph
        The graph that the nodes are of.
    ids
        Ascending int64 ids.
    """

    __slots__ = ("graph", "ids")

    graph: ProvenanceGraph
    ids: Array

    def __init__(self, graph: ProvenanceGraph, ids: Array) -> None:
        self.graph = graph
        self.ids = ids

    def sources(self) -> Selection:
        """Return the nodes without incoming edges."""
        return Selection(self.graph, self.ids[self.graph.incoming(self.ids).degrees == 0])

    def sinks(self) -> Selection:
        """Return the nodes without outgoing edges."""
        return Selection(self.graph, self.ids[self.graph.outgoing(self.ids).degrees == 0])

    def to_table(self) -> pa.Table:
        """Return a table of the nodes: id, name, and the attributes of their segments."""
        segments = [self.graph.segment(int(node)) for node in self._representatives()]
        where = self._segment_numbers()
        columns: dict[str, pa.Array] = {
            "id": pa.array(self.ids, pa.int64()),
            "name": pa.array(self.names(), pa.string()),
        }
        for attribute in _ATTRIBUTES:
            known = [getattr(segment, attribute) for segment in segments]
            number = attribute in ("invocation", "execution")
            kind = pa.int64() if number else pa.string()
            items = [v if v is None or number else str(v) for v in known]
            columns[attribute] = pa.array(items, kind).take(pa.array(where))
        return pa.table(columns)

    def __or__(self, other: Selection) -> Selection:
        return Selection(self.graph, ascending(np.concatenate([self.ids, self._same(other)])))

    def __and__(self, other: Selection) -> Selection:
        shared = np.intersect1d(self.ids, self._same(other), assume_unique=True)
        return Selection(self.graph, shared)

    def __sub__(self, other: Selection) -> Selection:
        left = np.setdiff1d(self.ids, self._same(other), assume_unique=True)
        return Selection(self.graph, left)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids.tolist())

    def __contains__(self, node: int | str) -> bool:
        number = self.graph.node(node) if isinstance(node, str) else node
        return bool((self.ids == number).any())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selection):
            return NotImplemented
        return self.graph is other.graph and np.array_equal(self.ids, other.ids)

    def __hash__(self) -> int:
        return hash((id(self.graph), self.ids.tobytes()))

    def __repr__(self) -> str:
        shown = ", ".join(self.graph.names(self.ids[:_DISPLAYED]))
        more = "" if len(self) <= _DISPLAYED else f", and {len(self) - _DISPLAYED:,} more"
        return f"<Selection of {len(self):,}: {shown}{more}>" if len(self) else "<Selection of 0>"

    def _same(self, other: Selection) -> Array:
        if other.graph is not self.graph:
            raise SelectionError(
                "The selections are of different graphs.\nSelect again in one of them, such as"
                " graph.select(within=other.names())."
            )
        return other.ids

    def _segment_numbers(self) -> Array:
        """Return the position of each node's segment among the selection's segments."""
        storage = self.graph.storage
        zoomed = len(storage.segments) + self.ids - storage.count
        stored = self.ids < storage.count
        numbers = np.where(
            stored, storage.segment_of(np.minimum(self.ids, storage.count - 1)), zoomed
        )
        _, inverse = np.unique(numbers, return_inverse=True)
        result: Array = inverse
        return result

    def _representatives(self) -> Array:
        """Return the first node of every segment that occurs."""
        numbers = self._segment_numbers()
        _, first = np.unique(numbers, return_index=True)
        result: Array = self.ids[first]
        return result


@checked
def select(
    graph: ProvenanceGraph,
    *,
    within: Nodes | None = None,
    kind: str | Collection[str] | None = None,
    label: str | Collection[str] | None = None,
    module: str | Collection[str] | None = None,
    invocation: int | Collection[int] | None = None,
    execution: int | Collection[int] | None = None,
    relation: str | Collection[str] | None = None,
    segment: str | Collection[str] | None = None,
    where: Mapping[str, Any] | None = None,
) -> Selection:
    """Return the nodes that meet all conditions.

    Parameters
    ----------
    within
        The nodes to select from; None: all.
    kind, label, module, invocation, execution, relation, segment
        One value or several; a node has to have one of them.
    where
        By column of the nodes' values: an equal value, a pair of a comparison operator of SQL and a
        value (``{"Amount": (">", 20000)}``), or a function from a column (an Arrow array) to a
        Boolean array. NULL meets no comparison but ``<=>``. The column ``value`` of v-nodes has
        their values after deletions; stale values meet no condition, and neither do nodes without
        the column.

    Raises
    ------
    SelectionError
        An unknown kind or operator; a column that no node has.
    """
    conditions = {
        "kind": _kinds(kind),
        "label": _several(label),
        "module": _several(module),
        "invocation": _several(invocation),
        "execution": _several(execution),
        "relation": _several(relation),
        "name": _several(segment),
    }
    given = {name: allowed for name, allowed in conditions.items() if allowed is not None}
    chosen = _in_segments(graph, given)
    if within is not None:
        chosen = np.intersect1d(chosen, graph.resolve(within), assume_unique=True)
    return Selection(graph, chosen if where is None else _where(graph, chosen, where))


def _several(allowed: Any) -> frozenset[Any] | None:
    if allowed is None:
        return None
    if isinstance(allowed, (str, int)):
        return frozenset([allowed])
    return frozenset(allowed)


def _kinds(kind: str | Collection[str] | None) -> frozenset[Any] | None:
    kinds = _several(kind)
    known = {item.value for item in Kind}
    for item in kinds or ():
        if item not in known:
            raise SelectionError(f"There is no kind of node {item!r}.\n{closest(item, known)}")
    return kinds


def _in_segments(graph: ProvenanceGraph, conditions: Mapping[str, frozenset[Any]]) -> Array:
    if not conditions:
        return graph.ids

    def meets(segment: Segment) -> bool:
        return all(getattr(segment, name) in allowed for name, allowed in conditions.items())

    storage = graph.storage
    parts = [
        storage.ids_of(position)
        for position, segment in enumerate(storage.segments)
        if meets(segment)
    ]
    if graph.zoomed:
        zoomed = np.arange(storage.count, storage.size, dtype=np.int64)
        zoomed = zoomed[graph.has(zoomed)]
        parts += [np.array([node]) for node in zoomed.tolist() if meets(graph.segment(node))]
    ids: Array = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    return ids[graph.has(ids)]


def _where(graph: ProvenanceGraph, ids: Array, where: Mapping[str, Any]) -> Array:
    storage = graph.storage
    stored = ids[ids < storage.count]
    kept: list[Array] = []
    having: set[str] = set()
    for segment, places, _ in storage.by_segment(stored):
        left = stored[places]
        for name, condition in where.items():
            column = _column(graph, segment, name, left)
            if column is None:
                left = left[:0]
                continue
            having.add(name)
            left = left[_holds(column, condition, name)]
        kept.append(left)
    for name in where:
        if name not in having and len(ids):
            raise SelectionError(
                f"None of the {len(ids):,} nodes has a column {name!r}.\nLook at the columns of the"
                " relation that is meant."
            )
    return np.concatenate(kept) if kept else ids[:0]


def _column(graph: ProvenanceGraph, segment: Segment, name: str, ids: Array) -> pa.Array | None:
    if segment.file is None:
        return None
    try:
        if segment.kind is Kind.VALUE and name == VALUE_COLUMN:
            return current(graph, segment, ids)
        column = graph.storage.column(segment, name)
    except (KeyError, pa.ArrowInvalid, ValuesError):
        return None
    ordinals = ids - graph.storage.bases[graph.storage.position[segment.name]]
    return column.take(pa.array(ordinals))


def _holds(column: pa.Array, condition: Any, name: str) -> Array:
    if callable(condition):
        test: Callable[[pa.Array], Any] = condition
        held = np.asarray(test(column))
        if held.dtype != np.bool_ or len(held) != len(column):
            raise SelectionError(
                f"The condition on {name!r} gives {len(held):,} values of {held.dtype} for"
                f" {len(column):,} nodes.\nIt is called with a column and returns a Boolean array."
            )
        return held
    op, value = condition if isinstance(condition, tuple) else ("=", condition)
    if op not in OPERATORS:
        raise SelectionError(f"{op!r} is not a comparison.\nUse one of {', '.join(OPERATORS)}.")
    return compare_arrays(op, column, value, len(column))
