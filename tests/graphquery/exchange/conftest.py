"""Graphs to exchange: the example, and what zooming and deleting make of it."""

from __future__ import annotations

import pytest

from graphquery import ProvenanceGraph
from tests.graphquery.builder import Builder
from tests.graphquery.dealership import dealership


@pytest.fixture
def empty() -> ProvenanceGraph:
    """No nodes."""
    return ProvenanceGraph.build(*Builder().data)


@pytest.fixture
def fine() -> ProvenanceGraph:
    """The example in full."""
    return ProvenanceGraph.build(*dealership().data)


VARIANTS = {
    "fine": lambda graph: graph,
    "dealer zoomed": lambda graph: graph.zoom_out("dealer1"),
    "all zoomed": lambda graph: graph.zoom_out(*graph.modules),
    "car deleted": lambda graph: graph.delete("dealer1/Cars:C2"),
    "zoomed and deleted": lambda graph: graph.zoom_out("agg").delete("dealer1/Cars:C2"),
    "request deleted": lambda graph: graph.delete("input0/Requests:B1"),
    "subgraph": lambda graph: graph.subgraph("dealer1#1/Inventory:C3"),
}


@pytest.fixture(params=sorted(VARIANTS))
def variant(request: pytest.FixtureRequest, fine: ProvenanceGraph) -> ProvenanceGraph:
    """The example and graphs made of it."""
    return VARIANTS[request.param](fine)
