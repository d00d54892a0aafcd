"""Queries of replays that are computed in this process are answered as Spark answers them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.histories.engine import FEW, SparkReplayEngine
from lipstick.histories.local_queries import LocalQueries
from rewriter.statements import rows_of, union_all

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]

ROWS = pa.table(
    {
        "k": pa.array([1, 2, None, 4, 4], pa.int32()),
        "n": pa.array([7, -7, None, 0, 9]),
        "f": [1.5, math.nan, None, -0.0, 0.0],
        "m": pa.array([Decimal("1.10"), None, Decimal("-0.05"), Decimal("0.00"), Decimal("9.99")]),
        "s": ["a", "b", None, "", "é"],
        "d": [date(2000, 2, 29), None, date(1999, 12, 31), date(2024, 1, 1), date(2024, 1, 2)],
        "t": pa.array(
            [datetime(2000, 1, 1, 12, tzinfo=UTC)] * 4 + [None], pa.timestamp("us", "UTC")
        ),
        "l": [[1, 2], None, [], [3], [None]],
    }
)
QUERIES = (
    "SELECT * FROM {a} WHERE NOT ((n > 0) <=> TRUE)",
    "SELECT k, CASE WHEN n > 0 THEN CAST(n + 1 AS BIGINT) ELSE n END AS n, m * 2 AS m FROM {a}",
    "SELECT t.k, coalesce(u.n, t.n) AS n FROM {a} AS t LEFT JOIN {b} AS u ON t.k = u.k",
    "SELECT * FROM {b} AS u WHERE NOT EXISTS (SELECT 1 FROM {a} AS t WHERE t.k = u.k)",
    "SELECT * FROM {a} WHERE EXISTS (SELECT 1 FROM {b} AS u WHERE u.k <=> {a}.k)",
    "SELECT k, count(*) AS n, max(d) AS d FROM {a} GROUP BY k HAVING count(*) > 1",
    "SELECT * FROM {a} UNION ALL SELECT * FROM {b}",
    "SELECT s, t, l FROM {a} WHERE d >= DATE'2000-01-01' OR s IS NULL",
    "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY n DESC) AS r FROM {a}) "
    "WHERE r = 1",
)


@pytest.fixture
def engine(spark: SparkSession, tmp_path: Path) -> Iterator[SparkReplayEngine]:
    names = list[str]()

    def register(frame: object, name: str) -> None:
        frame.createOrReplaceTempView(name)  # type: ignore[attr-defined]
        names.append(name)

    yield SparkReplayEngine(spark, tmp_path, register)
    for name in names:
        spark.catalog.dropTempView(name)


def _bag(rows: pa.Table) -> Counter[str]:
    return Counter(map(repr, map(tuple, map(dict.values, rows.to_pylist()))))


def _views(engine: SparkReplayEngine, spark: SparkSession) -> dict[str, str]:
    return {
        "a": engine.named(spark.createDataFrame(ROWS)),
        "b": engine.named(spark.createDataFrame(ROWS.slice(1, 3))),
    }


@pytest.mark.parametrize("query", QUERIES)
def test_rows_and_types_are_those_of_spark(
    engine: SparkReplayEngine, spark: SparkSession, query: str
) -> None:
    text = query.format(**_views(engine, spark))
    here, there = engine._local.rows(text), engine.frame(text).toArrow()
    assert here is not None
    assert here.schema.types == there.schema.types
    assert here.column_names == there.column_names
    assert _bag(here) == _bag(there)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT soundex(s) AS s FROM {a}",
        "SELECT n / (n - 7) AS n FROM {a}",  # fails
        "SELECT a.* FROM {a} AS a, user_view",
        "SELECT * FROM VALUES (1) AS v (k)",
    ],
)
def test_what_spark_alone_computes_is_left_to_it(
    engine: SparkReplayEngine, spark: SparkSession, query: str
) -> None:
    assert engine._local.rows(query.format(**_views(engine, spark))) is None


def test_many_rows_are_left_to_spark(engine: SparkReplayEngine, spark: SparkSession) -> None:
    many = engine.named(spark.range(FEW + 1))
    assert engine._local.rows(f"SELECT id + 1 AS id FROM {many}") is None


def test_views_of_views_are_computed_and_shown(
    engine: SparkReplayEngine, spark: SparkSession
) -> None:
    """Nothing is a view of the session before Spark is asked."""
    first = engine.view(f"SELECT k, n FROM {_views(engine, spark)['a']} WHERE n > 0")
    second = engine.view(union_all([rows_of(first), rows_of(first)]))
    assert not spark.catalog.tableExists(second)
    here = engine._local.rows(rows_of(second))
    assert here is not None
    assert here.num_rows == 4
    assert _bag(here) == _bag(engine.frame(rows_of(second)).toArrow())
    stored = engine.store(rows_of(second))
    assert stored is not None
    assert spark.table(engine.shown(stored)).count() == 4
    assert engine.differences(rows_of(first), rows_of(second))[0] is None


def test_rows_that_are_forgotten_are_read_from_spark(
    engine: SparkReplayEngine, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = engine.store(f"SELECT k FROM {_views(engine, spark)['a']}")
    assert first is not None
    assert engine.held(first) is not None
    monkeypatch.setattr("lipstick.histories.local_queries.MOST_BYTES", 0)
    second = engine.store(f"SELECT k FROM {first} WHERE k > 1")
    assert second is not None
    assert engine.held(first) is engine.held(second) is None
    rows = engine._local.rows(f"SELECT k FROM {second}")
    assert rows is not None
    assert rows.to_pydict() == {"k": [2, 4, 4]}


def test_rows_that_arrow_does_not_compare_alike_are_left_to_spark(
    engine: SparkReplayEngine, spark: SparkSession
) -> None:
    rows = spark.createDataFrame(ROWS.slice(0, 2)).selectExpr("k", "s COLLATE UTF8_LCASE AS s")
    stored = engine.store(rows_of(engine.named(rows)))
    assert stored is not None
    assert engine.held(stored) is not None
    query = f"SELECT k FROM {stored} WHERE s = 'A'"
    assert engine._local.rows(query) is None
    assert engine.frame(query).collect() == [(1,)]


def test_names_of_a_query_are_not_those_of_views(
    engine: SparkReplayEngine, spark: SparkSession
) -> None:
    """Views have names of their own here: those of common table expressions stay what they are."""
    view = _views(engine, spark)["a"]
    for name in ("v0", "_lipstick_local"):
        own = f"WITH {name} AS (SELECT 9 AS n), w AS (SELECT k FROM {view})"
        text = f"{own} SELECT * FROM w, {name}"
        here = engine._local.rows(text)
        assert here is None or _bag(here) == _bag(engine.frame(text).toArrow())
        assert engine._local.rows(f"SELECT {name}.k FROM {view} AS {name}") is not None


def test_a_long_session_keeps_no_more_answers(
    engine: SparkReplayEngine, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = _views(engine, spark)["a"]
    monkeypatch.setattr("lipstick.histories.local_queries.MOST_KEPT", 4)
    for number in range(8):
        assert engine.store(f"SELECT k + {number} AS k FROM {view} WHERE k IS NOT NULL") is not None
    assert len(engine._local._answers) <= 4
    assert len(engine._stored) <= 4


def test_a_relation_that_is_tracked_anew_does_not_change_what_came_before(
    engine: SparkReplayEngine, spark: SparkSession
) -> None:
    """A staging table of the same name has other rows each night."""
    name, views = "_lipstick_t_pinned_staging", list[str]()
    for night in (1, 1, 2):
        spark.range(night, night + 1).createOrReplaceTempView(name)
        engine.renew()  # as each question does
        views.append(engine.view(f"SELECT * FROM `{name}` AS staging"))
    spark.catalog.dropTempView(name)
    shown = [engine.frame(rows_of(view)).collect()[0][0] for view in views]
    assert shown == [1, 1, 2]


def test_answers_of_a_history_are_those_of_spark(
    ls: lipstick.Session, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every query that is computed here while questions are answered is put to Spark as well."""
    from tests.lipstick.histories import test_reenact

    compared = Counter[str]()
    rows, asking = LocalQueries.rows, list[str]()
    history = test_reenact.reenacted(ls, spark)

    def checked(self: LocalQueries, query: str) -> pa.Table | None:
        found = rows(self, query)
        if found is not None and not asking:
            asking.append(query)
            there = history.engine.frame(query).toArrow()
            asking.pop()
            assert found.schema.types == there.schema.types, query
            assert _bag(found) == _bag(there), query
            compared[query] += 1
        return found

    monkeypatch.setattr(LocalQueries, "rows", checked)
    query = ls.sql("SELECT k, amount FROM orders")
    answer = query.what_if(delete={"late": [5], "db.orders@0": "k = 3"}, undo=["cleanup"])
    assert sorted(map(tuple, answer.df.collect())) == [(1, 10), (5, 50)]
    assert len(compared) > 10
