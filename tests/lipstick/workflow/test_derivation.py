"""Nodes and edges of every operator, and of state that is carried over, replaced and deleted."""

from __future__ import annotations

import numpy as np
import pytest
from pyspark.sql import SparkSession

from graphquery import ProvenanceGraph
from lipstick.workflow import Module, Relation, Run, Specification, StateQuery, Workflow

pytestmark = [pytest.mark.spark, pytest.mark.classic, pytest.mark.engines("memory")]

R = Relation("a int, b string, v int", key="a")
S = Relation("a int, w int", key="a")
OPERATORS = {
    "Filtered": "SELECT a, b, v FROM R WHERE a < 3",
    "Projected": "SELECT b FROM Filtered",
    "United": "SELECT * FROM S UNION ALL SELECT * FROM S WHERE w > 5",
    "Joined": "SELECT R.a, R.b, R.v, S.w FROM R JOIN S ON R.a = S.a",
    "JoinedPart": "SELECT R.b, S.w FROM R JOIN S ON R.a = S.a",
    "Different": "SELECT DISTINCT b FROM R",
    "Grouped": "SELECT b, count(v) AS n, sum(DISTINCT v) AS s, max(v) + 1 AS m FROM R GROUP BY b",
    "Member": "SELECT a, b, v FROM R WHERE a IN (SELECT a FROM S)",
    "NoMember": "SELECT a, b, v FROM R LEFT ANTI JOIN S ON R.a = S.a",
    "Counted": "SELECT count(*) AS n FROM S",
    "Nothing": "SELECT count(*) AS n FROM R WHERE a > 100",
    "Nested": "SELECT n, count(*) AS times FROM "
    "(SELECT b, count(*) AS n FROM R GROUP BY b) GROUP BY n",
    "Plus": "SELECT b, n + 1 AS more FROM Grouped",
    "Out": "SELECT a, b, v FROM Filtered",
}


@pytest.fixture(scope="module")
def graph(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> ProvenanceGraph:
    """One module with a relation for every operator."""
    module = Module("m", Specification("kind", {"R": R, "S": S}, {"Out": R}, OPERATORS))
    workflow = Workflow("operators", {"m": module}, [], "m", "m")
    given = {"R": [(1, "x", 10), (2, "x", None), (3, "y", 10)], "S": [(1, 5), (3, 7)]}
    return workflow.run(spark, [given], store=tmp_path_factory.mktemp("operators") / "run").graph()


def _made(graph: ProvenanceGraph, relation: str) -> dict[str, tuple[str, list[str]]]:
    """Nodes of a relation, without the invocation's name: their labels and predecessors."""
    nodes = {}
    for node in graph.ids.tolist():
        name = graph.name(node).removeprefix("m#1/")
        segment = graph.segment(node).name.removeprefix("m#1/")
        if segment == relation or segment.startswith(f"{relation}."):
            before = graph.names(graph.incoming(np.array([node])).nodes)
            label = graph.segment(node).label
            nodes[name] = (label, sorted(n.removeprefix("m#1/") for n in before))
    return nodes


def test_a_filter_makes_no_nodes(graph: ProvenanceGraph) -> None:
    assert _made(graph, "Filtered") == {}
    assert _made(graph, "Projected") == {
        "Projected[0]": ("+", ["R:1"]),
        "Projected[1]": ("+", ["R:2"]),
    }


def test_a_union_makes_no_nodes(graph: ProvenanceGraph) -> None:
    assert _made(graph, "United") == {}


def test_a_join_is_a_product(graph: ProvenanceGraph) -> None:
    assert _made(graph, "Joined") == {
        "Joined:1": ("·", ["R:1", "S:1"]),
        "Joined:3": ("·", ["R:3", "S:3"]),
    }
    assert _made(graph, "JoinedPart") == {
        "JoinedPart.join[0]": ("·", ["R:1", "S:1"]),
        "JoinedPart.join[1]": ("·", ["R:3", "S:3"]),
        "JoinedPart[0]": ("+", ["JoinedPart.join[0]"]),
        "JoinedPart[1]": ("+", ["JoinedPart.join[1]"]),
    }


def test_distinct_is_delta(graph: ProvenanceGraph) -> None:
    assert _made(graph, "Different") == {
        "Different[0]": ("δ", ["R:1", "R:2"]),
        "Different[1]": ("δ", ["R:3"]),
    }


def test_an_aggregate_has_a_tensor_per_value(graph: ProvenanceGraph) -> None:
    nodes = _made(graph, "Grouped")
    assert nodes["Grouped.group[0]"] == ("δ", ["R:1", "R:2"])
    assert nodes["Grouped[1]"] == ("+", ["Grouped.group[1]"])
    # NULL is not a value: R:2 has no tensor.
    assert nodes["Grouped.n[0]"] == ("COUNT", ["Grouped.n.tensors[0]"])
    assert nodes["Grouped.n.tensors[0]"] == ("⊗", ["Grouped.n.values:10", "R:1"])
    assert nodes["Grouped.n.tensors[1]"] == ("⊗", ["Grouped.n.values:10", "R:3"])
    assert nodes["Grouped.n.values:10"] == ("", [])
    assert nodes["Grouped.s.distinct[0]"] == ("δ", ["R:1"])
    assert nodes["Grouped.s.tensors[0]"] == ("⊗", ["Grouped.s.distinct[0]", "Grouped.s.values:10"])
    label, before = nodes["Grouped.m[0]"]
    assert "MAX" not in label
    assert [graph.segment(f"m#1/{name}").label for name in before] == ["MAX"]
    assert [graph.value(f"m#1/Grouped.{name}[0]") for name in "nsm"] == [1, 10, 11]


def test_a_membership_is_a_factor(graph: ProvenanceGraph) -> None:
    nodes = _made(graph, "Member")
    products = {name: before for name, (label, before) in nodes.items() if label == "·"}
    assert sorted(products) == ["Member:1", "Member:3"]
    (group,) = (name for name in products["Member:1"] if name != "R:1")
    assert nodes[group] == ("δ", ["S:1"])


def test_an_absence_makes_no_nodes(graph: ProvenanceGraph) -> None:
    assert _made(graph, "NoMember") == {}


def test_an_aggregate_without_grouping_is_there_whatever_the_input(graph: ProvenanceGraph) -> None:
    nodes = _made(graph, "Counted")
    assert nodes["Counted"] == ("+", ["m#1"])
    assert nodes["Counted.n"] == ("COUNT", ["Counted.n.tensors[0]", "Counted.n.tensors[1]"])
    assert _made(graph, "Nothing") == {"Nothing": ("+", ["m#1"]), "Nothing.n": ("COUNT", [])}
    assert "m#1/Counted" in graph.delete(["input#0/m/S:1", "input#0/m/S:3"])


def test_inner_groups_are_nodes_of_their_own(graph: ProvenanceGraph) -> None:
    nodes = _made(graph, "Nested")
    inner = [name for name, (label, _) in nodes.items() if label == "δ" and ".b" in name]
    assert sorted(nodes[name][1] for name in inner) == [["R:1", "R:2"], ["R:3"]]
    outer = [name for name, (label, _) in nodes.items() if label == "δ" and ".b" not in name]
    assert len(outer) == 2


def test_a_computed_value_is_made_of_values(graph: ProvenanceGraph) -> None:
    nodes = _made(graph, "Plus")
    assert nodes["Plus.more[0]"] == ("n + 1", ["Grouped.n[0]"])
    assert nodes["Plus[0]"] == ("+", ["Grouped[0]"])


def test_what_leaves_has_a_node_of_its_own(graph: ProvenanceGraph) -> None:
    nodes = _made(graph, "Out")
    assert nodes["Out.made[0]"] == ("+", ["R:1"])
    assert nodes["Out:1"] == ("·", ["Out.made[0]", "m#1"])


# -- state ---------------------------------------------------------------------------------------

T = Relation("k int, v int", key="k")


@pytest.fixture(scope="module")
def changing(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A state that is replaced by the greater values, and one whose values are updated."""
    specification = Specification(
        "keeper",
        {"News": T},
        {"Was": Relation("k int, old int, new int", key="k")},
        {"Was": "SELECT T.k, o.v AS old, T.v AS new FROM T JOIN before_T o ON T.k = o.k"},
        state={"T": T, "U": T},
        query_state=StateQuery(
            {"Every": "SELECT k, v FROM T UNION ALL SELECT k, v FROM News"},
            replace={"T": "SELECT k, max(v) AS v FROM Every GROUP BY k"},
            delete={"U": "k IN (SELECT k FROM News)"},
            insert={"U": "SELECT k, v FROM News"},
        ),
    )
    workflow = Workflow("keeper", {"keep": Module("keep", specification)}, [], "keep", "keep")
    state = {"keep": {"T": [(1, 5), (2, 5)], "U": [(1, 5), (2, 5)]}}
    inputs = [{"News": [(2, 9), (3, 1)]}, {"News": [(1, 4), (3, 0)]}]
    store = tmp_path_factory.mktemp("state") / "run"
    return workflow.run(spark, inputs, state=state, store=store)


def _state(run: Run, relation: str, after: int) -> list[tuple[int, int]]:
    return sorted(tuple(row) for row in run.state("keep", relation, after=after).collect())


def test_state_after_every_execution(changing: Run) -> None:
    assert [_state(changing, "T", e) for e in (-1, 0, 1)] == [
        [(1, 5), (2, 5)],
        [(1, 5), (2, 9), (3, 1)],
        [(1, 5), (2, 9), (3, 1)],
    ]
    assert [_state(changing, "U", e) for e in (0, 1)] == [
        [(1, 5), (2, 9), (3, 1)],
        [(1, 4), (2, 9), (3, 0)],
    ]


def test_q_out_sees_the_new_state_and_the_old(changing: Run) -> None:
    assert sorted(tuple(row) for row in changing.output(0).collect()) == [(1, 5, 5), (2, 5, 9)]


def test_tuples_that_stay_get_no_new_derivation(changing: Run) -> None:
    segments = changing.snapshot.segments
    assert segments["keep#1/T.new"].count == 2
    assert "keep#2/T.new" not in segments
    assert segments["keep#2/U.new"].count == 2
    graph = changing.graph()
    before = graph.names(graph.incoming(graph.resolve(["keep#2/T:2", "keep#2/T:1"])).nodes)
    assert sorted(before) == ["keep#1/T.new:2", "keep#2", "keep#2", "keep/T:1"]


def test_state_that_is_not_used_has_no_node(changing: Run) -> None:
    assert "keep#1/U" not in changing.snapshot.segments
