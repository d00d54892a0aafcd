"""Tuples of column values as integers, compared as Spark groups them.

See `semiring.arrays.key_index`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.store import OPEN_WITH_SPARK
from lipstick.errors import CaptureError, NeedsSparkError
from semiring.arrays.arrow import decoded, normal
from semiring.arrays.key_index import KeyIndex, leaves
from semiring.base import Array


def distinct(columns: Sequence[pa.Array], length: int) -> tuple[Array, Array]:
    """Number the distinct tuples of some columns in the order of their appearance.

    Parameters
    ----------
    length
        The number of rows, for no columns: their only tuple is ().

    Returns
    -------
    codes
        int64, the number of every row's tuple.
    first
        int64, a row of every tuple.
    """
    codes = np.zeros(length, dtype=np.int64)
    for position, column in enumerate(leaves(columns)):
        inner, width = _encoded(normal(column))
        codes = inner if position == 0 else _dense(codes * width + inner)
    if length == 0:
        return codes, codes
    count = int(codes.max()) + 1
    first = np.empty(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(length - 1, -1, -1)
    return codes, first


def _refuse_nested(column: pa.Array) -> None:
    if pa.types.is_nested(column.type):
        raise NeedsSparkError(
            f"Values of type {column.type} are not compared without Spark.\n" + OPEN_WITH_SPARK
        )


def _encoded(column: pa.Array) -> tuple[Array, int]:
    """A code per value, NULL being one, and how many codes there may be."""
    _refuse_nested(column)
    encoded = decoded(column).dictionary_encode(null_encoding="encode")
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, max(len(encoded.dictionary), 1)


def _dense(codes: Array) -> Array:
    indices = pa.array(codes).dictionary_encode().indices
    dense: Array = indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return dense


class KeyTable(KeyIndex):
    """A `KeyIndex` of columns of a capture.

    Raises
    ------
    NeedsSparkError
        For lists and maps.
    """

    def __init__(self, columns: Sequence[pa.Array], length: int = 1) -> None:
        for column in leaves(columns):
            _refuse_nested(column)
        super().__init__(columns, length)

    def find(self, columns: Sequence[pa.Array], length: int, *, nulls: bool = True) -> Array:
        """See :meth:`KeyIndex.find`; CaptureError for columns of types that are not compared."""
        try:
            return super().find(columns, length, nulls=nulls)
        except pa.ArrowException as error:
            given, known = (
                ", ".join(map(str, kinds))
                for kinds in ([column.type for column in leaves(columns)], self.types)
            )
            raise CaptureError(
                f"Values of type {given} cannot be compared with {known}: {error}"
            ) from error
