"""CSR segments and lists."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from semiring.segments import list_layout, lists_of


def test_layout_of_sliced_lists_with_nulls() -> None:
    lists = pa.array([[9], [1, 2], None, [], [3]])
    offsets, members = list_layout(lists.slice(1))
    assert offsets.tolist() == [0, 2, 2, 2, 3]
    assert members.to_pylist() == [1, 2, 3]


def test_lists_from_their_layout() -> None:
    lists = lists_of(np.array([0, 2, 2, 3]), pa.array([1, 2, 3]), np.array([False, True, False]))
    assert lists.to_pylist() == [[1, 2], None, [3]]
    assert lists_of(np.array([0, 1]), pa.array([7])).to_pylist() == [[7]]
