"""Arrays of integers whose sums and products are exact, beyond 64 bits too."""

from __future__ import annotations

import numpy as np

from semiring.base import Array

_LARGE = 2.0**62


def full(number: int, length: int) -> Array:
    """The number so many times."""
    return np.full(length, number, dtype=np.int64 if abs(number) < 2**62 else object)


def integers(array: Array) -> Array:
    """Truth values as 0 and 1; integers as they are."""
    return array.astype(np.int64) if array.dtype == np.bool_ else array


def magnitude(array: Array) -> float:
    """The largest absolute value; 0 where there is none."""
    return float(np.abs(array).max()) if len(array) else 0.0


def times(a: Array, b: Array) -> Array:
    """a · b, element by element: as objects where 64 bits may not do."""
    if a.dtype != object and b.dtype != object and magnitude(a) * magnitude(b) < _LARGE:
        product: Array = a * b
        return product
    large: Array = np.multiply(a.astype(object), b.astype(object), dtype=object)
    return large


def plus(a: Array, b: Array) -> Array:
    """a + b, element by element: as objects where 64 bits may not do."""
    if a.dtype != object and b.dtype != object and magnitude(a) + magnitude(b) < _LARGE:
        total: Array = a + b
        return total
    large: Array = np.add(a.astype(object), b.astype(object), dtype=object)
    return large
