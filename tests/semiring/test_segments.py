"""CSR segments and lists."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from semiring.arrays.segments import (
    ascending,
    common,
    list_layout,
    lists_of,
    others,
    outside,
    union,
)


def test_layout_of_sliced_lists_with_nulls() -> None:
    lists = pa.array([[9], [1, 2], None, [], [3]])
    offsets, members = list_layout(lists.slice(1))
    assert offsets.tolist() == [0, 2, 2, 2, 3]
    assert members.to_pylist() == [1, 2, 3]


def test_lists_from_their_layout() -> None:
    lists = lists_of(np.array([0, 2, 2, 3]), pa.array([1, 2, 3]), np.array([False, True, False]))
    assert lists.to_pylist() == [[1, 2], None, [3]]
    assert lists_of(np.array([0, 1]), pa.array([7])).to_pylist() == [[7]]


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
def test_sets_of_integers(some: list[int], more: list[int]) -> None:
    a, b = (np.array(items, dtype=np.int64) for items in (some, more))
    assert ascending(a).tolist() == sorted(set(some))
    assert union(a, b).tolist() == sorted({*some, *more})
    assert common(ascending(a), ascending(b)).tolist() == sorted({*some} & {*more})
    assert outside(ascending(a), ascending(b)).tolist() == sorted({*some} - {*more})
    assert others(10, a).tolist() == sorted({*range(10)} - {*some})
