"""Instants in files of Spark are those of the session's time zone, in whichever form they are."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

import lipstick
from lipstick.explorer.captures.source import CaptureSource
from lipstick.questions.why.columns import shown
from lipstick.questions.why.sources import read_sources
from lipstick.questions.why.terms import computed_terms
from lipstick.stages.settings import temporary_settings
from rewriter.interpret import in_time_zone
from tests.lipstick.explorer.conftest import ask

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]

DAYS = (
    "SELECT date_trunc('day', at) AS day, count(*) AS n, sum(x) AS x FROM readings"
    " GROUP BY 1 ORDER BY 1"
)


@pytest.fixture(params=["INT96", "TIMESTAMP_MICROS"])
def readings(ls: lipstick.Session, tmp_path: Path, request: pytest.FixtureRequest) -> CaptureSource:
    """A capture by days of Berlin, from the evening before March."""
    form = {"spark.sql.parquet.outputTimestampType": request.param}
    with temporary_settings(ls.spark, {"spark.sql.session.timeZone": "Europe/Berlin", **form}):
        rows = ls.spark.range(0, 96).selectExpr(
            "id * 37 % 96 AS k",
            "timestamp'2026-02-28 20:00:00' + make_interval(0, 0, 0, 0, CAST(id AS INT)) AS at",
            "CAST(IF(id BETWEEN 28 AND 30, 900, 1) AS DOUBLE) AS x",
        )
        rows.write.parquet(str(tmp_path / "readings"))
        ls.track("readings", str(tmp_path / "readings"), key="k", format="parquet")
        ls.sql(DAYS).save(tmp_path / "days")
    return CaptureSource("days", lipstick.open(tmp_path / "days"))


def test_inputs_are_grouped_by_the_days_of_the_session(readings: CaptureSource) -> None:
    table = readings.capture.contributions("n", row=1, by="readings.at:day")
    (group,) = table.to_pylist()
    assert (group["at"], group["_inputs"]) == (dt.datetime(2026, 3, 1), 24)


def test_conditions_on_times_are_those_of_the_session(readings: CaptureSource) -> None:
    by = {"axis": 0, "column": "at", "unit": "day"}
    (bar,) = ask(readings, "value", row=1, column="n", by=by)["bars"]
    assert (bar["label"], bar["where"]) == (
        "2026-03-01",
        "at >= '2026-03-01' and at < '2026-03-02'",
    )
    scenario = {"where": {"readings": bar["where"]}}
    (changed,) = ask(readings, "what_if", scenarios=[scenario])["scenarios"][0]["rows"]
    assert (changed["row"], changed["change"]) == (1, "deleted")
    shown = ask(readings, "inputs", row=1, relation="readings")["rows"]
    assert [str(4 * 37 % 96), "2026-03-01 00:00:00", "1.0"] in shown


def test_conditions_of_explanations_have_the_hours_of_the_session(readings: CaptureSource) -> None:
    source = read_sources(readings.capture.memory.engine, None, {})["readings"]
    (hour,) = (term for term in computed_terms(source, ["at"]) if term.name == "hour(at)")
    hours = hour.of(source).to_pylist()
    local = dt.datetime(2026, 2, 28, 20)
    by_key = {n * 37 % 96: (local + dt.timedelta(hours=n)).hour for n in range(96)}
    keys = source.column("k").to_pylist()
    assert dict(zip(keys, hours, strict=True)) == by_key
    (day,) = (term for term in computed_terms(source, ["at"]) if term.name == "date(at)")
    assert day.of(source)[keys.index(4 * 37 % 96)].as_py() == dt.date(2026, 3, 1)
    with in_time_zone("Europe/Berlin"):
        assert shown(source.column("at")[keys.index(4 * 37 % 96)].as_py()) == "2026-03-01 00:00:00"
