"""The rows of a derived relation as data frames, with their tokens and their captured tuples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lipstick.capture.contents import describe
from lipstick.tables.derivation import (
    FILLED_FILES,
    ROWS,
    TUPLE,
    Derivation,
    Part,
    Replaced,
)
from lipstick.tables.target import FILLED, written_as
from lipstick.tracking.tracker import ROW_COLUMN, Naming, row_place
from rewriter.blocks import Block

if TYPE_CHECKING:
    from lipstick.engines.protocol import AskedCapture

_FILE = "_metadata.file_name"
_PARTITION = "_lipstick_partition"


def write_part(
    frame: DataFrame,
    columns: Sequence[str],
    directory: Path,
    *,
    captured: bool,
) -> Part:
    """Write rows, and return their description."""
    frame.write.parquet(str(directory / ROWS))
    part = Part(directory.name, tuple(columns), frame.schema.json(), (), captured)
    return described(part, directory)


def described(part: Part, directory: Path) -> Part:
    """Describe the files of a part, whose rows are written.

    The files that have any rows are numbered in the order of their names.
    """
    folders = (part.folder, FILLED_FILES)
    stored = describe(directory, folders)
    inside = [file for file in stored if file.name.startswith(f"{part.folder}/") and file.rows]
    files = tuple(sorted(file.name.rpartition("/")[2] for file in inside))
    return replace(part, files=files, stored=stored)


def captured_rows(
    capture: AskedCapture, columns: Sequence[str], schema: StructType, filled: DataFrame | None
) -> DataFrame:
    """Return rows of a table from the answer of a capture, each with its tuple.

    Parameters
    ----------
    columns
        The columns of the table that the answer gives.
    filled
        What the others are filled with.
    """
    root = capture.manifest.root
    identity = [F.col(f"`{name}`").alias(f"i{at}") for at, name in enumerate(root.identity)]
    rows = capture.cluster.present()
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
        The columns of the table that the answer gives, in its order.
    schema
        The table's.
    """
    outputs = {name: output.name for name, output in zip(columns, root.outputs, strict=True)}
    columns_of_table = {}
    for field in schema:
        if field.name in outputs:
            name = outputs[field.name]
            columns_of_table[field.name] = written_as(
                F.col(f"`{name}`"), answer[name].dataType, field
            )
        else:
            columns_of_table[field.name] = F.col(f"{FILLED}.`{field.name}`")
    return columns_of_table


def part_rows(spark: SparkSession, derivation: Derivation, part: Part) -> DataFrame:
    """Return the rows of a part: the table's columns, their token, and their tuple if captured."""
    rows = stored_rows(spark, derivation, part)
    columns = [F.col(f"`{name}`") for name in schema_of(derivation).names]
    if not derivation.key:
        columns.append(row_place(_FILE, part.files, derivation.first_file(part)).alias(ROW_COLUMN))
    return rows.select(*columns, *([TUPLE] if part.captured else []))


def stored_rows(spark: SparkSession, derivation: Derivation, part: Part) -> DataFrame:
    """Return the rows of a part as they are stored."""
    schema = StructType.fromJson(json.loads(part.schema))
    return spark.read.schema(schema).parquet(str(derivation.rows(part)))


def not_replaced(
    spark: SparkSession,
    derivation: Derivation,
    replaced: Sequence[Replaced],
    rows: DataFrame,
    values: Mapping[str, Column],
) -> DataFrame:
    """Return the rows that are in none of the partitions that were overwritten.

    Parameters
    ----------
    values
        Of columns of the table, over the rows.
    """
    for partition in replaced:
        filled = spark.read.parquet(str(derivation.replacing(partition))).select(FILLED)
        rows = rows.crossJoin(F.broadcast(filled.withColumnRenamed(FILLED, _PARTITION)))
        inside = [
            values[name].eqNullSafe(F.col(f"{_PARTITION}.`{name}`")) for name in partition.columns
        ]
        rows = rows.where(~reduce(and_, inside)).drop(_PARTITION)
    return rows


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
