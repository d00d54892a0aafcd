"""Runs of one module: what may be given, black boxes, loops, and what goes wrong in queries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.workflow import Edge, Loop, Module, Relation, Run, Specification, StateQuery, Workflow
from lipstick.workflow.errors import DefinitionError, WorkflowError
from tests.lipstick.workflow.test_run import contents

pytestmark = [pytest.mark.spark, pytest.mark.classic]

A = Relation("a int", key="a")
BAG = Relation("a int")
HERE = "tests.lipstick.workflow.udfs"


def _one(
    query: dict[str, str],
    state_query: StateQuery | None = None,
    output: Relation = BAG,
    **options: Any,
) -> Workflow:
    """A workflow of one module from A to B, with a state S."""
    specification = Specification(
        "kind", {"A": BAG}, {"B": output}, query, state={"S": A}, query_state=state_query, **options
    )
    return Workflow("one", {"m": Module("m", specification)}, [], "m", "m")


def _values(run: Run, execution: int = 0) -> list[Any]:
    return sorted(tuple(row) for row in run.output(execution).collect())


@pytest.mark.parametrize("kind", ["frame", "table", "tuples", "mappings", "path"])
def test_rows_come_in_many_forms(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    table = pa.table({"a": [1, 2]})
    pq.write_table(table, tmp_path / "a.parquet")
    given: dict[str, Any] = {
        "frame": spark.createDataFrame([(1,), (2,)], "a bigint"),
        "table": table,
        "tuples": [(1,), (2,)],
        "mappings": [{"a": 1}, {"a": 2}],
        "path": tmp_path / "a.parquet",
    }
    workflow = _one({"B": "SELECT a + 1 AS a FROM A"})
    run = workflow.run(spark, [{"A": given[kind]}], store=tmp_path / "run", tracked=False)
    assert _values(run) == [(2,), (3,)]


def test_a_lipstick_session_will_do_and_is_left_alone(ls: lipstick.Session, tmp_path: Path) -> None:
    views = [row.viewName for row in ls.spark.sql("SHOW VIEWS").collect()]
    run = _one({"B": "SELECT a FROM A"}).run(ls, [{"A": [(1,)]}], store=tmp_path / "run")
    assert _values(run) == [(1,)]
    assert not ls.tracked
    assert [row.viewName for row in ls.spark.sql("SHOW VIEWS").collect()] == views


@pytest.mark.parametrize("tracked", [True, False])
def test_an_output_is_read_by_those_after_it(
    spark: SparkSession, tmp_path: Path, tracked: bool
) -> None:
    query = {"B": "SELECT a + 1 AS a FROM A", "C": "SELECT a + 1 AS a FROM B"}
    specification = Specification("kind", {"A": BAG}, {"B": BAG, "C": BAG}, query)
    workflow = Workflow("two", {"m": Module("m", specification)}, [], "m", "m")
    inputs = [{"A": [(1,)]}, {"A": [(5,)]}]
    run = workflow.run(spark, inputs, store=tmp_path / "run", tracked=tracked)
    assert [run.output(e, "m", "C").collect()[0]["a"] for e in (0, 1)] == [3, 7]


def test_empty_relations_go_through(spark: SparkSession, tmp_path: Path) -> None:
    workflow = _one({"B": "SELECT a FROM A WHERE a IN (SELECT a FROM S)"})
    run = workflow.run(spark, [{"A": []}], store=tmp_path / "run")
    assert _values(run) == []
    assert run.graph().names(run.graph().ids) == ["m#1"]


def test_a_black_box_has_the_name_of_its_function(spark: SparkSession, tmp_path: Path) -> None:
    query = {"T": "SELECT a, Twice(a) AS b FROM A", "B": "SELECT b AS a FROM T"}
    workflow = _one(query, functions={"Twice": f"{HERE}:twice"})
    workflow.validate()
    run = workflow.run(spark, [{"A": [(1,), (2,)]}], store=tmp_path / "run")
    assert _values(run) == [(2,), (4,)]
    graph = run.graph()
    node = graph.node("m#1/T.b[1]")
    assert graph.segment(node).label == "Twice"
    assert graph.names(graph.incoming(np.array([node])).nodes) == ["m#1/A[1]"]
    assert graph.value(node) == 4


def test_many_rows_are_spark_s_to_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings for few rows are taken back, and the outcome is the same."""
    query = {"T": "SELECT a, count(*) AS n FROM A GROUP BY a", "B": "SELECT a FROM T WHERE n > 1"}
    workflow, inputs = _one(query), [{"A": [(1,), (1,)]}, {"A": [(2,), (2,), (3,), (2,)]}]
    run = workflow.run(spark, inputs, store=tmp_path / "few")
    monkeypatch.setattr("lipstick.workflow.execution.bench._FEW", 2)
    again = workflow.run(spark, inputs, store=tmp_path / "many")
    assert _values(again, 1) == _values(run, 1) == [(2,)]
    assert contents(again.path) == contents(run.path)


@pytest.mark.classic
def test_rows_of_a_table_function_have_its_name(spark: SparkSession, tmp_path: Path) -> None:
    query = {"B": "SELECT u.n AS a FROM A, LATERAL UpTo(A.a) AS u(n)"}
    workflow = _one(query, functions={"UpTo": f"{HERE}:up_to"})
    workflow.validate()
    run = workflow.run(spark, [{"A": [(0,), (1,), (2,)]}], store=tmp_path / "run")
    assert _values(run) == [(0,), (0,), (1,)]
    graph = run.graph()
    rows_made = graph.select(kind="p")
    assert {graph.segment(node).label for node in rows_made.names()} == {"UpTo"}
    left = graph.delete("input#0/m/A[1]")
    assert len(left.select(kind="o")) == 2


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("no place", "the function F is defined at 'no place', which is not a reference."),
        (f"{HERE}:nothing", "the function F is not found at"),
        ("no.such.module:f", "the function F is not found at no.such.module:f"),
        (f"{HERE}:plain", "has no type of its result.\nMake it with pyspark.sql.functions.udf"),
    ],
)
def test_functions_are_found_and_have_a_type(
    spark: SparkSession, tmp_path: Path, reference: str, message: str
) -> None:
    with pytest.raises(DefinitionError, match=re.escape(message)):
        _one({"B": "SELECT a FROM A"}, functions={"F": reference}).run(
            spark, [{"A": []}], store=tmp_path / "run"
        )


def test_a_loop_runs_its_rounds(spark: SparkSession, tmp_path: Path) -> None:
    add = Specification("add", {"A": BAG}, {"B": BAG}, {"B": "SELECT a + 1 AS a FROM A"})
    nodes = {name: Module(name, add) for name in ("start", "again")}
    loop = Loop(["again"], [Edge("again", "again", {"B": "A"})], 3)
    workflow = Workflow(
        "loop", nodes, [Edge("start", "again", {"B": "A"})], "start", "again", [loop]
    )
    run = workflow.run(spark, [{"A": [(0,)]}], store=tmp_path / "run", tracked=False)
    assert run.output(0, "again.3").collect()[0]["a"] == 4
    assert run.invocation(0, "again.3").name == "again#3"


def test_the_time_is_that_of_the_invocation(spark: SparkSession, tmp_path: Path) -> None:
    moment = Relation("t timestamp")
    workflow = _one({"B": "SELECT now() AS t FROM A"}, output=moment)
    run = workflow.run(spark, [{"A": [(1,)]}, {"A": [(1,)]}], store=tmp_path / "run")
    first, second = (run.output(execution).collect()[0]["t"] for execution in range(2))
    assert first < second


@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize(
    ("query", "state_query", "error", "message"),
    [
        (
            {"B": "SELECT count(*) AS a FROM A"},
            None,
            DefinitionError,
            "kind: the relation B gives the columns a bigint.\nIt should give: a int.",
        ),
        (
            {"T": "SELECT a, a FROM A", "B": "SELECT 1 AS a FROM A"},
            None,
            DefinitionError,
            "kind: T has two columns called a.",
        ),
        (
            {"B": "SELECT a FROM A"},
            StateQuery(delete={"S": "nothing = 1"}),
            DefinitionError,
            "kind: the deletion from S is not a predicate over it: nothing = 1",
        ),
        (
            {"B": "SELECT CAST(a / 0 AS INT) AS a FROM A"},
            None,
            WorkflowError,
            "kind: the relation B failed.\nSELECT CAST(a / 0 AS INT) AS a FROM A",
        ),
        (
            {"B": "SELECT a FROM A"},
            StateQuery(insert={"S": "SELECT a FROM A UNION ALL SELECT a FROM A"}),
            WorkflowError,
            "After m#1 (node m) its state S has several tuples of one key (a): 1.\nDelete a tuple",
        ),
    ],
)
def test_what_goes_wrong_is_named_and_leaves_nothing(
    spark: SparkSession,
    tmp_path: Path,
    tracked: bool,
    query: dict[str, str],
    state_query: StateQuery | None,
    error: type[WorkflowError],
    message: str,
) -> None:
    workflow = _one(query, state_query)
    with pytest.raises(error, match=re.escape(message)):
        workflow.run(spark, [{"A": [(1,)]}], store=tmp_path / "run", tracked=tracked)
    assert not list((tmp_path / "run" / "staging").iterdir())


def test_parallelism_is_at_least_one(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(WorkflowError, match="parallelism is at least 1, not 0"):
        _one({"B": "SELECT a FROM A"}).run(spark, [], store=tmp_path / "run", parallelism=0)
