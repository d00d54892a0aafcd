"""Codes of key values: numbers in the order of first occurrence."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.errors import StreamError
from semiring.base import Array


class KeyCodes:
    """The key values of a graph's streams; the code of a value is its index among them."""

    def __init__(self, values: pa.Array | None = None) -> None:
        self._values: pa.Array | None = values

    def restore(self, values: pa.Array) -> None:
        """Continue from the values of an earlier run."""
        self._values = None if pa.types.is_null(values.type) else values

    def __len__(self) -> int:
        return 0 if self._values is None else len(self._values)

    @property
    def values(self) -> pa.Array:
        """The values by code."""
        return pa.array([], pa.null()) if self._values is None else self._values

    def encode(self, column: pa.Array | pa.ChunkedArray) -> Array:
        """Return the codes of values, int64, adding new values.

        Raises
        ------
        StreamError
            A value is NULL, which no key may be.
        """
        if column.null_count:
            raise StreamError(
                f"The key of a stream is NULL in {column.null_count} rows.\nFilter such rows out,"
                " or give them a value, before the stream."
            )
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if self._values is None:
            self._values = pc.unique(column.slice(0, 0))
        values = self._values
        if column.type != values.type:
            column = column.cast(values.type)
        codes = pc.index_in(column, value_set=values)
        if codes.null_count:
            fresh = pc.unique(column.filter(codes.is_null()))
            self._values = values = pa.concat_arrays([values, fresh])
            codes = pc.index_in(column, value_set=values)
        numbers: Array = codes.to_numpy(zero_copy_only=False).astype(np.int64)
        return numbers

    def find(self, value: object) -> int | None:
        """Return the code of a value, or None if it never occurred."""
        if self._values is None:
            return None
        try:
            scalar = pa.scalar(value, self._values.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return None
        code = pc.index(self._values, scalar).as_py()
        return None if code < 0 else int(code)

    def decode(self, codes: Array) -> pa.Array:
        """Return the values of codes."""
        return self.values.take(pa.array(codes))
