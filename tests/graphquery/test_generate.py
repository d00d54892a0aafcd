"""Generated graphs, and the operations on one too large to be looked at node by node."""

from __future__ import annotations

import pytest

from benchmark_workflowgen.generated_graphs import Generated, generate
from graphquery import GraphError, ProvenanceGraph
from tests.graphquery import reference


def graph_of(generated: Generated) -> ProvenanceGraph:
    """The graph that was generated."""
    return ProvenanceGraph.build(generated.segments, generated.edge_sets, generated.columns())


def test_the_same_seed_gives_the_same_graph() -> None:
    """And another gives another."""
    graphs = [graph_of(generate(2_000, 2, 3, seed)) for seed in (1, 1, 2)]
    assert graphs[0].equals(graphs[1])
    assert not graphs[0].equals(graphs[2])


def test_sizes() -> None:
    """About as many nodes as asked for."""
    generated = generate(50_000, 5, 10)
    graph = graph_of(generated)
    assert graph.node_count == generated.node_count
    assert graph.edge_count == generated.edge_count
    assert 45_000 <= generated.node_count <= 55_000
    assert 1.6 < generated.edge_count / generated.node_count < 2.0


@pytest.mark.parametrize("arguments", [(1_000, 0, 1), (1_000, 1, 0), (100, 10, 10)])
def test_what_cannot_be_generated(arguments: tuple[int, int, int]) -> None:
    """Errors say what to ask for."""
    with pytest.raises(GraphError, match=r"at least one|too few"):
        generate(*arguments)


def test_operations_on_a_larger_graph() -> None:
    """As on small ones: against networkx, where few nodes among many are reached."""
    graph = graph_of(generate(8_000, 3, 4))
    plain = graph.to_networkx()
    late = graph.select(module="module2", execution=3, label="·", kind="p").ids
    for chosen in (late[:3], late[5:6], graph.ids[::1000]):
        names = graph.names(chosen)
        assert set(graph.descendants(chosen).names()) == reference.descendants(plain, names)
        assert set(graph.ancestors(chosen).names()) == reference.ancestors(plain, names)
        assert set(graph.dependents(chosen).names()) == reference.deleted(plain, names)
    assert 0 < len(graph.descendants(late[:3])) < graph.node_count // 128
    assert graph.descendants(graph.select(segment="module2#4/R.out")).names() == []


def test_zooming_a_larger_graph() -> None:
    """In and out again, in two orders."""
    graph = graph_of(generate(30_000, 4, 6))
    coarse = graph.zoom_out(graph.modules)
    assert coarse.select(kind="zoomed").graph is coarse
    assert len(coarse.select(kind="zoomed")) == 24
    assert len(coarse.select(kind=["p", "v", "s"])) == 0
    moved = graph
    for module in reversed(graph.modules):
        moved = moved.zoom_out(module)
    assert moved.equals(coarse)
    assert coarse.zoom_in(*graph.modules).equals(graph)
    expected = graph.zoom_out("module1", "module2")
    assert coarse.zoom_in("module0", "module3").equals(expected)
