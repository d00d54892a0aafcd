"""Data sources written in Python, of numbers with times, some of them late.

This module travels to workers by value: it imports nothing of ours.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Row
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamReader,
    InputPartition,
    SimpleDataSourceStreamReader,
)
from pyspark.sql.types import StructType

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

_FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def numbered(number: int) -> tuple[int, datetime, str]:
    """Return a row: every fifth is an hour late."""
    late = 60 if number % 5 == 4 else 0
    return number, _FIRST + timedelta(minutes=3 * number - late), "abc"[number % 3]


class SimpleCounting(DataSource):
    """So many numbers a batch, by the simple reader."""

    @classmethod
    def name(cls) -> str:
        return "simple_counting"

    def schema(self) -> str:
        return "id BIGINT, ts TIMESTAMP, k STRING"

    def simpleStreamReader(self, schema: StructType) -> SimpleDataSourceStreamReader:  # noqa: N802
        return _SimpleReader(int(self.options["rows"]), int(self.options["all"]))


class _SimpleReader(SimpleDataSourceStreamReader):
    def __init__(self, rows: int, whole: int) -> None:
        self._rows, self._all = rows, whole

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"at": 0}

    def read(self, start: dict[str, int]) -> tuple[Iterator[tuple[Any, ...]], dict[str, int]]:
        end = {"at": min(start["at"] + self._rows, self._all)}
        return self.readBetweenOffsets(start, end), end

    def readBetweenOffsets(  # noqa: N802
        self, start: dict[str, int], end: dict[str, int]
    ) -> Iterator[tuple[Any, ...]]:
        return iter([numbered(number) for number in range(start["at"], end["at"])])


class Counting(SimpleCounting):
    """The same in two partitions, the second of which is a record batch of Arrow."""

    @classmethod
    def name(cls) -> str:
        return "counting"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return _Reader(int(self.options["rows"]), int(self.options["all"]))


class _Reader(DataSourceStreamReader):
    def __init__(self, rows: int, whole: int) -> None:
        self._rows, self._all = rows, whole
        self._at = 0

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"at": 0}

    def latestOffset(self, *_: Any) -> dict[str, int]:  # noqa: N802
        self._at = min(self._at + self._rows, self._all)
        return {"at": self._at}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        middle = (start["at"] + end["at"]) // 2
        return [
            InputPartition((start["at"], middle, False)),
            InputPartition((middle, end["at"], True)),
        ]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        first, after, arrow = partition.value
        rows = [numbered(number) for number in range(first, after)]
        if arrow and rows:
            ids, times, keys = zip(*rows, strict=True)
            columns = [
                pa.array(ids, pa.int64()),
                pa.array(times, pa.timestamp("us", "UTC")),
                pa.array(keys, pa.string()),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["id", "ts", "k"])
        else:
            yield from (Row(k=k, ts=ts, id=number) for number, ts, k in rows)
