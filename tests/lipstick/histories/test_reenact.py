"""Tables followed through statements that changed them: reenacted, undone, replaced, asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick.errors import (
    CaptureError,
    LipstickError,
    StatementError,
    TrackingError,
    UnsupportedError,
)
from lipstick.histories.steps import check_replacements
from lipstick.openlineage import statement_events
from tests.openlineage_schemas import validated

pytestmark = pytest.mark.engines("memory")

COLUMNS = {"k": pa.int32(), "name": pa.string(), "amount": pa.int32(), "op": pa.string()}
UPSERT = (
    "MERGE INTO db.orders AS t USING news AS s ON t.k = s.k "
    "WHEN MATCHED AND s.op = 'D' THEN DELETE "
    "WHEN MATCHED THEN UPDATE SET name = s.name, amount = s.amount "
    "WHEN NOT MATCHED THEN INSERT (k, name, amount) VALUES (s.k, s.name, s.amount)"
)
LATE = (
    "MERGE INTO db.orders t USING (SELECT k, sum(amount) AS plus FROM late GROUP BY k) l "
    "ON t.k = l.k WHEN MATCHED THEN UPDATE SET amount = t.amount + l.plus"
)
CLEANUP = lipstick.ExecutedStatement("DELETE FROM db.orders WHERE name = 'new'", name="cleanup")
BEFORE = [(1, "one", 1), (2, "two", 2), (3, "three", 3)]
UPSERTED = [(1, "new", 10), (3, "three", 3), (5, "five", 50)]
CORRECTED = [(1, "new", 10), (3, "three", 4), (5, "five", 57)]
CLEANED = [(3, "three", 4), (5, "five", 57)]


def frame(spark: SparkSession, rows: Sequence[tuple[Any, ...]], columns: int = 3) -> DataFrame:
    """Return a local frame of the first of `COLUMNS`."""
    types = list(COLUMNS.items())[:columns]
    values = {n: pa.array([row[i] for row in rows], t) for i, (n, t) in enumerate(types)}
    return spark.createDataFrame(pa.table(values))


def reenacted(ls: lipstick.Session, spark: SparkSession) -> lipstick.TableHistory:
    """Four versions of a table, and the three statements between them."""
    news = [(1, "new", 10, "U"), (2, None, 0, "D"), (5, "five", 50, "U")]
    ls.track("news", frame(spark, news, 4), key="k")
    ls.track("late", frame(spark, [(5, "", 7), (3, "", 1)]), key="k")
    versions = [frame(spark, rows) for rows in (BEFORE, UPSERTED, CORRECTED, CLEANED)]
    return ls.reenact({"db.orders": versions}, [UPSERT, LATE, CLEANUP], key="k")


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows in order."""
    return sorted(tuple(row) for row in frame.collect())


@pytest.mark.slow_over_connect
def test_history_answers(
    ls: lipstick.Session, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One history for all questions, as it takes a job for each of its versions."""
    history = reenacted(ls, spark)
    _check_hypothetical(ls, history)
    _check_rows(history)
    _check_through_statements(ls, history)
    classic = hasattr(spark, "_jsparkSession")
    if classic:
        monkeypatch.setattr("lipstick.histories.changes._FEW_VERSIONS", 2)
        for _ in range(2):  # what data frames changed is written, and then read
            _check_rows(history)
            ((_, last, written),) = history.engine._changes._written.values()
            assert (last, len(written)) == (3, 1)
        _check_replaced(history)
    _check_events(history)
    _check_refusals(ls, history, classic=classic)


def _check_hypothetical(ls: lipstick.Session, history: lipstick.TableHistory) -> None:
    query = ls.sql("SELECT k, amount FROM orders")
    mixed = query.what_if(delete={"late": [5], "db.orders@0": "k = 3"}, undo=["cleanup"])
    assert rows_of(mixed.df) == [(1, 10), (5, 50)]
    assert {row["_change"] for row in mixed.changes.collect()} == {"added", "changed", "deleted"}
    only_gone = query.what_if(delete={"news": "k = 5"})
    assert only_gone.method == "annotations"
    assert rows_of(only_gone.df) == [(3, 4)]


def _check_events(history: lipstick.TableHistory) -> None:
    """A MERGE reads its own output, and the relations in its source."""
    with pytest.raises(CaptureError, match="When 's1' ran is not known"):
        statement_events(history)
    times = dict.fromkeys(history.statements, (datetime(2026, 1, 2, tzinfo=UTC),) * 2)
    events = [validated(event) for event in statement_events(history, "warehouse", times)]
    assert [(e["job"]["name"], e["eventType"]) for e in events[2:4]] == [
        ("db.orders.s2", "START"),
        ("db.orders.s2", "COMPLETE"),
    ]
    late = events[3]
    assert {each["name"] for each in late["inputs"]} == {"db.orders", "late"}
    assert [o["facets"]["version"]["datasetVersion"] for o in late["outputs"]] == ["2"]
    (entry,) = late["job"]["facets"]["lineage"]["entries"]
    amount = entry["fields"]["amount"]["inputs"]
    assert {(i["name"], i["field"]) for i in amount} >= {
        ("db.orders", "amount"),
        ("late", "amount"),
    }
    cleanup = events[5]["job"]["facets"]["lineage"]["entries"][0]
    assert ("db.orders", "name") in {(i["name"], i.get("field")) for i in cleanup["inputs"]}


def _check_replaced(history: lipstick.TableHistory) -> None:
    tables = history.what_if(replace={"cleanup": "DELETE FROM db.orders WHERE amount > 20"})
    assert rows_of(tables.table("db.orders")) == [(1, "new", 10), (3, "three", 4)]
    changes = tables.changes("db.orders").collect()
    assert {(r["_change"], (r["old"] or r["new"])["k"]) for r in changes} == {
        ("added", 1),
        ("deleted", 5),
    }


def _check_through_statements(ls: lipstick.Session, history: lipstick.TableHistory) -> None:
    """Annotations through the statements say what replaying them yields."""
    through = history.query("SELECT k, amount FROM db.orders")
    assert set(through.plan.relations) == {"orders@0", "news", "late"}
    annotations = {row["k"]: str(annotation) for row, annotation in through.polynomials()}
    assert annotations == {3: "`orders@0`:3·δ(late:3)", 5: "news:5·δ(late:5)"}
    replayed = ls.sql("SELECT k, amount FROM orders")
    for relation, known, key in [("late", "late", 3), ("orders@0", "db.orders@0", 2)]:
        asked = through.what_if(delete={relation: [key]})
        assert asked.method == "annotations"
        assert rows_of(asked.df) == rows_of(replayed.what_if(delete={known: [key]}).df)
    first = ls.sql("SELECT sum(amount) AS total FROM `orders@1`")
    assert rows_of(first.what_if(delete={"news": [2]}).df) == [(65,)]


def _check_rows(history: lipstick.TableHistory) -> None:
    five = history.rows("db.orders", 5)
    assert [(v.version, v.statement, v.change) for v in five] == [
        (1, "s1", "inserted"),
        (2, "s2", "updated"),
    ]
    assert [v.statement for v in history.rows("orders", 1)] == [None, "s1", "cleanup"]
    cells = history.blame("db.orders", 5)
    assert {name: cell.statement for name, cell in cells.items()} == {
        "k": "s1",
        "name": "s1",
        "amount": "s2",
    }
    since = history.since("db.orders", "SELECT max(amount) > 50 FROM db.orders")
    assert since is not None
    assert (since.version, since.statement) == (2, "s2")
    assert history.since("db.orders", "SELECT count(*) > 9 FROM db.orders") is None


def _check_refusals(ls: lipstick.Session, history: lipstick.TableHistory, *, classic: bool) -> None:
    query = ls.sql("SELECT k FROM orders")
    twice = (
        "MERGE INTO db.orders t USING (SELECT 3 AS k UNION ALL SELECT 3) s ON t.k = s.k "
        "WHEN MATCHED THEN UPDATE SET amount = 1"
    )
    asked: list[tuple[dict[str, Any], type[LipstickError], str]] = [
        ({"undo": ["other"]}, TrackingError, "There is no statement 'other'"),
        ({"undo": ["s1"], "replace": {"s1": UPSERT}}, TrackingError, "undone and replaced"),
        ({"replace": {"s1": "DELETE FROM t"}}, TrackingError, "over the same table"),
        (
            {"replace": {"cleanup": twice}},
            StatementError,
            "'cleanup' would fail, or write a row twice: several rows",
        ),
        ({"delete": {"db.orders@2": [1]}}, TrackingError, "not the first version"),
        (
            {"replace": {"cleanup": "INSERT INTO db.orders SELECT k, name, amount FROM news"}},
            StatementError,
            "Two rows of db.orders would have the key",
        ),
    ]
    if not classic:
        asked = [case for case in asked if "replace" not in case[0]]
    for arguments, kind, message in asked:
        with pytest.raises(kind, match=message):
            query.what_if(**arguments)
    with pytest.raises(UnsupportedError, match="cascade"):
        query.what_if({"news": "k = 1"}, {"late": ("k", "news")})
    with pytest.raises(TrackingError, match="whose statements are known"):
        ls.sql("SELECT k FROM news").what_if(undo=["s1"])


def test_columns_are_added_and_dropped_between_versions(
    ls: lipstick.Session, spark: SparkSession
) -> None:
    """Rows from before have NULL in new columns, in hypothetical versions too."""
    news = [(2, "TWO", 5), (4, "four", 4)]
    ls.track("news", frame(spark, news), key="k")
    merged = [(1, "one", None), (2, "TWO", 5), (3, "three", None), (4, "four", 4)]
    versions = [frame(spark, BEFORE, 2), frame(spark, merged), frame(spark, merged[:3])]
    statements = [
        "MERGE WITH SCHEMA EVOLUTION INTO x USING news n ON x.k = n.k "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        "DELETE FROM x WHERE amount = 4",
        lipstick.ExecutedStatement("UPDATE x SET name = 'x' WHERE k = 1", version=4),
    ]
    dropped = frame(spark, merged[:3], 2)
    updated = frame(spark, [(1, "x"), *merged[1:3]], 2)
    history = ls.reenact({"x": [*versions, dropped, updated]}, statements, key="k")
    without = history.what_if(delete={"news": [2], "x@0": [3]}, undo=["s2"]).table("x")
    assert sorted(map(tuple, without.collect())) == [(1, "x"), (2, "two"), (4, "four")]
    through = history.query("SELECT k FROM x WHERE name = 'two' OR k = 2")
    assert {str(annotation) for _, annotation in through.polynomials()} == {"news:2·`x@0`:2"}
    with pytest.raises(StatementError, match="gave x other columns"):
        history.what_if(undo=["s1"])


def test_histories_that_are_none(ls: lipstick.Session, spark: SparkSession) -> None:
    before, after = frame(spark, BEFORE), frame(spark, CLEANED)
    renamed = before.withColumnRenamed("amount", "total")
    given: list[tuple[list[Any], list[Any], type[LipstickError], str]] = [
        ([before, after], ["UPDATE x SET amount = 1"], StatementError, "Version 1 of x is not"),
        ([before, after], [], StatementError, "no statement made it"),
        ([before, renamed], [], StatementError, "has other columns than version 0"),
        ([before, renamed], ["UPDATE x SET k = 1"], StatementError, "which were renamed"),
        ([before], ["DELETE FROM x"], TrackingError, "There is no version"),
        ([before, after], ["DELETE FROM y"], TrackingError, "changes 'y'"),
        (
            [before, after],
            ["DELETE FROM x WHERE k IN (SELECT k FROM z)"],
            TrackingError,
            "reads 'z', which is not tracked",
        ),
        (
            [before, after],
            ["UPDATE x SET name = current_timestamp()"],
            UnsupportedError,
            "is another value each time",
        ),
    ]
    for versions, statements, kind, message in given:
        with pytest.raises(kind, match=message):
            ls.reenact({"x": versions}, statements, key="k")


def test_no_text_is_taken_where_spark_cannot_be_asked_how_it_reads_it() -> None:
    """A client of Spark Connect has no parser, and no version was made by the new text."""
    with pytest.raises(UnsupportedError, match="not replaced over Spark Connect"):
        check_replacements(cast(SparkSession, object()))
