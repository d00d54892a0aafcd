"""Values that functions of groups see and return where PySpark has no functions of Arrow arrays."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from lipstick.dataframes.conversions import of_values

_TYPES = (
    *(ByteType(), LongType(), FloatType(), DoubleType(), DecimalType(20, 3), StringType()),
    *(BinaryType(), BooleanType(), DateType(), TimestampType(), TimestampNTZType()),
    ArrayType(StructType().add("a", TimestampType()).add("b", IntegerType())),
    MapType(StringType(), ArrayType(IntegerType())),
)
ROWS = StructType([StructField(f"c{number}", kind) for number, kind in enumerate(_TYPES)])
# The second of the two hours from 2 to 3 o'clock that the clocks of Amsterdam show that night.
LATER = datetime(2024, 10, 27, 2, 30, 0, 5, fold=1)


@pytest.fixture
def amsterdam(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The local clock."""
    monkeypatch.setenv("TZ", "Europe/Amsterdam")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def _same(*arrays: pa.Array) -> pa.Array:
    assert [array.type.value_type.num_fields for array in arrays] == [13, 13]
    return arrays[0]


def _row(*values: Any) -> Row:
    return Row(*ROWS.names)(*values)


@pytest.mark.usefixtures("amsterdam")
def test_rows_come_back_as_they_are() -> None:
    rows = [
        _row(
            -5,
            2**62,
            0.5,
            -0.0,
            Decimal("12345678901234567.125"),
            "é",
            b"\x00\xff",
            True,
            date(1, 1, 1),
            LATER,
            datetime(1600, 2, 29, 1),
            [Row("a", "b")(LATER, 1), None],
            {"x": [1, None], "y": None},
        ),
        _row(*[None] * 13),
    ]
    (back, none) = of_values(_same, [ROWS, ROWS])(rows, rows[1:])
    assert none == (None,) * 13
    assert back[9].astimezone(UTC) == datetime(2024, 10, 27, 1, 30, 0, 5, UTC)
    # As Spark gets them, but for times of the local clock, which say no zone.
    kind = ArrayType(ROWS)
    (converted, _) = kind.toInternal([back, none])
    (expected, _) = kind.toInternal(rows)
    moment = 1_729_992_600_000_005
    assert (
        converted[:9] + converted[10:11] + converted[12:]
        == expected[:9] + expected[10:11] + expected[12:]
    )
    assert (converted[9], converted[11]) == (moment, [(moment, 1), None])


def test_no_rows() -> None:
    assert of_values(_same, [ROWS, ROWS])([], []) == []
