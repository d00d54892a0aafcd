"""Sums whose summands absorb others: of each, only the smallest are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def minimal(
    items: Iterable[T], divides: Callable[[T, T], bool], size: Callable[[T], int]
) -> set[T]:
    """The items that no other one divides, by sizes that grow along divisibility.

    Cost: quadratic in the number kept times that given.
    """
    kept: list[T] = []
    for item in sorted(set(items), key=size):
        if not any(divides(smaller, item) for smaller in kept):
            kept.append(item)
    return set(kept)
