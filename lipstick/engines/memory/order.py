"""ORDER BY as Spark does it: NULLs where asked, NaN largest, strings by their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from semiring.arrays.ranks import ranked
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Key:
    """One sort key: its values, direction and place of NULLs."""

    values: pa.Array
    descending: bool = False
    nulls_first: bool = True


def order(keys: Sequence[Key], length: int) -> Array:
    """The stable order of `length` rows by some keys, the first one foremost, as int64."""
    columns: list[Array] = []
    for key in keys:
        ranks = ranked(key.values)
        if key.values.null_count:
            null = key.values.is_null().to_numpy(zero_copy_only=False)
            columns.append(~null if key.nulls_first else null)
            ranks = np.where(null, 0, ranks)
        columns.append(~ranks if key.descending else ranks)
    if not columns:
        return np.arange(length, dtype=np.int64)
    return np.lexsort(columns[::-1])
