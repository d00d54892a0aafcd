"""Random draws that are the same on every machine and in every version of numpy.

Only the bit generator and its doubles are used: numpy keeps those stable, its distributions not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from semiring.base import Array

_T = TypeVar("_T")


class Draws:
    """A stream of draws.

    Parameters
    ----------
    key
        Non-negative integers that identify the stream: a seed, then its purpose.
    """

    def __init__(self, *key: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(key)))

    def uniform(self, low: float, high: float, *shape: int) -> Array:
        """Return doubles in [low, high)."""
        return low + (high - low) * self._generator.random(shape)

    def integers(self, below: int, *shape: int) -> Array:
        """Return whole numbers in [0, below)."""
        return (self._generator.random(shape) * below).astype(np.int64)

    def normal(self, *shape: int) -> Array:
        """Return approximately normal draws, of mean 0 and deviation 1: twelve uniform draws
        added up (Irwin-Hall).
        """
        normals: Array = self._generator.random((*shape, 12)).sum(axis=-1) - 6
        return normals

    def choice(self, items: Sequence[_T]) -> _T:
        """Return one of some values."""
        return items[int(self.integers(len(items)))]
