"""A dataset that one workflow's store exported, given to another workflow by its path."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from graphquery.errors import FederationError
from graphquery.federation import Verdict, export_dataset
from graphquery.store import Store, fsck
from lipstick.workflow import Module, Relation, Specification, Workflow
from lipstick.workflow.errors import WorkflowError
from semiring import semirings
from tests.graphquery.federation.oracle import check_question, federation_of

pytestmark = [pytest.mark.spark, pytest.mark.classic]

CARS = Relation("CarId string, Model string", key="CarId")
COUNTS = Relation("Model string, N bigint", key="Model")
COUNT = Specification(
    "count",
    {"Cars": CARS},
    {"Counts": COUNTS},
    {"Counts": "SELECT Model, count(*) AS N FROM Cars GROUP BY Model"},
)
PICK = Specification(
    "pick",
    {"Counts": COUNTS},
    {"Models": Relation("Model string", key="Model")},
    {"Models": "SELECT Model FROM Counts"},
)


def test_a_workflow_goes_on_where_another_store_exported(
    spark: SparkSession, tmp_path: Path
) -> None:
    import numpy as np

    counting = Workflow("counting", {"c": Module("counter", COUNT)}, [], "c", "c")
    cars = [("C1", "Civic"), ("C2", "Civic"), ("C3", "Audi")]
    exports = {"c/Counts": tmp_path / "data"}
    with pytest.raises(WorkflowError, match="There is no output 'c/Cars' to export"):
        counting.run(spark, [], store=tmp_path / "counts", exports={"c/Cars": "x"})
    for _ in range(2):  # what is there is not exported again
        counting.run(spark, [{"Cars": cars}], store=tmp_path / "counts", exports=exports)
    data = tmp_path / "data" / "0"
    with (
        Store.open(tmp_path / "counts").writer() as writer,
        pytest.raises(FederationError, match="is not empty"),
    ):
        export_dataset(writer, "counter#1/Counts", "counts", "1", data)
    picking = Workflow("picking", {"p": Module("picker", PICK)}, [], "p", "p")
    run = picking.run(spark, [{"Counts": str(data)}], store=tmp_path / "models")
    assert {row.Model for row in run.output(0).collect()} == {"Civic", "Audi"}

    paths = {"counts": tmp_path / "counts", "models": tmp_path / "models"}
    assert [fsck(path) for path in paths.values()] == [[], []]
    with federation_of(paths) as federation:
        audi, civic = "models::picker#1/Models:Audi", "models::picker#1/Models:Civic"
        tokens = [f"counts::input#0/c/Cars:{car}" for car in ("C1", "C2", "C3")]
        names = federation.names(federation.ancestors(audi))
        assert [token in names for token in tokens] == [False, False, True]
        assert federation.depends(audi, tokens[2]).verdict is Verdict.YES
        assert federation.depends(civic, tokens[0]).verdict is Verdict.NO
        assert federation.depends(civic, tokens[:2]).verdict is Verdict.YES
        assert federation.flow(tokens[0], audi).verdict is Verdict.NO
        answer = federation.evaluate(semirings.Boolean(), [audi], {tokens[2]: False})
        assert answer.values == {audi: False}
        graph, random = federation.merged(), np.random.default_rng(0)
        assert sum(check_question(federation, graph, random, str(n)) for n in range(5)) > 5

    again = picking.run(spark, [{"Counts": str(data)}], store=tmp_path / "models")
    assert again.executions == 1
    part = data / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-1] + b"x")
    with pytest.raises(FederationError, match="is not what was exported"):
        picking.run(spark, [{"Counts": str(data)}], store=tmp_path / "other")
