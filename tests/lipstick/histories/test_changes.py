"""The versions that have each row, from the first version and what commits changed."""

from __future__ import annotations

import math

import pyarrow as pa

from lipstick.histories.changes import lifetimes
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
