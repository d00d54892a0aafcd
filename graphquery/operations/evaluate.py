"""Annotations of all nodes in a semiring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from graphquery.arrays import ArrayGraph
from graphquery.errors import GraphError
from graphquery.layers import layers
from graphquery.model import Kind, Port
from graphquery.operations.reach import reached
from graphquery.protocol import Nodes
from graphquery.reduced_nodes import check_whole, is_reduced
from graphquery.storage import GraphStorage
from graphquery.view import Neighbours
from semiring.arrays.segments import ascending, mask_of
from semiring.base import Array, Semiring, TokenValuation
from semiring.encodings.valuation import Valuation
from semiring.support.door import checked
from semiring.token import Token, format_value

K = TypeVar("K")

_JOINT, _SUM, _DELTA, _MONUS = range(4)
_OPERATIONS = {"+": _SUM, "⊖": _MONUS}


@checked
@dataclass(frozen=True, slots=True, eq=False)
class GraphEvaluation(Generic[K]):
    """The annotations of a graph's nodes.

    Attributes
    ----------
    annotations
        By id, as an array of the semiring; 0 for ids that are not nodes of the graph, or were not
        evaluated.
    """

    graph: ArrayGraph
    semiring: Semiring[K]
    annotations: Array

    def value(self, node: int | str) -> K:
        """Return the annotation of a node."""
        return self.semiring.unpack(self.annotations[self.graph.ordered([node])])[0]

    def values(self, nodes: Nodes) -> Array:
        """Return the annotations of nodes, in their order."""
        return self.annotations[self.graph.ordered(nodes)]


@checked
def evaluate(
    graph: ArrayGraph,
    semiring: Semiring[K],
    valuation: TokenValuation[K] = None,
    nodes: Nodes | None = None,
) -> GraphEvaluation[K]:
    """Return the annotations of nodes under a valuation of the tokens.

    `·`, `⊗`, and the nodes of inputs, outputs and state are products, `+` is a sum, `⊖` a monus;
    all other nodes with incoming edges, among them `δ`, aggregates, black boxes and zoomed
    invocations, are δ of a sum, in accord with deletion: without `⊖`, a deletion removes a node iff
    its annotation is 0 when the deleted nodes have 0. Nodes without incoming edges that are no
    tokens have 1. Parallel edges count separately.

    Parameters
    ----------
    valuation
        A function from a `Token` (the segment's name and the node's key, or its ordinal) to K; a
        mapping from nodes, by name or id, or Tokens to K, which gives 1 to all others; None for
        the semiring's default. A mapping may also give a value to invocations, and to other nodes
        without incoming edges.
    nodes
        The nodes to evaluate, with their ancestors; None: all nodes.

    Raises
    ------
    CapabilityError
        A `⊖` in a semiring without monus.
    ValuationError
        A value outside the semiring.
    GraphError
        A node's operations were dropped by a reduction.

    Notes
    -----
    O(nodes + edges) for semirings with a numeric dtype. The annotations take 8 bytes a node.
    """
    storage = graph.storage
    annotations = semiring.zeros(storage.size)
    operations = _operations(storage)
    leaves = _Leaves(graph, semiring, valuation)
    wanted = None if nodes is None else _with_ancestors(graph, graph.resolve(nodes))
    if is_reduced(storage.segments):
        check_whole(graph, graph.ids if wanted is None else np.flatnonzero(wanted))
    for layer in layers(graph):
        ids = layer if wanted is None else layer[wanted[layer]]
        neighbours = graph.incoming(ids, storage.subtracts)
        fresh = neighbours.degrees == 0
        if bool(fresh.any()):
            annotations = _store(annotations, ids[fresh], leaves.values(ids[fresh]))
            ids = ids[~fresh]
            neighbours = Neighbours(neighbours.nodes, neighbours.degrees[~fresh], neighbours.ports)
        kinds = operations[ids]
        for operation in ascending(kinds):
            chosen = kinds == operation
            part = neighbours if bool(chosen.all()) else _of(neighbours, chosen)
            values = _combined(semiring, int(operation), annotations, part)
            annotations = _store(annotations, ids[chosen], values)
    return GraphEvaluation(graph, semiring, annotations)


def _with_ancestors(graph: ArrayGraph, ids: Array) -> Array:
    """Return a Boolean array over all ids: some nodes and their ancestors."""
    wanted = mask_of(ids, graph.storage.size)
    wanted[reached(graph, ids, forwards=False)] = True
    return wanted


class _Leaves(Generic[K]):
    """A function from leaves, nodes without incoming edges, to their annotations."""

    def __init__(
        self, graph: ArrayGraph, semiring: Semiring[K], valuation: TokenValuation[K]
    ) -> None:
        self.storage = graph.storage
        self.semiring = semiring
        self.given: dict[int, K] = {}
        self.function: Callable[[Token], K] | None = None
        if isinstance(valuation, Mapping):
            for node, value in valuation.items():
                self.given[_node(graph, node)] = semiring.check(value)
        elif valuation is not None:
            self.function = valuation
        elif not semiring.constant_default:
            self.function = semiring.default
        self.places = np.array(sorted(self.given), dtype=np.int64)

    def values(self, ids: Array) -> Array:
        """Return the annotations of ascending ids of leaves."""
        result = self.semiring.ones(len(ids))
        if self.function is not None:
            result = self._tokens(ids, result, self.function)
        places = np.searchsorted(ids, self.places)
        there = places < len(ids)
        there[there] = ids[places[there]] == self.places[there]
        chosen = [self.given[node] for node in self.places[there].tolist()]
        return _store(result, places[there], self.semiring.pack(chosen)) if chosen else result

    def _tokens(self, ids: Array, result: Array, function: Callable[[Token], K]) -> Array:
        stored = ids[ids < self.storage.count]
        for segment, places, ordinals in self.storage.by_segment(stored):
            if segment.kind is not Kind.TOKEN:
                continue
            numbers = pa.array(ordinals)
            keys = [self.storage.column(segment, name).take(numbers) for name in segment.key]
            spec: Any = function
            valued = Valuation.compile(self.semiring, segment.name, spec)
            # A key of NULLs is a key here, not the absence of a tuple.
            nothing = np.zeros(len(places), dtype=np.bool_)
            token_values = valued.lookup(keys or [numbers], len(places), nothing)
            result = _store(result, places, token_values)
        return result


def _node(graph: ArrayGraph, node: Any) -> int:
    """Return the id of a mapping's key, checked to be a node without incoming edges."""
    if isinstance(node, Token):
        key = "|".join(format_value(value) for value in node.key)
        node = f"{node.relation}:{key}"
    number = int(graph.ordered([node])[0])
    if graph.incoming(np.array([number])).degrees[0]:
        raise GraphError(
            f"{graph.name(number)} derives from other nodes, as does its annotation.\nGive"
            " values to nodes without incoming edges, such as tokens."
        )
    return number


def _store(annotations: Array, ids: Array, values: Array) -> Array:
    if values.dtype != annotations.dtype and annotations.dtype != np.dtype(object):
        annotations = annotations.astype(object)
    annotations[ids] = values
    return annotations


def _operations(storage: GraphStorage) -> Array:
    """Return the code, by id, of the operation on the annotations of a node's predecessors."""
    codes = [_OPERATIONS.get(segment.label, _DELTA) for segment in storage.segments]
    operations = np.full(storage.size, _DELTA, dtype=np.uint8)
    operations[: storage.count] = np.repeat(np.array(codes, dtype=np.uint8), np.diff(storage.bases))
    operations[storage.joint] = _JOINT
    return operations


def _of(neighbours: Neighbours, chosen: Array) -> Neighbours:
    """Return the edges of the chosen nodes."""
    edges = np.repeat(chosen, neighbours.degrees)
    ports = None if neighbours.ports is None else neighbours.ports[edges]
    return Neighbours(neighbours.nodes[edges], neighbours.degrees[chosen], ports)


def _combined(
    semiring: Semiring[K], operation: int, annotations: Array, neighbours: Neighbours
) -> Array:
    if operation == _JOINT:
        return _product(semiring, annotations, neighbours)
    if operation == _MONUS and neighbours.ports is not None:
        right = neighbours.kept(neighbours.ports == Port.SUBTRAHEND)
        left = neighbours.kept(neighbours.ports != Port.SUBTRAHEND)
        minuend = semiring.sum_segments(annotations[left.nodes], left.offsets)
        # Without an edge to the left operand, it is 1.
        minuend = semiring.take_where(left.degrees == 0, semiring.ones(len(minuend)), minuend)
        subtrahend = semiring.sum_segments(annotations[right.nodes], right.offsets)
        return semiring.monus_array(minuend, subtrahend)
    total = semiring.sum_segments(annotations[neighbours.nodes], neighbours.offsets)
    return semiring.delta_array(total) if operation == _DELTA else total


def _product(semiring: Semiring[K], annotations: Array, neighbours: Neighbours) -> Array:
    """Return each node's product over its edges, in one round per factor; factors are few."""
    starts = neighbours.offsets[:-1]
    result = annotations[neighbours.nodes[starts]]
    for factor in range(1, int(neighbours.degrees.max(initial=1))):
        more = np.flatnonzero(neighbours.degrees > factor)
        values = annotations[neighbours.nodes[starts[more] + factor]]
        result = _store(result, more, semiring.times_array(result[more], values))
    return result
