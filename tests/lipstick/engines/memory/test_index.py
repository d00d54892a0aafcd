"""Rows are found by integers and by tokens."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lipstick.engines.memory.index import SortedIndex, TokenIndex, argsort
from lipstick.errors import CaptureError
from semiring.arrays.segments import expand


def test_spread_numbers_every_segment() -> None:
    numbers, owners = expand(np.array([3, 7, 7]), np.array([5, 7, 8]))
    assert numbers.tolist() == [3, 4, 7]
    assert owners.tolist() == [0, 0, 2]


@given(st.lists(st.integers(-5, 5), max_size=40), st.sets(st.integers(-6, 6)))
def test_rows_of_codes_are_all_found(codes: list[int], wanted: set[int]) -> None:
    index = SortedIndex(np.array(codes, dtype=np.int64))
    codes_wanted = np.array(sorted(wanted), dtype=np.int64)
    rows, owners = index.rows(codes_wanted)
    assert sorted(rows.tolist()) == [i for i, code in enumerate(codes) if code in wanted]
    assert all(codes[row] == codes_wanted[owner] for row, owner in zip(rows, owners, strict=True))


@given(st.lists(st.integers(-70_000, 70_000), min_size=1, max_size=40))
def test_order_is_stable_whatever_the_width(codes: list[int]) -> None:
    order = argsort(np.array(codes, dtype=np.int64)).tolist()
    assert order == sorted(range(len(codes)), key=codes.__getitem__)


def test_composite_integer_keys_are_packed() -> None:
    index = TokenIndex([pa.array([1, 1, 2], pa.int64()), pa.array([1, 2, 1], pa.int32())])
    assert index.rows([pa.array([1, 2, 9]), pa.array([2, 2, 1])]).tolist() == [1]
    assert index.packed.dtype == np.dtype(np.int64)


def test_token_used_by_several_members_finds_them_all() -> None:
    index = TokenIndex([pa.array([7, 5, 7, 7])])
    assert index.rows([pa.array([7, 7])]).tolist() == [0, 2, 3]


KEYS = st.tuples(st.integers(0, 3) | st.just(10**7), st.integers(0, 3))


@given(st.lists(KEYS, min_size=1, max_size=40), st.data())
def test_first_members_have_each_token_once(
    keys: list[tuple[int, int]], data: st.DataObject
) -> None:
    if data.draw(st.booleans()):
        keys = sorted(set(keys))
    members = data.draw(st.lists(st.integers(0, len(keys) - 1)))
    expected: dict[tuple[int, int], int] = {}
    for member in members:
        expected.setdefault(keys[member], member)
    index = TokenIndex([pa.array(column) for column in zip(*keys, strict=True)])
    if data.draw(st.booleans()):
        assert len(index.packed) == len(keys)
    found = index.first(np.array(members, dtype=np.int64))
    assert found.tolist() == list(expected.values())


@given(st.lists(KEYS, min_size=1, max_size=40, unique=True), st.data())
def test_owners_are_the_places_of_the_members_tokens(
    keys: list[tuple[int, int]], data: st.DataObject
) -> None:
    tokens = data.draw(st.lists(KEYS, min_size=1, unique=True))
    if data.draw(st.booleans()):
        keys, tokens = sorted(keys), sorted(tokens)
    index = TokenIndex([pa.array(column) for column in zip(*keys, strict=True)])
    found = index.owners([pa.array(column) for column in zip(*tokens, strict=True)])
    assert found.tolist() == [tokens.index(key) if key in tokens else -1 for key in keys]


def test_scan_not_used_is_never_deleted() -> None:
    index = TokenIndex([pa.array([1, None, 0])])
    assert index.rows([pa.array([None, 0], pa.int64())]).tolist() == [2]


def test_null_in_a_part_of_a_key_is_a_value() -> None:
    index = TokenIndex([pa.array([None, "a", None]), pa.array([1, 1, 2])])
    assert index.rows([pa.array([None], pa.string()), pa.array([2])]).tolist() == [2]


def test_null_is_no_number_in_the_range_of_a_part() -> None:
    index = TokenIndex([pa.array([2, 3, None]), pa.array([1, 1, 1])])
    found = [index.rows([pa.array([key], pa.int64()), pa.array([1])]).tolist() for key in (2, None)]
    assert found == [[0], [2]]


def test_keys_of_wide_ranges_are_numbered() -> None:
    wide = [pa.array([-(2**62), 2**62, 5]), pa.array([2**61, -(2**61), 5])]
    index = TokenIndex(wide)
    assert index.rows([column.take(pa.array([1])) for column in wide]).tolist() == [1]
    assert index.rows([pa.array([5]), pa.array([2**61])]).tolist() == []


def test_key_of_another_type_is_refused() -> None:
    with pytest.raises(CaptureError, match="key to delete"):
        TokenIndex([pa.array([1])]).rows([pa.array(["one"])])


def test_no_members_have_no_tokens() -> None:
    index = TokenIndex([pa.array([], pa.int64())])
    assert index.rows([pa.array([1])]).tolist() == []
