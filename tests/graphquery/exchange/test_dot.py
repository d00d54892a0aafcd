"""DOT: the text, its clusters, and what must be escaped."""

from __future__ import annotations

import re

import pytest

from graphquery import ProvenanceGraph
from graphquery.errors import GraphError
from graphquery.exchange import to_dot
from graphquery.model import Kind, Port
from tests.graphquery.builder import Builder


def test_empty(empty: ProvenanceGraph) -> None:
    """A drawing of nothing."""
    assert to_dot(empty) == "digraph provenance {\n  rankdir=BT;\n  node [fontsize=10];\n}\n"


def test_small_graph() -> None:
    """Every line of a small one."""
    b = Builder()
    b.add("R", Kind.TOKEN, "", {"k": ["x"]}, ("k",), relation="R")
    b.add("m/S", Kind.TOKEN, "", 1, module="m")
    b.add("m#1", Kind.INVOCATION, "m", module="m", invocation=1)
    b.add("m#1/D", Kind.DERIVED, "⊖", module="m", invocation=1)
    b.add("m#1/T", Kind.VALUE, "⊗", module="m", invocation=1)
    b.add("m#1/C", Kind.VALUE, "SUM", {"value": [7]}, module="m", invocation=1)
    b.edges("R", "m#1/D")
    b.edges("m/S", "m#1/D", port=Port.SUBTRAHEND)
    b.edges("m#1/C", "m#1/T", port=Port.VALUE)
    assert (
        to_dot(ProvenanceGraph.build(*b.data))
        == """\
digraph provenance {
  rankdir=BT;
  node [fontsize=10];
  n0 [label="R:x", shape=circle, tooltip="R:x"];
  subgraph "cluster_m" {
    label="m";
    n1 [label="S", shape=circle, tooltip="m/S"];
    subgraph "cluster_m#1" {
      label="m#1";
      style=dotted;
      n2 [label="m", shape=doublecircle, tooltip="m#1"];
      n3 [label="⊖", shape=circle, tooltip="m#1/D"];
      n4 [label="⊗", shape=box, tooltip="m#1/T"];
      n5 [label="SUM\\n7", shape=box, tooltip="m#1/C"];
    }
  }
  n0 -> n3;
  n1 -> n3 [style=dashed, arrowhead="tee"];
  n5 -> n4 [style=dotted];
}
"""
    )


def test_example(variant: ProvenanceGraph) -> None:
    """Every node and edge is drawn once, and braces and quotes are balanced."""
    text = to_dot(variant)
    drawn = re.findall(r"^ *n(\d+) \[label=", text, re.MULTILINE)
    assert sorted(map(int, drawn)) == variant.ids.tolist()
    assert len(re.findall(r"^  n\d+ -> n\d+", text, re.MULTILINE)) == variant.edge_count
    bare = re.sub(r'"(\\.|[^"\\])*"', "", text)
    assert '"' not in bare
    assert bare.count("{") == bare.count("}")


def test_zoomed(fine: ProvenanceGraph) -> None:
    """A zoomed invocation is one node within its module."""
    text = to_dot(fine.zoom_out("dealer1"))
    assert 'label="dealer1", shape=doublecircle, tooltip="dealer1#1[zoomed]"' in text


def test_escaped() -> None:
    """Quotes, backslashes and line ends in labels."""
    b = Builder()
    b.add("a", Kind.DERIVED, 'f("\\\n\0")')
    assert 'label="f(\\"\\\\\\n\ufffd\\")"' in to_dot(ProvenanceGraph.build(*b.data))


def test_too_large(fine: ProvenanceGraph) -> None:
    """Graphs that could not be read are refused."""
    with pytest.raises(
        GraphError, match=r"of 34 nodes is too large for DOT; the limit is 33\.\nZoom out, take"
    ):
        to_dot(fine, limit=33)
