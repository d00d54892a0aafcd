"""Mistakes in statements, conditions and keys of histories: errors of the text that was given."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import InvalidQueryError, SourceChangedError, TrackingError

MISTAKES = {
    "UPDATE {t} SET v = w WHERE id = 2": "There is no column 'w' at 1:",
    "DELETE FROM {t} WHERE idd = 2": "There is no column 'idd' at 1:",
    "MERGE INTO {t} AS t USING (SELECT 1 AS id) AS s ON t.id = s.idd WHEN MATCHED THEN DELETE": (
        "s.idd"
    ),
    "UPDATE {t} SET v = v + WHERE id = 2": "Syntax error at or near",
}


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_what_spark_does_not_accept_in_a_statement_is_an_error_of_its_text(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], format: str
) -> None:
    """By a session, afterwards, and in the place of another: the caret is under the name."""
    table = fresh(format)
    lake.sql(f"CREATE TABLE {table} USING {format} AS SELECT id, id * 10 AS v FROM range(5)")
    lake.sql(f"UPDATE {table} SET v = v + 1 WHERE id = 2")
    for written, told in MISTAKES.items():
        text = written.format(t=table)
        with lipstick.session(lake) as other, pytest.raises(InvalidQueryError, match=told) as shown:
            other.reenact({table: table}, [text], key="id")
        assert "^" in str(shown.value)
        assert "_lipstick_" not in str(shown.value)
    ls.track("own", table, key="id")
    for written, told in MISTAKES.items():
        with pytest.raises(InvalidQueryError, match=told) as shown:
            ls.sql(written.format(t=table))
        assert "^" in str(shown.value)
    ls.sql(f"UPDATE {table} SET v = v + 1 WHERE id = 3")
    for written, told in MISTAKES.items():
        with pytest.raises(InvalidQueryError, match=told):
            ls.history.what_if(replace={"s1": written.format(t=table)})


def test_conditions_and_keys_that_no_row_can_have_are_named(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str]
) -> None:
    """As a question to a query names them."""
    table = fresh("delta")
    lake.sql(f"CREATE TABLE {table} USING delta AS SELECT id, id * 10 AS v FROM range(5)")
    ls.track("own", table, key="id")
    ls.sql(f"UPDATE {table} SET v = v + 1 WHERE id = 3")
    history = ls.history
    for delete in ({"own@0": "idd = 2"}, {"own@0": "id ="}):
        with pytest.raises(TrackingError, match=r"cannot be applied to .*@0'"):
            history.what_if(delete=delete)
    for ask in (
        lambda: history.what_if(delete={"own@0": ["two"]}),
        lambda: history.rows("own", "two"),
        lambda: history.blame("own", "two"),
    ):
        with pytest.raises(TrackingError, match="Keys of"):
            ask()
    with pytest.raises(TrackingError, match=r"has 1 values \(id\), not 2"):
        history.rows("own", (1, 2))
    with pytest.raises(TrackingError, match="Keys of 'own'"):
        history.rows("own", {"v": 1})
    assert history.rows("own", {"ID": 3}) == history.rows("own", 3)
    with pytest.raises(InvalidQueryError, match="no column 'w' at 1:12"):
        history.since("own", f"SELECT max(w) > 1 FROM {table}")


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_a_frame_whose_subquery_reads_a_table_that_changed_since_is_told_or_followed(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], format: str
) -> None:
    """Iceberg answers the subquery's aggregate by its metadata, of whichever version."""
    table = fresh(format)
    lake.sql(f"CREATE TABLE {table} USING {format} AS SELECT id, id * 10 AS v FROM range(5)")
    text = f"SELECT id FROM {table} WHERE v = (SELECT max(v) FROM {table})"
    ls.track("own", table, key="id")
    frame = lake.sql(text)
    assert [row.id for row in ls.annotate(frame).collect()] == [4]
    lake.sql(f"UPDATE {table} SET v = 90 WHERE id = 1")
    with pytest.raises(SourceChangedError, match="reads version"):
        ls.annotate(lake.sql(text))
    ls.track("new", table, key="id")
    asked = ls.annotate(lake.sql(text))
    assert [row.id for row in asked.collect()] == [1]
    assert [row.id for row in asked.what_if(delete={"new": [1]}).df.collect()] == [4]
