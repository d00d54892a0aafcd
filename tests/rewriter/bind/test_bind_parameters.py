"""Parameters: the literal each Python value becomes, and the values that have none."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from rewriter import dialect
from rewriter.algebra.rendering import render
from rewriter.bind import Environment, bind_query, substitute
from rewriter.bind.catalog import MemoryCatalog
from rewriter.dialect import SparkSQL
from rewriter.errors import QueryError

LITERALS = [
    (None, "NULL"),
    (True, "TRUE"),
    (1, "1"),
    (-(2**31), "(-2147483648)"),
    (5_000_000_000, "5000000000"),
    (1.5, "CAST('1.5' AS DOUBLE)"),
    (1e-320, "CAST('1e-320' AS DOUBLE)"),
    (float("inf"), "CAST('inf' AS DOUBLE)"),
    (Decimal("1.50"), "CAST('1.50' AS DECIMAL(3, 2))"),
    (Decimal("0.01"), "CAST('0.01' AS DECIMAL(2, 2))"),
    (Decimal("1E+3"), "CAST('1000' AS DECIMAL(4, 0))"),
    (Decimal(-5), "CAST('-5' AS DECIMAL(1, 0))"),
    ("it's \\ \n", "'it\\'s \\\\ \\n'"),
    (date(2020, 1, 31), "CAST('2020-01-31' AS DATE)"),
    (b"\x00\xff", "X'00FF'"),
    (bytearray(b"a"), "X'61'"),
    (
        datetime(2020, 1, 31, 12, 0, 0, 5, tzinfo=timezone(timedelta(hours=2))),
        "CAST('2020-01-31 10:00:00.000005 UTC' AS TIMESTAMP)",
    ),
]


@pytest.mark.parametrize(("value", "literal"), LITERALS)
def test_literal(value: object, literal: str) -> None:
    """A value becomes a literal of the type that Spark gives it."""
    query = substitute(dialect.parse("SELECT :x"), {"x": value})
    assert query.expressions[0].sql(dialect=SparkSQL) == literal


def test_datetime_without_zone() -> None:
    """It is an instant in local time, or a TIMESTAMP_NTZ in a session that prefers these."""
    value = datetime(2020, 1, 31, 12)
    query = dialect.parse("SELECT :x")
    local = value.astimezone().astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    assert substitute(query, {"x": value}).expressions[0].sql(dialect=SparkSQL) == (
        f"CAST('{local} UTC' AS TIMESTAMP)"
    )
    assert substitute(query, {"x": value}, timestamp_ntz=True).sql(dialect=SparkSQL) == (
        "SELECT CAST('2020-01-31 12:00:00' AS TIMESTAMP_NTZ)"
    )


def test_the_query_is_left_as_it_is() -> None:
    """Substitution makes a copy."""
    query = dialect.parse("SELECT :x, ?")
    before = query.sql(dialect=SparkSQL)
    with pytest.raises(QueryError):
        substitute(query, {"x": 1})
    assert query.sql(dialect=SparkSQL) == before


def test_by_place(catalog: MemoryCatalog) -> None:
    """Markers take their values in the order of the text, whatever the order of the tree."""
    sql = "SELECT a + ? FROM t WHERE b > ? AND a IN (?, 7) ORDER BY a LIMIT ?"
    query = substitute(dialect.parse(sql), [1, 2, 3, 4], sql=sql)
    root = bind_query(sql, Environment(catalog), query).root
    assert render(root).splitlines() == [
        "Project: a_1_2 'a + 1' := `a_1`",
        "  Limit: 4 offset 0",
        "    Sort: `a_2` ASC NULLS FIRST",
        "      Project: a_1 'a + 1' := `a` + 1, a_2 'a' := `a`",
        "        Filter: `b` > 2 AND `a` IN (3, 7)",
        "          Scan t: a, b",
    ]


def test_by_name_twice(catalog: MemoryCatalog) -> None:
    """One value serves all markers of its name; values without a marker are ignored."""
    sql = "SELECT :x AS x FROM t WHERE a = :x"
    query = substitute(dialect.parse(sql), {"x": "v", "y": 1}, sql=sql)
    root = bind_query(sql, Environment(catalog), query).root
    assert "'v'" in render(root)


@pytest.mark.parametrize(
    ("sql", "args", "message"),
    [
        (
            "SELECT :x",
            {"x": [1]},
            "parameter x has type list, or a value out of range, which has no literal at 1:8",
        ),
        (
            "SELECT :x",
            {"x": timedelta(1)},
            "parameter x has type datetime.timedelta, or a value out of range, which has no "
            "literal at 1:8",
        ),
        (
            "SELECT ?",
            [2**63],
            "parameter 0 has type int, or a value out of range, which has no literal",
        ),
        (
            "SELECT :x",
            {"x": Decimal("NaN")},
            "parameter x has type decimal.Decimal, or a value out of range, which has no literal "
            "at 1:8",
        ),
        ("SELECT 1,\n  :missing", {}, "parameter :missing has no value at 2:3"),
        ("SELECT ?,\n ?", [1], "the query has 2 parameters ?, args 1 values at 2:2"),
        ("SELECT ?", {"x": 1}, "a parameter ? needs args to be a list at 1:8"),
        ("SELECT :x", [1], "a parameter :name needs args to be a dict"),
        ("FROM t SELECT ?", [1], "parameters ? in a query that starts with FROM"),
    ],
)
def test_refused(
    sql: str, args: dict[str, object] | list[object], message: str, catalog: MemoryCatalog
) -> None:
    """The error names the parameter, and its place where the text gives one."""
    with pytest.raises(QueryError) as caught:
        substitute(dialect.parse(sql), args, sql=sql)
    assert str(caught.value).splitlines()[0] == message
