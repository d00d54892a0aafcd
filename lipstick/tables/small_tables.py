"""Hypothetical rows of small written tables, computed in this process.

A job of Spark takes longer than its rows where these are few, and a chain of written tables asks
for several jobs a table. Whatever this process does not compute as Spark does is left to Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lipstick.capture import local_rows
from lipstick.capture.files import arrow_of, in_arrow
from lipstick.capture.local_capture import TooLargeError, collect
from lipstick.capture.local_rows import as_spark_has, computes_alike
from lipstick.capture.manifest import Manifest
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.scenarios import alone
from lipstick.engines.memory.state import State, same
from lipstick.errors import NeedsSparkError
from lipstick.tables.derivation import TUPLE, Derivation, Part
from lipstick.tracking.naming import ROW_BITS
from lipstick.tracking.tracker import ROW_COLUMN
from semiring.arrays.arrow import whole
from semiring.arrays.segments import others

MOST = 100_000
"""The number of rows of a capture, and of relations that a query is run over here, at most."""


@dataclass(frozen=True, slots=True)
class PartComparison:
    """The rows of a part that were written, compared with the hypothetical ones.

    Attributes
    ----------
    rows
        The hypothetical rows with tokens: known ones of rows that stay, fresh ones of others.
    deleted
        The tokens of the rows that would not be there.
    only_deletes
        True if every hypothetical row was written, with the same values.
    """

    rows: pa.Table
    deleted: pa.Table
    only_deletes: bool


def part_table(derivation: Derivation, part: Part, schema: StructType) -> pa.Table:
    """Return the rows of a part: the table's columns, tokens, and the tuple if captured.

    Parameters
    ----------
    schema
        The table's.

    Raises
    ------
    NeedsSparkError
        Where Arrow does not have the values as Spark has them.
    """
    if not in_arrow(schema):
        raise NeedsSparkError(f"Arrow has no rows of {schema.simpleString()}.")
    folder, tables = derivation.rows(part), []
    names = [*schema.names, *([TUPLE] if part.captured else [])]
    for number, file in enumerate(part.files, start=derivation.first_file(part)):
        table = pq.read_table(folder / file, columns=names, partitioning=None)
        if not derivation.key:
            places = np.arange(table.num_rows) | number << ROW_BITS
            table = table.append_column(ROW_COLUMN, pa.array(places))
        tables.append(table)
    if not tables:
        raise NeedsSparkError("Files without rows have no schema.")
    rows = pa.concat_tables(tables)
    others = [name for name in rows.column_names if name not in schema.names]
    typed = rows.select(schema.names).cast(arrow_of(schema))
    for name in others:
        typed = typed.append_column(name, rows.column(name))
    return typed


def compared_part(
    derivation: Derivation, part: Part, schema: StructType, rows: tuple[Engine, State]
) -> PartComparison:
    """Compare the rows of a part with the hypothetical rows of its query.

    Parameters
    ----------
    schema
        The table's.
    rows
        The hypothetical rows of its query, each with an identity of its own.

    Raises
    ------
    NeedsSparkError
        For columns that the query does not give, partitions that were overwritten, and values
        that Spark converts.
    """
    engine, new = rows
    if part.replaced or not part.gives(schema.names):
        raise NeedsSparkError("Spark fills columns of these rows.")
    old, positions = part_table(derivation, part, schema), new.ordered
    outputs = dict(zip(part.columns, engine.root.outputs, strict=True))
    values = pa.table({name: new.take(outputs[name].name, positions) for name in schema.names})
    values = as_spark_has(values, arrow_of(schema))
    identity = [new.take(name, positions) for name in engine.root.identity]
    known = whole(old.column(TUPLE)).flatten()[: len(identity)]
    if [column.type for column in known] != [column.type for column in identity]:
        raise NeedsSparkError("Spark compares these identities.")
    places = KeyTable(identity, len(positions)).find(known, old.num_rows)
    stayed = np.flatnonzero(places >= 0)
    before, after = old.take(pa.array(stayed)), values.take(pa.array(places[stayed]))
    equal = np.ones(len(stayed), dtype=np.bool_)
    for name in schema.names:
        equal &= same(whole(before.column(name)), whole(after.column(name)))
    came = others(len(positions), places[stayed])
    there = pa.concat_tables([after, values.take(pa.array(came))])
    if not derivation.key:
        fresh = -(np.arange(1, len(came) + 1) + (derivation.parts.index(part) << ROW_BITS))
        kept = whole(before.column(ROW_COLUMN)).to_numpy()
        there = there.append_column(ROW_COLUMN, pa.array(np.concatenate([kept, fresh])))
    gone = old.take(pa.array(np.flatnonzero(places < 0)))
    gone = gone.select(list(derivation.key or (ROW_COLUMN,)))
    return PartComparison(there, gone, bool(equal.all()) and not len(came))


def is_small(spark: SparkSession, manifest: Manifest) -> bool:
    """Return True if a capture is small enough to be asked here, and Spark computes alike."""
    return manifest.row_count <= min(MOST, local_rows.MOST) and computes_alike(spark)


def rows_without(engine: Engine, deleted: Mapping[str, pa.Table]) -> tuple[Engine, State]:
    """Return the rows of a captured query without some tuples."""
    states = engine.states({name: alone(table) for name, table in deleted.items()})
    return engine, states[engine.root.name]


def rows_again(
    spark: SparkSession,
    manifest: Manifest,
    deleted: Mapping[str, pa.Table],
    rows_of: Callable[[str], pa.Table],
) -> tuple[Engine, State]:
    """Run a captured query over other rows of its relations.

    Parameters
    ----------
    deleted
        The tokens of tuples to leave out, by relation.
    rows_of
        Returns the rows of a relation, with tokens.

    Raises
    ------
    NeedsSparkError
        Where rows are many, or only Spark runs the query.
    """
    tables = {}
    for name, record in manifest.relations.items():
        table = rows_of(name)
        if name in deleted:
            gone = deleted[name]
            keys = KeyTable([whole(gone.column(key)) for key in record.token], gone.num_rows)
            found = keys.find([whole(table.column(key)) for key in record.token], table.num_rows)
            table = table.filter(pa.array(found < 0))
        tables[record.view] = table

    def show() -> None:
        raise NeedsSparkError("Spark runs a statement of this query.")

    try:
        engine = collect(spark, manifest, tables, show, MOST)
    except TooLargeError as error:
        raise NeedsSparkError("There are too many rows.") from error
    return engine, engine.base(engine.root.name)
