"""The graph itself: what is a node, how nodes are given, comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphquery import GraphError, Kind, ProvenanceGraph, UnknownNameError
from tests.graphquery.builder import Builder
from tests.graphquery.dealership import dealership


def test_nodes_in_any_form(bidding: Any) -> None:
    """Ids, names, arrays, selections, and lists of them."""
    node = bidding.node("dealer1#1")
    cars = bidding.select(segment="dealer1/Cars")
    for form in (node, "dealer1#1", [node], ["dealer1#1"], np.array([node, node]), np.int64(node)):
        assert bidding.resolve(form).tolist() == [node]
    assert bidding.resolve([cars, "dealer1#1"]).tolist() == [*cars.ids, node]
    assert bidding.resolve([]).tolist() == []
    assert bidding.ordered(["dealer1#1", "and#1"]).tolist() == [node, bidding.node("and#1")]


def test_nodes_given_by_a_mask(bidding: Any) -> None:
    """A Boolean array is not an array of ids."""
    with pytest.raises(GraphError) as error:
        bidding.delete(np.ones(3, dtype=np.bool_))
    assert str(error.value) == (
        "Nodes are given by ids and names, not by an array of bool.\nOf a Boolean mask, give"
        " numpy.flatnonzero."
    )


def test_what_is_in_a_graph(bidding: Any) -> None:
    """Nodes are in a graph until they are deleted, hidden or left out."""
    car = "dealer1/Cars:C2"
    assert car in bidding
    assert bidding.node(car) in bidding
    assert car not in bidding.delete(car)
    assert car not in bidding.zoom_out("dealer1")
    assert "dealer1#1[zoomed]" not in bidding
    assert "dealer1#1[zoomed]" in bidding.zoom_out("dealer1")
    assert 10_000 not in bidding
    with pytest.raises(UnknownNameError):
        assert "dealer9" in bidding


def test_why_a_node_is_not_there(bidding: Any) -> None:
    """The error tells deleted nodes from hidden ones and from those left out."""

    def why(graph: Any, name: str) -> str:
        with pytest.raises(UnknownNameError) as error:
            graph.ancestors(name)
        return str(error.value)

    car = "dealer1/Cars:C2"
    ask = "Ask the graph from which this one was derived."
    assert why(bidding.delete(car), car) == f"{car} was deleted.\n{ask}"
    assert why(bidding.subgraph("and#1/Requests"), car) == f"{car} is outside this subgraph.\n{ask}"
    assert why(bidding, "dealer1#1[zoomed]") == (
        "dealer1#1[zoomed] stands for an invocation of dealer1, which is not zoomed out here.\n"
        "zoom_out('dealer1') first."
    )
    both = bidding.delete(car).zoom_out("agg")
    assert why(both, car) == f"{car} was deleted.\n{ask}"


def test_constants_of_no_module() -> None:
    """A constant that only zoomed-out modules use is gone with them, and the error says so."""
    b = Builder()
    b.add("seven", Kind.VALUE, "7", {"value": [7]})
    b.add("m#1", Kind.INVOCATION, "m", module="m", invocation=1, execution=0)
    b.add("m#1/R", Kind.INPUT, "·", module="m", invocation=1, execution=0)
    b.add("m#1/f", Kind.VALUE, "f", {"value": [1]}, module="m", invocation=1, execution=0)
    b.edges("m#1", "m#1/R")
    b.edges("m#1/R", "m#1/f")
    b.edges("seven", "m#1/f")
    graph = ProvenanceGraph.build(*b.data).zoom_out("m")
    assert graph.names(graph.ids) == ["m#1", "m#1/R", "m#1[zoomed]"]
    with pytest.raises(UnknownNameError) as error:
        graph.value("seven")
    assert str(error.value) == (
        "seven is a constant of modules that are zoomed out.\nzoom_in first: m."
    )


def test_graphs_of_one_store_are_equal(bidding: Any) -> None:
    """Equality does not need the same arrays, and sees nodes, labels and edges."""
    other = ProvenanceGraph.build(*dealership().data)
    assert bidding.equals(other)
    assert bidding.zoom_out("agg").equals(other.zoom_out("agg"))
    assert not bidding.equals(other.delete("dealer1/Cars:C2"))
    b = dealership()
    b.segments.reverse()
    assert bidding.equals(ProvenanceGraph.build(*b.data))
    b.edges("dealer1#1", "agg#1/Bids")
    assert not bidding.equals(ProvenanceGraph.build(*b.data))


def test_graphs_that_differ_in_a_label() -> None:
    """The same names and edges are not enough."""
    graphs = []
    for label in ("+", "δ"):
        b = Builder()
        b.add("n", Kind.DERIVED, label)
        graphs.append(ProvenanceGraph.build(*b.data))
    assert not graphs[0].equals(graphs[1])


def test_operations_leave_a_graph_as_it_was(bidding: Any) -> None:
    """A graph is immutable."""
    nodes, edges = bidding.node_count, bidding.edge_count
    bidding.zoom_out(bidding.modules).delete("input0/Requests:B1").zoom_in("agg")
    bidding.delete("dealer1/Cars:C2").subgraph("dealer1#1/CalcBid")
    assert (bidding.node_count, bidding.edge_count) == (nodes, edges)
    assert bidding.equals(ProvenanceGraph.build(*dealership().data))


def test_description(bidding: Any) -> None:
    """What it says of itself."""
    assert repr(bidding.zoom_out("agg")) == ("<ProvenanceGraph: 31 nodes, 3 modules, 1 zoomed out>")
    assert bidding.modules == ("agg", "and", "dealer1")
    assert bidding.executions == (0,)
    assert len(bidding) == 34


def test_segment_of_a_node(bidding: Any) -> None:
    """The attributes of stored and of zoomed nodes."""
    assert bidding.segment("dealer1/Cars:C2").relation == "Cars"
    zoomed = bidding.zoom_out("agg").segment("agg#1[zoomed]")
    assert (zoomed.kind, zoomed.label, zoomed.invocation) == (Kind.ZOOMED, "agg", 1)
