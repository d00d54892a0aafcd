"""Sums whose summands absorb others: of each, only the smallest are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def minimal(
    items: Iterable[T], divides: Callable[[T, T], bool], size: Callable[[T], int]
) -> set[T]:
    """Return the items that no other one divides.

    Parameters
    ----------
    size
        Grows along divisibility, so that of two items of one size neither divides the other.

    Cost: linear for items of one size, else each is held against all smaller ones that are kept.
    """
    by_size: dict[int, list[T]] = {}
    for item in set(items):
        by_size.setdefault(size(item), []).append(item)
    kept: list[T] = []
    for _, same in sorted(by_size.items()):
        kept += [item for item in same if not any(divides(smaller, item) for smaller in kept)]
    return set(kept)
