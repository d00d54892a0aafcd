"""The figures of the paper as graphs: Figs 4, 6 and 12 are one script before, between, after."""

from __future__ import annotations

from lipstick.systems.scripts import text_provenance
from lipstick.systems.scripts.facts import catalogue
from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import NodeKind, Role
from lipstick.systems.scripts.reading.read import read
from lipstick.systems.scripts.rules import rewrite
from lipstick.systems.scripts.rules.flow_transformation import conditional
from lipstick.systems.scripts.script_text import script_of

SCRIPT = """\
choice=raw_input("+/-")
a=10
b=5
if choice=="+":
  c=a+b
else:
  c=a-b
result=c
"""


def _named(graph: ScriptGraph) -> dict[str, str]:
    return {node.label: node.name for node in graph.nodes.values() if not node.hidden}


def _edges(graph: ScriptGraph) -> set[tuple[str, str]]:
    pairs = ((graph.nodes[e.source], graph.nodes[e.target]) for e, _ in graph.edges())
    return {(a.label, b.label) for a, b in pairs if not a.hidden and not b.hidden}


def test_fig_4_is_the_initial_graph() -> None:
    graph = read(script_of(SCRIPT), catalogue()).graph
    assert _named(graph) == {
        "C1": "'+/-'", "SP1": "raw_input", "V1": "raw_input", "P1": "=", "V2": "choice",
        "C2": "10", "P2": "=", "V3": "a", "C3": "5", "P3": "=", "V4": "b",
        "C4": "'+'", "P4": "==", "V5": "==",
        "P5": "+", "V6": "+", "P6": "=", "V7": "c", "P7": "if",
        "P8": "-", "V8": "-", "P9": "=", "V9": "c", "P10": "else",
        "P11": "if", "P12": "=", "V10": "result",
    }  # fmt: skip
    assert _edges(graph) == {
        ("C1", "SP1"), ("SP1", "V1"), ("V1", "P1"), ("P1", "V2"),
        ("C2", "P2"), ("P2", "V3"), ("C3", "P3"), ("P3", "V4"),
        ("V2", "P4"), ("C4", "P4"), ("P4", "V5"),
        ("V3", "P5"), ("V4", "P5"), ("P5", "V6"), ("V6", "P6"), ("P6", "V7"),
        ("V3", "P8"), ("V4", "P8"), ("P8", "V8"), ("V8", "P9"), ("P9", "V9"),
        ("V5", "P7"), ("V7", "P7"), ("V5", "P10"), ("V9", "P10"), ("P7", "P11"), ("P10", "P11"),
        ("P11", "P12"), ("P12", "V10"),
    }  # fmt: skip


def test_fig_6_has_selections_and_a_union_for_the_block() -> None:
    graph = read(script_of(SCRIPT), catalogue()).graph
    assert conditional(graph) == 1
    operations = {node.operation for node in graph.nodes.values()}
    assert operations.isdisjoint({"block", "branch", "head"})
    assert all(edge.role is Role.DATA for edge, _ in graph.edges())
    [union] = graph.of_operation("union")
    [joined] = graph.successors(union.id)
    assert [graph.nodes[n].label for n in graph.successors(joined)] == ["P12"]
    chosen = [graph.nodes[n] for n in graph.predecessors(union.id)]
    assert [(view.kind, view.name) for view in chosen] == [(NodeKind.VIEW, "c")] * 2
    selections = graph.of_operation("selection")
    assert [selection.name for selection in selections] == ["if", "else"]
    for selection, candidate in zip(selections, ("V7", "V9"), strict=True):
        before = {graph.nodes[n].label for n in graph.predecessors(selection.id)}
        assert before == {candidate, "V5"}
        assert (selection.ratio, selection.trigger, selection.window.size) == ("1:1", 1, 1)
    assert [n.label for n in graph.nodes.values() if n.initial] == ["V7", "V9"]


def test_fig_12_has_processing_elements_alone() -> None:
    graph = read(script_of(SCRIPT), catalogue()).graph
    before = len(graph.nodes)
    rewrite(graph)
    kinds = {node.kind for node in graph.nodes.values()}
    assert kinds == {NodeKind.SOURCE, NodeKind.COMPUTING}
    steps = {node.label: (node.name, tuple(node.constants)) for node in graph.nodes.values()}
    assert steps["SP1"] == ("raw_input", ("+/-",))
    assert steps["P2"] == ("=", (10,))
    assert steps["P4"] == ("==", ("+",))
    names = {node.label: node.name for node in graph.nodes.values()}
    pairs = {(names[a], names[b]) for a, b in _edges(graph)}
    assert pairs == {
        ("raw_input", "=="), ("=", "+"), ("=", "-"), ("==", "if"), ("==", "else"), ("+", "if"),
        ("-", "else"), ("if", "union"), ("else", "union"), ("union", "="),
    }  # fmt: skip
    assert len(graph.nodes) == 10 < before


def test_the_versions_of_c_are_told_apart() -> None:
    provenance = text_provenance(SCRIPT)
    assert [line.number for line in provenance.depends("c@5").lines] == [1, 2, 3, 4, 5][1:]
    assert [line.number for line in provenance.depends("result").lines] == [1, 2, 3, 4, 5, 7, 8]
    assert provenance.depends("result").files == ("<stdin>",)
    assert provenance.depends("result").certain
