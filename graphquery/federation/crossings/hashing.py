"""Hashes of crossing rows, from which sketches are built."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Hashes: TypeAlias = "npt.NDArray[np.uint64]"

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def row_hashes(channel: str, rows: npt.NDArray[np.integer]) -> Hashes:
    """Return the hashes of rows of a channel: a bijection within it.

    Parameters
    ----------
    channel
        Its identity, 32 hexadecimal digits.
    rows
        Integers of any type, from 0.

    References
    ----------
    The finaliser is that of SplitMix64 (Steele, Lea, Flood, *Fast Splittable Pseudorandom Number
    Generators*, OOPSLA 2014).
    """
    seed = np.uint64(int.from_bytes(bytes.fromhex(channel)[:8], "little"))
    mixed: Hashes = seed + rows.astype(np.uint64) * _STEP
    mixed ^= mixed >> np.uint64(30)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint64(27)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint64(31)
    return mixed
