"""Values of v-nodes after deletions: aggregates recomputed, and values that become unknown.

An aggregate is computed from the remaining tensors. The result of a function on other inputs is
unknown: a black box whose inputs changed is stale, and so are all nodes that depend on it.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.arrays import ArrayGraph, Selection
from graphquery.errors import ValuesError
from graphquery.model import Kind, Port, Segment
from graphquery.operations.reach import reached
from graphquery.protocol import Nodes, OfStale
from graphquery.storage import COPIES
from graphquery.view import DeletionEffects, Operation
from semiring.arrays.aggregates import aggregate
from semiring.arrays.segments import ascending, index_of
from semiring.base import Array
from semiring.support.door import checked

VALUE_COLUMN = "value"
"""The column with the values in a v-node's file."""

OPERATORS = frozenset({"", "+", "·", "δ", "⊖", "⊗"})

_AGGREGATE = re.compile(r"(COUNT|SUM|MIN|MAX|AVG)( DISTINCT)?", re.IGNORECASE)


def aggregate_name(label: str) -> str | None:
    """Return the aggregate that a label names: COUNT, SUM, MIN, MAX or AVG; None if it names none.

    DISTINCT may follow: the tensors are then of distinct values. An expression over aggregates
    names none.
    """
    match = _AGGREGATE.fullmatch(label)
    return match[1].upper() if match else None


def is_opaque(segment: Segment) -> bool:
    """Return True if new values of the nodes require running a function or module again."""
    return segment.kind is Kind.ZOOMED or (
        segment.kind in (Kind.DERIVED, Kind.VALUE)
        and segment.label not in OPERATORS | COPIES
        and aggregate_name(segment.label) is None
    )


@checked
def stale(graph: ArrayGraph) -> Selection:
    """Return the nodes whose state after the deletions is unknown.

    They are black boxes, comparisons and zoomed invocations with an input that was deleted or has
    changed, `⊖` that lost a right operand (their multiplicity may have grown), and all nodes that
    depend on these. Values stay exact elsewhere.
    """
    marks = effects(graph)
    if marks is None:
        return Selection(graph, np.empty(0, dtype=np.int64))
    return Selection(graph, np.flatnonzero(marks.stale & graph.mask()))


@checked
def value(graph: ArrayGraph, node: int | str) -> Any:
    """Return the value of a v-node as a Python value; None for NULL. See `values`."""
    return values(graph, [node])[0].as_py()


@checked
def values(graph: ArrayGraph, nodes: Nodes, stale: OfStale = "raise") -> pa.Array:
    """Return the values of v-nodes, in their order, aggregates computed from remaining tensors.

    Parameters
    ----------
    stale
        ``"raise"``, or ``"null"`` for a NULL in place of every stale value.

    Raises
    ------
    ValuesError
        An unknown value; see `stale`.
        A node without a value, or nodes whose values are of different types.
    """
    ids = graph.ordered(nodes)
    marks = effects(graph)
    if stale == "raise" and marks is not None and bool(marks.stale[ids].any()):
        name = graph.name(int(ids[marks.stale[ids]][0]))
        raise ValuesError(
            f"The value of {name} after the deletion is not known: it is, or derives from, the"
            " result of a function that would have to run again.\nAsk with stale='null' for the"
            " other values, or see stale() for all unknown ones."
        )
    return _values(graph, ids)


def current(graph: ArrayGraph, segment: Segment, ids: Array) -> pa.Array:
    """Return the values of nodes of one segment; NULL for stale ones.

    Raises
    ------
    ValuesError
        If they have none, or an aggregate cannot be computed.
    """
    if segment.kind is not Kind.VALUE or segment.file is None:
        raise ValuesError(
            f"The nodes of {segment.name} have no value: they are of kind {segment.kind.value!r},"
            f" labelled {segment.label!r}.\nAsk for constants, aggregates or functions' results."
        )
    storage = graph.storage
    ordinals = ids - storage.bases[storage.position[segment.name]]
    column = storage.column(segment, VALUE_COLUMN).take(pa.array(ordinals))
    marks = effects(graph)
    if marks is None:
        return column
    name = aggregate_name(segment.label)
    changed = marks.changed[ids] & ~marks.stale[ids]
    if (name is not None or segment.label in COPIES) and bool(changed.any()):
        chosen = ids[changed]
        anew = _copied(graph, chosen) if name is None else _aggregated(graph, name, chosen)
        anew = anew if anew.type == column.type else anew.cast(column.type)
        places = np.where(changed, len(column) + np.cumsum(changed) - 1, np.arange(len(column)))
        column = pa.concat_arrays([column, anew]).take(pa.array(places))
    known = pa.array(~marks.stale[ids])
    return pa.compute.if_else(known, column, pa.scalar(None, column.type))


def effects(graph: ArrayGraph) -> DeletionEffects[Array] | None:
    """Return the cached effects of the deletions that led to a graph; None without deletions."""
    if graph.parent is None:
        return None
    if graph.effects is None:
        graph.effects = _effects(graph, graph.parent, effects(graph.parent))
    return graph.effects


def _effects(
    graph: ArrayGraph, parent: ArrayGraph, before: DeletionEffects[Array] | None
) -> DeletionEffects[Array] | None:
    operation = graph.steps[-1].operation
    if operation is not Operation.DELETE and before is None:
        return None
    size = graph.storage.size
    if before is None:
        marks = DeletionEffects(np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_))
    else:
        marks = DeletionEffects(before.changed.copy(), before.stale.copy())
    if operation is Operation.DELETE:
        _mark(graph, parent, marks)
    elif graph.overlay is not None:
        ends = graph.overlay.pairs
        outputs = ends[marks.stale[ends[:, 1]] & (ends[:, 0] >= graph.storage.count), 0]
        marks.stale[outputs] = True
    return marks


def _mark(graph: ArrayGraph, parent: ArrayGraph, marks: DeletionEffects[Array]) -> None:
    """Add the effects of the last deletion to `marks`."""
    segments = graph.storage.segments
    there = graph.mask()
    lost = parent.outgoing(np.flatnonzero(parent.mask() & ~there), ports=True)
    alive = there[lost.nodes]
    subtrahend = np.zeros(len(alive), dtype=np.bool_)
    if lost.ports is not None:
        subtrahend = lost.ports == Port.SUBTRAHEND
    alternatives = graph.storage.spread(segment.label == "+" for segment in segments)
    touched = ascending(lost.nodes[alive & ~subtrahend]).astype(np.int64)
    touched = touched[~alternatives[touched]]
    marks.changed[touched] = True
    marks.changed[reached(graph, touched, forwards=True)] = True
    opaque = graph.storage.spread(is_opaque(segment) for segment in segments)
    opaque[graph.storage.count :] = True
    seeds = marks.changed & opaque & there
    seeds[lost.nodes[alive & subtrahend]] = True
    ids = np.flatnonzero(seeds)
    marks.stale[ids] = True
    marks.stale[reached(graph, ids, forwards=True)] = True


def _values(graph: ArrayGraph, ids: Array) -> pa.Array:
    """Return the values of nodes of any segments, in the order of `ids`; NULL for stale ones."""
    storage = graph.storage
    zoomed = ids[ids >= storage.count]
    if len(zoomed):
        raise ValuesError(
            f"{graph.name(int(zoomed[0]))} has no value: it is an invocation.\nAsk for its outputs."
        )
    if len(ids) == 0:
        return pa.nulls(0)
    parts = []
    order = np.empty(0, dtype=np.int64)
    for segment, places, _ in storage.by_segment(ids):
        parts.append(current(graph, segment, ids[places]))
        order = np.append(order, places)
    types = {part.type for part in parts}
    if len(types) > 1:
        raise ValuesError(
            f"The values are of types {' and '.join(sorted(map(str, types)))}.\nAsk for the"
            " values of one type at a time."
        )
    back = index_of(order, len(ids))
    return pa.concat_arrays(parts).take(pa.array(back))


def _copied(graph: ArrayGraph, ids: Array) -> pa.Array:
    """Return the values that v-nodes copy from their predecessors."""
    neighbours = graph.incoming(ids)
    if not bool((neighbours.degrees == 1).all()):
        wrong = ids[np.flatnonzero(neighbours.degrees != 1)[0]]
        raise ValuesError(
            f"{graph.name(int(wrong))} does not copy exactly one value here.\nZoom in on the"
            " module that the value comes from; otherwise the store is damaged: check it."
        )
    return _values(graph, neighbours.nodes.astype(np.int64))


def _aggregated(graph: ArrayGraph, name: str, ids: Array) -> pa.Array:
    """Return the aggregates of nodes, computed from their remaining tensors."""
    tensors = graph.incoming(ids)
    inner, inverse = np.unique(tensors.nodes, return_inverse=True)
    inner = inner.astype(np.int64)
    operands = graph.incoming(inner, ports=True)
    multiplicities = np.ones(len(tensors.nodes), dtype=np.int64)
    if operands.ports is None or not bool((operands.ports == Port.VALUE).any()):
        if name != "COUNT":
            raise ValuesError(
                f"{graph.name(int(ids[0]))} cannot be computed: its tensors have no values.\n"
                "Run the workflow without what was deleted."
            )
        return aggregate(name, multiplicities, None, tensors.offsets)
    valued = operands.kept(operands.ports == Port.VALUE)
    if not bool((valued.degrees == 1).all()):
        wrong = inner[np.flatnonzero(valued.degrees != 1)[0]]
        raise ValuesError(
            f"{graph.name(int(wrong))} is a tensor without exactly one value here.\nZoom in on"
            " the module that the value comes from; otherwise the store is damaged: check it."
        )
    column = _values(graph, valued.nodes.astype(np.int64))
    try:
        return aggregate(name, multiplicities, column.take(pa.array(inverse)), tensors.offsets)
    except pa.ArrowNotImplementedError as error:
        raise ValuesError(
            f"{graph.name(int(ids[0]))} cannot be computed here: {name} of values of type"
            f" {column.type}.\nRun the workflow without what was deleted."
        ) from error
