"""Arrow columns as one array of plain values."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def whole(chunked: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece."""
    if chunked.num_chunks == 1:
        return chunked.chunk(0)
    combined = chunked.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        combined = pa.concat_arrays(combined.chunks)
    return combined


def decoded(column: pa.Array) -> pa.Array:
    """Return a column whose values are there as such, not as numbers of a dictionary's entries."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def normal(column: pa.Array) -> pa.Array:
    """Floating values with -0.0 as 0.0, as the normal form of a key has it."""
    if pa.types.is_floating(column.type):
        return pc.add(column, pa.scalar(0.0, column.type))
    return column
