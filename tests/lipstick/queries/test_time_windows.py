"""Time windows: a row is repeated for each that its time is in, and grouped by its column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick.errors import UnsupportedError
from semiring.semirings import Counting
from tests.oracle.rows import assert_same_bag, from_spark
from tests.oracle.small import Oracles, oracles, small


def _at(day: int, hour: int, minute: int, second: int = 0, micro: int = 0) -> datetime:
    return datetime(2024, 3, day, hour, minute, second, micro)


READINGS = small(
    "readings",
    "id int, sensor string, at timestamp, local timestamp_ntz, day date, value int",
    [
        (1, "a", _at(30, 23, 59, 59, 999_999), _at(30, 23, 59), date(2024, 3, 30), 5),
        (2, "a", _at(31, 0, 0), _at(31, 0, 0), date(2024, 3, 31), 7),
        (3, "b", _at(31, 0, 7), _at(31, 0, 7), date(2024, 3, 31), 1),
        (4, "b", _at(31, 2, 30), None, None, 2),
        (5, "a", None, _at(31, 3, 30), date(2024, 3, 31), 3),
        (6, "a", datetime(1969, 12, 31, 23, 50), _at(31, 9, 0), date(1969, 12, 31), None),
        (7, "b", _at(31, 2, 45), _at(31, 2, 30), date(2024, 4, 1), 9),
    ],
)


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Readings of two sensors, some without a time, one of before 1970."""
    with oracles(spark, READINGS) as both:
        yield both


ANSWERS = [
    "SELECT window.start, window.end, sensor, count(*) AS n FROM readings"
    " GROUP BY window(local, '30 minutes', '30 minutes', '7 minutes'), sensor"
    " HAVING count(*) > 0 ORDER BY window.end DESC",
    "SELECT window, max(value) AS m FROM readings WHERE id < 7"
    " GROUP BY window(at, 'interval 1 hour 30 minutes', '20 minutes', '-3 seconds')",
    "SELECT sensor, window(at, '1 day') AS w, count(*) AS n FROM readings"
    " GROUP BY ROLLUP (sensor, window(at, '1 day'))",
]
MORE = [
    "SELECT window(at, '1 hour') AS w, sum(value) AS s FROM readings GROUP BY 1",
    "SELECT window(day, '1 week').start AS s, avg(value) AS v FROM readings"
    " GROUP BY window(day, '1 week')",
    "SELECT window(at, '36 hours', '1 day') AS w, count(value) AS n FROM readings GROUP BY ALL",
    "SELECT id, window(at, 7200000000, 3600000000) AS w FROM readings",
    "SELECT *, window(at, '1 day') AS w FROM readings ORDER BY id",
    "SELECT t, n FROM (SELECT window_time(w) AS t, n FROM (SELECT window(at, '1 hour') AS w,"
    " count(*) AS n FROM readings GROUP BY 1)) WHERE n > 0",
    "SELECT r.id, d.n FROM readings r JOIN (SELECT window(at, '2 hours', '1 hour') AS w,"
    " count(*) AS n FROM readings GROUP BY 1) d ON r.at = d.w.start",
]


@pytest.mark.classic
@pytest.mark.many
@pytest.mark.parametrize(
    "sql", [*ANSWERS, *(pytest.param(sql, marks=pytest.mark.slow) for sql in MORE)]
)
def test_of_one_answer(on: Oracles, sql: str) -> None:
    on.hold(sql, {"readings": [2]}, {"readings": [1, 3, 7]})


@pytest.mark.slow
@pytest.mark.classic
def test_windows_of_windows(on: Oracles) -> None:
    sql = (
        "SELECT window(w, '1 day').end AS e, sum(n) AS n FROM (SELECT window AS w, count(*) AS n"
        " FROM readings GROUP BY window(at, '3 hours')) GROUP BY window(w, '1 day')"
    )
    on.hold(sql, {"readings": [2]}, {"readings": [1, 3, 7]}, offline=False)


BY_SENSOR = (
    "SELECT sensor, session_window(at, '3 hours') AS w, count(*) AS n FROM readings"
    " GROUP BY 1, session_window(at, '3 hours')"
)
"""Sessions of two sensors that overlap, which another grouping by them merges."""


MORE_SESSIONS = [
    f"SELECT DISTINCT w FROM ({BY_SENSOR})",
    f"SELECT w FROM ({BY_SENSOR}) UNION SELECT session_window(local, '3 hours') FROM readings",
    "SELECT session_window(at, '15 minutes').start AS s, count(*) AS n FROM readings"
    " GROUP BY session_window(at, '15 minutes').start",
    "SELECT id, session_window(at, '15 minutes') AS w FROM readings",
    "SELECT sensor, max(session_window(at, '15 minutes').end) AS e FROM readings GROUP BY sensor",
    "SELECT sensor, w, count(*) AS n FROM (SELECT DISTINCT sensor, value,"
    " session_window(at, '2 hours') AS w FROM readings) GROUP BY sensor, w",
]


@pytest.mark.many
@pytest.mark.classic
@pytest.mark.parametrize(
    ("sql", "offline"),
    [
        (
            "SELECT session_window.start AS s, session_window.end AS e, sensor, count(*) AS n,"
            " sum(value) AS v FROM readings GROUP BY session_window(at, '15 minutes'), sensor",
            True,
        ),
        (
            "SELECT session_window(local, '7 minutes') AS w, collect_list(id) AS ids FROM readings"
            " WHERE id <> 5 GROUP BY 1 HAVING count(*) > 1",
            False,
        ),
        (
            "SELECT sensor AS name, session_window AS w, max(value) AS m FROM readings GROUP BY"
            " name, session_window(at, CASE WHEN value > 6 THEN '3 hours' ELSE '30 minutes' END)",
            True,
        ),
        (f"SELECT w, sum(n) AS n FROM ({BY_SENSOR}) GROUP BY w", True),
        *(pytest.param(sql, False, marks=pytest.mark.slow) for sql in MORE_SESSIONS),
    ],
)
def test_sessions(on: Oracles, sql: str, offline: bool) -> None:
    """Deletions divide sessions, and shorten them; what each row becomes is known without Spark.

    Not so where lists are collected.
    """
    on.hold(sql, {"readings": [2]}, {"readings": [3, 4]}, {"readings": [1, 7]}, offline=offline)


@pytest.mark.slow
@pytest.mark.classic
def test_windows_that_a_table_has(on: Oracles, tmp_path: Path) -> None:
    """Spark marks their column in the table, too, and merges those that are grouped by it."""
    path = str(tmp_path / "windows")
    windows = "SELECT id, sensor, session_window(at, '3 hours') AS w FROM readings"
    on.plain.frame(windows).write.parquet(path)
    on.ls.track("windows", path, key="id")
    try:
        frame = on.ls.spark.read.parquet(path)
        q = on.ls.sql("SELECT w, count(*) AS n FROM windows GROUP BY w")
        for gone in ([], [2], [3, 4], [1, 7]):
            left = frame.where(~F.col("id").isin(gone)) if gone else frame
            expected = from_spark(left.groupBy("w").agg(F.count("*").alias("n")))
            assert_same_bag(expected, from_spark(q.what_if({"windows": gone}).df), str(gone))
        whole = lipstick.open(q.capture.directory).algebra.evaluate(Counting())
        assert sorted(whole.column("_value").to_pylist()) == [1, 1]
    finally:
        on.ls.untrack("windows")


def test_a_tuple_is_a_member_of_each_of_its_windows(on: Oracles) -> None:
    q = on.ls.sql(
        "SELECT window.start AS s, count(*) AS n FROM readings WHERE sensor = 'b' AND value < 9"
        " GROUP BY window(local, '20 minutes', '10 minutes')"
    )
    shown = {row["s"]: str(annotation) for row, annotation in q.polynomials()}
    assert shown == {
        datetime(2024, 3, 30, 23, 50): "δ(readings:3)",
        datetime(2024, 3, 31, 0, 0): "δ(readings:3)",
    }


FRAMES: dict[str, tuple[Callable[[DataFrame], DataFrame], str]] = {
    "tumbling": (
        lambda t: t.groupBy(F.window("at", "1 hour"), "sensor").agg(F.sum("value").alias("v")),
        "SELECT window(at, '1 hour') AS window, sensor, sum(value) AS v FROM readings"
        " GROUP BY 1, sensor",
    ),
    "sliding": (
        lambda t: t.groupBy(F.window("local", "30 minutes", "10 minutes", "1 minute")).count(),
        "SELECT window(local, '30 minutes', '10 minutes', '1 minute') AS window,"
        " count(1) AS count FROM readings GROUP BY 1",
    ),
    "sessions": (
        lambda t: t.groupBy(F.session_window("at", "3 hours"), "sensor").agg(F.sum("value")),
        "SELECT session_window(at, '3 hours') AS session_window, sensor, sum(value) FROM readings"
        " GROUP BY session_window(at, '3 hours'), sensor",
    ),
    "sessions of sessions": (
        lambda t: (
            t.where("value > 1")
            .groupBy(F.session_window("local", "30 minutes").alias("w"), "sensor")
            .count()
            .groupBy("w")
            .agg(F.max("count").alias("m"))
            .select("w.start", "m")
        ),
        "SELECT w.start, m FROM (SELECT w, max(n) AS m FROM (SELECT session_window(local,"
        " '30 minutes') AS w, sensor, count(1) AS n FROM readings WHERE value > 1 GROUP BY 1, 2)"
        " GROUP BY w)",
    ),
    "windows of windows": (
        lambda t: (
            t.select("*", F.window("at", "2 hours", "1 hour").alias("w"))
            .select("*", F.explode(F.array("id", "value")).alias("n"))
            .select(F.session_window("w", "30 minutes").alias("s"), F.window_time("w"), "n")
            .groupBy("s", F.unix_micros("window_time(w)").alias("h"))
            .agg(F.sum("n").alias("n"))
        ),
        "SELECT s, h, sum(n) AS n FROM (SELECT session_window(w, '30 minutes') AS s,"
        " unix_micros(window_time(w)) AS h, n FROM (SELECT *, window(at, '2 hours', '1 hour') AS w"
        " FROM readings) LATERAL VIEW explode(array(id, value)) AS n) GROUP BY s, h",
    ),
    "that nobody reads": (
        lambda t: (
            t.withColumn("w", F.window("at", "2 hours", "1 hour"))
            .where("value > 1")
            .withColumn("s", F.session_window("local", "1 hour"))
            .select("id")
        ),
        "SELECT id FROM (SELECT id, session_window(local, '1 hour') AS s FROM (SELECT *,"
        " window(at, '2 hours', '1 hour') AS w FROM readings) WHERE value > 1)",
    ),
    "selected": (
        lambda t: t.select("id", F.window("at", "1 day").alias("w")).select("id", "w.start"),
        "SELECT id, w.start FROM (SELECT id, window(at, '1 day') AS w FROM readings)",
    ),
}


SELDOM = ("alias", "sessions of sessions", "windows of windows", "withColumn again")
UNLIKE = {
    "windows of windows": "parentheses that were written tell the functions of windows apart",
}
"""Frames whose annotations are equal to those of the query in every world, and not as terms."""


def often(cases: Iterable[str]) -> list[Any]:
    """The cases, of which some come seldom."""
    return [
        pytest.param(
            case,
            marks=[
                *([pytest.mark.slow] if case in SELDOM else []),
                *([pytest.mark.xfail(reason=UNLIKE[case], strict=True)] if case in UNLIKE else []),
            ],
        )
        for case in cases
    ]


@pytest.mark.many
@pytest.mark.parametrize("case", often(FRAMES))
def test_of_data_frames(on: Oracles, case: str) -> None:
    """The same answer and annotations as of the query in SQL."""
    build, sql = FRAMES[case]
    on.hold_frame(build(on.ls.tracked["readings"].source.frame), sql)


def test_hours_of_windows_are_grouped_without_spark_too(on: Oracles) -> None:
    """They are in the zone of the session, which a capture keeps."""
    _, sql = FRAMES["windows of windows"]
    hours = sql.replace("unix_micros(window_time(w))", "hour(window_time(w))")
    q = on.hold(hours, {"readings": [2]}, {"readings": [3, 4]})
    opened = lipstick.open(q.capture.directory)
    assert len(opened.polynomials()) == len(q.polynomials()) == q.df.count()


def _sessions(rows: DataFrame) -> DataFrame:
    return rows.select("id", F.session_window("at", "3 hours").alias("w"))


NAMED: dict[str, Callable[[DataFrame], DataFrame]] = {
    "withColumn": lambda t: (
        t.withColumn("w", F.session_window("at", "3 hours")).groupBy("w").count()
    ),
    "alias": lambda t: _sessions(t).select(F.col("w").alias("v")).distinct(),
    "alias with metadata": lambda t: (
        _sessions(t).select(F.col("w").alias("v", metadata={"unit": "s"})).distinct()
    ),
    "withColumn again": lambda t: (
        _sessions(t).withColumn("v", F.expr("w")).groupBy("v").agg(F.max("id"))
    ),
    "withMetadata": lambda t: _sessions(t).withMetadata("w", {}).groupBy("w").count(),
}
"""Sessions under other names: where these have metadata, Spark forgets what the column is."""


@pytest.mark.many
@pytest.mark.parametrize("case", often(NAMED))
def test_named_with_metadata(on: Oracles, case: str) -> None:
    """Over Spark Connect ``withColumn`` always gives metadata, so that sessions are not merged."""
    tracked = on.ls.tracked["readings"].source.frame
    q = on.ls.annotate(NAMED[case](tracked))
    for gone in ([], [2], [3, 4]):
        expected = from_spark(NAMED[case](tracked.where(~F.col("id").isin(gone))))
        actual = from_spark(q.what_if({"readings": gone}).df)
        assert_same_bag(expected, actual, f"without {gone}\n{q.query}")


@pytest.mark.engines("spark")
def test_metadata_of_spark_given_by_hand(on: Oracles) -> None:
    name = F.col("sensor").alias("s", metadata={"__CHAR_VARCHAR_TYPE_STRING": "char(3)"})
    with pytest.raises(UnsupportedError, match="the metadata of column s make it"):
        on.ls.annotate(on.ls.tracked["readings"].source.frame.select(name))
