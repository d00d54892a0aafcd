"""Arrow columns in one chunk, without dictionaries, in the normal form of keys."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def whole(chunked: pa.ChunkedArray) -> pa.Array:
    """Return a column as a single chunk."""
    if chunked.num_chunks == 1:
        return chunked.chunk(0)
    combined = chunked.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        combined = pa.concat_arrays(combined.chunks)
    return combined


def decoded(column: pa.Array) -> pa.Array:
    """Return a column with dictionary encoding undone."""
    if not pa.types.is_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array(map(decoded, column.chunks), column.type.value_type)
    return column.dictionary_decode()


def normal(column: pa.Array) -> pa.Array:
    """Return floating values with -0.0 replaced by 0.0, the normal form of keys."""
    if pa.types.is_floating(column.type):
        return pc.add(column, pa.scalar(0.0, column.type))
    return column
