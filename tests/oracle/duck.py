"""DuckDB as an engine independent of Spark, to hold answers by running again against."""

from __future__ import annotations

import datetime as dt
from typing import cast

import duckdb
import pyarrow as pa

from tests.oracle.database import NOTHING, Database, Deletion, Key
from tests.oracle.duck_sql import tables_of, to_duckdb
from tests.oracle.rows import Bag, from_arrow


class Duck:
    """DuckDB over the relations of a database.

    Types are DuckDB's (sums of integers are HUGEINT, averages are DOUBLE), so compare the rows of
    its answers after :func:`loosened`, never the schema.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._connection = connected_duck()
        self._connection.execute("SET TimeZone = 'UTC'")
        self._gone: dict[str, frozenset[Key]] = {}

    def answer(self, sql: str, deletion: Deletion = NOTHING) -> Bag:
        """Return the rows of a Spark SQL query over what the deletion leaves."""
        read = tables_of(sql)
        for name, relation in self.database.relations.items():
            gone = deletion.keys.get(name, frozenset())
            if name.lower() in read and self._gone.get(name) != gone:
                create_table(self._connection, name, relation.without(gone))
                self._gone[name] = gone
        return from_arrow(_table(self._connection.execute(to_duckdb(sql))))


def connected_duck() -> duckdb.DuckDBPyConnection:
    """Connect to a database in memory.

    Grouping columns that a join makes equal are one to an optimizer of DuckDB 1.1, even in ROLLUP,
    whose subtotals of the first then have the second in the place of NULL.
    """
    return duckdb.connect(config={"threads": 1, "disabled_optimizers": "duplicate_groups"})


def create_table(connection: duckdb.DuckDBPyConnection, name: str, data: pa.Table) -> None:
    """Make rows a table, in the place of one of that name.

    A table, not a view: filters on decimals pushed into an Arrow scan go wrong.
    """
    connection.register("loading", data)
    connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS FROM loading')
    connection.unregister("loading")


def _table(result: duckdb.DuckDBPyConnection) -> pa.Table:
    return cast("pa.Table", result.fetch_arrow_table())


def loosened(bag: Bag) -> Bag:
    """Return the bag with every number a float and every midnight a date.

    Engines differ in the types of their results. They also differ in rounding, which this does not
    hide: Spark rounds a quotient or an average of decimals to the scale of its type.
    """
    rows = tuple(tuple(_loosened(value) for value in row) for row in bag.rows)
    return Bag(bag.columns, bag.types, rows)


def _loosened(value: object) -> object:
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date()
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return value
    return float(cast("float", value))
