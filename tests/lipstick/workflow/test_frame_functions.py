"""Queries that are functions from data frames to data frames."""

# ruff: noqa: N803 - parameters are called as relations

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from graphquery import ProvenanceGraph
from lipstick.workflow import (
    FrameFunction,
    Module,
    Relation,
    Run,
    Specification,
    StateQuery,
    Workflow,
    open_run,
)
from lipstick.workflow.errors import DefinitionError, ImportNotAllowedError
from lipstick.workflow.examples import dealership
from tests.lipstick.workflow.dealership_frames import dealership_of_frames

HERE = __name__
CARS = Relation("CarId string, Model string", key="CarId")
COUNTS = Relation("Model string, n bigint", key="Model")


def counts(Cars: DataFrame) -> DataFrame:
    return Cars.groupBy("Model").agg(F.count("*").alias("n"))


def everything(*frames: DataFrame) -> DataFrame:
    return frames[0]


def no_frame(Cars: DataFrame) -> int:
    return len(Cars.columns)


def _workflow(query: Any, state: StateQuery | None = None, **more: Any) -> Workflow:
    specification = Specification(
        "s", {"Cars": CARS}, {"Out": COUNTS}, {**more, "Out": query}, query_state=state
    )
    return Workflow("w", {"m": Module("m", specification)}, [], "m", "m")


def test_a_function_is_known_by_its_place(tmp_path: Path) -> None:
    workflow = _workflow("SELECT Model, n FROM Counts", Counts=counts)
    workflow.validate()
    workflow.write(tmp_path / "w.yaml")
    text = (tmp_path / "w.yaml").read_text()
    assert f"Counts: {{function: '{HERE}:counts'}}" in text or f"function: {HERE}:counts" in text
    again = Workflow.read(tmp_path / "w.yaml")
    query = again.modules["m"].specification.query_output["Counts"]
    assert query == FrameFunction(f"{HERE}:counts")
    assert query.text == f"{HERE}:counts"
    with pytest.raises(ImportNotAllowedError, match=rf"of Counts is defined at {HERE}:counts"):
        again.validate()
    Workflow.read(tmp_path / "w.yaml", imports=[HERE]).validate()


def test_a_function_has_a_place() -> None:
    with pytest.raises(DefinitionError, match="a function without a place of its own"):
        _workflow(lambda Cars: Cars)


def test_parameters_are_relations() -> None:
    with pytest.raises(DefinitionError, match=r"reads Cars, which is not there") as error:
        Workflow(
            "w",
            {"m": Module("m", Specification("s", {"A": CARS}, {"Out": COUNTS}, {"Out": counts}))},
            [],
            "m",
            "m",
        ).validate()
    assert "It can read: A." in str(error.value)
    with pytest.raises(DefinitionError, match=r"the parameter \*frames: .* names no relation"):
        _workflow(everything).validate()
    with pytest.raises(
        DefinitionError, match="the function of a query is not found at nowhere:at_all"
    ):
        _workflow(FrameFunction("nowhere:at_all")).validate()


# -- with Spark ----------------------------------------------------------------------------------

STATE = {
    "dealer1": {"Cars": [("C1", "Accord"), ("C2", "Civic"), ("C3", "Civic")]},
    "dealer2": {"Cars": [("D1", "Civic")]},
}
INPUTS: list[dict[str, Any]] = [
    {"Request": [("P1", "B1", "Civic")], "Choice": [("B1", True)]},
    {"Request": [("P1", "B2", "Civic")], "Choice": [("B2", False)]},
]


def _ran(workflow: Workflow, spark: SparkSession, store: Path) -> Run:
    return workflow.run(spark, INPUTS, state=STATE, store=store)


def _seen(graph: ProvenanceGraph) -> tuple[set[str], set[str], set[tuple[str, str]]]:
    names = dict(zip(graph.ids.tolist(), graph.names(graph.ids), strict=True))
    adjacency = graph.outgoing(graph.ids)
    sources = [names[n] for n in graph.ids.repeat(adjacency.degrees).tolist()]
    edges = set(zip(sources, (names[n] for n in adjacency.nodes.tolist()), strict=True))
    return set(names.values()), set(graph.stale().names()), edges


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.classic
def test_the_dealership_of_frames_is_that_of_sql(spark: SparkSession, tmp_path: Path) -> None:
    sql = _ran(dealership(), spark, tmp_path / "sql")
    frames = _ran(dealership_of_frames(), spark, tmp_path / "frames")
    for execution in (0, 1):
        assert frames.output(execution).collect() == sql.output(execution).collect()
    for relation in ("InventoryBids", "SoldCars"):
        rows = [
            sorted(tuple(row) for row in run.state("dealer1", relation).collect())
            for run in (frames, sql)
        ]
        assert rows[0] == rows[1]
    first, other = frames.graph(), sql.graph()
    assert _seen(first) == _seen(other)
    for token in other.select(kind="token").names():
        assert _seen(first.delete(token)) == _seen(other.delete(token))


@pytest.mark.spark
@pytest.mark.classic
def test_functions_run_without_provenance_and_again(spark: SparkSession, tmp_path: Path) -> None:
    """Also as deletions, and from a store that knows their places alone."""
    specification = Specification(
        "s",
        {"Cars": CARS},
        {"Out": COUNTS},
        {"Out": counts},
    )
    workflow = Workflow("w", {"m": Module("m", specification)}, [], "m", "m")
    given = [{"Cars": [("C1", "Civic"), ("C2", "Civic")]}, {"Cars": [("C1", "Audi")]}]
    for tracked in (True, False):
        store = tmp_path / f"{tracked}"
        workflow.run(spark, given[:1], store=store, tracked=tracked)
        run = open_run(store, imports=[HERE]).workflow.run(
            spark, given, store=store, tracked=tracked
        )
        rows = [[tuple(row) for row in run.output(execution).collect()] for execution in (0, 1)]
        assert rows == [[("Civic", 2)], [("Audi", 1)]]
    with pytest.raises(DefinitionError, match="gives no data frame: int is not a data frame"):
        _workflow(no_frame).run(spark, given, store=tmp_path / "none")
