"""Absorption: a sum reduced to the items that no other item divides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def minimal(
    items: Iterable[T], divides: Callable[[T, T], bool], size: Callable[[T], int]
) -> set[T]:
    """Return the items that no other item divides.

    Parameters
    ----------
    size
        Increases along divisibility, so that items of equal size do not divide each other.

    Cost: linear for items of one size, else each is compared with all smaller minimal ones.
    """
    by_size: dict[int, list[T]] = {}
    for item in set(items):
        by_size.setdefault(size(item), []).append(item)
    kept: list[T] = []
    for _, same in sorted(by_size.items()):
        kept += [item for item in same if not any(divides(smaller, item) for smaller in kept)]
    return set(kept)
