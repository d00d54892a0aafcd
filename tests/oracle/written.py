"""A capture that DuckDB writes: the in-memory engine is put to the test without Spark.

DuckDB types sums of integers as HUGEINT, which is written as BIGINT; averages are doubles, as in
Spark. What it does not know of Spark SQL is left to the runs with Spark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from lipstick.capture.capture import Capture, open_capture
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.capture.writer import needs_rows
from lipstick.engines.memory.memory import Memory
from lipstick.questions.valuation import compile_valuations
from rewriter.blocks import Block, topological
from rewriter.emit.statements import rows_sql
from semiring.encodings.valuation import Valuation
from semiring.semirings import Counting
from tests.oracle.bag import check_counting
from tests.oracle.captured import blocks_of, members_of, statements_of_members
from tests.oracle.database import Database, Deletion
from tests.oracle.duck import Duck, connected_duck, create_table, loosened
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.many import check_many
from tests.oracle.rows import Bag, assert_same_bag, from_arrow

_STORED_AS: Final = {pa.decimal128(38, 0): pa.int64(), pa.null(): pa.bool_()}
"""HUGEINT, and columns that are NULL and nothing else."""


def schema_of(names: Sequence[str]) -> str:
    """Return the schema of an answer for a manifest that Spark never reads: texts."""
    fields = [{"name": n, "type": "string", "nullable": True, "metadata": {}} for n in names]
    return json.dumps({"type": "struct", "fields": fields})


def written(sql: str, database: Database, directory: Path) -> Memory:
    """Capture a query into a directory, and return the engine that answers from it.

    The columns of the answer are called c0 and on.
    """
    root = blocks_of(sql, database)
    _write_datasets(root, database, directory)
    names = tuple(f"c{number}" for number in range(len(root.outputs)))
    relations = {
        r.name: _record(r.name, r.key, r.data.column_names) for r in database.relations.values()
    }
    return Memory(directory, Manifest(sql, names, schema_of(names), "copy", root, relations))


def write_capture(sql: str, database: Database, directory: Path) -> Capture:
    """Capture a query into a directory, and open it without Spark.

    Raises
    ------
    duckdb.Error, sqlglot.errors.SqlglotError
        DuckDB does not know something in the query.
    """
    root = blocks_of(sql, database)
    datasets = _write_datasets(root, database, directory)
    names = tuple(Duck(database).answer(sql).columns)
    read = {token.relation for block in topological(root) for token in block.tokens}
    relations = {
        r.name: _record(r.name, r.key, r.data.column_names)
        for r in database.relations.values()
        if r.name in read
    }
    counts: dict[str, dict[str, int]] = {}
    schemas: dict[str, dict[str, Any]] = {}
    for (block, dataset), table in datasets.items():
        counts.setdefault(block, {})[dataset] = len(table)
        schemas.setdefault(block, {})[dataset] = json.loads(schema_of(table.column_names))
    manifest = Manifest(sql, names, schema_of(names), "copy", root, relations, counts, schemas)
    manifest.write(directory)
    return open_capture(directory)


def _write_datasets(
    root: Block, database: Database, directory: Path
) -> dict[tuple[str, str], pa.Table]:
    """Write the datasets of a capture, and return them by block and name."""
    datasets: dict[tuple[str, str], pa.Table] = {}
    with connected_duck() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("CREATE MACRO raise_error(message) AS error(message)")
        for relation in database.relations.values():
            create_table(connection, relation.name, relation.data)
        for block, statement in statements_of_members(connection, root):
            members = _write(connection, statement, directory, block, "members")
            datasets[block.name, "members"] = members
            create_table(connection, members_of(block), members)
        for block in topological(root):
            if needs_rows(block):
                rows = _write(connection, rows_sql(block, members_of), directory, block, "rows")
                datasets[block.name, "rows"] = rows
    return datasets


def check_written(
    sql: str,
    database: Database,
    deletions: Sequence[Deletion],
    directory: Path,
    *,
    grouping: bool = False,
) -> int:
    """Hold what-ifs in memory, alone and at once, and counts, against the reduced database.

    Parameters
    ----------
    grouping
        See :func:`tests.oracle.bag.check_bag`.

    Returns
    -------
    int
        How many deletions changed the answer.
    """
    duck = Duck(database)
    memory = written(sql, database, directory)
    before = loosened(duck.answer(sql))
    _assert_same(before, memory.answer(), sql)
    counted = loosened(from_arrow(memory.evaluate(Counting(), _ones(database))))
    expected = Bag(counted.columns[:-1], counted.types[:-1], before.rows)
    check_counting(expected, counted, sql, grouping=grouping)
    changed = 0
    for deletion in deletions:
        answer = memory.what_if(deleted_tokens(database, deletion))
        _assert_same(loosened(duck.answer(sql, deletion)), answer.df, f"{deletion}\n{sql}")
        kinds = answer.changes.column("_change").to_pylist()
        assert answer.df.num_rows == sum(kind != "deleted" for kind in kinds)
        changed += bool(set(kinds) - {"unchanged"})
    check_many(memory, [deleted_tokens(database, deletion) for deletion in deletions])
    return changed


def _ones(database: Database) -> Mapping[str, Valuation[Any]]:
    records = {
        r.name: _record(r.name, r.key, r.data.column_names) for r in database.relations.values()
    }
    return compile_valuations(Counting(), None, None, records, None)


def _write(
    connection: duckdb.DuckDBPyConnection, sql: str, directory: Path, block: Block, dataset: str
) -> pa.Table:
    # A table first: DuckDB 1.1 loses rows of unions inside unions that it returns as a result.
    connection.execute(f"CREATE OR REPLACE TABLE written AS {to_duckdb(sql)}")
    result: Any = connection.execute("FROM written")
    table = result.fetch_arrow_table()
    for index, field in enumerate(table.schema):
        kind = _STORED_AS.get(field.type)
        if pa.types.is_map(field.type):
            # DuckDB's keys are nullable, which Parquet's are not.
            kind = pa.map_(field.type.key_type, field.type.item_type)
        if kind is not None:
            table = table.set_column(index, field.name, table.column(index).cast(kind))
    path = directory / block.name / dataset
    path.mkdir(parents=True)
    pq.write_table(table, path / "part.parquet")
    return table


def _record(name: str, key: tuple[str, ...], columns: Sequence[str]) -> RelationRecord:
    return RelationRecord(name, name, "keys", key, tuple(columns), True, "DuckDB")


def deleted_tokens(database: Database, deletion: Deletion) -> dict[str, pa.Table]:
    """Return the keys of the deleted rows, per relation."""
    tokens = {}
    for name, keys in deletion.keys.items():
        relation = database.relations[name]
        rows = pa.array([key in keys for key in relation.row_keys()], pa.bool_())
        tokens[name] = relation.data.select(list(relation.key)).filter(rows)
    return tokens


def _assert_same(expected: Bag, actual: pa.Table, message: str) -> None:
    shown = loosened(from_arrow(actual))
    assert_same_bag(Bag(shown.columns, shown.types, expected.rows), shown, message)
