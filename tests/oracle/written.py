"""A capture on disk that DuckDB computed: what is asked of captures, without Spark.

Types are DuckDB's where they differ (averages are doubles), so compare answers of such a capture
with one another, or loosened.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from lipstick.capture.capture import Capture, open_capture
from lipstick.capture.manifest import MANIFEST, Manifest, RelationRecord
from lipstick.capture.write import needs_rows
from rewriter.blocks import Block, topological
from rewriter.statements import members_sql, rows_sql
from tests.oracle.captured import blocks_of
from tests.oracle.database import Database
from tests.oracle.duck import to_duckdb


def write_capture(sql: str, database: Database, directory: Path) -> Capture:
    """Capture a query over a database, and open it without Spark.

    Raises
    ------
    duckdb.Error, sqlglot.errors.SqlglotError
        DuckDB does not know something in the query.
    """
    root = blocks_of(sql, database)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("CREATE MACRO raise_error(message) AS error(message)")
        for relation in database.relations.values():
            _create(connection, relation.name, relation.data)
        names = tuple(column[0] for column in connection.execute(to_duckdb(sql)).description or ())
        for block in topological(root):
            if block.core is not None:
                members = _run(connection, members_sql(block, _view))
                _keep(connection, directory, block, "members", members)
            if needs_rows(block):
                rows = _run(connection, rows_sql(block, _view, _rows(root)))
                _keep(connection, directory, block, "rows", rows)
    manifest = Manifest(sql, names, "{}", "copy", root, _records(database, root))
    (directory / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    return open_capture(directory)


def _records(database: Database, root: Block) -> Mapping[str, RelationRecord]:
    read = {token.relation for block in topological(root) for token in block.tokens}
    return {
        name: RelationRecord(
            name=name,
            view=name,
            naming="key",
            token=relation.key,
            columns=tuple(relation.data.column_names),
            verified=True,
            description=name,
        )
        for name, relation in database.relations.items()
        if name in read
    }


def _view(block: Block) -> str:
    return f"captured_{block.name}_members"


def _rows(root: Block) -> dict[str, str]:
    return {b.name: f"captured_{b.name}_rows" for b in topological(root) if needs_rows(b)}


def _run(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    table: pa.Table = connection.execute(to_duckdb(sql)).fetch_arrow_table()
    wide = pa.decimal128(38, 0)
    fields = [f.with_type(pa.int64()) if f.type == wide else f for f in table.schema]
    return table.cast(pa.schema(fields))


def _keep(
    connection: duckdb.DuckDBPyConnection, directory: Path, block: Block, name: str, data: pa.Table
) -> None:
    path = directory / block.name / name
    path.mkdir(parents=True)
    pq.write_table(data, path / "part-0.parquet")
    _create(connection, f"captured_{block.name}_{name}", data)


def _create(connection: duckdb.DuckDBPyConnection, name: str, data: pa.Table) -> None:
    connection.register("loading", data)
    connection.execute(f'CREATE TABLE "{name}" AS FROM loading')
    connection.unregister("loading")
