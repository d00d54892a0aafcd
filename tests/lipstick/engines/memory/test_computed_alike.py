"""Functions that are computed without Spark have Spark's values, to the bit."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from rewriter.interpret import UninterpretableError, from_arrow, interpret
from rewriter.scalars.text import scalar

TEXTS: Final = (
    "", " ", "  a b ", "\tx\n", "Ünïcödé", "straße", "ŉ", "İstanbul", "ПРИВЕТ", "Ωmega", "a%b_c",
    "aXbXc", "line\nbreak", "ÿ", "abcabc", None,
)  # fmt: skip
DOUBLES: Final = (
    0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 1.005, 2.675, -1.005, 0.125, 1e-7, -1e-7, 123456.785, 1e22,
    -0.004, 0.1 + 0.2, 5.684341886080802e-14, 4.35, math.inf, -math.inf, math.nan, None,
)  # fmt: skip
ROWS: Final = 24


def _repeated(values: tuple[Any, ...]) -> list[Any]:
    return [values[number % len(values)] for number in range(ROWS)]


COLUMNS: Final = pa.table(
    {
        "s": pa.array(_repeated(TEXTS), pa.string()),
        "u": pa.array(_repeated(("a", None, "X", "é")), pa.string()),
        "f": pa.array(_repeated(DOUBLES), pa.float64()),
        "g": pa.array(_repeated((1.5, -1.5, 0.0, 7.25, -1e9, None)), pa.float64()),
        "i": pa.array(_repeated((0, 1, -7, 2**31 - 1, None)), pa.int32()),
        "n": pa.array(_repeated((0, 1, -7, 2**53 + 1, None)), pa.int64()),
        "d": pa.array(_repeated((Decimal("1.25"), Decimal("-1.25"), None)), pa.decimal128(6, 2)),
        "t": pa.array(_repeated((dt.date(2024, 2, 29), dt.date(1969, 12, 31), None)), pa.date32()),
        "v": pa.array(_repeated((dt.date(2000, 1, 1), None)), pa.date32()),
        "b": pa.array(_repeated((True, False, None)), pa.bool_()),
    }
)
SCALARS: Final = (
    "trim(m.s)", "ltrim(m.s)", "rtrim(m.s)", "btrim(m.s)", "replace(m.s, 'X', '--')",
    "replace(m.s, '', 'y')", "concat_ws('|', m.s, m.u)", "concat_ws('|', m.u)", "m.s || m.u",
    "startswith(m.s, 'a')", "endswith(m.s, 'b ')", "contains(m.s, 'X')", "m.s LIKE 'a%'",
    "m.s LIKE '%e%k'", "m.s LIKE '_X_X_'", "NOT m.s LIKE '%b%'", "m.s NOT LIKE '%b%'",
    "md5(m.s)", "sha1(m.s)",
    "sha2(m.s, 256)", "sha2(m.s, 0)", "sha2(m.s, 512)", "substring(m.s, 2)", "substr(m.s, 0)",
    "substring(m.s, 2, 3)", "length(m.s)", "upper(trim(m.s))", "lower(m.u)", "upper(m.u)",
    "round(m.f, 2)", "round(m.f)", "round(m.f, 0)", "round(m.f, -2)", "round(m.f / 3, 4)",
    "floor(m.g)", "ceil(m.g)", "ceiling(m.d)", "floor(m.d)", "floor(m.i)", "ceil(m.n)",
    "sqrt(m.g)", "sqrt(m.i)", "sqrt(m.d)", "nvl2(m.u, m.i, m.n)", "date_add(m.t, m.i % 100)",
    "date_sub(m.t, 3)", "datediff(m.t, m.v)", "CAST(m.i AS STRING)", "CAST(m.n AS STRING)",
    "CAST(m.b AS STRING)",
)  # fmt: skip


@pytest.mark.classic
@pytest.mark.engines("memory")
def test_scalars_have_the_values_of_spark(spark: SparkSession) -> None:
    spark.createDataFrame(COLUMNS).createOrReplaceTempView("computed_alike")
    chosen = ", ".join(f"{sql} AS c{number}" for number, sql in enumerate(SCALARS))
    expected = spark.sql(f"SELECT {chosen} FROM computed_alike AS m").toArrow()
    spark.catalog.dropTempView("computed_alike")
    for sql, column in zip(SCALARS, expected.columns, strict=True):
        computed = interpret(scalar(sql)).evaluate(lambda _, name: from_arrow(COLUMNS[name]))
        values = computed.to_arrow(ROWS)
        assert values.type == column.type, sql
        assert _shown(values) == _shown(column.combine_chunks()), sql


def _shown(array: pa.Array) -> list[str]:
    return [repr(value) for value in array.to_pylist()]


@pytest.mark.parametrize("sql", ["upper(m.s)", "lower(m.s)"])
@pytest.mark.classic
@pytest.mark.engines("memory")
def test_case_of_every_letter_is_that_of_spark(spark: SparkSession, sql: str) -> None:
    """Every letter before Armenian alone, and between others: where it is computed at all."""
    letters = [chr(code) for code in range(1, 0x530)]
    column = pa.array([*letters, *(f"a{letter}b" for letter in letters)], pa.string())
    spark.createDataFrame(pa.table({"s": column})).createOrReplaceTempView("letters")
    expected = spark.sql(f"SELECT s, {sql} AS c FROM letters AS m").toArrow().to_pydict()
    spark.catalog.dropTempView("letters")
    compiled, refused = interpret(scalar(sql)), 0
    for text, value in zip(expected["s"], expected["c"], strict=True):
        one = pa.array([text], pa.string())
        try:
            computed = compiled.evaluate(lambda _, __, one=one: from_arrow(one))  # type: ignore[misc]
        except UninterpretableError:
            refused += 1
            continue
        assert computed.to_arrow(1).to_pylist() == [value], text
    assert refused == 2 * ((0x370 - 0x180) + 1)
