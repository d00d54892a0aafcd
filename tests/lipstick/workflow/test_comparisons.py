"""Conditions on aggregated values are nodes, which deletions make unknown."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql.types import IntegerType, LongType, StringType, StructType

from graphquery import ProvenanceGraph
from graphquery.store import Store
from lipstick.workflow import Module, Relation, Specification, Workflow, open_run
from lipstick.workflow.execution.tables import remember_structs
from tests.graphquery.store.workload import Unsynced
from tests.lipstick.workflow.without_spark import run_workflow

BIDS = Relation("g string, n int")
COUNTS = Relation("g string, c bigint")
TOTAL = Relation("t bigint")
SPECIFICATION = Specification(
    "s",
    {"A": BIDS},
    {"Having": COUNTS, "Chosen": COUNTS, "Joined": COUNTS, "Many": TOTAL},
    {
        "Counts": "SELECT g, count(*) AS c FROM A GROUP BY g",
        "Having": "SELECT g, sum(n) AS c FROM A GROUP BY g HAVING count(*) > 1 AND sum(n) < 100",
        "Chosen": "SELECT g, c FROM Counts WHERE c > 1",
        "Joined": "SELECT a.g, c.c + 1 AS c FROM A a JOIN Counts c ON a.g = c.g WHERE c.c > a.n",
        "Many": "SELECT count(*) AS t FROM Counts WHERE c > 1",
    },
)
ROWS = [("a", 1), ("a", 1), ("b", 5), ("b", 1), ("c", 0)]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> ProvenanceGraph:
    """Groups a and b have two bids, c has one."""
    text, whole, long = StringType(), IntegerType(), LongType()
    remember_structs(
        {
            BIDS.ddl: StructType().add("g", text).add("n", whole).jsonValue(),
            COUNTS.ddl: StructType().add("g", text).add("c", long).jsonValue(),
            TOTAL.ddl: StructType().add("t", long).jsonValue(),
        }
    )
    path: Path = tmp_path_factory.mktemp("comparisons") / "run"
    workflow = Workflow("w", {"m": Module("m", SPECIFICATION)}, [], "m", "m")
    run_workflow(Store.create(path, files=Unsynced()), workflow, [{"A": ROWS}])
    run = open_run(path)
    assert run.output(0, relation="Having").to_pylist() == [{"g": "a", "c": 2}, {"g": "b", "c": 6}]
    assert run.output(0, relation="Many").to_pylist() == [{"t": 2}]
    return run.graph()


def test_conditions_on_aggregates_are_nodes(graph: ProvenanceGraph) -> None:
    """Each is made of its row, or group, and of the values; the row is `·` with it."""
    labels = {s.name: s.label for s in graph.segments if ".condition" in s.name}
    assert labels == {
        "m#1/Having.made.condition1": "[COUNT(*) > 1]",
        "m#1/Having.made.condition2": "[SUM(n) < 100]",
        "m#1/Chosen.made.condition1": "[c > 1]",
        "m#1/Joined.made.condition1": "[c > n]",
        "m#1/Many.made.condition1": "[c > 1]",
    }
    parents = graph.select(segment="m#1/Having.made.condition1").ancestors(1).names()
    assert parents == [
        f"m#1/Having.made.{part}[{n}]" for part in ("group", "count") for n in (0, 1)
    ]
    assert graph.segment("m#1/Chosen.made[0]").label == "·"


def test_rows_are_unknown_where_a_condition_is(graph: ProvenanceGraph) -> None:
    """Those of the other groups are known; what is gone for other reasons is gone."""
    left = graph.delete("input#0/m/A[0]")
    stale = set(left.stale().select(kind="o").names())
    assert {"m#1/Having[0]", "m#1/Chosen[0]", "m#1/Joined[1]"} <= stale
    assert not {"m#1/Having[1]", "m#1/Chosen[1]", "m#1/Joined[2]"} & stale
    assert "m#1/Joined[0]" not in left
    assert "m#1/Many.t" in left.stale().names()
    assert "m#1/Chosen[0]" not in graph.delete(["input#0/m/A[0]", "input#0/m/A[1]"])
