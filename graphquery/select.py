"""Selections: sets of nodes found by conditions, and the nodes reachable from them.

In the spirit of ProQL (Karvounarakis, Ives, Tannen, *Querying Data Provenance*, SIGMOD 2010): find
nodes, follow edges, filter by conditions, and query the result.

    graph.select(kind="o", module="dealer1", where={"Model": "Civic"}).ancestors().select(kind="i")
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.arrays import ArrayGraph, Selection
from graphquery.errors import GraphError, ValuesError, closest
from graphquery.model import Kind, Segment
from graphquery.protocol import Nodes
from graphquery.values import VALUE_COLUMN, current
from semiring.arrays.comparison import compare_arrays
from semiring.base import Array
from semiring.comparison import OPERATORS
from semiring.support.door import checked


@checked
def select(
    graph: ArrayGraph,
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
    GraphError
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
            raise GraphError(f"There is no kind of node {item!r}.\n{closest(item, known)}")
    return kinds


def _in_segments(graph: ArrayGraph, conditions: Mapping[str, frozenset[Any]]) -> Array:
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


def _where(graph: ArrayGraph, ids: Array, where: Mapping[str, Any]) -> Array:
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
            raise GraphError(
                f"None of the {len(ids):,} nodes has a column {name!r}.\nLook at the columns of the"
                " relation that is meant."
            )
    return np.concatenate(kept) if kept else ids[:0]


def _column(graph: ArrayGraph, segment: Segment, name: str, ids: Array) -> pa.Array | None:
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
            raise GraphError(
                f"The condition on {name!r} gives {len(held):,} values of {held.dtype} for"
                f" {len(column):,} nodes.\nIt is called with a column and returns a Boolean array."
            )
        return held
    op, value = condition if isinstance(condition, tuple) else ("=", condition)
    if op not in OPERATORS:
        raise GraphError(f"{op!r} is not a comparison.\nUse one of {', '.join(OPERATORS)}.")
    return compare_arrays(op, column, value, len(column))
