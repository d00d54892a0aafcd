"""Tuples of column values as integers: compared as Spark groups them.

NULL is a value, -0.0 is 0.0, and there is one NaN. A struct is the tuple of its fields, and
another value where it is NULL.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.store import OPEN_WITH_SPARK
from lipstick.errors import CaptureError, NeedsSparkError
from semiring.arrow import decoded, normal
from semiring.base import Array

_WIDEST_TABLE = 1 << 26


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
    for position, column in enumerate(_leaves(columns)):
        inner, width = _encoded(normal(column))
        codes = inner if position == 0 else _dense(codes * width + inner)
    if length == 0:
        return codes, codes
    count = int(codes.max()) + 1
    first = np.empty(count, dtype=np.int64)
    first[codes[::-1]] = np.arange(length - 1, -1, -1)
    return codes, first


def _leaves(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Columns, with structs replaced by a NULL flag and their fields."""
    leaves: list[pa.Array] = []
    for column in columns:
        if pa.types.is_struct(column.type):
            leaves += [column.is_null(), *_leaves(column.flatten())]
        else:
            leaves.append(column)
    return leaves


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


class KeyTable:
    """A lookup table of the places of tuples in a list of distinct tuples.

    Parameters
    ----------
    columns
        The columns of the list; none for the list of ().
    """

    def __init__(self, columns: Sequence[pa.Array], length: int = 1) -> None:
        self._length = length
        leaves = _leaves(columns)
        self._parts = [_Part(normal(decoded(column))) for column in leaves]
        self._steps: list[Array] = []
        combined = np.zeros(length if columns else 1, dtype=np.int64)
        for position, (part, column) in enumerate(zip(self._parts, leaves, strict=True)):
            combined = combined * part.width + part.codes(decoded(column))
            if position:
                step, combined = np.unique(combined, return_inverse=True)
                self._steps.append(step)
        self._position = np.full(int(combined.max(initial=-1)) + 1, -1, dtype=np.int64)
        self._position[combined[::-1]] = np.arange(len(combined) - 1, -1, -1)

    def find(self, columns: Sequence[pa.Array], length: int, *, nulls: bool = True) -> Array:
        """The place in the list of each of `length` tuples, as int64; -1 where there is none.

        Parameters
        ----------
        nulls
            Whether NULL equals NULL; if not, a tuple with NULL is found nowhere.
        """
        if not self._parts:
            return np.full(length, 0 if self._length else -1, dtype=np.int64)
        if not len(self._position) or not length:
            return np.full(length, -1, dtype=np.int64)
        sizes = [len(c.dictionary) for c in columns if pa.types.is_dictionary(c.type)]
        small = len(sizes) == len(columns) and 4 * math.prod(sizes) < length
        if small and not any(c.null_count for c in columns):
            # Each combination of dictionary values is looked up once.
            places: Array = np.zeros(length, dtype=np.int32)
            for column, size in zip(columns, sizes, strict=True):
                places = places * size + column.indices.to_numpy().astype(np.int32, copy=False)
            parts = np.unravel_index(np.arange(math.prod(sizes)), sizes)
            values = [
                column.dictionary.take(pa.array(part))
                for column, part in zip(columns, parts, strict=True)
            ]
            return self.find(values, math.prod(sizes), nulls=nulls)[places]
        combined = np.zeros(length, dtype=np.int64)
        missing = np.zeros(length, dtype=np.bool_)
        for column in columns:
            if not nulls and column.null_count:
                missing |= column.is_null().to_numpy(zero_copy_only=False)
        for position, (part, column) in enumerate(zip(self._parts, _leaves(columns), strict=True)):
            code = part.codes(column)
            missing |= code < 0
            combined = combined * part.width + np.maximum(code, 0)
            if position:
                step = self._steps[position - 1]
                places = np.minimum(np.searchsorted(step, combined), len(step) - 1)
                missing |= step[places] != combined
                combined = places
        inside = np.minimum(combined, len(self._position) - 1)
        result = self._position[inside]
        result[missing | (inside != combined)] = -1
        return result


class _Part:
    """The distinct values of one column, numbered."""

    def __init__(self, column: pa.Array) -> None:
        _refuse_nested(column)
        self._unique = pc.unique(column)
        self.width = max(len(self._unique), 1)
        self._least, self._table = _table(self._unique)

    def codes(self, column: pa.Array) -> Array:
        """The number of each value, NULL being one; -1 for values that there are not."""
        if pa.types.is_dictionary(column.type):
            inner = np.append(self.codes(column.dictionary), -1)
            if column.null_count:
                inner[-1] = self.codes(pa.nulls(1, column.type.value_type))[0]
            places = column.indices.fill_null(len(inner) - 1).to_numpy(zero_copy_only=False)
            spread: Array = inner[places]
            return spread
        column = self._cast(normal(column))
        if self._table is not None and column.null_count == 0:
            values = column.to_numpy(zero_copy_only=False).astype(np.int64)
            last = len(self._table) - 1
            looked: Array = self._table[np.clip(values - (self._least - 1), 0, last)]
            return looked.astype(np.int64)
        numbers = pc.index_in(column, value_set=self._unique).fill_null(-1)
        codes: Array = numbers.to_numpy(zero_copy_only=False).astype(np.int64)
        return codes

    def _cast(self, column: pa.Array) -> pa.Array:
        kind = self._unique.type
        if column.type == kind:
            return column
        try:
            if pa.types.is_signed_integer(kind) and pa.types.is_signed_integer(column.type):
                wide = column.cast(pa.int64())
                bound = 2 ** (kind.bit_width - 1)
                outside = pc.or_(pc.less(wide, -bound), pc.greater(wide, bound - 1))
                if pc.any(outside).as_py():
                    self._unique, self._table = self._unique.cast(pa.int64()), None
                    return wide
            return column.cast(kind)
        except pa.ArrowException as error:
            raise CaptureError(
                f"Values of type {column.type} cannot be compared with {kind}: {error}"
            ) from error


def _table(unique: pa.Array) -> tuple[int, Array | None]:
    """Numbers by value, for integers in a narrow range; one place more at either end."""
    if not pa.types.is_signed_integer(unique.type) or unique.null_count or len(unique) == 0:
        return 0, None
    values = unique.to_numpy(zero_copy_only=False).astype(np.int64)
    least, most = int(values.min()), int(values.max())
    narrow = most - least <= min(_WIDEST_TABLE, max(1 << 16, 64 * len(values)))
    if not narrow or least < -(2**62) or most > 2**62:
        return 0, None
    table = np.full(most - least + 3, -1, dtype=np.int32)
    table[values - least + 1] = np.arange(len(values), dtype=np.int32)
    return least, table
