"""Zooming where it meets deletion and malformed requests; the rest is in the properties."""

from __future__ import annotations

from typing import Any

import pytest

from graphquery import UnknownNameError


def test_unknown_modules(bidding: Any) -> None:
    """The error has the modules like it."""
    for zoom in (bidding.zoom_out, bidding.zoom_in):
        with pytest.raises(UnknownNameError) as error:
            zoom(["agg", "dealer"])
        assert str(error.value) == ("The graph has no module 'dealer'.\nDid you mean dealer1?")


def test_nothing_to_do(bidding: Any) -> None:
    """Zooming out twice, or in on what is not zoomed out, changes nothing."""
    coarse = bidding.zoom_out("agg")
    assert coarse.zoom_out("agg") is coarse
    assert coarse.zoom_in("dealer1") is coarse
    assert bidding.zoom_out() is bidding


def test_deleting_a_zoomed_node(bidding: Any) -> None:
    """It takes the outputs along; zoomed in, it is all that the node stood for."""
    coarse = bidding.zoom_out("dealer1").delete("dealer1#1[zoomed]")
    assert "dealer1#1/Requests" in coarse
    assert "dealer1#1/Bids" not in coarse
    assert "agg#1/Best.out" not in coarse
    fine = coarse.zoom_in("dealer1")
    assert "dealer1#1/CalcBid" not in fine
    assert "dealer1#1/Cars:C2" not in fine
    assert "dealer1/Cars:C2" in fine
    assert "dealer1#1/Requests" in fine
    assert "dealer1#1/Bids" not in fine


def test_invocation_that_was_deleted(bidding: Any) -> None:
    """An invocation without its m-node has no zoomed node."""
    coarse = bidding.delete("dealer1#1").zoom_out("dealer1")
    assert "dealer1#1[zoomed]" not in coarse
    assert "dealer1#1/Requests" not in coarse
    assert "and#1/Requests.out" in coarse


def test_subgraph_of_a_zoomed_graph(bidding: Any) -> None:
    """Zooming in gives the subgraph of what is then seen."""
    coarse = bidding.zoom_out("dealer1", "agg").subgraph("dealer1#1/Bids")
    assert coarse.zoom_in("dealer1", "agg").equals(bidding.subgraph("dealer1#1/Bids"))
