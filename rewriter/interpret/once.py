"""What is made of a scalar, made once: the scalars of blocks are asked again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from rewriter.algebra import Scalar

Made = TypeVar("Made")

_KEPT = 4096


class _Same:
    """A scalar, equal to itself only: to compare trees takes as long as to read them."""

    __slots__ = ("scalar",)

    def __init__(self, scalar: Scalar) -> None:
        self.scalar = scalar

    def __hash__(self) -> int:
        return id(self.scalar)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.scalar is other.scalar


def once(make: Callable[[Scalar], Made]) -> Callable[[Scalar], Made]:
    """Keep what a function makes of the scalars that it was given last.

    A scalar must not be changed in place once it was given.
    """
    kept = lru_cache(maxsize=_KEPT)(lambda same: make(same.scalar))

    @wraps(make)
    def cached(scalar: Scalar) -> Made:
        return kept(_Same(scalar))

    return cached
