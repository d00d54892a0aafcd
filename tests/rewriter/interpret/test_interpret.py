"""Scalars of blocks over columns: three-valued logic, and what is left to Spark."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from rewriter.interpret import (
    UninterpretableError,
    aggregate_call,
    comparison,
    from_arrow,
    interpret,
)
from rewriter.scalars.text import scalar

NAN = float("nan")
COLUMNS = {
    "i": pa.array([1, 2, None], pa.int32()),
    "d": pa.array([Decimal("1.00"), Decimal("2.50"), None], pa.decimal128(8, 2)),
    "f": pa.array([NAN, -0.0, None], pa.float64()),
    "s": pa.array(["ab", "Zoë", None]),
    "t": pa.array([date(2020, 2, 29), date(1969, 1, 1), None]),
    "b": pa.array([True, False, None]),
    "o": pa.array([{"x": 1, "Y": {"z": "u"}}, {"x": None, "Y": None}, None]),
}


def instant(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


def _evaluate(sql: str) -> list[Any]:
    evaluated = interpret(scalar(sql)).evaluate(lambda _, name: from_arrow(COLUMNS[name]))
    values: list[Any] = evaluated.to_arrow(3).to_pylist()
    return values


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("m.i = m.d", [True, False, None]),
        ("m.o.x", [1, None, None]),
        ("m.o.y.Z", ["u", None, None]),
        ("NAMED_STRUCT('a', m.i + 1, 'b', m.o).b.X", [1, None, None]),
        ("m.i <> 1", [False, True, None]),
        ("m.d > 1.25", [False, True, None]),
        ("m.f > 1e300", [True, False, None]),
        ("m.f = m.f", [True, True, None]),
        ("m.f = 0", [False, True, None]),
        ("m.i <=> NULL", [False, False, True]),
        ("m.i = NULL", [None, None, None]),
        ("m.b AND m.i > 0", [True, False, None]),
        ("m.b OR m.i IS NULL", [True, False, True]),
        ("NOT m.b", [False, True, None]),
        ("m.i IS NOT NULL", [True, True, False]),
        ("m.i IN (2, NULL)", [None, True, None]),
        ("m.i BETWEEN 2 AND 3", [False, True, None]),
        ("m.s = 'ab'", [True, False, None]),
        ("m.s < 'a'", [False, True, None]),
        ("m.t >= DATE '1970-01-01'", [True, False, None]),
        ("COALESCE(m.i, 7)", [1, 2, 7]),
        ("COALESCE(m.d, 0)", [Decimal("1.00"), Decimal("2.50"), Decimal("0.00")]),
        ("CASE WHEN m.b THEN m.s ELSE 'no' END", ["ab", "no", "no"]),
        ("CASE m.i WHEN 1 THEN 'one' END", ["one", None, None]),
        ("IF(m.b, 1, 2)", [1, 2, 2]),
        ("NULLIF(m.i, 1)", [None, 2, None]),
        ("substring(m.s, 2, 1)", ["b", "o", None]),
        ("concat(m.s, '!')", ["ab!", "Zoë!", None]),
        ("length(m.s)", [2, 3, None]),
        ("year(m.t)", [2020, 1969, None]),
        ("timestamp_millis(-m.i)", [instant(-1_000), instant(-2_000), None]),
        ("timestamp_micros(m.i) < timestamp_millis(1)", [True, True, None]),
        ("-m.i", [-1, -2, None]),
        ("abs(-m.d)", [Decimal("1.00"), Decimal("2.50"), None]),
        ("round(m.d / 4, 1)", [Decimal("0.3"), Decimal("0.6"), None]),
        (
            "CASE WHEN m.d > 5 THEN raise_error('no') ELSE m.d END",
            [Decimal("1.00"), Decimal("2.50"), None],
        ),
        ("1.50", [Decimal("1.50")] * 3),
        ("TRUE", [True] * 3),
    ],
)
def test_scalar_has_the_values_that_spark_gives_it(sql: str, expected: list[Any]) -> None:
    assert _evaluate(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "sqrt(m.i)",
        "timestamp_millis(m.i * 9223372036854775807L)",
        "m.s LIKE 'a%'",
        "upper(m.s)",
        "m.s = m.i",
    ],
)
def test_scalar_that_only_spark_computes_is_named(sql: str) -> None:
    with pytest.raises(UninterpretableError, match="m"):
        _evaluate(sql)


def test_scalar_over_no_rows_has_no_values() -> None:
    empty = interpret(scalar("CASE WHEN m.i > 1 THEN concat(m.s, 'x') ELSE 'y' END"))
    vector = empty.evaluate(lambda _, name: from_arrow(COLUMNS[name].slice(0, 0)))
    assert vector.to_arrow(0).to_pylist() == []


def test_columns_are_named_once_in_order() -> None:
    assert interpret(scalar("m.a + g.b + m.a")).columns == (("m", "a"), ("g", "b"))


def test_bare_column_is_told_from_an_expression() -> None:
    assert interpret(scalar("(g.`n`)")).column == ("g", "n")
    assert interpret(scalar("g.n + 0")).column is None


def test_aggregate_call_is_taken_apart() -> None:
    call = aggregate_call(scalar("SUM(DISTINCT m.x * 2)"))
    assert (call.function, call.distinct, len(call.arguments)) == ("SUM", True, 1)
    assert aggregate_call(scalar("COUNT(*)")).arguments == ()
    assert aggregate_call(scalar("STDDEV(m.x)")).function is None


def test_comparison_has_its_sides() -> None:
    compared = comparison(scalar("(g.s >= 20)"))
    assert compared is not None
    assert (compared.op, compared.left.column, compared.right.text) == (">=", ("g", "s"), "20")
    assert comparison(scalar("g.a OR g.b")) is None
