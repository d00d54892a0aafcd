"""Tuples of keys are told apart as Spark groups them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipstick.engines.memory.keys import KeyTable, distinct
from lipstick.errors import CaptureError

NAN = float("nan")


def test_nulls_nans_and_zeros_are_one_value_each() -> None:
    column = pa.array([None, NAN, 0.0, -0.0, None, NAN, 1.0])
    codes, first = distinct([column], 7)
    assert codes.tolist() == [0, 1, 2, 2, 0, 1, 3]
    assert first.tolist() == [0, 1, 2, 6]


def test_no_columns_have_one_tuple() -> None:
    codes, first = distinct([], 3)
    assert (codes.tolist(), first.tolist()) == ([0, 0, 0], [0])
    assert KeyTable([]).find([], 2).tolist() == [0, 0]


def test_no_rows_have_no_tuple() -> None:
    codes, first = distinct([pa.array([], pa.int64())], 0)
    assert len(codes) == len(first) == 0


@given(st.integers(1, 60))
def test_dictionaries_are_found_as_their_values(length: int) -> None:
    letters = [
        pa.array(["a", "b", "c"] * length).take(pa.array(range(n, n + length))) for n in (0, 1)
    ]
    table = KeyTable([pa.array(["a", "c", "b"]), pa.array(["b", "a", "b"])], 3)
    found = table.find(letters, length).tolist()
    assert table.find([each.dictionary_encode() for each in letters], length).tolist() == found


def test_null_is_found_where_it_is_a_value_and_nowhere_where_it_is_not() -> None:
    table = KeyTable([pa.array(["a", None])], 2)
    wanted = [pa.array([None, "a", "b"])]
    assert table.find(wanted, 3).tolist() == [1, 0, -1]
    assert table.find(wanted, 3, nulls=False).tolist() == [-1, 0, -1]


def test_structs_are_the_tuples_of_their_fields() -> None:
    structs = [{"a": 0.0, "b": None}, None, {"a": None, "b": {"c": 1}}, {"a": -0.0, "b": None}]
    column = pa.array(structs)
    codes, first = distinct([column], 4)
    assert (codes.tolist(), first.tolist()) == ([0, 1, 2, 0], [0, 1, 2])
    table = KeyTable([column.take(pa.array(first))], 3)
    wanted = pa.array([structs[2], None, {"a": None, "b": None}, structs[3]], column.type)
    assert table.find([wanted], 4).tolist() == [2, 1, -1, 0]
    assert table.find([wanted], 4, nulls=False).tolist() == [2, -1, -1, 0]


def test_dictionaries_are_looked_up_by_value() -> None:
    table = KeyTable([pa.array(["x", "y", None])], 3)
    wanted = pa.array(["y", None, "z", "x"]).dictionary_encode()
    assert table.find([wanted], 4).tolist() == [1, 2, -1, 0]


def test_wider_integers_are_looked_up_without_wrapping_around() -> None:
    table = KeyTable([pa.array([1, 2], pa.int32())], 2)
    assert table.find([pa.array([2**40 + 1, 2], pa.int64())], 2).tolist() == [-1, 1]


def test_types_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(CaptureError, match="cannot be compared"):
        KeyTable([pa.array([1])], 1).find([pa.array(["x"])], 1)


_tuples = st.lists(
    st.tuples(
        st.sampled_from([None, "a", "b", "c"]),
        st.one_of(st.none(), st.integers(-3, 3)),
        st.sampled_from([None, 0.0, 1.5]),
    ),
    max_size=30,
)


def _columns(rows: list[tuple[Any, ...]]) -> list[pa.Array]:
    kinds = [pa.string(), pa.int64(), pa.float64()]
    return [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]


@given(_tuples, _tuples)
def test_tuples_are_found_where_they_stand(
    listed: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]]
) -> None:
    listed = list(dict.fromkeys(listed))
    table = KeyTable(_columns(listed), len(listed))
    expected = [listed.index(row) if row in listed else -1 for row in wanted]
    assert table.find(_columns(wanted), len(wanted)).tolist() == expected


@given(_tuples)
def test_distinct_numbers_tuples_in_order_of_appearance(rows: list[tuple[Any, ...]]) -> None:
    codes, first = distinct(_columns(rows), len(rows))
    seen = list(dict.fromkeys(rows))
    assert [rows[int(i)] for i in first] == seen
    again = [rows[int(first[code])] for code in codes]
    assert again == rows
    assert len(np.unique(codes)) == len(seen)
