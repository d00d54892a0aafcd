"""Random numbers that are independent of the data, however these were made."""

from __future__ import annotations

import numpy as np

_ENTROPY = 0x5EED_0F_11B5_71CC


def random_numbers(seed: int) -> np.random.Generator:
    """Return a generator that yields the same numbers for the same seed.

    ``numpy.random.default_rng(seed)`` yields others: test data are often made with a small seed,
    and a sample drawn by the same numbers would depend on the values of a column.
    """
    return np.random.default_rng([_ENTROPY, seed])
