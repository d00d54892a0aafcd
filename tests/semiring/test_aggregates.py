"""Aggregates by group, decimals and exact integers."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Context, Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring import AnnotationError, ExactnessError
from semiring.arrays.aggregates import (
    aggregate,
    aggregate_ranges,
    counts_excluding,
    distinct_members,
    extremes_excluding,
    subtract_members,
)
from semiring.arrays.comparison import compare_arrays
from semiring.arrays.decimals import decimal_to_integers, integers_to_decimal, sum_decimal_segments
from semiring.arrays.exact import integer_array, sum_segments
from semiring.comparison import OPERATORS, compare_values

D = Decimal
OFFSETS = np.array([0, 2, 2, 4])


@given(
    st.sampled_from(["SUM", "COUNT", "AVG"]),
    st.sampled_from([pa.int64(), pa.decimal128(12, 2), pa.decimal128(30, 2)]),
    st.lists(st.none() | st.integers(-(2**30), 2**30), min_size=1, max_size=8),
)
def test_aggregates_of_ranges_are_those_of_their_segments(name, kind, values):
    column = pa.array(values, kind)
    pairs = [(a, b) for a in range(len(values) + 1) for b in range(a, len(values) + 1)]
    start, stop = np.array(pairs).T
    members = np.concatenate([np.arange(a, b) for a, b in pairs])
    offsets = np.concatenate([[0], np.cumsum(stop - start)])
    ones = np.ones(len(members), dtype=np.int64)
    expected = aggregate(name, ones, column.take(pa.array(members, pa.int64())), offsets)
    assert aggregate_ranges(name, column, start, stop).equals(expected)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), max_size=5))
def test_sums_are_exact(groups):
    """Sums of int64 are exact whatever their size."""
    values = np.array([v for g in groups for v in g], dtype=np.int64)
    offsets = np.cumsum([0, *map(len, groups)])
    assert sum_segments(values, offsets).tolist() == [sum(g) for g in groups]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(-(10**38) + 1, 10**38 - 1))), st.integers(0, 3))
def test_decimal_round_trip(items, start):
    """Decimals to integers and back, through slices and NULLs."""
    context = Context(prec=60)
    array = pa.array(
        [None if i is None else context.scaleb(D(i), -4) for i in items], pa.decimal128(38, 4)
    ).slice(start)
    values = decimal_to_integers(array)
    assert values.tolist() == [i or 0 for i in items[start:]]
    null = np.array([i is None for i in items[start:]], dtype=bool)
    assert integers_to_decimal(values, 38, 4, null).equals(array)
    included = np.ones(len(array), dtype=bool)
    offsets = np.array([0, len(array)])
    assert sum_decimal_segments(array, included, offsets).tolist() == [sum(values.tolist())]


def test_small_decimals_are_int64():
    """Values that fit are int64 even in a wide type; others are Python integers."""
    small = pa.array([D("-1.50"), None, D("2.25")], pa.decimal128(38, 2))
    assert decimal_to_integers(small).dtype == np.int64
    assert decimal_to_integers(small).tolist() == [-150, 0, 225]
    assert decimal_to_integers(pa.array([D(10) ** 30])).tolist() == [10**30]
    with pytest.raises(AnnotationError, match="decimal128"):
        decimal_to_integers(pa.array([1]))
    with pytest.raises(ExactnessError, match="more than 2 digits"):
        integers_to_decimal(np.array([100]), 2, 0)


def test_excluding():
    """Sums, counts and extremes of the members not excluded; empty groups stand out."""
    values, excluded = np.array([5, 7, -3, 9]), np.array([True, False, True, True])
    assert counts_excluding(excluded, OFFSETS).tolist() == [1, 0, 0]
    extremes, present = extremes_excluding(values, ~excluded, OFFSETS, largest=False)
    assert extremes[present].tolist() == [5, -3]
    assert present.tolist() == [True, False, True]


def test_nan_is_largest():
    """NaN is the maximum and never the minimum unless alone."""
    values, none = np.array([1.0, math.nan, math.nan, math.nan]), np.zeros(4, bool)
    low, _ = extremes_excluding(values, none, OFFSETS, largest=False)
    high, _ = extremes_excluding(values, none, OFFSETS, largest=True)
    assert low[0] == 1.0
    assert math.isnan(low[2])
    assert math.isnan(high[0])


def test_subtract_members():
    """Totals less the deleted members, exactly."""
    totals = np.array([10, 20, 30])
    totals_left = subtract_members(totals, np.array([2, 0, 2]), np.array([1, 4, 2**62]))
    assert totals_left.tolist() == [6, 20, 29 - 2**62]
    none = np.array([], dtype=np.int64)
    assert subtract_members(totals, none, none).tolist() == [10, 20, 30]
    huge = subtract_members(totals, np.array([1]), integer_array([2**70]))
    assert huge.tolist() == [10, 20 - 2**70, 30]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("MIN", pa.array(["b", "a", None, "c"]), ["a", None, "c"]),
        ("MIN", pa.array([3, -4, None, 2], pa.int16()), [-4, None, 2]),
        ("MAX", pa.array([1, 2, None, None], pa.uint64()), [2, None, None]),
        (
            "MAX",
            pa.array([date(2024, 1, 2), date(1969, 1, 2), None, date(1, 1, 1)]),
            [date(2024, 1, 2), None, date(1, 1, 1)],
        ),
        (
            "MIN",
            pa.array([datetime(2024, 1, 2), None, None, None], pa.timestamp("us")),
            [datetime(2024, 1, 2), None, None],
        ),
        ("MAX", pa.array([True, False, False, None]), [True, None, False]),
        ("MAX", pa.array([1.5, math.nan, 2.0, 1.0], pa.float32()), [math.nan, None, 2.0]),
        ("SUM", pa.array([0.5, 0.25, None, None], pa.float64()), [0.75, None, None]),
        ("AVG", pa.array([1, 2, 2, 2], pa.int8()), [1.5, None, 2.0]),
        ("AVG", pa.array([D("-0.01"), D("0.00"), D("1.00"), D("0.99")]), None),
    ],
)
def test_types(name, values, expected):
    """Aggregates of columns of other types."""
    aggregates = aggregate(name, np.ones(4, np.int64), values, OFFSETS).to_pylist()
    if expected is None:
        expected = [D("-0.005000"), None, D("0.995000")]
    assert str(aggregates) == str(expected)


def test_sliced_input():
    """A sliced column is aggregated as it reads."""
    values = pa.array([9, 1, 2, None, 4, 5]).slice(1, 4)
    assert aggregate("SUM", np.ones(4, np.int64), values, OFFSETS).to_pylist() == [3, None, 4]


def test_wide_decimals():
    """Sums of decimals past int64 are exact, with multiplicities too."""
    values = pa.array([D(10) ** 27, D("0.01"), D(1), None], pa.decimal128(30, 2))
    ones, twos = np.ones(4, np.int64), np.full(4, 2)
    expected = D("1000000000000000000000000000.01")
    assert aggregate("SUM", ones, values, OFFSETS).to_pylist() == [expected, None, D("1.00")]
    twice = D("2000000000000000000000000000.02")
    assert aggregate("SUM", twos, values, OFFSETS).to_pylist() == [twice, None, D("2.00")]


def test_overflow_is_an_error():
    """A sum past bigint is refused as Spark would refuse it."""
    values = pa.array([2**62] * 4)
    with pytest.raises(ExactnessError, match="does not fit bigint"):
        aggregate("SUM", np.ones(4, np.int64), values, OFFSETS)
    with pytest.raises(AnnotationError, match="not supported"):
        aggregate("SUM", np.ones(4, np.int64), pa.array(list("abcd")), OFFSETS)
    with pytest.raises(AnnotationError, match="needs a column"):
        aggregate("SUM", np.ones(4, np.int64), None, OFFSETS)


NUMBERS = [None, 0.0, 1.5, math.nan, math.inf]


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize(
    "column",
    [
        pa.array(NUMBERS),
        pa.array([None, 1, 2, 3, 2**62]),
        pa.array([None, D("1.5"), D("2.00")], pa.decimal128(20, 2)),
        pa.array([None, "a", "b"]),
    ],
    ids=lambda column: str(column.type),
)
def test_array_comparison_agrees(op, column):
    """Comparison of columns agrees with that of values, constants on either side."""
    items = column.to_pylist()
    constants = ["a"] if pa.types.is_string(column.type) else [1, D("1.5"), 1.5, math.nan, 2**70]
    for constant in [None, *constants]:
        for left, right in ((column, constant), (constant, column), (column, column)):
            a = items if left is column else [constant] * len(items)
            b = items if right is column else [constant] * len(items)
            expected = [compare_values(op, x, y) for x, y in zip(a, b, strict=True)]
            assert compare_arrays(op, left, right, len(items)).tolist() == expected


def test_incomparable():
    """Values of unlike types are refused."""
    with pytest.raises(AnnotationError, match="cannot compare"):
        compare_arrays("<", pa.array(["a"]), 1, 1)


def test_distinct_members_of_structs_and_arrays() -> None:
    pairs = pa.array([{"a": 1}, {"a": 2}, {"a": 1}, None, {"a": None}, {"a": None}])
    lists = pa.array([[1], [2], [1], None, [None], [None]])
    multiplicities, offsets = np.array([0, 1, 2, 1, 0, 0]), np.array([0, 3, 6])
    for values in (pairs, lists):
        alive, kept, places = distinct_members(multiplicities, values, offsets)
        assert places.tolist() == [0, 2, 4]
        members = {(repr(v), int(n)) for v, n in zip(kept.to_pylist(), alive, strict=True)}
        assert members == {
            (repr(values[0].as_py()), 1),
            (repr(values[1].as_py()), 1),
            ("None", 1),
            (repr(values[4].as_py()), 0),
        }


def test_sums_of_durations_are_durations() -> None:
    due = pa.array([3, -1, None, 5], pa.duration("us"))
    total = aggregate("SUM", np.array([1, 1, 1, 0]), due, np.array([0, 3, 4]))
    assert total.equals(pa.array([2, None], pa.duration("us")))
    with pytest.raises(AnnotationError, match="AVG of a column of type duration"):
        aggregate("AVG", np.ones(4, dtype=np.int64), due, np.array([0, 4]))
