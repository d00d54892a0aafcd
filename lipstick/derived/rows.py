"""The rows of a derived relation as data frames, with their tokens and their captured tuples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lipstick.derived.columns import FILLED, written_as
from lipstick.derived.derivation import TUPLE, Derivation, Part
from lipstick.tracking import ROW_COLUMN, Naming, row_place
from rewriter.blocks import Block

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


def captured_rows(
    capture: Capture, columns: Sequence[str], schema: StructType, filled: DataFrame | None
) -> DataFrame:
    """Return rows of a table from the answer of a capture, and the tuple that each row is.

    Parameters
    ----------
    columns
        Those of the table that the answer gives.
    filled
        What the others are filled with.
    """
    root = capture.manifest.root
    identity = [F.col(f"`{name}`").alias(f"i{at}") for at, name in enumerate(root.identity)]
    rows = capture.present()
    given = table_columns(root, rows.schema, columns, schema)
    # A struct has fields, even where nothing tells the only row apart.
    named = F.struct(*(identity or [F.lit(0).alias("i")])).alias(TUPLE)
    if filled is not None:
        rows = rows.crossJoin(F.broadcast(filled))
    return rows.select(*(value.alias(name) for name, value in given.items()), named)


def table_columns(
    root: Block, answer: StructType, columns: Sequence[str], schema: StructType
) -> dict[str, Column]:
    """Return the columns of a table over the answer of a query, and `FILLED` beside it.

    Parameters
    ----------
    answer
        The answer's schema.
    columns
        Those of the table that the answer gives, in its order.
    schema
        The table's.
    """
    outputs = {name: output.name for name, output in zip(columns, root.outputs, strict=True)}
    found = {}
    for field in schema:
        if field.name in outputs:
            name = outputs[field.name]
            found[field.name] = written_as(F.col(f"`{name}`"), answer[name].dataType, field)
        else:
            found[field.name] = F.col(f"{FILLED}.`{field.name}`")
    return found


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


def filled_of(spark: SparkSession, derivation: Derivation, part: Part) -> DataFrame | None:
    """Return what the columns of a part are filled with that its query does not give."""
    if part.gives(schema_of(derivation).names):
        return None
    return spark.read.parquet(str(derivation.filled(part)))


def schema_of(derivation: Derivation) -> StructType:
    """Return the schema of the table."""
    return StructType.fromJson(json.loads(derivation.schema))


def naming_of(derivation: Derivation) -> tuple[Naming, tuple[str, ...]]:
    """Return how the rows are named, and the columns of their tokens."""
    if derivation.key:
        return Naming.KEY, derivation.key
    return Naming.ROWS, (ROW_COLUMN,)
