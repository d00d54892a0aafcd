"""The rows of a derived relation as data frames, with their tokens and their captured tuples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lipstick.derived.derivation import TUPLE, Derivation, Part
from lipstick.tracking import ROW_COLUMN, Naming, row_place

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture

_FILE = "_metadata.file_name"


def write_part(
    spark: SparkSession,
    frame: DataFrame,
    columns: Sequence[str],
    directory: Path,
    *,
    captured: bool,
) -> Part:
    """Write rows, and return what is to be known of them."""
    path = directory / "rows"
    frame.write.parquet(str(path))
    written = spark.read.schema(frame.schema).parquet(str(path))
    files = sorted(row[0] for row in written.select(_FILE).distinct().collect())
    return Part(directory.name, tuple(columns), frame.schema.json(), tuple(files), captured)


def captured_rows(capture: Capture, columns: Sequence[str]) -> DataFrame:
    """Return the answer of a capture under other names, and the tuple that each row is."""
    root = capture.manifest.root
    identity = [F.col(f"`{name}`").alias(f"i{at}") for at, name in enumerate(root.identity)]
    answer = [
        F.col(f"`{output.name}`").alias(name)
        for output, name in zip(root.outputs, columns, strict=True)
    ]
    # A struct has fields, even where nothing tells the only row apart.
    named = F.struct(*(identity or [F.lit(0).alias("i")])).alias(TUPLE)
    return capture.present().select(*answer, named)


def part_rows(spark: SparkSession, derivation: Derivation, part: Part) -> DataFrame:
    """Return the rows of a part: the table's columns, their token, and their tuple if captured."""
    schema = StructType.fromJson(json.loads(part.schema))
    rows = spark.read.schema(schema).parquet(str(derivation.rows(part)))
    columns = [F.col(f"`{name}`") for name in schema_of(derivation).names]
    if not derivation.key:
        columns.append(row_place(_FILE, part.files, derivation.first_file(part)).alias(ROW_COLUMN))
    return rows.select(*columns, *([TUPLE] if part.captured else []))


def relation_rows(spark: SparkSession, derivation: Derivation) -> DataFrame:
    """Return the rows of all parts: the table's columns, then their token if it is none of them."""
    parts = [part_rows(spark, derivation, part).drop(TUPLE) for part in derivation.parts]
    return reduce(DataFrame.unionAll, parts)


def schema_of(derivation: Derivation) -> StructType:
    """Return the schema of the table."""
    return StructType.fromJson(json.loads(derivation.schema))


def naming_of(derivation: Derivation) -> tuple[Naming, tuple[str, ...]]:
    """Return how the rows are named, and the columns of their tokens."""
    if derivation.key:
        return Naming.KEY, derivation.key
    return Naming.ROWS, (ROW_COLUMN,)
