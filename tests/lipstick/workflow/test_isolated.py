"""Spark sessions beside the one that is given."""

from __future__ import annotations

from typing import NoReturn

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lipstick.workflow.errors import WorkflowError
from lipstick.workflow.execution.benches import isolated

ZONE = "spark.sql.session.timeZone"


@pytest.fixture(params=["its own way", "of the same connection"])
def separate(
    request: pytest.FixtureRequest, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How another session is made; without newSession() only Spark Connect can."""
    if request.param == "of the same connection":
        if hasattr(spark, "_jsparkSession"):
            pytest.skip("classic sessions have newSession()")
        _without_new_session(spark, monkeypatch)


def _without_new_session(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: SparkSession) -> NoReturn:
        raise NotImplementedError("newSession() is not implemented")

    monkeypatch.setattr(type(spark), "newSession", refuse, raising=False)


@pytest.mark.usefixtures("separate")
def test_views_and_settings_are_its_own(spark: SparkSession) -> None:
    before = spark.conf.get(ZONE)
    with isolated(spark, {ZONE: "Asia/Tokyo"}) as other:
        other.range(3).createOrReplaceTempView("three")
        assert other.table("three").count() == 3
        assert (other.conf.get(ZONE), spark.conf.get(ZONE)) == ("Asia/Tokyo", before)
        with pytest.raises(AnalysisException, match="three"):
            spark.table("three").collect()


@pytest.mark.classic
def test_none_beside(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_new_session(spark, monkeypatch)
    with pytest.raises(WorkflowError, match="no second session"), isolated(spark, {}):
        pass
