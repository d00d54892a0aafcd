"""The comparison of bags: what it must tell apart, and what it must not."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from tests.oracle.rows import (
    Bag,
    OrderKey,
    Row,
    assert_ordered,
    assert_same_bag,
    assert_same_schema,
    difference,
    from_arrow,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([(1, "a"), (2, "b")], [(2, "b"), (1, "a")]),
        ([(NAN,), (None,)], [(None,), (NAN,)]),
        ([(0.0,)], [(-0.0,)]),
        ([(0.1 + 0.2,)], [(0.3,)]),
        ([(1e15 + 0.3,)], [(1e15,)]),
        ([([(1, 2.0)],)], [([(1, 2.0 + 1e-12)],)]),
        ([], []),
        ([()], [()]),
        # Sorted by the first number alone these would be paired crosswise.
        ([(1.0, 5.0), (1.0 + 1e-12, 7.0)], [(1.0, 7.0), (1.0 + 1e-12, 5.0)]),
    ],
)
def test_equal_bags(left: list[Row], right: list[Row]) -> None:
    assert not difference(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([(1,)], [(1,), (1,)]),
        ([(1,)], [(None,)]),
        ([(1,)], [(True,)]),
        ([(1,)], [(1.0,)]),
        ([(1,)], [("1",)]),
        ([(NAN,)], [(None,)]),
        ([(1.0,)], [(1.001,)]),
        ([(float("inf"),)], [(float("-inf"),)]),
        ([(Decimal("1.0"),)], [(Decimal("1.0000001"),)]),
        ([(10**17,)], [(10**17 + 1,)]),
        ([("a ",)], [("a",)]),
        ([([1, 2],)], [([2, 1],)]),
    ],
)
def test_different_bags(left: list[Row], right: list[Row]) -> None:
    assert difference(left, right)
    assert difference(right, left)


def test_difference_counts_multiplicity() -> None:
    differences = difference([(1,), (1,), (2,)], [(1,), (3,)])
    assert sorted(differences.missing) == [(1,), (2,)]
    assert differences.unexpected == ((3,),)


def test_report_is_bounded() -> None:
    expected = Bag(("n",), ("int",), tuple((n,) for n in range(100)))
    with pytest.raises(AssertionError, match=r"missing: 100\n(.*\n){8}    ... and 92 more$"):
        assert_same_bag(expected, Bag(("n",), ("int",), ()), "a query")


def test_schema_keeps_repeated_names_and_types() -> None:
    left = Bag(("a", "a"), ("int", "string"), ())
    assert_same_schema(left, left, "a query")
    with pytest.raises(AssertionError, match="columns"):
        assert_same_schema(left, Bag(("a", "a"), ("string", "int"), ()), "a query")


def test_arrow_values_are_those_of_spark_rows() -> None:
    kind = pa.struct([("a", pa.int32()), ("b", pa.list_(pa.float64()))])
    table = pa.table({"s": pa.array([{"a": 1, "b": [0.5]}, None], kind)})
    bag = from_arrow(table)
    assert bag.rows == (((1, [0.5]),), (None,))
    assert bag.types == ("struct<a:int,b:array<double>>",)


def test_last_column_of_a_name_is_dropped() -> None:
    bag = Bag(("a", "_prov"), ("int", "int"), ((1, 2),)).without("_prov")
    assert bag == Bag(("a",), ("int",), ((1,),))


def test_order_knows_nulls_and_nan() -> None:
    rows = ((None, 1), (1.0, 2), (1.0, 1), (NAN, 0))
    bag = Bag(("x", "n"), ("double", "int"), rows)
    assert_ordered(bag, [OrderKey(0)], "a query")
    assert_ordered(bag, [OrderKey(0), OrderKey(1, descending=True)], "a query")
    with pytest.raises(AssertionError, match="comes before"):
        assert_ordered(bag, [OrderKey(0), OrderKey(1)], "a query")
    with pytest.raises(AssertionError, match="comes before"):
        assert_ordered(bag, [OrderKey(0, nulls_first=False)], "a query")
