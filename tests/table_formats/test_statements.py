"""What becomes of each form of statement in tables of each format, as docs/support.md has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import InvalidQueryError, LipstickError, UnsupportedError
from tests.selection import takes
from tests.support_page.table_statements import (
    FOLLOWED,
    FORMATS,
    NONE,
    REFUSED,
    TABLE_STATEMENTS,
    WRITTEN,
)
from tests.table_formats.test_sources import TABLES

_ROWS = "SELECT CAST(id AS INT) AS id, CAST(id * 10 AS INT) AS amount, if(id > 3, 'x', 'y') AS p"
_PROPERTIES = {
    "delta": "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "iceberg": "TBLPROPERTIES ('format-version' = 2)",
}
_JDBC = {
    "spark.sql.catalog.derby": (
        "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    ),
    "spark.sql.catalog.derby.url": "jdbc:derby:memory:statements;create=true",
    "spark.sql.catalog.derby.driver": "org.apache.derby.jdbc.EmbeddedDriver",
}


def outcomes(
    lake: SparkSession, format: str, table: str, statements: Iterable[str]
) -> Iterator[str]:
    """Yield what becomes of each statement on a table of a format, one after the other.

    Those that are followed or written change rows; those that are refused change none.
    """
    if format == "jdbc":
        for name, value in _JDBC.items():
            lake.conf.set(name, value)
        options = {"url": _JDBC["spark.sql.catalog.derby.url"], "dbtable": table}
        lake.sql(f"{_ROWS} FROM range(5)").write.format("jdbc").options(**options).save()
        table = f"derby.APP.{table.upper()}"
    else:
        lake.sql(
            f"CREATE TABLE {table} USING {format} PARTITIONED BY (p) {_PROPERTIES.get(format, '')} "
            f"AS {_ROWS} FROM range(5)"
        )
    followed, rows = [], _rows(lake, table)
    with lipstick.session(lake) as ls:
        ls.track("s", lake.sql(f"{_ROWS} FROM range(3, 7)").toArrow(), key="id")
        if format in _PROPERTIES:
            ls.track("t", table, key="*")
        for given in statements:
            text, outcome = given.format(t=table, format=format), REFUSED
            try:
                if text.startswith("ALTER") and format in _PROPERTIES:
                    lake.sql(text)
                    text = f"UPDATE {table} SET p = concat(p, 'z')"
                ls.sql(text)
            except (InvalidQueryError, PySparkException):
                outcome = NONE
            except LipstickError:
                pass
            else:
                followed.append(text)
                outcome = FOLLOWED if format in _PROPERTIES else WRITTEN
            before, rows = rows, _rows(lake, table)
            assert (rows != before) == (outcome in {FOLLOWED, WRITTEN}), text
            yield outcome
        if format in _PROPERTIES:
            ls.history.check()
            assert list(ls.history.statements.values()) == followed


def _rows(lake: SparkSession, table: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, lake.table(table).collect()), key=repr)


@pytest.mark.parametrize("format", FORMATS)
def test_statements_have_the_outcomes_of_the_page(
    lake: SparkSession, fresh: Callable[[str], str], format: str, request: pytest.FixtureRequest
) -> None:
    """All with ``--all``, else those that others need and a seventh, which changes by the turn."""
    number, tried = FORMATS.index(format), list(TABLE_STATEMENTS)
    tried = [
        text
        for place, text in enumerate(tried)
        if text.startswith("ALTER") or takes(request, 7, place)
    ]
    expected = {text: TABLE_STATEMENTS[text][number] for text in tried}
    found = outcomes(lake, format, fresh(format), expected)
    assert dict(zip(expected, found, strict=True)) == expected


@pytest.mark.slow
def test_statements_over_columns_that_delta_makes(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str]
) -> None:
    """Generated columns are computed; rows with new numbers are not, and are refused by name."""
    table = fresh("delta")
    for text in TABLES["delta with columns that it makes"]:
        lake.sql(text.format(t=table))
    ls.track("t", table, key="k")
    expected = lake.table(table).where("NOT m > 30").collect()
    ls.sql(f"UPDATE {table} SET n = n + 1 WHERE k > 3")
    ls.sql(f"DELETE FROM {table} WHERE m > 30")
    ls.history.check()
    undone = ls.history.what_if(undo=["s1"]).table("t").collect()
    assert sorted(map(tuple, undone)) == sorted(map(tuple, expected))
    with pytest.raises(UnsupportedError, match="the table numbers its rows in the column 'k'"):
        ls.sql(f"INSERT INTO {table} (v, n) VALUES ('x', 1)")


def test_tables_with_padded_columns_are_refused_before_a_statement_runs(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str]
) -> None:
    """A VARCHAR is a text like others."""
    table = fresh("delta")
    lake.sql(f"CREATE TABLE {table} (id INT, c CHAR(5), v VARCHAR(5)) USING delta")
    lake.sql(f"INSERT INTO {table} VALUES (1, 'ab', 'ab'), (2, 'cd', 'cd')")
    ls.track("padded", table, key="id")
    with pytest.raises(UnsupportedError, match="the column 'c' is a CHAR, whose values Spark pads"):
        ls.sql(f"UPDATE {table} SET v = 'x' WHERE id = 1")
    assert lake.table(table).where("v = 'x'").isEmpty()
    lake.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    lake.sql(f"ALTER TABLE {table} DROP COLUMN c")
    ls.untrack("padded")
    ls.track("padded", table, key="id")
    ls.sql(f"UPDATE {table} SET v = 'x' WHERE id = 1")
    asked = ls.sql("SELECT v FROM padded").what_if(undo=["s1"])
    assert sorted(row.v for row in asked.df.collect()) == ["ab", "cd"]
