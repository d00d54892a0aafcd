"""Captures on disk written by DuckDB: what the engine in memory answers from, without Spark."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.capture.write import needs_rows
from lipstick.memory import Memory
from rewriter.blocks import Block, topological
from rewriter.statements import members_sql, rows_sql
from tests.oracle.captured import blocks_of
from tests.oracle.database import Database
from tests.oracle.duck import create_table, to_duckdb


def stored(sql: str, database: Database, directory: Path) -> Memory:
    """Return the engine over a capture of a query, written into a directory.

    Raises
    ------
    duckdb.Error
        DuckDB does not know something in the query.
    """
    root = blocks_of(sql, database)
    with duckdb.connect() as connection:
        for relation in database.relations.values():
            create_table(connection, relation.name, relation.data)
        for block in topological(root):
            if block.core is not None:
                members = _write(connection, members_sql(block, _members), directory, block)
                create_table(connection, _members(block), members)
            if needs_rows(block):
                _write(connection, rows_sql(block, _members), directory, block, "rows")
    relations = {
        r.name: RelationRecord(
            r.name, r.name, "key", r.key, tuple(r.data.column_names), True, "a table of DuckDB"
        )
        for r in database.relations.values()
    }
    names = tuple(output.name for output in root.outputs)
    return Memory(directory, Manifest(sql, names, "", "copy", root, relations))


def _write(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    directory: Path,
    block: Block,
    dataset: str = "members",
) -> pa.Table:
    table = connection.execute(to_duckdb(sql)).fetch_arrow_table()
    # Sums of integers are wider than Spark's.
    fields = [
        pa.field(f.name, pa.int64() if pa.types.is_decimal(f.type) and not f.type.scale else f.type)
        for f in table.schema
    ]
    table = table.cast(pa.schema(fields))
    path = directory / block.name / dataset
    path.mkdir(parents=True)
    pq.write_table(table, path / "part.parquet")
    return table


def _members(block: Block) -> str:
    return f"captured_{block.name}"
