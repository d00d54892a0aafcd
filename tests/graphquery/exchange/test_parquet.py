"""Graphs written as Parquet and read back."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark_workflowgen.generated_graphs import generate
from graphquery import ProvenanceGraph
from graphquery.errors import GraphError, ValuesError
from graphquery.exchange import read_parquet, write_parquet
from graphquery.exchange.graph_tables import node_values
from graphquery.model import Kind
from tests.graphquery.builder import Builder
from tests.graphquery.strategies import any_graphs, workflows


def there_and_back(graph: ProvenanceGraph, folder: Path) -> ProvenanceGraph:
    write_parquet(graph, folder)
    return read_parquet(folder)


def values_by_name(graph: ProvenanceGraph) -> dict[str, object]:
    return {graph.name(node): value for node, value in node_values(graph).items()}


def test_empty(empty: ProvenanceGraph, tmp_path: Path) -> None:
    """A graph without nodes."""
    again = there_and_back(empty, tmp_path)
    assert again.equals(empty)
    assert again.node_count == again.edge_count == 0


def test_nodes_without_edges(tmp_path: Path) -> None:
    """A single node, and a segment without nodes."""
    b = Builder()
    b.add("a", Kind.TOKEN)
    b.add("b", Kind.TOKEN, "", 0)
    again = there_and_back(ProvenanceGraph.build(*b.data), tmp_path)
    assert again.names(again.ids) == ["a"]


def test_round_trip(variant: ProvenanceGraph, tmp_path: Path) -> None:
    """Nodes, edges, names and values are the same, whatever was zoomed or deleted."""
    read = there_and_back(variant, tmp_path / "graph")
    assert read.equals(variant)
    assert variant.equals(read)
    assert values_by_name(read) == values_by_name(variant)
    again = there_and_back(read, tmp_path / "again")
    assert again.equals(variant)


def test_aggregate_after_deletion(fine: ProvenanceGraph, tmp_path: Path) -> None:
    """Values are those after the deletion; what only the function knows is NULL."""
    graph = fine.delete("dealer1/Cars:C2")
    read = there_and_back(graph, tmp_path)
    assert read.value("dealer1#1/NumCarsByModel.NumAvail") == 1
    assert read.value("dealer1#1/CalcBid") is None
    with pytest.raises(ValuesError):
        graph.value("dealer1#1/CalcBid")


def test_flat_tables(fine: ProvenanceGraph, tmp_path: Path) -> None:
    """Any tool can join the tables of nodes and edges."""
    write_parquet(fine, tmp_path)
    nodes = pq.read_table(tmp_path / "nodes.parquet")
    edges = pq.read_table(tmp_path / "edges.parquet")
    assert (len(nodes), len(edges)) == (fine.node_count, fine.edge_count)
    names = dict(zip(nodes["id"].to_pylist(), nodes["name"].to_pylist(), strict=True))
    row = nodes.to_pylist()[fine.node("dealer1/Cars:C2")]
    assert row == {
        "id": fine.node("dealer1/Cars:C2"),
        "name": "dealer1/Cars:C2",
        "segment": "dealer1/Cars",
        "ordinal": 1,
        "kind": "token",
        "label": "",
        "module": "dealer1",
        "invocation": None,
        "execution": None,
        "relation": "Cars",
    }
    joined = [(names[each["source"]], names[each["target"]]) for each in edges.to_pylist()]
    assert ("dealer1#1/one", "dealer1#1/NumCarsByModel.tensors[0]") in joined
    assert sorted(joined) == sorted(fine.to_networkx().edges())


def test_more_columns(fine: ProvenanceGraph, tmp_path: Path) -> None:
    """Columns beside the key are written where they are asked for."""
    write_parquet(fine, tmp_path / "key")
    cars = {"CarId", "Model"}
    write_parquet(
        fine,
        tmp_path / "all",
        columns=lambda segment: sorted(cars) if segment.relation == "Cars" else segment.key,
    )
    read = read_parquet(tmp_path / "all")
    accords = read.select(relation="Cars", where={"Model": "Accord"})
    assert read.names(accords.ids) == ["dealer1/Cars:C1"]
    assert {"CarId"} in [set(pq.read_schema(f).names) for f in (tmp_path / "key").glob("values*")]


@settings(max_examples=30)
@given(builder=any_graphs() | workflows(), data=st.data())
def test_random_graphs(builder: Builder, data: st.DataObject) -> None:
    """Any graph, with anything deleted or zoomed out."""
    graph = ProvenanceGraph.build(*builder.data)
    if graph.modules and data.draw(st.booleans()):
        graph = graph.zoom_out(data.draw(st.sampled_from(graph.modules)))
    if len(graph.ids) and data.draw(st.booleans()):
        graph = graph.delete([data.draw(st.sampled_from(graph.ids.tolist()))])
    with tempfile.TemporaryDirectory() as folder:
        read = there_and_back(graph, Path(folder) / "graph")
        assert read.equals(graph)
        assert values_by_name(read) == values_by_name(graph)


def test_large_graph(tmp_path: Path) -> None:
    """A hundred thousand nodes."""
    generated = generate(100_000, modules=3, executions=4)
    graph = ProvenanceGraph.build(generated.segments, generated.edge_sets, generated.columns())
    assert there_and_back(graph.zoom_out("module1"), tmp_path).edge_count > 50_000
    assert read_parquet(tmp_path).node_count == graph.zoom_out("module1").node_count


def test_refused(fine: ProvenanceGraph, tmp_path: Path) -> None:
    """Folders that are not empty, or not a graph's, and tables that do not fit together."""
    with pytest.raises(GraphError, match=r"has no segments\.parquet\.\nGive a folder that wr"):
        read_parquet(tmp_path)
    write_parquet(fine, tmp_path)
    with pytest.raises(GraphError, match=r"is not empty\.\nGive a new folder"):
        write_parquet(fine, tmp_path)
    edges = pa.table(
        {"source": pa.array([0]), "target": pa.array([999]), "port": pa.array([0], pa.uint8())}
    )
    pq.write_table(edges, tmp_path / "edges.parquet")
    with pytest.raises(GraphError, match="edges name a node 999, which is not there"):
        read_parquet(tmp_path)
    pq.write_table(edges.select(["source"]), tmp_path / "edges.parquet")
    with pytest.raises(GraphError, match=r"edges\.parquet cannot be read"):
        read_parquet(tmp_path)
    nodes = pa.table({"id": [0], "segment": ["x"], "ordinal": [0]})
    pq.write_table(nodes, tmp_path / "nodes.parquet")
    pq.write_table(edges, tmp_path / "edges.parquet")
    with pytest.raises(GraphError, match="nodes are of a segment x, which is not there"):
        read_parquet(tmp_path)
