"""An index from tuples of column values to positions, with equality as in Spark's grouping.

NULL is a value, -0.0 is 0.0, and there is one NaN. A struct is the tuple of its fields, and a NULL
struct is a value of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from semiring.arrays.arrow import decoded, normal
from semiring.base import Array

_WIDEST_TABLE = 1 << 26
"""The widest range of integer keys that is looked up in an array rather than a hash table."""


class KeyIndex:
    """Positions of tuples, by one code per column combined into one integer per tuple.

    Parameters
    ----------
    columns
        The columns of the list; none for the list of ().
    length
        The number of tuples, for no columns.
    often
        Whether far more tuples are looked up than listed: wider ranges of integers get a table.
    """

    def __init__(
        self, columns: Sequence[pa.Array], length: int = 1, *, often: bool = False
    ) -> None:
        self._length = length
        flat = leaves(columns)
        self._parts = [_Part(normal(decoded(column)), often) for column in flat]
        self._steps: list[Array] = []
        combined = np.zeros(length if columns else 1, dtype=np.int64)
        for position, (part, column) in enumerate(zip(self._parts, flat, strict=True)):
            combined = combined * part.width + part.codes(decoded(column))
            if position:
                step, combined = np.unique(combined, return_inverse=True)
                self._steps.append(step)
        self._position = np.full(int(combined.max(initial=-1)) + 1, -1, dtype=np.int64)
        self._position[combined[::-1]] = np.arange(len(combined) - 1, -1, -1)
        self.is_distinct = len(self._position) == len(combined)
        """True if no tuple is in the list twice."""

    @property
    def types(self) -> list[pa.DataType]:
        """The types of the columns, with structs flattened to their fields."""
        return [part.type for part in self._parts]

    def find(self, columns: Sequence[pa.Array], length: int, *, nulls: bool = True) -> Array:
        """Return the position in the list of each of `length` tuples, as int64; -1 if absent.

        Parameters
        ----------
        nulls
            Whether NULL equals NULL; if not, a tuple with NULL is never found.
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
        missing = np.zeros(length, dtype=np.bool_)
        for column in columns:
            if not nulls and column.null_count:
                missing |= column.is_null().to_numpy(zero_copy_only=False)
        combined = np.zeros(length, dtype=np.int64)
        for position, (part, column) in enumerate(zip(self._parts, leaves(columns), strict=True)):
            code = part.codes(column)
            missing |= code < 0
            if not position:
                combined = code
                continue
            wanted = combined.astype(np.int64, copy=False) * part.width + code
            step = self._steps[position - 1]
            combined = np.minimum(np.searchsorted(step, wanted), len(step) - 1)
            missing |= step[combined] != wanted
        found: Array = self._position[combined]
        found[missing] = -1
        return found


def leaves(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Return columns, with structs replaced by a NULL flag and their fields."""
    flat: list[pa.Array] = []
    for column in columns:
        if pa.types.is_struct(column.type):
            flat += [column.is_null(), *leaves(column.flatten())]
        else:
            flat.append(column)
    return flat


class _Part:
    """The distinct values of one column, numbered."""

    def __init__(self, column: pa.Array, often: bool) -> None:
        self._unique = pc.unique(column)
        self.type = self._unique.type
        self.width = max(len(self._unique), 1)
        self._least, self._table = _table(self._unique, often)

    def codes(self, column: pa.Array) -> Array:
        """Return the number of each value, including NULL; -1 for unknown values."""
        if pa.types.is_dictionary(column.type):
            inner = np.append(self.codes(column.dictionary), -1)
            if column.null_count:
                inner[-1] = self.codes(pa.nulls(1, column.type.value_type))[0]
            places = column.indices.fill_null(len(inner) - 1).to_numpy(zero_copy_only=False)
            spread: Array = inner[places]
            return spread
        column = self._cast(column)
        if self._table is not None and column.null_count == 0:
            # Values outside of the range are taken to one of its ends, also where they wrap around.
            values = column.to_numpy(zero_copy_only=False).astype(np.int64)
            values -= self._least - 1
            looked: Array = self._table[np.clip(values, 0, len(self._table) - 1, out=values)]
            return looked
        numbers = pc.index_in(normal(column), value_set=self._unique).fill_null(-1)
        codes: Array = numbers.to_numpy(zero_copy_only=False).astype(np.int64)
        return codes

    def _cast(self, column: pa.Array) -> pa.Array:
        kind = self._unique.type
        if column.type == kind:
            return column
        if pa.types.is_signed_integer(kind) and pa.types.is_signed_integer(column.type):
            wide = column.cast(pa.int64())
            bound = 2 ** (kind.bit_width - 1)
            outside = pc.or_(pc.less(wide, -bound), pc.greater(wide, bound - 1))
            if pc.any(outside).as_py():
                self._unique, self._table = self._unique.cast(pa.int64()), None
                return wide
        return column.cast(kind)


def _table(unique: pa.Array, often: bool) -> tuple[int, Array | None]:
    """Return a look-up table of integers in a narrow range, with a margin at either end."""
    if not pa.types.is_signed_integer(unique.type) or unique.null_count or len(unique) == 0:
        return 0, None
    values = unique.to_numpy(zero_copy_only=False).astype(np.int64)
    least, most = int(values.min()), int(values.max())
    wide = max(1 << 24, 4096 * len(values)) if often else max(1 << 16, 64 * len(values))
    if most - least > min(_WIDEST_TABLE, wide) or least < -(2**62) or most > 2**62:
        return 0, None
    table = np.full(most - least + 3, -1, dtype=np.int32)
    table[values - least + 1] = np.arange(len(values), dtype=np.int32)
    return least, table
