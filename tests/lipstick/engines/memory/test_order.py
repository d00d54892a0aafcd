"""Rows are ordered as Spark orders them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from lipstick.engines.memory.order import Key, order

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("kind", "ascending"),
    [
        (pa.float64(), [-INF, -1.5, 0.0, 2.0, INF, NAN]),
        (pa.int8(), [-128, 0, 127]),
        (pa.string(), ["", "Z", "a", "é"]),
        (pa.binary(), [b"\x00", b"\x7f", b"\xff"]),
        (pa.decimal128(30, 2), [Decimal("-1e25"), Decimal("0.01"), Decimal("1e25")]),
        (pa.date32(), [date(1950, 1, 1), date(2020, 1, 1)]),
        (pa.bool_(), [False, True]),
        (pa.list_(pa.int32()), [[], [None], [None, 1], [0], [0, None], [0, 0], [1]]),
        (
            pa.struct([("a", pa.float64()), ("b", pa.list_(pa.string()))]),
            [
                {"a": None, "b": None},
                {"a": None, "b": []},
                {"a": 1.0, "b": ["x"]},
                {"a": 1.0, "b": ["x", "y"]},
                {"a": NAN, "b": None},
            ],
        ),
        (
            pa.struct([("s", pa.struct([("a", pa.int32())])), ("b", pa.string())]),
            [
                {"s": None, "b": "z"},
                {"s": {"a": None}, "b": None},
                {"s": {"a": None}, "b": "a"},
                {"s": {"a": 2}, "b": "a"},
            ],
        ),
    ],
)
def test_values_of_a_type_are_in_order(kind: pa.DataType, ascending: list[Any]) -> None:
    values = pa.array(ascending[::-1], kind)
    length = len(ascending)
    assert order([Key(values)], length).tolist() == list(range(length))[::-1]
    assert order([Key(values, descending=True)], length).tolist() == list(range(length))


def test_nulls_stand_where_they_are_asked_to() -> None:
    values = pa.array([2, None, 1])
    assert order([Key(values)], 3).tolist() == [1, 2, 0]
    assert order([Key(values, nulls_first=False)], 3).tolist() == [2, 0, 1]
    assert order([Key(values, descending=True, nulls_first=True)], 3).tolist() == [1, 0, 2]


def test_negative_zero_ties_with_zero() -> None:
    keys = [Key(pa.array([0.0, -0.0])), Key(pa.array([2, 1]))]
    assert order(keys, 2).tolist() == [1, 0]


def test_without_keys_rows_stay() -> None:
    assert order([], 3).tolist() == [0, 1, 2]
