"""Zooming out of modules and back in (Definition 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from graphquery.arrays import ArrayGraph, G
from graphquery.layers import staged
from graphquery.model import Kind
from graphquery.naming import module_names
from graphquery.operations.delete import delete_ids
from graphquery.operations.subgraph import subgraph_ids
from graphquery.storage import role
from graphquery.view import NO_IDS, GraphStep, GraphView, Operation, Overlay
from semiring.arrays.exact import reduce_segments
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.support.door import checked

_COMPUTED = (Kind.DERIVED, Kind.VALUE)


@checked
def zoom_out(graph: G, *modules: str | Iterable[str]) -> G:
    """Show every invocation of some modules as one node.

    The internal computation of the invocations is hidden, and with it state nodes and their tokens,
    unused tokens of the module's state, and constants (nodes without input or state behind them)
    that serve hidden nodes only. Each invocation gets a p-node labelled with the module, from its
    inputs and to its outputs. Modules that are already zoomed out stay zoomed out.

    Parameters
    ----------
    modules
        Names of modules; always all of their invocations.

    Raises
    ------
    UnknownNameError
        A module that the graph does not have.

    Notes
    -----
    Intermediate computation is decided node by node, among the nodes of the module: in a workflow
    all that leads out of a module is its output nodes. O(nodes and edges of the modules) time and
    a copy of the mask of nodes, a byte each.

    References
    ----------
    Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Definition 4.1.

    Examples
    --------
    A module that takes two tuples and makes one of both:

    >>> from graphquery import EdgeSet, Ordinals, ProvenanceGraph, Segment
    >>> inside = {"module": "m", "invocation": 1, "execution": 0}
    >>> segments = [
    ...     Segment("in", Kind.TOKEN, "", 2),
    ...     Segment("m#1", Kind.INVOCATION, "m", 1, **inside),
    ...     Segment("m#1/R", Kind.INPUT, "·", 2, **inside),
    ...     Segment("m#1/Join", Kind.DERIVED, "·", 1, **inside),
    ...     Segment("m#1/R.out", Kind.OUTPUT, "·", 1, **inside),
    ... ]
    >>> edges = [
    ...     EdgeSet("in", "m#1/R", 2, Ordinals.ALL, Ordinals.ALL),
    ...     EdgeSet("m#1", "m#1/R", 2, Ordinals.ONE, Ordinals.ALL),
    ...     EdgeSet("m#1/R", "m#1/Join", 2, Ordinals.ALL, Ordinals.ONE),
    ...     EdgeSet("m#1/Join", "m#1/R.out", 1, Ordinals.ALL, Ordinals.ALL),
    ...     EdgeSet("m#1", "m#1/R.out", 1, Ordinals.ALL, Ordinals.ALL),
    ... ]
    >>> graph = ProvenanceGraph.build(segments, edges, lambda file, column: None)
    >>> coarse = zoom_out(graph, "m")
    >>> "m#1/Join" in graph, "m#1/Join" in coarse
    (True, False)
    >>> coarse.names(coarse.ids)[2:]
    ['m#1', 'm#1/R[0]', 'm#1/R[1]', 'm#1/R.out', 'm#1[zoomed]']
    >>> zoom_in(coarse, "m").equals(graph)
    True
    """
    chosen = module_names(graph.storage, modules)
    fresh = chosen - graph.zoomed
    return _zoom_out(graph, fresh, {}) if fresh else graph


@checked
def zoom_in(graph: G, *modules: str | Iterable[str]) -> G:
    """Show the internal computation of some modules again: the inverse of `zoom_out`.

    Deletions and subgraphs made while the modules were zoomed out are replayed on the finer graph;
    deleting the node of an invocation then means deleting all nodes that it stood for. Modules that
    are not zoomed out stay as they are.

    Raises
    ------
    UnknownNameError
        A module that the graph does not have.
    """
    wanted = module_names(graph.storage, modules) & graph.zoomed
    if not wanted:
        return graph
    start = graph
    while start.parent is not None:
        start = start.parent
    for step in graph.steps:
        start = _repeated(start, step, wanted, graph.view.zoomed)
    return start


def _repeated(
    graph: G, step: GraphStep, zoomed_in: frozenset[str], known: Mapping[str, Array]
) -> G:
    """Replay a step on a graph in which some modules are zoomed in."""
    if step.operation is Operation.ZOOM_OUT:
        modules = step.modules - zoomed_in
        # The nodes that a module hides depend on earlier deletions, not on other modules.
        return _zoom_out(graph, modules, {} if graph.steps else known) if modules else graph
    parts = [step.seeds]
    parts += [inside for node, inside in step.stands_for.items() if not graph.has(np.array([node]))]
    seeds = ascending(np.concatenate(parts))
    seeds = seeds[graph.has(seeds)]
    if step.operation is Operation.DELETE:
        return delete_ids(graph, seeds)
    return subgraph_ids(graph, seeds)


def _zoom_out(graph: G, modules: frozenset[str], known: Mapping[str, Array]) -> G:
    """Zoom out; for modules in `known`, the hidden nodes are already known."""
    storage = graph.storage
    visible = graph.mask()
    zoomed = dict(graph.view.zoomed)
    pairs = [] if graph.overlay is None else [graph.overlay.pairs]
    for module in sorted(modules):
        zoomed[module] = known[module] if module in known else _hidden(graph, module)
        nodes, edges = _zoomed_nodes(graph, module)
        visible[nodes] = True
        pairs.append(edges)
    hidden = np.zeros(storage.size, dtype=np.bool_)
    for ids in zoomed.values():
        hidden[ids] = True
    visible[hidden] = False
    shared = _constants(graph, _shared(graph), hidden)
    visible[shared] = False
    steps = list(graph.steps)
    step = GraphStep(Operation.ZOOM_OUT, modules)
    if steps and steps[-1].operation is Operation.ZOOM_OUT:
        step = GraphStep(Operation.ZOOM_OUT, modules | steps.pop().modules)
    overlay = Overlay(np.concatenate(pairs))
    return graph.viewed(GraphView(visible, MappingProxyType(zoomed), overlay, (*steps, step)))


def _hidden(graph: ArrayGraph, module: str) -> Array:
    """Return the ids that zooming out of a module hides, each once."""
    storage = graph.storage
    hidden = np.zeros(storage.size, dtype=np.bool_)
    by_kind = _by_role(graph, module)
    computed = [position for kind in _COMPUTED for position in by_kind.get(kind, ())]
    state = _present(graph, by_kind.get(Kind.STATE, ()))
    inputs = _present(graph, by_kind.get(Kind.INPUT, ()))
    # A row that depends only on its invocation (an aggregate of no rows) is computed inside.
    invocations = _present(graph, by_kind.get(Kind.INVOCATION, ()))
    hidden[inputs] = True
    hidden[state] = True
    hidden[invocations] = True
    for ids in staged(graph, storage.stages, computed):
        neighbours = graph.incoming(ids)
        behind = hidden[neighbours.nodes]
        if bool(behind.all()):
            hidden[ids] = neighbours.degrees > 0
        else:
            hidden[ids] = reduce_segments(np.logical_or, behind, neighbours.offsets, False)
    hidden[inputs] = False
    hidden[invocations] = False
    tokens = ascending(graph.incoming(state).nodes)
    kinds = np.fromiter(
        (segment.kind is Kind.TOKEN for segment in storage.segments),
        np.bool_,
        len(storage.segments),
    )
    tokens = tokens[kinds[storage.segment_of(tokens)]]
    unused = _unused(graph, by_kind.get(Kind.TOKEN, ()))
    hidden[tokens] = True
    _constants(graph, computed, hidden)
    inside = _present(graph, computed)
    return np.concatenate([inside[hidden[inside]], state, tokens, unused])


def _by_role(graph: ArrayGraph, module: str) -> dict[Kind, list[int]]:
    """Return the positions of a module's segments."""
    by_role: dict[Kind, list[int]] = {}
    for position in graph.storage.modules[module]:
        by_role.setdefault(role(graph.storage.segments[position]), []).append(position)
    return by_role


def _present(graph: ArrayGraph, positions: Iterable[int]) -> Array:
    """Return the ids of the graph's nodes in some segments."""
    parts = [graph.storage.ids_of(position) for position in positions]
    if not parts:
        return NO_IDS
    ids: Array = np.concatenate(parts)
    return ids[graph.has(ids)]


def _unused(graph: ArrayGraph, positions: Iterable[int]) -> Array:
    """Return the state tuples that no invocation has used."""
    segments = graph.storage.segments
    ids = _present(graph, [p for p in positions if segments[p].execution is None])
    unused: Array = ids[graph.outgoing(ids).degrees == 0]
    return unused


def _shared(graph: ArrayGraph) -> list[int]:
    """Return the segments of constants that belong to no module."""
    return [
        position
        for position, segment in enumerate(graph.storage.segments)
        if segment.kind is Kind.VALUE and segment.module is None
    ]


def _constants(graph: ArrayGraph, positions: list[int], hidden: Array) -> Array:
    """Return the nodes of some segments whose successors are all hidden; mark them as hidden."""
    parts = []
    for layer in staged(graph, graph.storage.stages, positions, backwards=True):
        ids = layer[~hidden[layer]]
        neighbours = graph.outgoing(ids)
        serving = hidden[neighbours.nodes]
        dead = reduce_segments(np.logical_and, serving, neighbours.offsets, False)
        parts.append(ids[dead])
        hidden[ids[dead]] = True
    return np.concatenate(parts) if parts else NO_IDS


def _zoomed_nodes(graph: ArrayGraph, module: str) -> tuple[Array, Array]:
    """Return the zoomed nodes of a module's invocations, and their edges."""
    storage = graph.storage
    by_role = _by_role(graph, module)
    invocations = _present(graph, by_role.get(Kind.INVOCATION, ()))
    nodes = storage.count + np.searchsorted(storage.invocations, invocations)
    neighbours = graph.outgoing(invocations)
    zoomed = nodes[neighbours.owners()]
    roles = np.array([role(segment).value for segment in storage.segments])
    kinds = roles[storage.segment_of(neighbours.nodes)]
    into, out = kinds == Kind.INPUT.value, kinds == Kind.OUTPUT.value
    parts = [
        np.column_stack([neighbours.nodes[into], zoomed[into]]),
        np.column_stack([zoomed[out], neighbours.nodes[out]]),
    ]
    node_of = {graph.segment(int(m)).invocation: z for m, z in zip(invocations, nodes, strict=True)}
    for kind in (Kind.INPUT, Kind.OUTPUT):
        for position in by_role.get(kind, ()):
            # The v-nodes beside inputs and outputs have no edge from the m-node.
            segment = storage.segments[position]
            if segment.kind is Kind.VALUE and segment.invocation in node_of:
                beside = _present(graph, [position])
                ends = [beside, np.full(len(beside), node_of[segment.invocation])]
                parts.append(np.column_stack(ends if kind is Kind.INPUT else ends[::-1]))
    return nodes, np.concatenate(parts).astype(np.int64)
