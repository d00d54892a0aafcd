"""Every operation against its definition on networkx, over random graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semiring.semirings import Boolean, Counting
from tests.graphquery import reference
from tests.graphquery.builder import Builder
from tests.graphquery.strategies import any_graphs, workflows

Engine = Callable[[Builder], Any]

GRAPHS = any_graphs() | workflows()

# The engine is the same function for every example.
shared = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def some(data: st.DataObject, graph: Any) -> list[str]:
    """Some nodes of a graph, perhaps none."""
    names = sorted(graph.to_networkx())
    return data.draw(st.lists(st.sampled_from(names), max_size=4, unique=True)) if names else []


def some_modules(data: st.DataObject, graph: Any) -> list[str]:
    """Some modules in some order, perhaps none."""
    return data.draw(st.lists(st.sampled_from(graph.modules), unique=True))


@shared
@given(GRAPHS)
def test_graph_is_what_was_stored(engine: Engine, b: Builder) -> None:
    """All nodes and edges are there, and nothing else."""
    graph = engine(b)
    nodes, edges = reference.facts(graph)
    assert graph.node_count == len(nodes) == sum(segment.count for segment in b.segments)
    assert graph.edge_count == edges.total() == sum(edges.count for edges in b.edge_sets)
    assert all(graph.name(graph.node(name)) == name for name in nodes)


@shared
@given(GRAPHS, st.data())
def test_delete(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """Deletion is the fixpoint of Definition 4.2, also of what was deleted from before."""
    graph = engine(b)
    expected = graph.to_networkx()
    for _ in range(2):
        seeds = some(data, graph)
        graph, expected = graph.delete(seeds), reference.delete(expected, seeds)
        assert reference.facts(graph) == reference.facts(expected)


@shared
@given(GRAPHS, st.data())
def test_depends(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """Nodes depend on others iff they are gone without them."""
    graph = engine(b)
    nodes, on = some(data, graph), some(data, graph)
    gone = reference.deleted(graph.to_networkx(), on)
    assert graph.depends(nodes, on) == (set(nodes) <= gone)
    assert set(graph.dependents(on).names()) == gone


@shared
@given(GRAPHS, st.data())
def test_reach(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """Ancestors and descendants."""
    graph = engine(b)
    seeds = some(data, graph)
    plain = graph.to_networkx()
    assert set(graph.ancestors(seeds).names()) == reference.ancestors(plain, seeds)
    assert set(graph.descendants(seeds).names()) == reference.descendants(plain, seeds)


@shared
@given(GRAPHS, st.data())
def test_subgraph(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """Subgraphs, also of subgraphs."""
    graph = engine(b)
    expected = graph.to_networkx()
    for _ in range(2):
        seeds = some(data, graph)
        graph, expected = graph.subgraph(seeds), reference.subgraph(expected, seeds)
        assert reference.facts(graph) == reference.facts(expected)


@shared
@given(GRAPHS, st.data())
def test_paths(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """All paths are found, the shortest first, and limits keep the first of them."""
    graph = engine(b)
    names = sorted(graph.to_networkx())
    if not names:
        return
    source, target = (data.draw(st.sampled_from(names)) for _ in range(2))
    found_paths = graph.paths(source, target, limit=1_000)
    named = [tuple(graph.names(path)) for path in found_paths]
    assert sorted(named) == reference.paths(graph.to_networkx(), source, target)
    assert [len(path) for path in found_paths] == sorted(len(path) for path in found_paths)
    assert graph.paths(source, target, limit=2) == found_paths[:2]
    short = graph.paths(source, target, 1_000, longest=2)
    assert sorted(short) == sorted(path for path in found_paths if len(path) <= 3)


@shared
@given(GRAPHS, st.data())
def test_counting(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """Annotations in N are those of the definition, with several edges counted."""
    graph = engine(b)
    plain = graph.to_networkx()
    leaves = [name for name in plain if not plain.in_degree(name)]
    given_ = (
        data.draw(st.dictionaries(st.sampled_from(leaves), st.integers(0, 3))) if leaves else {}
    )
    counted = graph.evaluate(Counting(), given_)
    expected = reference.count(plain, given_)
    assert counted.values(list(expected)).tolist() == list(expected.values())


@shared
@given(GRAPHS, st.data())
def test_deletion_is_evaluation_at_zero(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """What is deleted is what is 0 when what nothing makes is set to 0; without ⊖."""
    graph = engine(b)
    if any(segment.label == "⊖" for segment in graph.segments):
        return
    seeds = graph.select(within=some(data, graph)).sources().names()
    evaluated = graph.evaluate(Boolean(), dict.fromkeys(seeds, False))
    gone = reference.deleted(graph.to_networkx(), seeds)
    names = graph.names(graph.ids)
    assert {n for n, v in zip(names, evaluated.values(graph.ids), strict=True) if not v} == gone


@shared
@given(workflows(), st.data())
def test_zoom_out(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """ZoomOut, step by step, at once and one module after the other."""
    graph = engine(b)
    modules = some_modules(data, graph)
    expected = reference.zoom_out(graph.to_networkx(), modules)
    assert reference.facts(graph.zoom_out(modules)) == reference.facts(expected)
    one_by_one = graph
    for module in modules:
        one_by_one = one_by_one.zoom_out(module)
    assert reference.facts(one_by_one) == reference.facts(expected)
    assert one_by_one.equals(graph.zoom_out(modules))


@shared
@given(workflows(), st.data())
def test_zoom_in_is_the_inverse(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """Whatever is zoomed out and in, in any order, what counts is what is zoomed out at the end."""
    graph = engine(b)
    zoomed: set[str] = set()
    moved = graph
    for module in data.draw(st.lists(st.sampled_from(graph.modules), max_size=6)):
        moved = moved.zoom_in(module) if module in zoomed else moved.zoom_out(module)
        zoomed ^= {module}
    assert moved.zoomed == zoomed
    assert reference.facts(moved) == reference.facts(graph.zoom_out(zoomed))
    assert reference.facts(moved.zoom_in(zoomed)) == reference.facts(graph)


@shared
@given(workflows(), st.data())
def test_zoom_out_then_delete(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """Deletion goes through what is seen; zooming in applies it to what is seen then."""
    graph = engine(b)
    zoomed = graph.zoom_out(some_modules(data, graph))
    plain = zoomed.to_networkx()
    stored = [name for name in some(data, zoomed) if plain.nodes[name]["kind"] != "zoomed"]
    left = zoomed.delete(stored)
    assert reference.facts(left) == reference.facts(reference.delete(plain, stored))
    assert reference.facts(left.zoom_in(graph.modules)) == reference.facts(graph.delete(stored))


@shared
@given(workflows(), st.data())
def test_delete_then_zoom_out(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """What was deleted stays deleted in zooming out and in."""
    graph = engine(b)
    left = graph.delete(some(data, graph))
    modules = some_modules(data, graph)
    expected = reference.zoom_out(left.to_networkx(), modules)
    assert reference.facts(left.zoom_out(modules)) == reference.facts(expected)
    assert reference.facts(left.zoom_out(modules).zoom_in(modules)) == reference.facts(left)


@shared
@given(workflows(), st.data())
def test_zoom_delete_zoom(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """Zooming in between deletions is doing without that zooming out in the first place."""
    graph = engine(b)
    first, second = some_modules(data, graph), some_modules(data, graph)
    seeds = some(data, graph.zoom_out(first).zoom_out(second))
    seeds = [name for name in seeds if not name.endswith("[zoomed]")]
    moved = graph.zoom_out(first).delete(seeds).zoom_out(second).zoom_in(first)
    expected = graph.delete(seeds).zoom_out(set(second) - set(first))
    assert reference.facts(moved) == reference.facts(expected)


@shared
@given(workflows(), st.data())
def test_queries_of_zoomed_graphs(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """Reach, subgraph, dependency, paths and counting on what is seen."""
    fine = engine(b)
    graph = fine.zoom_out(some_modules(data, fine)).delete([])
    plain = graph.to_networkx()
    seeds = some(data, graph)
    assert set(graph.ancestors(seeds).names()) == reference.ancestors(plain, seeds)
    assert set(graph.descendants(seeds).names()) == reference.descendants(plain, seeds)
    assert set(graph.dependents(seeds).names()) == reference.deleted(plain, seeds)
    around = reference.subgraph(plain, seeds)
    assert reference.facts(graph.subgraph(seeds)) == reference.facts(around)
    counts = reference.count(plain, {})
    assert graph.evaluate(Counting()).values(list(counts)).tolist() == list(counts.values())
    for source, target in zip(seeds, reversed(seeds), strict=True):
        named = [tuple(graph.names(path)) for path in graph.paths(source, target, 1_000)]
        assert sorted(named) == reference.paths(plain, source, target)


@shared
@given(workflows(), st.data())
def test_aggregates_after_deletion(engine: Engine, b: Builder, data: st.DataObject) -> None:
    """An aggregate is that of the tensors left; nothing else loses or changes its value."""
    graph = engine(b)
    left = graph.delete(some(data, graph))
    plain, before = left.to_networkx(), graph.to_networkx()
    stale = set(left.stale().names())
    for node in left.select(label=["COUNT", "SUM", "MIN", "MAX"]):
        name = left.name(node)
        if name in stale:
            continue
        constant = graph.value(name.removesuffix("/a") + "/c")
        rows = plain.in_degree(name)
        label = plain.nodes[name]["label"]
        assert left.value(node) == {"COUNT": rows, "SUM": rows * constant}.get(label, constant)
    for name in plain:
        touched = plain.in_degree(name) < before.in_degree(name)
        if plain.nodes[name]["label"] == "f" and touched:
            assert name in stale


@pytest.mark.parametrize("count", [0, 1])
def test_degenerate_graphs(engine: Engine, count: int) -> None:
    """A graph of no node, and of one."""
    from graphquery.model import Kind

    b = Builder()
    b.add("s", Kind.DERIVED, "+", count)
    graph = engine(b)
    assert len(graph.ancestors(graph.ids)) == 0
    assert len(graph.delete(graph.ids)) == 0
    assert len(graph.subgraph(graph.ids)) == count
    assert graph.depends([], [])
    assert graph.zoom_out().zoom_in().equals(graph)
    assert graph.evaluate(Counting()).annotations.tolist() == [1] * count
