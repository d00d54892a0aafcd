"""The statements of the scoreboard as a corpus of the worlds oracle, over what DuckDB makes.

A relation is what the statements before made of its name, each row once and cut to a few; its key
is those of its columns that have no NULL, or all, of rows without one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import from_arrow_schema

from tests.oracle.database import Database, Relation
from tests.oracle.duck import connected_duck
from tests.oracle.duck_sql import to_duckdb
from tests.scoreboard.spark.script import Script, read_script

CASES: Final = Path(__file__).parents[1] / "scoreboard" / "cases"
_ROWS: Final = 6
"""Of a relation; more would be more worlds than can be held."""


def statements() -> Iterator[tuple[str, str, Database]]:
    """Yield queries by name, each over the relations that stand when its file comes to it.

    What follows a SET is left out: DuckDB knows none of Spark's settings.
    """
    for path in sorted(CASES.glob("*.sql")):
        script = read_script(path)
        if not script.settings:
            yield from _of_script(script)


def _of_script(script: Script) -> Iterator[tuple[str, str, Database]]:
    connection = connected_duck()
    connection.execute("SET TimeZone = 'UTC'")
    database = None
    number = 0
    for statement in script.statements:
        if statement.is_query:
            number += 1
            database = database or Database(dict(_relations(connection)))
            yield f"{script.name}:{number}", statement.text, database
        elif statement.text.upper().startswith("SET SPARK."):
            return
        else:
            database = None
            _run(connection, statement.text)


def _run(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Run a statement; one that DuckDB does not know leaves queries of its relation refused."""
    with suppress(duckdb.Error, sqlglot.errors.SqlglotError):
        connection.execute(to_duckdb(text))


def _relations(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, Relation]]:
    names = connection.execute(
        "SELECT table_name FROM information_schema.tables ORDER BY 1"
    ).fetchall()
    for (name,) in names:
        text = f'SELECT DISTINCT * FROM "{name}" ORDER BY ALL LIMIT {_ROWS}'
        try:
            data = connection.execute(text).fetch_arrow_table()
            relation = _keyed(name, data)
        except (duckdb.Error, PySparkException, pa.ArrowException):
            continue
        if relation is not None:
            yield name, relation


def _keyed(name: str, data: pa.Table) -> Relation | None:
    """Return rows as a relation with a key, which has no NULLs; None where there is none."""
    plain = [field.name for field in data.schema if not pa.types.is_nested(field.type)]
    full = [column for column in plain if data.column(column).null_count == 0]
    rows = data
    if not _tell_apart(rows, full):
        full = plain
        rows = rows.filter(_without_nulls(rows, plain))
        if not _tell_apart(rows, plain):
            return None
    kinds = from_arrow_schema(rows.schema)
    schema = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in kinds)
    return Relation(name, tuple(full), schema, rows)


def _tell_apart(rows: pa.Table, columns: list[str]) -> bool:
    return bool(columns) and rows.group_by(columns).aggregate([]).num_rows == rows.num_rows


def _without_nulls(rows: pa.Table, columns: list[str]) -> pa.Array:
    kept = pa.array([True] * rows.num_rows)
    for column in columns:
        kept = pc.and_(kept, rows.column(column).is_valid())
    return kept
