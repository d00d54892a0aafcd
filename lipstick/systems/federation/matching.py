"""Which row of one table each row of another is, where both have the same rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.keys import distinct
from lipstick.systems.federation.errors import ExportError
from semiring.arrow import whole
from semiring.base import Array


def permutation(rows: pa.Table, captured: pa.Table, names: Sequence[str]) -> Array:
    """The row of `captured` that each row of `rows` is, by the values of some columns.

    Of rows that are equal the first is the first, the second the second: nothing else tells rows
    of a bag apart.

    Returns
    -------
    Array
        int64, a permutation.

    Raises
    ------
    ExportError
        When the tables do not have the same rows.

    Notes
    -----
    Sorts both: O(n log n).
    """
    if len(rows) != len(captured):
        raise ExportError(f"{len(captured)} rows were captured, and {len(rows)} are in the files.")
    both = [_both(rows.column(name), captured.column(name)) for name in names]
    codes, _ = distinct(both, 2 * len(rows))
    codes_of_rows, codes_of_captured = codes[: len(rows)], codes[len(rows) :]
    order, other = (
        np.argsort(codes_of_rows, kind="stable"),
        np.argsort(codes_of_captured, kind="stable"),
    )
    if not np.array_equal(codes_of_rows[order], codes_of_captured[other]):
        raise ExportError("The rows in the files are not those that were captured.")
    order_found = np.empty(len(rows), dtype=np.int64)
    order_found[order] = other
    return order_found


def occurrences(columns: Sequence[pa.Array], count: int) -> Array:
    """The number of each row among those equal to it, from 1, in their order."""
    codes, _ = distinct(columns, count)
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=1)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    numbers = np.empty(count, dtype=np.int64)
    numbers[order] = np.arange(count, dtype=np.int64) - starts + 1
    return numbers


def _both(left: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.Array:
    return whole(pa.chunked_array([*left.chunks, *other.cast(left.type).chunks], left.type))
