"""A data source that reads again, on the workers, the rows that micro-batches read.

It is sent to them by value: they need not have this project.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from pyspark import cloudpickle
from pyspark.errors import PySparkNotImplementedError
from pyspark.sql.datasource import (
    CaseInsensitiveDict,
    DataSource,
    DataSourceReader,
    InputPartition,
)
from pyspark.sql.types import StructType

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]


def replaying(
    name: str,
    source: Any,
    options: dict[str, str],
    placed: StructType,
    spans: Sequence[tuple[int, Any, Any]],
    row_bits: int,
) -> type[DataSource]:
    """Return a named data source of the rows that micro-batches read.

    Parameters
    ----------
    source, options
        The class of the streaming source, and its options.
    placed
        The schema of its rows with two columns more: the number of the micro-batch, and the row's
        place, which is the number of its partition shifted by ``row_bits`` bits, and its number in
        that.
    spans
        Micro-batches with the offsets that they read between; the first may begin at None.
    """

    class Replaying(DataSource):
        @classmethod
        def name(cls) -> str:
            return name

        def schema(self) -> StructType:
            return placed

        def reader(self, schema: StructType) -> DataSourceReader:
            made = source(options=CaseInsensitiveDict(options))
            return _Reader(made, StructType(schema.fields[:-2]), spans, row_bits)

    return Replaying


class _Reader(DataSourceReader):
    def __init__(
        self,
        source: DataSource,
        schema: StructType,
        spans: Sequence[tuple[int, Any, Any]],
        row_bits: int,
    ) -> None:
        self._reader: Any
        try:
            self._reader, self._simple = source.streamReader(schema), False
        except PySparkNotImplementedError:
            self._reader, self._simple = source.simpleStreamReader(schema), True
        self._names = schema.names
        self._spans = spans
        self._row_bits = row_bits

    def partitions(self) -> list[InputPartition]:
        partitions: list[InputPartition] = []
        for batch, start, end in self._spans:
            first = self._reader.initialOffset() if start is None else start
            parts = [(first, end)] if self._simple else self._reader.partitions(first, end)
            partitions.extend(
                InputPartition((batch, len(partitions) + number, part))
                for number, part in enumerate(parts)
            )
        return partitions

    def read(self, partition: InputPartition) -> Iterator[Any]:
        if partition.value is None:  # Spark's own, where there is no partition
            return
        batch, number, part = partition.value
        row_number = number << self._row_bits
        rows = self._reader.readBetweenOffsets(*part) if self._simple else self._reader.read(part)
        for row in rows:
            if hasattr(row, "num_rows"):
                yield _with_places(row, batch, row_number)
                row_number += row.num_rows
                continue
            named = hasattr(row, "__fields__")
            yield (*((row[name] for name in self._names) if named else row), batch, row_number)
            row_number += 1


def _with_places(rows: Any, batch: int, first: int) -> Any:
    """Return a record batch of Arrow with the two added columns."""
    import pyarrow as pa

    batches = pa.array([batch] * rows.num_rows, pa.int32())
    numbers = pa.array(range(first, first + rows.num_rows), pa.int64())
    names = [*rows.schema.names, "_lipstick_batch", "_lipstick_row"]
    return pa.RecordBatch.from_arrays([*rows.columns, batches, numbers], names=names)
