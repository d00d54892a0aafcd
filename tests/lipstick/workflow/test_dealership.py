"""The paper's dealership: the graph of dealer1 and the aggregator, node by node.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Examples 2.1 to 4.5. The
text has no edges of its figures: those here follow from its definitions by hand.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from graphquery import Kind, ProvenanceGraph
from graphquery.errors import ValuesError
from lipstick.workflow import Run
from lipstick.workflow.examples import dealership

pytestmark = [pytest.mark.spark, pytest.mark.engines("memory")]

STATE = {
    "dealer1": {"Cars": [("C1", "Accord"), ("C2", "Civic"), ("C3", "Civic")]},
    "dealer2": {"Cars": [("D1", "Civic")]},
}
INPUT: dict[str, Any] = {"Request": [("P1", "B1", "Civic")], "Choice": [("B1", True)]}

D = "dealer1#1/"
COUNT = f"{D}NumCarsByModel.NumAvail"
DEALER1: dict[str, tuple[Kind, str, list[str]]] = {
    "dealer1#1": (Kind.INVOCATION, "dealer1", []),
    f"{D}Requests:B1": (Kind.INPUT, "·", ["and#1/Requests:B1", "dealer1#1"]),
    f"{D}Cars:C2": (Kind.STATE, "·", ["dealer1/Cars:C2", "dealer1#1"]),
    f"{D}Cars:C3": (Kind.STATE, "·", ["dealer1/Cars:C3", "dealer1#1"]),
    f"{D}ReqModel": (Kind.DERIVED, "+", [f"{D}Requests:B1"]),
    f"{D}Inventory:C2": (Kind.DERIVED, "·", [f"{D}Cars:C2", f"{D}ReqModel"]),
    f"{D}Inventory:C3": (Kind.DERIVED, "·", [f"{D}Cars:C3", f"{D}ReqModel"]),
    f"{D}NumCarsByModel.group": (Kind.DERIVED, "δ", [f"{D}Inventory:C2", f"{D}Inventory:C3"]),
    f"{D}NumCarsByModel": (Kind.DERIVED, "+", [f"{D}NumCarsByModel.group"]),
    f"{COUNT}.values:1": (Kind.VALUE, "", []),
    f"{COUNT}.tensors[0]": (Kind.VALUE, "⊗", [f"{D}Inventory:C2", f"{COUNT}.values:1"]),
    f"{COUNT}.tensors[1]": (Kind.VALUE, "⊗", [f"{D}Inventory:C3", f"{COUNT}.values:1"]),
    COUNT: (Kind.VALUE, "COUNT", [f"{COUNT}.tensors[0]", f"{COUNT}.tensors[1]"]),
    f"{D}AllInfoByModel.join": (Kind.DERIVED, "·", [f"{D}Requests:B1", f"{D}NumCarsByModel"]),
    f"{D}AllInfoByModel:B1": (Kind.DERIVED, "+", [f"{D}AllInfoByModel.join"]),
    f"{D}InventoryBids.new:B1": (Kind.DERIVED, "+", [f"{D}AllInfoByModel:B1"]),
    f"{D}InventoryBids.new.Amount": (Kind.VALUE, "CalcBid", [f"{D}AllInfoByModel:B1", COUNT]),
    f"{D}Bids.made.join": (Kind.DERIVED, "·", [f"{D}InventoryBids.new:B1", f"{D}Requests:B1"]),
    f"{D}Bids.made": (Kind.DERIVED, "+", [f"{D}Bids.made.join"]),
    f"{D}Bids.Price": (Kind.VALUE, "o", [f"{D}InventoryBids.new.Amount"]),
    f"{D}Bids:B1": (Kind.OUTPUT, "·", [f"{D}Bids.made", "dealer1#1"]),
}

A = "aggregate#1/"
MIN = f"{A}Least.Price"
FIRST = f"{A}BestBid.made.Dealer"
AGGREGATE: dict[str, tuple[Kind, str, list[str]]] = {
    "aggregate#1": (Kind.INVOCATION, "aggregate", []),
    f"{A}Bids1:B1": (Kind.INPUT, "·", ["dealer1#1/Bids:B1", "aggregate#1"]),
    f"{A}Bids2:B1": (Kind.INPUT, "·", ["dealer2#1/Bids:B1", "aggregate#1"]),
    f"{A}AllBids[0]": (Kind.DERIVED, "+", [f"{A}Bids1:B1"]),
    f"{A}AllBids[1]": (Kind.DERIVED, "+", [f"{A}Bids2:B1"]),
    f"{A}Least.group": (Kind.DERIVED, "δ", [f"{A}AllBids[0]", f"{A}AllBids[1]"]),
    f"{A}Least:B1": (Kind.DERIVED, "+", [f"{A}Least.group"]),
    f"{A}Bids1.Price": (Kind.VALUE, "i", ["dealer1#1/Bids.Price"]),
    f"{A}Bids2.Price": (Kind.VALUE, "i", ["dealer2#1/Bids.Price"]),
    f"{MIN}.tensors[0]": (Kind.VALUE, "⊗", [f"{A}AllBids[0]", f"{A}Bids1.Price"]),
    f"{MIN}.tensors[1]": (Kind.VALUE, "⊗", [f"{A}AllBids[1]", f"{A}Bids2.Price"]),
    MIN: (Kind.VALUE, "MIN", [f"{MIN}.tensors[0]", f"{MIN}.tensors[1]"]),
    f"{A}BestBid.made.join": (Kind.DERIVED, "·", [f"{A}AllBids[0]", f"{A}Least:B1"]),
    f"{A}BestBid.made.condition1": (
        Kind.DERIVED,
        "[Price = Price]",
        [f"{A}BestBid.made.join", f"{A}Bids1.Price", MIN],
    ),
    f"{A}BestBid.made.where": (
        Kind.DERIVED,
        "·",
        [f"{A}BestBid.made.join", f"{A}BestBid.made.condition1"],
    ),
    f"{A}BestBid.made.group": (Kind.DERIVED, "δ", [f"{A}BestBid.made.where"]),
    f"{A}BestBid.made": (Kind.DERIVED, "+", [f"{A}BestBid.made.group"]),
    f"{FIRST}.values:1": (Kind.VALUE, "", []),
    f"{FIRST}.tensors": (Kind.VALUE, "⊗", [f"{A}BestBid.made.where", f"{FIRST}.values:1"]),
    FIRST: (Kind.VALUE, "MIN", [f"{FIRST}.tensors"]),
    f"{A}BestBid.Dealer": (Kind.VALUE, "o", [FIRST]),
    f"{A}BestBid:B1": (Kind.OUTPUT, "·", [f"{A}BestBid.made", "aggregate#1"]),
}


@pytest.fixture(scope="module")
def run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One request, for which dealer1 makes the better bid, which is accepted."""
    store = tmp_path_factory.mktemp("dealership") / "run"
    return dealership().run(spark, [INPUT], state=STATE, store=store)


@pytest.fixture(scope="module")
def graph(run: Run) -> ProvenanceGraph:
    return run.graph()


def _nodes(graph: ProvenanceGraph, module: str, invocation: int) -> dict[str, Any]:
    """The nodes of an invocation, each with its kind, label and predecessors."""
    nodes = {}
    for node in graph.ids.tolist():
        segment = graph.segment(node)
        if (segment.module, segment.invocation) == (module, invocation):
            before = graph.names(graph.incoming(np.array([node])).nodes)
            nodes[graph.name(node)] = (segment.kind, segment.label, Counter(before))
    return nodes


def _expected(nodes: dict[str, tuple[Kind, str, list[str]]]) -> dict[str, Any]:
    return {name: (kind, label, Counter(before)) for name, (kind, label, before) in nodes.items()}


def test_the_buyer_gets_a_car(run: Run) -> None:
    assert [tuple(row) for row in run.output(0).collect()] == [("C2", "B1")]
    assert [tuple(r) for r in run.state("dealer1", "SoldCars").collect()] == [("C2", "B1")]
    bid = run.state("dealer1", "InventoryBids").collect()
    assert [tuple(row) for row in bid] == [("B1", "P1", "Civic", 20_000)]
    assert run.state("dealer2", "SoldCars").count() == 0


def test_every_node_and_edge_of_dealer1(graph: ProvenanceGraph) -> None:
    assert _nodes(graph, "dealer1", 1) == _expected(DEALER1)


def test_every_node_and_edge_of_the_aggregator(graph: ProvenanceGraph) -> None:
    assert _nodes(graph, "aggregate", 1) == _expected(AGGREGATE)


def test_a_car_less_is_a_count_less(graph: ProvenanceGraph) -> None:
    left = graph.delete("dealer1/Cars:C2")
    assert "dealer1#1/Bids:B1" in left
    assert not graph.depends("dealer1#1/Bids:B1", "dealer1/Cars:C2")
    assert left.value(COUNT) == 1
    assert graph.value(COUNT) == 2
    assert f"{COUNT}.tensors[0]" not in left
    assert f"{COUNT}.tensors[1]" in left


def test_what_a_black_box_would_have_said_is_not_known(graph: ProvenanceGraph) -> None:
    left = graph.delete("dealer1/Cars:C2")
    for node in ("dealer1#1/InventoryBids.new.Amount", "dealer1#1/Bids.Price", MIN):
        with pytest.raises(ValuesError):
            left.value(node)
    assert left.value("dealer2#1/Bids.Price") == graph.value("dealer2#1/Bids.Price") == 21_000


def test_without_the_request_only_state_and_invocations_are_left(graph: ProvenanceGraph) -> None:
    assert graph.depends("dealer1#1/Bids:B1", "input#0/request/Request:B1")
    left = graph.delete("input#0/request/Request:B1")
    choice = "input#0/choice/Choice:B1"
    chosen = {choice, *left.names(left.descendants(choice).ids)}
    rest = [left.segment(name) for name in left.names(left.ids) if name not in chosen]
    assert {(s.kind, s.label == "") for s in rest} == {
        (Kind.INVOCATION, False),
        (Kind.STATE, False),
        (Kind.TOKEN, True),
        (Kind.VALUE, True),
    }


def test_zooming_out_and_in(graph: ProvenanceGraph) -> None:
    coarse = graph.zoom_out("dealer1", "aggregate")
    assert set(DEALER1) & set(coarse.names(coarse.ids)) == {
        "dealer1#1",
        "dealer1#1/Requests:B1",
        "dealer1#1/Bids:B1",
        "dealer1#1/Bids.Price",
    }
    again = coarse.zoom_in("dealer1", "aggregate")
    assert np.array_equal(again.ids, graph.ids)


def test_zooming_out_all_leaves_inputs_and_outputs(graph: ProvenanceGraph) -> None:
    coarse = graph.zoom_out(*graph.modules)
    kinds = {coarse.segment(int(node)).kind for node in coarse.ids}
    assert kinds == set(Kind) - {Kind.STATE, Kind.DERIVED}
    values = [graph.segment(int(n)) for n in coarse.ids if graph.segment(int(n)).kind is Kind.VALUE]
    assert {segment.label for segment in values} == {"i", "o"}


def test_a_sold_car_is_of_the_invocation_that_sold_it(graph: ProvenanceGraph) -> None:
    sold = graph.segment("dealer1#2/SoldCars.new:C2")
    assert (sold.module, sold.invocation, sold.execution) == ("dealer1", 2, 0)
    assert graph.depends("car#1/Car:B1", "dealer1/Cars:C2")
