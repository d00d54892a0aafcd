"""Dates and instants as Spark has them, in time zones with and without summer time."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from rewriter.dialect import parse
from rewriter.interpret import (
    UninterpretableError,
    Vector,
    from_arrow,
    in_time_zone,
    interpret,
    is_time,
    moment,
)

PARTS: Final = (
    *("year", "quarter", "month", "day", "dayofmonth", "dayofyear", "dayofweek", "weekday"),
    *("weekofyear", "hour", "minute", "second", "to_date", "date", "last_day"),
)
OF_TIMES: Final = (
    *(f"{name}({{0}})" for name in PARTS),
    *("CAST({0} AS DATE)", "CAST({0} AS TIMESTAMP)", "extract(week FROM {0})"),
    *(f"date_trunc('{u}', {{0}})" for u in ("YEAR", "quarter", "mon", "WEEK", "day", "HOUR")),
    *("date_trunc('minute', {0})", "date_trunc('SECOND', {0})"),
    *(f"trunc({{0}}, '{unit}')" for unit in ("year", "QUARTER", "MM", "week")),
    *("date_format({0}, 'yyyy-MM')", "date_format({0}, 'dd/MM/yyyy HH:mm:ss')"),
    *("{0} >= '2011-02-03'", "{0} < DATE'2011-02-03'", "{0} BETWEEN '2005-01-01' AND '2010-01-01'"),
    *("unix_timestamp({0})", "unix_seconds(CAST({0} AS TIMESTAMP))"),
    *("{0} + INTERVAL 7 DAYS", "{0} - INTERVAL 1 MONTH", "{0} - INTERVAL '2' WEEK"),
    *("{0} + INTERVAL 1 YEAR", "add_months({0}, -13)"),
)
OTHERS: Final = (
    *("t = d", "d > t", "u < d", "t <= '2015-10-25 02:30:00'", "t > TIMESTAMP'2011-02-03 04:05'"),
    *("datediff(t, d)", "date_diff(d, u)", "date_add(to_date(t), 3)", "unix_millis(t)"),
    *("unix_micros(t)", "unix_micros(u)", "unix_seconds(u)"),
    "CASE WHEN t > d THEN t ELSE CAST(d AS TIMESTAMP) END",
    "sequence(d, date_add(d, 40), INTERVAL 1 WEEK)",
    "sequence(d, DATE'2040-01-31', INTERVAL 1 MONTH)",
)


def _times() -> pa.Table:
    """Return instants, local times and dates of this century, around changes of clocks too."""
    drawn = random.Random(5)
    start = datetime(2000, 1, 2, tzinfo=UTC)
    instants = [start + timedelta(seconds=drawn.randrange(36 * 365 * 86_400)) for _ in range(150)]
    for year in (2003, 2015, 2024):
        for month, day in ((3, 30), (10, 26), (3, 10), (11, 3)):
            instants.append(datetime(year, month, day, drawn.randrange(24), 30, 15, 7, tzinfo=UTC))
    local = [each.replace(tzinfo=None) for each in drawn.sample(instants, len(instants))]
    dates = [each.date() for each in drawn.sample(instants, len(instants))]
    return pa.table(
        {
            "i": range(len(instants)),
            "t": pa.array([*instants[1:], None], pa.timestamp("us", "UTC")),
            "u": pa.array([None, *local[1:]], pa.timestamp("us")),
            "d": pa.array([*dates[:5], None, *dates[6:]], pa.date32()),
        }
    )


@pytest.mark.parametrize(
    ("zone", "refused"),
    [
        ("UTC", 0),
        ("Europe/Berlin", 10),
        ("America/Sao_Paulo", 10),
        ("Asia/Kolkata", 0),
        ("+05:30", 0),
    ],
)
def test_times_are_what_spark_makes_of_them(
    spark: SparkSession, tmp_path: Path, zone: str, refused: int
) -> None:
    """Those that a zone has twice or never are refused, whatever function they are asked for."""
    table = _times()
    pq.write_table(table, tmp_path / "times.parquet")
    texts = [text.format(column) for text in OF_TIMES for column in "tud"] + list(OTHERS)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        named = [f"{text} AS v{number}" for number, text in enumerate(texts)]
        frame = spark.read.parquet(str(tmp_path / "times.parquet")).selectExpr("i", *named)
        expected = frame.toArrow().sort_by("i")
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))
    left = []
    for number, text in enumerate(texts):
        wanted = expected.column(f"v{number}").combine_chunks()
        scalar = interpret(parse(f"SELECT {text}").expressions[0])
        try:
            with in_time_zone(zone):
                found = scalar.evaluate(lambda _, name: from_arrow(table.column(name)))
        except UninterpretableError:
            left.append(text)
            continue
        array = found.to_arrow(table.num_rows)
        kinds = [getattr(each.type, "value_type", each.type) for each in (array, wanted)]
        assert is_time(wanted.type) or kinds[0] == kinds[1], text
        assert array.to_pylist() == wanted.cast(array.type).to_pylist(), text
    assert len(left) <= refused, left


@pytest.mark.parametrize("zone", [None, "EST5EDT", "Not/There", "GMT+2"])
def test_instants_in_an_unknown_zone_are_left_to_spark(zone: str | None) -> None:
    column = from_arrow(pa.array([datetime(2020, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")))
    scalar = interpret(parse("SELECT to_date(t)").expressions[0])
    with in_time_zone(zone), pytest.raises(UninterpretableError):
        scalar.evaluate(lambda *_: column)


def test_moments_are_written_as_clocks_show_them() -> None:
    kind = pa.timestamp("us", "UTC")
    with in_time_zone("Europe/Berlin"):
        assert moment("2024-07-01 12:00", kind).as_py() == datetime(2024, 7, 1, 10, tzinfo=UTC)
        assert moment("2024-07-01", kind).as_py() == datetime(2024, 6, 30, 22, tzinfo=UTC)
        assert moment(datetime(2024, 1, 1), kind).as_py() == datetime(2023, 12, 31, 23, tzinfo=UTC)
        with pytest.raises(UninterpretableError, match="may not have"):
            moment("2024-03-31 02:30:00", kind)
    with pytest.raises(UninterpretableError, match="a date at"):
        moment("2024-07-01 12:00", pa.date32())


def test_values_that_fail_are_left_to_spark() -> None:
    """CASE may not ask for them: Spark knows for which rows they matter."""
    days = pa.array([date(2024, 1, 1), date(2024, 1, 2)])
    failing = Vector(days.type, days, None, np.array([False, True]))
    for text in ("year(d)", "to_date(d)", "date_add(d, 1)", "unix_timestamp(d)"):
        scalar = interpret(parse(f"SELECT {text}").expressions[0])
        with in_time_zone("UTC"), pytest.raises(UninterpretableError):
            scalar.evaluate(lambda *_: failing)
