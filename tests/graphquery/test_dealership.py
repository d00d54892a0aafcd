"""The paper's example: every node and edge, Figures 2(b) and 3, Examples 4.1 to 4.5."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graphquery.errors import UnknownNameError, ValuesError
from semiring.semirings import Counting
from tests.graphquery.dealership import FINE, FINE_EDGES

COARSE = {
    "input0/Requests:B1": ("token", ""),
    "and#1": ("m", "and"),
    "and#1/Requests": ("i", "·"),
    "and#1/Requests.out": ("o", "·"),
    "dealer1#1": ("m", "dealer1"),
    "dealer1#1/Requests": ("i", "·"),
    "dealer1#1[zoomed]": ("zoomed", "dealer1"),
    "dealer1#1/Bids": ("o", "·"),
    "dealer1#1/Bids.Price": ("v", "o"),
    "agg#1": ("m", "agg"),
    "agg#1/Bids": ("i", "·"),
    "agg#1/Bids.Price": ("v", "i"),
    "agg#1[zoomed]": ("zoomed", "agg"),
    "agg#1/Best.out": ("o", "·"),
    "agg#1/Best.out.Price": ("v", "o"),
}

COARSE_EDGES = [
    ("input0/Requests:B1", "and#1/Requests"),
    ("and#1", "and#1/Requests"),
    ("and#1/Requests", "and#1/Requests.out"),
    ("and#1", "and#1/Requests.out"),
    ("and#1/Requests.out", "dealer1#1/Requests"),
    ("dealer1#1", "dealer1#1/Requests"),
    ("dealer1#1/Requests", "dealer1#1[zoomed]"),
    ("dealer1#1[zoomed]", "dealer1#1/Bids"),
    ("dealer1#1[zoomed]", "dealer1#1/Bids.Price"),
    ("dealer1#1", "dealer1#1/Bids"),
    ("dealer1#1/Bids", "agg#1/Bids"),
    ("dealer1#1/Bids.Price", "agg#1/Bids.Price"),
    ("agg#1", "agg#1/Bids"),
    ("agg#1/Bids", "agg#1[zoomed]"),
    ("agg#1/Bids.Price", "agg#1[zoomed]"),
    ("agg#1[zoomed]", "agg#1/Best.out"),
    ("agg#1[zoomed]", "agg#1/Best.out.Price"),
    ("agg#1", "agg#1/Best.out"),
]

COUNT = "dealer1#1/NumCarsByModel.NumAvail"


def nodes_of(graph: Any) -> dict[str, tuple[str, str]]:
    """Kind and label of every node, by name."""
    reference = graph.to_networkx()
    return {name: (data["kind"], data["label"]) for name, data in reference.nodes(data=True)}


def edges_of(graph: Any) -> Counter[tuple[str, str]]:
    """Every edge, by names."""
    return Counter((a, b) for a, b, _ in graph.to_networkx().edges)


def test_fine_grained_graph(bidding: Any) -> None:
    """Figure 2(c): the graph has these nodes and edges and no others."""
    assert nodes_of(bidding) == FINE
    assert edges_of(bidding) == Counter(FINE_EDGES)


def test_count_has_two_tensors(bidding: Any) -> None:
    """Example 3.4: C2 and C3 are counted, and C1 is not."""
    behind = bidding.ancestors(COUNT).names()
    assert bidding.value(COUNT) == 2
    assert len(bidding.ancestors(COUNT, 1)) == 2
    assert "dealer1/Cars:C2" in behind
    assert "dealer1/Cars:C3" in behind
    assert "dealer1/Cars:C1" not in behind


def test_coarse_grained_graph(bidding: Any) -> None:
    """Figure 2(b) is the fine graph with dealer1 and the aggregator zoomed out."""
    coarse = bidding.zoom_out("dealer1", "agg")
    assert nodes_of(coarse) == COARSE
    assert edges_of(coarse) == Counter(COARSE_EDGES)


def test_zoom_in_is_the_inverse(bidding: Any) -> None:
    """Example 4.2: zooming back in gives the fine graph, module by module or at once."""
    coarse = bidding.zoom_out("dealer1", "agg")
    assert coarse.zoom_in("dealer1", "agg").equals(bidding)
    assert coarse.zoom_in("dealer1").equals(bidding.zoom_out("agg"))
    assert coarse.zoom_in("agg").zoom_in("dealer1").equals(bidding)
    assert not coarse.equals(bidding)


def test_intermediate_computation(bidding: Any) -> None:
    """Example 4.1: what follows an output is not the computation of the module."""
    hidden = set(FINE) - set(nodes_of(bidding.zoom_out("dealer1")))
    assert "dealer1#1/Inventory:C2" in hidden
    assert "dealer1#1/one" in hidden
    assert COUNT in hidden
    assert {name for name in hidden if not name.startswith("dealer1")} == set()


def test_deleting_a_car(bidding: Any) -> None:
    """Figure 3: without C2 its state node, its join and its tensor are gone, the bid is not."""
    left = bidding.delete("dealer1/Cars:C2")
    gone = {
        "dealer1/Cars:C2",
        "dealer1#1/Cars:C2",
        "dealer1#1/Inventory:C2",
        "dealer1#1/NumCarsByModel.tensors[0]",
    }
    assert nodes_of(left) == {name: data for name, data in FINE.items() if name not in gone}
    assert edges_of(left) == Counter(edge for edge in FINE_EDGES if not gone & set(edge))
    assert left.value(COUNT) == 1
    assert bidding.value(COUNT) == 2


def test_what_a_deletion_leaves_unknown(bidding: Any) -> None:
    """Without C2, CalcBid would have to run again, and so would what is made of its price."""
    left = bidding.delete("dealer1/Cars:C2")
    assert left.stale().names() == [
        "dealer1#1/CalcBid",
        "dealer1#1/Bids.Price",
        "agg#1/Bids.Price",
        "agg#1/Best.tensors",
        "agg#1/Best.Price",
        "agg#1/Best.out.Price",
    ]
    with pytest.raises(ValuesError, match=r"^The value of agg#1/Best\.Price after"):
        left.value("agg#1/Best.Price")
    assert bidding.value("agg#1/Best.Price") == 20_000


def test_deleting_the_request(bidding: Any) -> None:
    """Example 4.4: state tuples, invocations and the constant are all that is left."""
    left = bidding.delete("input0/Requests:B1")
    assert set(nodes_of(left)) == {
        "dealer1/Cars:C1",
        "dealer1/Cars:C2",
        "dealer1/Cars:C3",
        "dealer1#1/Cars:C2",
        "dealer1#1/Cars:C3",
        "dealer1#1/one",
        "and#1",
        "dealer1#1",
        "agg#1",
    }


def test_dependency_of_the_bid(bidding: Any) -> None:
    """Example 4.5: the bid depends on the request and not on C2, but on C2 and C3 together."""
    bid = "dealer1#1/Bids"
    assert bidding.depends(bid, "input0/Requests:B1")
    assert not bidding.depends(bid, "dealer1/Cars:C2")
    assert bidding.depends(COUNT, ["dealer1/Cars:C2", "dealer1/Cars:C3"])
    assert not bidding.depends(bid, ["dealer1/Cars:C2", "dealer1/Cars:C3"])
    assert not bidding.depends([bid, COUNT], ["dealer1/Cars:C2", "dealer1/Cars:C3"])


def test_deleting_in_the_coarse_graph(bidding: Any) -> None:
    """Without the request the coarse graph has its invocations left; zoomed in, Example 4.4."""
    coarse = bidding.zoom_out("dealer1", "agg").delete("input0/Requests:B1")
    assert set(nodes_of(coarse)) == {"and#1", "dealer1#1", "agg#1"}
    assert coarse.zoom_in("dealer1", "agg").equals(bidding.delete("input0/Requests:B1"))


def test_what_is_zoomed_out_cannot_be_deleted(bidding: Any) -> None:
    """A node inside a zoomed-out module is not in the graph, and the error says what to do."""
    coarse = bidding.zoom_out("dealer1")
    with pytest.raises(UnknownNameError) as error:
        coarse.delete("dealer1/Cars:C2")
    assert str(error.value) == (
        "dealer1/Cars:C2 is inside dealer1, which is zoomed out.\nzoom_in('dealer1') first."
    )


def test_counting(bidding: Any) -> None:
    """One bid; two cars join; and none without the request."""
    counted = bidding.evaluate(Counting())
    assert counted.value("dealer1#1/Bids") == 1
    assert counted.value("dealer1#1/Inventory:C2") == 1
    without = bidding.evaluate(Counting(), {"input0/Requests:B1": 0})
    assert without.value("dealer1#1/Bids") == 0
    assert without.value("dealer1#1/Cars:C2") == 1
