"""Arithmetic has Spark's result types and rounds as Spark does."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from rewriter.interpret import (
    FailedError,
    UninterpretableError,
    Vector,
    cast,
    from_arrow,
    in_time_zone,
    interpret,
)
from rewriter.scalars.text import scalar


def _column(kind: pa.DataType, *values: Any) -> Vector:
    return from_arrow(pa.array(values, kind))


def _evaluate(sql: str, **columns: Vector) -> pa.Array:
    length = len(next(iter(columns.values()))) if columns else 1
    return interpret(scalar(sql)).evaluate(lambda _, name: columns[name]).to_arrow(length)


def test_product_of_decimals_keeps_every_digit() -> None:
    price = _column(pa.decimal128(15, 2), Decimal("901.00"), None)
    rate = _column(pa.decimal128(15, 2), Decimal("0.05"), Decimal("0.10"))
    result = _evaluate("m.price * (1 - m.rate)", price=price, rate=rate)
    assert result.type == pa.decimal128(32, 4)
    assert result.to_pylist() == [Decimal("855.9500"), None]


def test_a_single_null_makes_all_rows_null() -> None:
    values, null = _column(pa.int64(), 1, 2), _column(pa.int64(), None)
    for operator in ("-", "<", "/"):
        assert _evaluate(f"m.v {operator} m.n", v=values, n=null).to_pylist() == [None, None]


def test_product_beyond_38_digits_gives_up_digits_of_the_fraction() -> None:
    wide = _column(pa.decimal128(30, 6), Decimal("1.000001"))
    result = _evaluate("m.a * m.a", a=wide)
    assert result.type == pa.decimal128(38, 6)
    assert result.to_pylist() == [Decimal("1.000002")]


def test_sum_of_decimals_has_the_larger_scale_and_one_more_digit() -> None:
    a, b = _column(pa.decimal128(5, 1), Decimal("1.5")), _column(pa.decimal128(4, 3), Decimal(1))
    result = _evaluate("m.a + m.b", a=a, b=b)
    assert result.type == pa.decimal128(8, 3)
    assert result.to_pylist() == [Decimal("2.500")]


def test_division_of_decimals_rounds_half_up() -> None:
    a, b = _column(pa.decimal128(4, 1), Decimal(2)), _column(pa.decimal128(4, 1), Decimal(3))
    result = _evaluate("m.a / m.b", a=a, b=b)
    assert result.type == pa.decimal128(10, 6)
    assert result.to_pylist() == [Decimal("0.666667")]


def test_division_of_integers_is_a_double() -> None:
    result = _evaluate("m.a / 2", a=_column(pa.int32(), 3, None))
    assert result.type == pa.float64()
    assert result.to_pylist() == [1.5, None]


def test_integer_literal_beside_a_decimal_has_just_its_digits() -> None:
    result = _evaluate("m.a * 10", a=_column(pa.decimal128(10, 2), Decimal("1.25")))
    assert result.type == pa.decimal128(13, 2)


def test_division_by_zero_fails_as_in_spark() -> None:
    with pytest.raises(FailedError):
        _evaluate("m.a / m.b", a=_column(pa.int32(), 1), b=_column(pa.int32(), 0))


def test_division_by_zero_that_case_does_not_choose_is_forgiven() -> None:
    b = _column(pa.int32(), 0, 2)
    result = _evaluate("CASE WHEN m.b <> 0 THEN 1 / m.b END", b=b)
    assert result.to_pylist() == [None, 0.5]


def test_overflow_of_integers_fails() -> None:
    with pytest.raises(FailedError):
        _evaluate("m.a * m.a", a=_column(pa.int32(), 2**20))


def test_integers_and_doubles_do_not_pass_through_each_other() -> None:
    result = _evaluate("m.a + 1", a=_column(pa.int64(), 2**62 + 1))
    assert result.to_pylist() == [2**62 + 2]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (Decimal("2.345"), pa.decimal128(5, 2), Decimal("2.35")),
        (Decimal("-2.345"), pa.decimal128(5, 2), Decimal("-2.35")),
        (Decimal("-2.945"), pa.int32(), -2),
        (Decimal("2.945"), pa.float64(), 2.945),
    ],
)
def test_cast_of_a_decimal(value: Decimal, kind: pa.DataType, expected: Any) -> None:
    result = cast(_column(pa.decimal128(10, 3), value), kind).to_arrow(1)
    assert result.type == kind
    assert result.to_pylist() == [expected]


def test_cast_that_only_spark_has_is_told_apart() -> None:
    with pytest.raises(UninterpretableError):
        cast(_column(pa.string(), "1"), pa.int32())


@pytest.mark.parametrize(
    ("sql", "kind", "expected"),
    [
        ("m.a % m.b", pa.int32(), [1, -1, 1, -1, None]),
        ("m.a DIV m.b", pa.int64(), [3, -3, -3, 3, None]),
        ("m.a % 12 DIV 3", pa.int64(), [2, -2, 2, -2, None]),
    ],
)
def test_division_of_integers_without_a_fraction(
    sql: str, kind: pa.DataType, expected: list[int | None]
) -> None:
    a = _column(pa.int32(), 7, -7, 7, -7, None)
    b = _column(pa.int32(), 2, 2, -2, -2, 1)
    result = _evaluate(sql, a=a, b=b)
    assert result.type == kind
    assert result.to_pylist() == expected


def test_least_integer_has_a_remainder_and_no_quotient_by_minus_one() -> None:
    least, minus = _column(pa.int64(), -(2**63)), _column(pa.int64(), -1)
    assert _evaluate("m.a % m.b", a=least, b=minus).to_pylist() == [0]
    with pytest.raises(FailedError):
        _evaluate("m.a DIV m.b", a=least, b=minus)


@pytest.mark.parametrize("sql", ["m.a % m.b", "m.a DIV m.b"])
def test_division_by_zero_fails(sql: str) -> None:
    with pytest.raises(FailedError):
        _evaluate(sql, a=_column(pa.int32(), 1), b=_column(pa.int32(), 0))


@pytest.mark.parametrize("sql", ["m.a % m.b", "m.a DIV m.b"])
def test_fractions_have_no_division_without_one(sql: str) -> None:
    with pytest.raises(UninterpretableError):
        _evaluate(sql, a=_column(pa.float64(), 1.5), b=_column(pa.int32(), 2))


def test_structs_are_cast_field_by_field() -> None:
    narrow = pa.struct([("n", pa.int32()), ("at", pa.timestamp("us"))])
    wide = pa.struct([pa.field("m", pa.int64(), nullable=False), ("at", pa.timestamp("us", "UTC"))])
    with in_time_zone("UTC"):
        widened = cast(from_arrow(pa.array([{"n": 1}, None], narrow)), wide)
    assert widened.to_arrow(2).to_pylist() == [{"m": 1, "at": None}, None]
    assert widened.type == wide
    with pytest.raises(UninterpretableError):
        cast(widened, pa.struct([("m", pa.int64())]))


def test_doubles_are_rounded_to_decimals_as_spark_rounds_them(spark: SparkSession) -> None:
    drawn = random.Random(3)
    values = [n / 100 for n in range(-700, 700)]
    values += [drawn.uniform(-1, 1) * 10 ** drawn.randrange(-12, 10) for _ in range(2_000)]
    values += [drawn.randrange(10**9) / 10 ** drawn.randrange(9) for _ in range(2_000)]
    frame = spark.createDataFrame(pa.table({"i": range(len(values)), "v": values}))
    kinds = ("DECIMAL(16, 2)", "DECIMAL(20, 6)", "DECIMAL(12, 0)", "DECIMAL(5, 3)")
    sure = 0
    for kind in kinds:
        wanted = frame.selectExpr("i", f"try_cast(v AS {kind}) AS v").toArrow().sort_by("i")["v"]
        for start in range(0, len(values), 50):
            part, column = slice(start, start + 50), pa.array(values[start : start + 50])
            try:
                found = interpret(scalar(f"CAST(m.v AS {kind})")).evaluate(
                    lambda *_, column=column: from_arrow(column)
                )
            except UninterpretableError:
                continue  # one of them is near to a half
            failed = [False] * len(column) if found.failed is None else found.failed.tolist()
            exact = [Decimal(int(n)).scaleb(-found.type.scale) for n in found.values]
            assert [None if f else v for v, f in zip(exact, failed, strict=True)] == wanted[
                part
            ].to_pylist()
            sure += 1
    assert sure > 200


@pytest.mark.parametrize("value", [1.005, 0.125, 2.675, float("nan"), float("inf"), 1e300])
def test_doubles_near_to_a_half_are_left_to_spark(value: float) -> None:
    """Spark rounds the digits that Java writes, and Java may write others."""
    with pytest.raises(UninterpretableError):
        cast(_column(pa.float64(), value), pa.decimal128(16, 2))
    assert cast(_column(pa.float64(), None), pa.decimal128(16, 2)).to_arrow(1).to_pylist() == [None]
