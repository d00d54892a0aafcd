"""The versions that have each row, and the values that rows have before and after."""

from __future__ import annotations

import math

import pyarrow as pa

from lipstick.histories.changes import have_exact_keys, lifetimes, new_values, with_keys
from lipstick.tracking.formats.versions import COMMIT, MORE


def test_rows_last_from_the_commit_that_adds_them_to_the_one_that_removes_them() -> None:
    """Zeros of either sign are two rows, NaN is one; commits have any numbers."""
    rows = [
        (1, 7, 0.0, [1]),
        (1, 7, -0.0, [1]),
        (1, 7, math.nan, None),
        (-1, 3, 0.0, [1]),
        (1, 3, math.nan, None),
        (-1, 3, -0.0, [1]),
        (1, 3, -0.0, [1]),  # written again
        (-1, 9, math.nan, None),
    ]
    columns = zip((MORE, COMMIT, "f", "l"), map(list, zip(*rows, strict=True)), strict=True)
    changes = pa.table(dict(columns))
    found = lifetimes(changes, [7, 3, 9])
    assert found is not None
    assert sorted(map(repr, map(tuple, map(dict.values, found.to_pylist())))) == [
        "(0, 1, 0.0, [1])",
        "(0, 2, nan, None)",
        "(0, 3, -0.0, [1])",
        "(1, 3, nan, None)",
    ]
    assert lifetimes(changes, [7, 3]) is None  # a commit between other versions
    assert lifetimes(changes.slice(3, 1), [7, 3]) is None  # a row that was not there


def _rows(*rows: tuple[object, ...]) -> pa.Table:
    columns = map(list, zip(*rows, strict=True))
    return pa.table(dict(zip(("k", "l", "v"), columns, strict=True)))


def test_rows_that_only_have_other_values_are_their_keys_and_the_columns_that_differ() -> None:
    gone = _rows((1, "a", 0.0), (2, "b", 5.0), (2, "c", math.nan))
    came = _rows((2, "c", math.nan), (1, "a", -0.0), (2, "b", 5.0))
    found = new_values(gone, came, ["k", "l"])
    assert found is not None
    assert str(found.to_pydict()) == "{'k': [2, 1, 2], 'l': ['c', 'a', 'b'], 'v': [nan, -0.0, 5.0]}"
    by_key = new_values(gone.slice(0, 2), came.slice(1), ["k"])
    assert by_key is not None
    assert by_key.column_names == ["k", "v"]  # no letter differs
    assert new_values(gone, came, ["k"]) is None  # two rows of one key
    assert new_values(gone, came.slice(1), ["k", "l"]) is None  # a row that is gone
    other = _rows((2, "c", 1.0), (1, "b", 1.0), (2, "b", 1.0))
    assert new_values(gone, other, ["k", "l"]) is None  # a row of another key


def test_rows_are_taken_by_combinations_of_keys_and_null_is_a_value() -> None:
    rows = _rows((1, "a", 1.0), (1, None, 2.0), (2, "a", 3.0), (None, "a", 4.0))
    keys = pa.table({"k": [1, None, 2], "l": [None, "a", "z"]})
    assert with_keys(rows, keys).column("v").to_pylist() == [2.0, 4.0]
    assert have_exact_keys(keys, rows.select(["k", "l"]))
    assert not have_exact_keys(keys, rows.select(["l", "k"]))
    assert not have_exact_keys(rows.select(["v"]), rows.select(["v"]))  # zeros of either sign
