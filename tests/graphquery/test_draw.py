"""The drawing of a graph."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from graphquery import Kind, ProvenanceGraph
from graphquery.draw import graph_html
from tests.graphquery.builder import Builder


def boxes(html: str) -> list[str]:
    """What is written in the boxes; the whole is well-formed."""
    root = ElementTree.fromstring(html)
    return ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("title")]


def test_invocations_as_boxes(bidding: Any) -> None:
    """A box per invocation and input, self-contained."""
    html = bidding._repr_html_()
    assert boxes(html) == ["Requests", "and#1", "Cars", "dealer1#1", "agg#1"]
    assert "Provenance graph: 34 nodes<" in html
    assert not re.search(r"(href|src|url\()", html)


def test_what_is_zoomed_out_is_marked(bidding: Any) -> None:
    """A zoomed-out module is said and shown; hidden nodes do not count."""
    html = bidding.zoom_out("dealer1")._repr_html_()
    assert "zoomed out: dealer1" in html
    assert html.count("fill-opacity") == 1
    assert "Cars" not in boxes(html)


def many(modules: int, executions: int) -> ProvenanceGraph:
    """Many invocations."""
    b = Builder()
    for module in range(modules):
        for number in range(executions):
            name = f"<m{module}>"
            b.add(f"{name}#{number}", Kind.INVOCATION, name, module=name, invocation=number)
    return ProvenanceGraph.build(*b.data)


def test_bounded_in_size() -> None:
    """Many invocations are drawn by module, of many modules some, and it says so."""
    html = graph_html(many(3, 50))
    assert boxes(html) == ["<m0>", "<m1>", "<m2>"]
    assert "150 invocations and inputs drawn as one box per module" in html
    html = graph_html(many(40, 2), boxes=10)
    assert len(boxes(html)) == 10
    assert "left out: 30 modules with 60 nodes" in html
    assert len(graph_html(many(300, 40))) < 40_000


def test_nothing_to_draw() -> None:
    """An empty graph."""
    html = graph_html(ProvenanceGraph.build([], [], lambda file, column: None))
    assert boxes(html) == []
    assert "0 nodes" in html
