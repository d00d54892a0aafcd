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
from rewriter.interpret.calls import Anew
from rewriter.scalars.text import scalar

NAN = float("nan")


def instant(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


COLUMNS = {
    "i": pa.array([1, 2, None], pa.int32()),
    "n": pa.array([1, 2, 10**9]),
    "d": pa.array([Decimal("1.00"), Decimal("2.50"), None], pa.decimal128(8, 2)),
    "f": pa.array([NAN, -0.0, None], pa.float64()),
    "s": pa.array(["ab", "Zoë", None]),
    "l": pa.array(["ab", "Zoe", None], pa.large_string()),
    "u": pa.array([instant(0), instant(5), None], pa.timestamp("us", "UTC")),
    "t": pa.array([date(2020, 2, 29), date(1969, 1, 1), None]),
    "b": pa.array([True, False, None]),
    "o": pa.array([{"x": 1, "Y": {"z": "u"}}, {"x": None, "Y": None}, None]),
}


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
        ("upper(m.s)", ["AB", "ZOË", None]),
        ("length(m.s)", [2, 3, None]),
        ("year(m.t)", [2020, 1969, None]),
        ("timestamp_millis(-m.i)", [instant(-1_000), instant(-2_000), None]),
        ("timestamp_micros(m.i) < timestamp_millis(1)", [True, True, None]),
        ("-m.i", [-1, -2, None]),
        ("abs(-m.d)", [Decimal("1.00"), Decimal("2.50"), None]),
        ("round(m.d)", [Decimal(1), Decimal(3), None]),
        ("round(m.i)", [1, 2, None]),
        ("m.s = m.l", [True, False, None]),
        ("m.u + INTERVAL 2 MINUTES", [instant(120_000_000), instant(120_000_005), None]),
        ("m.u - INTERVAL '1' SECOND", [instant(-1_000_000), instant(-999_995), None]),
        (
            "window(m.u, '4 microseconds', '4 microseconds', '1 microseconds').start",
            [instant(-3), instant(5), None],
        ),
        ("sequence(m.i, 2)", [[1, 2], [2], None]),
        ("sequence(m.n, m.i)", [[1], [2], None]),
        ("sequence(m.i, 0)", [[1, 0], [2, 1, 0], None]),
        ("array_compact(array(m.i, 7))", [[1, 7], [2, 7], [7]]),
        ("array_sort(array(3, 1, 2), (a, b) -> (-a) - (-b))", [[3, 2, 1]] * 3),
        (
            "struct(m.i, m.i + 1 AS j, 7)",
            [{"i": i, "j": i and i + 1, "col3": 7} for i in (1, 2, None)],
        ),
        ("round(m.d / 4, 1)", [Decimal("0.3"), Decimal("0.6"), None]),
        (
            "CASE WHEN m.d > 5 THEN raise_error('no') ELSE m.d END",
            [Decimal("1.00"), Decimal("2.50"), None],
        ),
        ("m.s NOT LIKE '%b'", [False, True, None]),
        ("1.50", [Decimal("1.50")] * 3),
        ("4294967296", [2**32] * 3),
        ("9223372036854775808", [Decimal(2**63)] * 3),
        ("TRUE", [True] * 3),
    ],
)
def test_scalar_has_the_values_that_spark_gives_it(sql: str, expected: list[Any]) -> None:
    assert _evaluate(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "cbrt(m.i)",
        "timestamp_millis(m.i * 9223372036854775807L)",
        "m.s RLIKE 'a%'",
        "initcap(m.s)",
        "substring(m.i, 1, 1)",
        "window(m.u, '4 microseconds', '2 microseconds', '0 microseconds')",
        "window(m.u, '1 month', '1 month', '0 microseconds')",
        "array_sort(array(m.i, 2), (a, b) -> a - b)",
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


def test_mode_is_of_one_argument() -> None:
    call = aggregate_call(scalar("MODE(m.x, TRUE)"))
    assert call.anew == Anew("mode")
    assert [argument.text for argument in call.arguments] == ["m.x"]


@pytest.mark.parametrize(
    ("sql", "anew"),
    [
        ("BIT_AND(m.x)", Anew("bit_and")),
        ("MEDIAN(m.x)", Anew("percentile", share=0.5)),
        ("SUM(m.x)", None),
        ("STDDEV(DISTINCT m.x)", None),
    ],
)
def test_aggregates_that_are_computed_of_all_values(sql: str, anew: Anew | None) -> None:
    assert aggregate_call(scalar(sql)).anew == anew


def test_comparison_has_its_sides() -> None:
    compared = comparison(scalar("(g.s >= 20)"))
    assert compared is not None
    assert (compared.op, compared.left.column, compared.right.text) == (">=", ("g", "s"), "20")
    assert comparison(scalar("g.a OR g.b")) is None
