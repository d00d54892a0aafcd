"""The rows of a micro-batch split by source, and results assembled for subscribers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.codes import KeyCodes

SOURCE, PARTITION, SLOT, ARRIVAL = "_source", "_partition", "_slot", "_arrival"


def column_of(number: int) -> str:
    """Return the column with the rows of a source."""
    return f"_rows{number}"


def by_source(table: pa.Table, sources: Sequence[str]) -> dict[str, pa.Table]:
    """Return the rows of each source with any, as tables in their order."""
    numbers = table.column(SOURCE)
    result = {}
    for number, sid in enumerate(sources):
        rows = table.column(column_of(number))
        if len(sources) > 1 or SLOT in table.column_names:
            rows = rows.filter(pc.equal(numbers, number))
        if not len(rows):
            continue
        structs = rows.combine_chunks()
        if isinstance(structs, pa.ChunkedArray):
            structs = pa.concat_arrays(structs.chunks)
        result[sid] = pa.Table.from_arrays(structs.flatten(), schema=pa.schema(list(structs.type)))
    return result


def result_table(batch: Batch, codes: KeyCodes) -> pa.Table:
    """Return events for a subscriber: content, key, number, time and delay, and properties.

    Raises
    ------
    StreamError
        When content has a column of the same name.
    """
    table = batch.table()
    keys = batch.keys
    columns: dict[str, pa.Array] = {}
    if keys.code is not None:
        columns["_key"] = codes.decode(keys.code)
    columns |= {"_n": pa.array(keys.n), "_t": pa.array(keys.t), "_d": pa.array(keys.d)}
    for name, values in batch.properties.items():
        flat = values.dtype != np.dtype(object) and values.ndim == 1
        columns[f"_{name}"] = pa.array(values if flat else values.tolist())
    for name, column in columns.items():
        if name in table.column_names:
            raise StreamError(
                f"Results have a column {name!r} of their own: rename the column of the content."
            )
        table = table.append_column(name, column)
    return table
