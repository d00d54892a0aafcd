"""Products, sums of segments, and groups: the primitives of evaluation on columns of annotations.

Each is one pass of numpy, without a loop over rows for numeric semirings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from semiring.base import Array, Semiring

K = TypeVar("K")


def product(semiring: Semiring[K], factors: Sequence[Array], length: int | None = None) -> Array:
    """Return the elementwise product of annotation arrays; ones of `length` if there are none."""
    if not factors:
        return semiring.ones(length or 0)
    result = factors[0]
    for factor in factors[1:]:
        result = semiring.times_array(result, factor)
    return result


def fold(semiring: Semiring[K], values: Array, offsets: Array) -> Array:
    """Return sums over CSR segments; 0 for empty segments. See `Semiring.sum_segments`."""
    return semiring.sum_segments(values, offsets)


def group(codes: Array, count: int) -> tuple[Array | None, Array]:
    """Return a stable CSR grouping of rows by their group's code.

    Parameters
    ----------
    codes
        Integers from 0 to ``count - 1``, one per row.

    Returns
    -------
    order
        The permutation that makes groups contiguous; None if they are.
    offsets
        int64 of length ``count + 1``: group g is ``order[offsets[g]:offsets[g + 1]]``.
    """
    offsets = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(codes, minlength=count), out=offsets[1:])
    if len(codes) < 2 or bool((codes[1:] >= codes[:-1]).all()):
        return None, offsets
    return np.argsort(codes, kind="stable"), offsets
