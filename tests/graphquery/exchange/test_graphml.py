"""GraphML, read back by networkx."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings

from benchmark_workflowgen.generated_graphs import generate
from graphquery import ProvenanceGraph
from graphquery.exchange import write_graphml
from graphquery.exchange.graph_tables import node_values
from graphquery.model import Kind
from tests.graphquery.builder import Builder
from tests.graphquery.strategies import any_graphs


def read(path: Path) -> nx.MultiDiGraph:
    return nx.read_graphml(path, force_multigraph=True)


def check(graph: ProvenanceGraph, path: Path) -> None:
    """Check that networkx reads what networkx would be given."""
    write_graphml(graph, path)
    read_graph, reference = read(path), graph.to_networkx()
    values = node_values(graph)
    names = {f"n{data['id']}": name for name, data in reference.nodes(data=True)}
    assert {names[node] for node in read_graph} == set(reference)
    for node, data in read_graph.nodes(data=True):
        wanted = dict(reference.nodes[names[node]])
        value = values.get(wanted.pop("id"))
        if value is not None:
            wanted["value"] = str(value)
        # networkx reads an empty text as nothing
        read_back = {k: "" if v is None else v for k, v in data.items()}
        assert read_back == {"name": names[node], **wanted}
    edges = sorted((names[s], names[t], port) for s, t, port in read_graph.edges(data="port"))
    assert edges == sorted(reference.edges(data="port"))


def test_empty(empty: ProvenanceGraph, tmp_path: Path) -> None:
    """A document without nodes."""
    write_graphml(empty, tmp_path / "g.graphml")
    assert len(read(tmp_path / "g.graphml")) == 0


def test_read_by_networkx(variant: ProvenanceGraph, tmp_path: Path) -> None:
    """Nodes, attributes, edges and ports arrive."""
    check(variant, tmp_path / "g.graphml")


@settings(max_examples=20)
@given(builder=any_graphs())
def test_random_graphs(tmp_path_factory: pytest.TempPathFactory, builder: Builder) -> None:
    """Several edges between two nodes are several in the document."""
    check(ProvenanceGraph.build(*builder.data), tmp_path_factory.mktemp("g") / "g.graphml")


def test_characters(tmp_path: Path) -> None:
    """What XML needs escaped is, what it does not allow is replaced, and the rest is kept."""
    b = Builder()
    b.add("a", Kind.TOKEN, "<&>\"'δ\u0000\uffff\U0001f697")
    write_graphml(ProvenanceGraph.build(*b.data), tmp_path / "g.graphml")
    assert read(tmp_path / "g.graphml").nodes["n0"]["label"] == "<&>\"'δ\ufffd\ufffd\U0001f697"


def test_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are written one after the other, none left out."""
    monkeypatch.setattr("graphquery.exchange.graphml._BATCH", 1_000)
    generated = generate(5_000, modules=2, executions=3)
    graph = ProvenanceGraph.build(generated.segments, generated.edge_sets, generated.columns())
    write_graphml(graph, tmp_path / "g.graphml")
    text = (tmp_path / "g.graphml").read_text(encoding="utf-8")
    assert text.count("<node ") == graph.node_count > 4_000
    assert text.count("<edge ") == graph.edge_count
