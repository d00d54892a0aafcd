"""Operations of graphs on Spark, which derive one graph from another and can be replayed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from graphquery.distributed.delete import removed
from graphquery.distributed.levels import Levels, Link
from graphquery.distributed.nodes import NodeSet
from graphquery.distributed.reach import reached, step
from graphquery.distributed.view import Rounds, SparkStep, SparkView
from graphquery.model import Kind, Segment
from graphquery.spark import EdgeFrame, Frame
from graphquery.storage import role
from graphquery.view import Operation
from semiring.arrays.segments import union
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph


_COMPUTED = (Kind.DERIVED, Kind.VALUE)


def zoomed_out(view: SparkView, modules: frozenset[str]) -> SparkView:
    """Return a view with further modules zoomed out; the caller records the step."""
    levels, tables = view.levels, view.tables
    inside = _inside(levels, modules)
    states = view.of(_segments(levels, modules, Kind.STATE))
    inputs = view.of(_segments(levels, modules, Kind.INPUT))
    computed = _segments(levels, modules, *_COMPUTED)
    hidden = reached(view, inputs | states, forwards=True, links=inside) | states
    hidden = hidden | _tokens(view, states) | _unused(view, modules)
    hidden = hidden | _constants(view, computed, hidden, inside | _into_state(levels, modules))
    gone = view.hidden | hidden
    shared = {n for n, s in enumerate(levels.stored) if s.kind is Kind.VALUE and s.module is None}
    dead = _constants(view, frozenset(shared), gone, view.links)
    nodes, overlay = _overlay(view, modules)
    present = view.present
    if present is not None and len(nodes):
        present = present | tables.given(nodes)
    return replace(
        view,
        edges=view.edges + overlay,
        present=present,
        absent=view.absent | hidden | dead,
        hidden=gone | dead,
        zoomed=view.zoomed | modules,
        zoomed_nodes=union(view.zoomed_nodes, nodes),
    )


def stands_for(view: SparkView, zoomed: int) -> NodeSet:
    """Return the nodes of the invocation that a zoomed node stands for."""
    levels = view.levels
    shown = levels.segments[int(levels.segment_of(np.array([zoomed]))[0])]
    segments = frozenset(
        number
        for number, segment in enumerate(levels.stored)
        if (segment.module, segment.invocation) == (shown.module, shown.invocation)
    )
    return view.tables.of_segments(view.hidden, segments)


def _segments(levels: Levels, modules: Iterable[str], *kinds: Kind) -> frozenset[int]:
    """Return the segments of modules that have one of some roles."""
    return frozenset(
        number
        for module in modules
        for kind in kinds
        for number in levels.modules[module].get(kind, ())
    )


def _inside(levels: Levels, modules: frozenset[str]) -> frozenset[Link]:
    """Return the links of the computation inside modules: from inputs, state and computed nodes."""
    begun = _segments(levels, modules, Kind.INPUT, Kind.STATE, *_COMPUTED)
    computed = _segments(levels, modules, *_COMPUTED)
    return _within_modules(levels, begun, computed)


def _into_state(levels: Levels, modules: frozenset[str]) -> frozenset[Link]:
    """Return the links from computations of a module to its state nodes."""
    computed = _segments(levels, modules, *_COMPUTED)
    state = _segments(levels, modules, Kind.STATE)
    return _within_modules(levels, computed, state)


def _within_modules(
    levels: Levels, sources: frozenset[int], targets: frozenset[int]
) -> frozenset[Link]:
    """Return the links from `sources` to `targets` within one module."""
    return frozenset(
        (source, target)
        for source, target in levels.links
        if source in sources
        and target in targets
        and levels.stored[source].module == levels.stored[target].module
    )


def _tokens(view: SparkView, states: NodeSet) -> NodeSet:
    """Return the tokens with edges into state nodes."""
    levels = view.levels
    of_state = states.whole | {n for level in states.parts for n in levels.at[level]}
    links = {
        (source, target)
        for source, target in levels.links
        if levels.stored[source].kind is Kind.TOKEN and target in of_state
    }
    edges = view.between(links)
    if edges is None:
        return NodeSet()
    used = view.tables.at(edges, "target", states, {levels.level[target] for _, target in links})
    return view.tables.stored(view.tables.ends(used, "source"))


def _unused(view: SparkView, modules: frozenset[str]) -> NodeSet:
    """Return the state tuples of modules that no invocation has used."""
    levels = view.levels
    tokens = _segments(levels, modules, Kind.TOKEN)
    untouched = frozenset(n for n in tokens if levels.stored[n].execution is None)
    links = {link for link in levels.links if link[0] in untouched}
    nodes = view.of(untouched)
    edges = view.between(links)
    if edges is None:
        return nodes
    apart = frozenset(source for source, _ in links)
    used = view.tables.stored(view.tables.ends(edges, "source"))
    rest = view.tables.rows(view.tables.of_segments(nodes, apart))
    unused = view.tables.stored(view.tables.without(rest, used, used.parts))
    return view.tables.of_segments(nodes, untouched - apart) | unused


def _constants(
    view: SparkView, segments: frozenset[int], hidden: NodeSet, inside: frozenset[Link]
) -> NodeSet:
    """Return the visible nodes of some segments whose successors are all hidden.

    Parameters
    ----------
    hidden
        Nodes that are hidden.
    inside
        The links along which a constant may serve hidden nodes; any other link rules it out.
    """
    levels, tables = view.levels, view.tables
    rounds = Rounds(view.limit)
    constants = NodeSet()
    by_level: dict[int, set[Link]] = {}
    for link in levels.links:
        if link[0] in segments and link[0] not in hidden.whole | view.absent.whole:
            by_level.setdefault(levels.level[link[0]], set()).add(link)
    for level in sorted(by_level, reverse=True):
        links = frozenset(by_level[level])
        while True:
            gone = hidden | constants
            if not any(link in inside and _touched(levels, link[1], gone) for link in links):
                break
            edges = view.between(links)
            if edges is None:
                break
            edges = tables.away(edges, "source", gone, {level})
            # A node with an edge that leads elsewhere is none of these.
            outside = view.between(links - inside)
            if outside is not None:
                served_elsewhere = tables.stored(tables.ends(outside, "source"))
                edges = tables.away(edges, "source", served_elsewhere, {level})
            rounds.spend()
            above = {levels.level[target] for _, target in links}
            frame, count = tables.store(tables.all_marked(edges, gone, above))
            if count:
                constants = constants | NodeSet(parts={level: (frame,)}, rows=count)
            if not count or level not in levels.cyclic:
                break
    return constants


def _touched(levels: Levels, segment: int, nodes: NodeSet) -> bool:
    return segment in nodes.whole or levels.level[segment] in nodes.parts


def _overlay(view: SparkView, modules: frozenset[str]) -> tuple[Array, tuple[EdgeFrame, ...]]:
    """Return the zoomed nodes of modules' invocations, and their edges."""
    levels, tables = view.levels, view.tables
    numbers = _segments(levels, modules, Kind.INVOCATION)
    invocations = tables.ids(tables.rows(view.of(numbers)))
    segments = levels.segment_of(invocations)
    places = np.array([levels.zoomed_of[number] for number in segments.tolist()], dtype=np.int64)
    nodes = invocations - levels.bases[segments] + levels.bases[places]
    node_of: dict[tuple[str | None, int | None], tuple[int, int]] = {}
    for number, ordinal, node in zip(
        segments.tolist(), places.tolist(), nodes.tolist(), strict=True
    ):
        segment = levels.stored[number]
        node_of[segment.module, segment.invocation] = ordinal, node
    parts: list[Frame] = []
    for kind in (Kind.INPUT, Kind.OUTPUT):
        inwards = kind is Kind.INPUT
        links = {
            link
            for link in levels.links
            if link[0] in numbers and role(levels.stored[link[1]]) is kind
        }
        edges = view.between(links)
        if edges is not None:
            parts.append(tables.overlay(edges, inwards))
        beside = {
            number: node_of[_at(levels.stored[number])]
            for number in _segments(levels, modules, kind)
            if levels.stored[number].kind is Kind.VALUE and _at(levels.stored[number]) in node_of
        }
        if beside:
            rows = tables.rows(view.of(beside))
            parts.append(tables.beside(rows, beside, inwards))
    if not parts:
        return nodes, ()
    zoomed = {levels.zoomed_of[number] for number in numbers}
    joined = {link for link in levels.overlay_links if zoomed & set(link)}
    return nodes, (tables.store_edges(tables.union(parts), joined),)


def _at(segment: Segment) -> tuple[str | None, int | None]:
    return segment.module, segment.invocation


def around(view: SparkView, seeds: NodeSet) -> NodeSet:
    """Return nodes, their ancestors and descendants, and the siblings of the descendants."""
    below = reached(view, seeds, forwards=True)
    above = reached(view, seeds, forwards=False)
    parents = step(view, below, forwards=False)
    siblings = step(view, parents, forwards=True)
    return view.tables.distinct(seeds, above, below, siblings)


def zoom_out(graph: SparkGraph, modules: frozenset[str]) -> SparkGraph:
    """Return a graph with further modules zoomed out."""
    view = zoomed_out(graph.view, modules)
    return graph.viewed(view.stepped(SparkStep(Operation.ZOOM_OUT, modules)))


def zoom_in(graph: SparkGraph, modules: frozenset[str]) -> SparkGraph:
    """Undo the zoom-out of `modules` by replaying all other steps."""
    start = graph
    while start.parent is not None:
        start = start.parent
    for each in graph.steps:
        start = _repeated(start, each, modules)
    return start


def delete(graph: SparkGraph, seeds: NodeSet) -> SparkGraph:
    """Return a graph without some of its nodes and all nodes that need them."""
    gone = removed(graph, seeds)
    zoomed = _zoomed_among(graph, seeds)
    inside = {node: stands_for(graph.view, node) for node in zoomed.tolist()}
    step = SparkStep(Operation.DELETE, seeds=seeds, stands_for=inside)
    view = replace(graph.view, absent=graph.view.absent | gone)
    left = graph.viewed(view.stepped(step))
    left.gone = gone
    return left


def subgraph(graph: SparkGraph, seeds: NodeSet) -> SparkGraph:
    """Return the subgraph around some nodes of a graph."""
    present = around(graph.view, seeds)
    view = replace(graph.view, present=present, absent=NodeSet())
    return graph.viewed(view.stepped(SparkStep(Operation.SUBGRAPH, seeds=seeds)))


def _repeated(graph: SparkGraph, step: SparkStep, zoomed_in: frozenset[str]) -> SparkGraph:
    """Replay a step on a graph in which some modules are zoomed in again."""
    if step.operation is Operation.ZOOM_OUT:
        modules = step.modules - zoomed_in
        return zoom_out(graph, modules) if modules else graph
    sets = [step.seeds]
    sets += [inside for node, inside in step.stands_for.items() if node not in graph]
    seeds = graph.view.restricted(_stored_or_zoomed(graph, graph.tables.distinct(*sets)))
    return (delete if step.operation is Operation.DELETE else subgraph)(graph, seeds)


def _zoomed_among(graph: SparkGraph, nodes: NodeSet) -> Array:
    levels = graph.view.levels
    segments = frozenset(range(len(levels.stored), len(levels.segments)))
    if not graph.zoomed:
        return np.empty(0, dtype=np.int64)
    return graph.tables.ids(graph.tables.rows(graph.tables.of_segments(nodes, segments)))


def _stored_or_zoomed(graph: SparkGraph, nodes: NodeSet) -> NodeSet:
    """Return a set without the zoomed nodes that the graph does not show."""
    levels, tables = graph.view.levels, graph.tables
    stored = frozenset(range(len(levels.stored)))
    zoomed = frozenset(range(len(levels.stored), len(levels.segments)))
    stored_nodes = tables.of_segments(nodes, stored)
    ids = tables.ids(tables.rows(tables.of_segments(nodes, zoomed)))
    shown = ids[np.isin(ids, graph.view.zoomed_nodes)]
    return stored_nodes | tables.given(shown) if len(shown) else stored_nodes
