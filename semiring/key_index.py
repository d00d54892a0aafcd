"""The places of keys among known ones, found for whole Arrow columns at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from semiring.arrow import normal
from semiring.base import Array
from semiring.errors import ValuationError
from semiring.segments import ascending

_WIDEST_TABLE = 1 << 26
"""The widest range of integer keys that is looked up in an array rather than a hash table."""


class KeyIndex:
    """Positions of composite keys, by one code per column combined into one integer per row.

    Parameters
    ----------
    relation
        The relation of the keys.
    keys
        The columns of the keys, which are distinct.

    Raises
    ------
    ValuationError
        A key occurs twice.
    """

    def __init__(self, relation: str, keys: list[pa.Array]) -> None:
        keys = [normal(column) for column in keys]
        size = len(keys[0]) if keys else 1
        self.uniques = [pc.unique(column) for column in keys]
        self.steps: list[Array] = []
        self._tables: list[_Table | None] | None = None
        combined = np.zeros(size, dtype=np.int64)
        for number, (column, unique) in enumerate(zip(keys, self.uniques, strict=True)):
            combined = combined * len(unique) + _codes(column, unique)
            if number:
                step, combined = np.unique(combined, return_inverse=True)
                self.steps.append(step)
        if len(ascending(combined)) != size:
            raise ValuationError(f"the valuation of {relation} gives a key twice")
        self.position = np.empty(size, dtype=np.int64)
        self.position[combined] = np.arange(size)

    def _table(self, position: int) -> _Table | None:
        """Return the table of a key column, made when first asked for: few rows are not worth one.

        No cached_property, whose lock cannot be pickled by value.
        """
        if self._tables is None:
            self._tables = [_Table.of(unique) for unique in self.uniques]
        return self._tables[position]

    def codes(self, columns: list[pa.Array], size: int) -> Array:
        """Return the position of every row's key; -1 where it is not one of the keys."""
        combined = np.zeros(size, dtype=np.int64)
        missing = np.zeros(size, dtype=np.bool_)
        if len(self.position) == 0:
            return np.full(size, -1, dtype=np.int64)
        for position, (column, unique) in enumerate(zip(columns, self.uniques, strict=True)):
            table = self._table(position)
            if table is not None and column.null_count == 0 and pa.types.is_integer(column.type):
                code = table.codes(column)
            else:
                code = _codes(normal(column), unique)
            if position == 0:
                combined = code
                missing = code < 0
                continue
            missing |= code < 0
            step = self.steps[position - 1]
            wanted = combined.astype(np.int64) * len(unique) + code
            combined = np.minimum(np.searchsorted(step, wanted), len(step) - 1)
            missing |= step[combined] != wanted
        places: Array = self.position[combined]
        places[missing] = -1
        return places


class _Table:
    """Positions of integer keys in an array over their range; several times faster than hashing."""

    def __init__(self, least: int, positions: Array) -> None:
        self.least = least
        self.positions = positions

    @classmethod
    def of(cls, unique: pa.Array) -> _Table | None:
        """Return a table for integer keys in a narrow range, else None."""
        if not pa.types.is_integer(unique.type) or unique.null_count or len(unique) == 0:
            return None
        keys = unique.to_numpy(zero_copy_only=False)
        least, most = int(keys.min()), int(keys.max())
        if most - least > min(_WIDEST_TABLE, max(1 << 24, 4096 * len(keys))) or most >= 2**63:
            return None
        # One place more at either end takes all that is outside the range.
        positions = np.full(most - least + 3, -1, dtype=np.int32)
        positions[keys.astype(np.int64) - least + 1] = np.arange(len(keys), dtype=np.int32)
        return cls(least, positions)

    def codes(self, column: pa.Array) -> Array:
        """Return the position of every value; -1 where it is not a key."""
        values = column.to_numpy(zero_copy_only=False)
        last = self.least + len(self.positions) - 3
        if values.dtype == np.uint64 or self.least - 1 < -(2**63) or last + 1 >= 2**63:
            values = np.array(values.tolist(), dtype=object)
            bounded = np.clip(values, self.least - 1, last + 1) - (self.least - 1)
            return self._take(bounded.astype(np.int64))
        bounded = np.clip(values.astype(np.int64, copy=False), self.least - 1, last + 1)
        bounded -= self.least - 1
        return self._take(bounded)

    def _take(self, places: Array) -> Array:
        codes: Array = self.positions[places]
        return codes


def _codes(column: pa.Array, unique: pa.Array) -> Array:
    """Positions of the column's values in `unique`, NULL being a value; -1 where there is none."""
    if pa.types.is_dictionary(column.type):
        inner = np.append(_codes(normal(column.dictionary), unique), -1)
        null = _codes(pa.nulls(1, column.dictionary.type), unique)
        indices = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        inner[-1] = null[0]
        codes: Array = inner[indices]
        return codes
    positions = pc.index_in(column, value_set=unique).fill_null(-1)
    result: Array = positions.to_numpy(zero_copy_only=False).astype(np.int64)
    return result
