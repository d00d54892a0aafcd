"""The picture of a workflow."""

from __future__ import annotations

from xml.etree import ElementTree

from lipstick.workflow import Module, Relation, Specification, Workflow
from lipstick.workflow.examples import dealership

SVG = "{http://www.w3.org/2000/svg}"


def _texts(workflow: Workflow) -> list[str]:
    root = ElementTree.fromstring(workflow._repr_html_())
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def test_nodes_edges_and_state_are_drawn() -> None:
    workflow = dealership()
    root = ElementTree.fromstring(workflow._repr_html_())
    assert len(list(root.iter(f"{SVG}path"))) == len(workflow.edges)
    texts = _texts(workflow)
    assert "bid1: dealer1" in texts
    assert "request" in texts
    assert sum(text.startswith("Cars, SoldCars") for text in texts) == 8


def test_names_are_text_and_nothing_else() -> None:
    relation = Relation("a int")
    module = Module("m", Specification("s", {"A": relation}, {"B": relation}, {"B": "SELECT 1"}))
    workflow = Workflow("<script>", {"<b>&": module}, [], "<b>&", ())
    assert "<script>" not in workflow._repr_html_()
    assert _texts(workflow) == ["<b>&: m"]


def test_what_is_left_out_is_said() -> None:
    relation = Relation("a int")
    module = Module(
        "m", Specification("s", {"A": relation}, {"A2": relation}, {"A2": "SELECT * FROM A"})
    )
    nodes = {f"n{i}": module for i in range(70)}
    edges = [(f"n{i}", f"n{i + 1}", {"A2": "A"}) for i in range(69)]
    workflow = Workflow("w", nodes, edges, "n0", "n69")
    assert _texts(workflow)[-1] == "and 10 more nodes, not drawn"
