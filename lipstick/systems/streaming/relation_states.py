"""The states of relations that a streaming query joins its streams with.

Spark reads such a relation anew for each micro-batch. Its state is the path, length and time of its
files, and a checksum of its rows where these are few enough or in no files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, MapType

from lipstick.systems.streaming.kept import numbered
from lipstick.systems.streaming.starts import Change, record
from lipstick.tracking.source import FileState, Source, fingerprint

if TYPE_CHECKING:
    from lipstick.tracking.tracker import Tracked

_MOST_BYTES = 64 << 20
"""Rows in more bytes of files have no checksum."""


def state_of(spark: SparkSession, source: Source) -> str:
    """Return the state of a relation now: of its files, and of its rows.

    Jobs: one where the rows have a checksum.
    """
    rows = _now(spark, source)
    files = fingerprint(spark, rows)
    of_rows = ""
    if sum(length for _, length, _ in files) <= _MOST_BYTES:
        of_rows = _checksum(rows)
    return f"{_digest(files)}/{of_rows}"


def is_same(one: str, other: str) -> bool:
    """Return True if two states are one: of the same files, or of the same rows."""
    pairs = zip(one.split("/"), other.split("/"), strict=True)
    return any(first == second and first for first, second in pairs)


def is_as(spark: SparkSession, source: Source, state: str) -> bool:
    """Return True if a relation is in a state now; if its files are others its rows are read."""
    files, _ = state.split("/")
    if files and files == _digest(fingerprint(spark, _now(spark, source))):
        return True
    return is_same(state, state_of(spark, source))


class Watch:
    """Watches the relations of a query while it runs, and writes down changes.

    Parameters
    ----------
    checkpoint
        The folder of the query's checkpoint.
    run
        The number of its start.
    relations
        The relations that it reads beside its streams.
    states
        Their states when it was started.
    """

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: Path,
        run: int,
        relations: Mapping[str, Tracked],
        states: Mapping[str, str],
    ) -> None:
        self._spark = spark
        self._checkpoint = checkpoint
        self._run = run
        self._sources = {name: tracked.source for name, tracked in relations.items()}
        self._seen = {name: state.split("/")[0] for name, state in states.items()}
        self._committed = -1

    def look(self) -> None:
        """Write down which relations are in another state than at the last look."""
        committed = max(numbered(self._checkpoint / "commits"), default=-1)
        for name, source in self._sources.items():
            if not self._seen[name]:
                continue
            files = _digest(fingerprint(self._spark, _now(self._spark, source)))
            if files != self._seen[name]:
                state = self._state(source)
                planned = max(numbered(self._checkpoint / "offsets"), default=-1)
                record(
                    self._checkpoint, Change(self._run, name, state, self._committed, planned + 1)
                )
                self._seen[name] = files
        self._committed = committed

    def _state(self, source: Source) -> str:
        """Return the state of a relation; one that cannot be read has a state of its own."""
        try:
            return state_of(self._spark, source)
        except Exception:
            return f"{_digest(fingerprint(self._spark, _now(self._spark, source)))}/"


def _now(spark: SparkSession, source: Source) -> DataFrame:
    return source.frame if source.table is None else spark.table(source.table)


def _digest(files: tuple[FileState, ...]) -> str:
    if not files:
        return ""
    return hashlib.blake2b(repr(files).encode(), digest_size=8).hexdigest()


def _checksum(rows: DataFrame) -> str:
    """Return a checksum of rows that does not depend on their order."""
    columns = [
        F.col(f"`{field.name}`").cast("string") if _has_map(field.dataType) else f"`{field.name}`"
        for field in rows.schema
    ]
    one = F.xxhash64(*columns) if columns else F.lit(0)
    totals = rows.select(one.alias("hash")).agg(
        F.count("*"), F.sum(F.col("hash").cast("decimal(38, 0)")), F.bit_xor("hash")
    )
    return "-".join(map(str, tuple(totals.head() or ())))


def _has_map(type_: DataType) -> bool:
    return isinstance(type_, MapType) or "map<" in type_.simpleString()
