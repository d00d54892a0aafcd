"""How rows become files of a capture: written by Spark's tasks, or, when few, from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    MapType,
    NullType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from rewriter.blocks import Core, ScanSource
from rewriter.interpret import interpret

_WRITE_OPTIONS = {
    "compression": "zstd",
    "parquet.compression.codec.zstd.level": "1",
    "parquet.writer.version": "v2",
}
"""Delta encodings bring integer tokens in file order to about one byte each."""

NO_RELATIONS: Mapping[str, pa.Table] = MappingProxyType({})
_PLAIN = (
    BinaryType,
    BooleanType,
    DateType,
    NumericType,
    StringType,
    TimestampNTZType,
    TimestampType,
)


class Files:
    """Writes rows into directories of Parquet files, which Spark's tasks do."""

    prunes = True
    """Whether finding out which groups HAVING keeps costs less than members of the others."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def write(self, frame: DataFrame, path: Path, core: Core | None = None) -> None:
        """Write rows into a directory that does not exist yet; `core` is what they are, if any."""
        frame.write.options(**_WRITE_OPTIONS).parquet(str(path))

    def read(self, path: Path, written: DataFrame) -> DataFrame:
        """Read what was just written, without a job to learn its schema."""
        return self._spark.read.schema(storable(written).schema).parquet(str(path))


class CollectedFiles(Files):
    """Writes a few rows from here, which is sooner done than a job that writes.

    Parameters
    ----------
    limit
        Where there are more rows, Spark writes them.
    relations
        The tables that views are of, by name: some columns of one are written without Spark.
    """

    prunes = False

    def __init__(
        self, spark: SparkSession, limit: int, relations: Mapping[str, pa.Table] = NO_RELATIONS
    ) -> None:
        super().__init__(spark)
        self._limit = limit
        self._relations = relations
        self._tables: dict[Path, pa.Table] = {}
        self._known: set[Path] = set()

    def write(self, frame: DataFrame, path: Path, core: Core | None = None) -> None:
        columns = None if core is None else projected(core, frame.columns, self._relations)
        if columns is not None:
            path.mkdir(parents=True)
            pq.write_table(columns, path / "part-0.parquet")
            self._known.add(path)
            return
        table = frame.limit(self._limit + 1).toArrow() if in_arrow(frame.schema) else None
        if table is None or table.num_rows > self._limit:
            super().write(frame, path)
            return
        path.mkdir(parents=True)
        pq.write_table(table, path / "part-0.parquet")
        self._tables[path] = table

    def read(self, path: Path, written: DataFrame) -> DataFrame:
        if path in self._known:
            return written
        table = self._tables.get(path)
        if table is None:
            return super().read(path, written)
        return self._spark.createDataFrame(table, storable(written).schema)


def projected(
    core: Core, names: Sequence[str], relations: Mapping[str, pa.Table]
) -> pa.Table | None:
    """Some columns of a core that is one relation, all of its rows; None if it is anything else."""
    if core.once or core.predicates or core.semis or core.generators or len(core.sources) != 1:
        return None
    (source,) = core.sources
    table = relations.get(source.view) if isinstance(source, ScanSource) else None
    if table is None:
        return None
    places = {name.lower(): place for place, name in enumerate(table.column_names)}
    columns = {name: interpret(scalar).column for name, scalar in core.select}
    found = []
    for name in names:
        column = columns[name]
        if column is None or column[0] != source.alias or column[1].lower() not in places:
            return None
        found.append(table.column(places[column[1].lower()]))
    return pa.table(found, names=list(names))


def storable(frame: DataFrame) -> DataFrame:
    """Give columns that are NULL and nothing else a type that Parquet has."""
    untyped = [field.name for field in frame.schema if isinstance(field.dataType, NullType)]
    if not untyped:
        return frame
    return frame.withColumns({name: F.col(f"`{name}`").cast("boolean") for name in untyped})


def in_arrow(kind: DataType) -> bool:
    """Whether Arrow has a type as Parquet has it, so that both ways give the same file."""
    if isinstance(kind, StructType):
        names = {name.lower() for name in kind.names}
        return len(names) == len(kind) and all(in_arrow(field.dataType) for field in kind)
    if isinstance(kind, MapType):
        return in_arrow(kind.keyType) and in_arrow(kind.valueType)
    if isinstance(kind, ArrayType):
        return in_arrow(kind.elementType)
    return isinstance(kind, _PLAIN)
