"""DuckDB as an engine independent of Spark, to hold answers by running again against."""

from __future__ import annotations

import datetime as dt
from typing import cast

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

from tests.oracle.database import NOTHING, Database, Deletion, Key
from tests.oracle.duck_aggregates import in_duckdb
from tests.oracle.rows import Bag, from_arrow

_IN_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


def to_duckdb(sql: str) -> str:
    """Return Spark SQL as DuckDB reads it, its order of NULLs written out."""
    return _translated(sqlglot.parse_one(sql, read="spark"))


def _translated(query: exp.Expr) -> str:
    for mended in (_one_argument, _no_empty_total, _narrow_series, in_duckdb):
        query = query.transform(mended)
    return query.sql(dialect="duckdb")


def _narrow_series(node: exp.Expr) -> exp.Expr:
    """Write a sequence up to a sum of integers, which is wider in DuckDB than its series take."""
    if isinstance(node, exp.GenerateSeries):
        node.set("end", exp.cast(node.args["end"].copy(), "bigint"))
    return node


def _no_empty_total(node: exp.Expr) -> exp.Expr:
    """Write a grouping in sets with the condition that a group has rows: DuckDB's () may not."""
    group = node.args.get("group") if isinstance(node, exp.Select) else None
    if group is None or not any(True for _ in group.find_all(*_IN_SETS)):
        return node
    condition = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    having = node.args.get("having")
    if having is not None:
        condition = exp.and_(condition, having.this)
    node.set("having", exp.Having(this=condition))
    return node


def _one_argument(node: exp.Expr) -> exp.Expr:
    """Write COUNT(a, b), the rows in which neither is NULL, as a COUNT of one argument."""
    if not isinstance(node, exp.Count) or not node.expressions:
        return node
    known = [argument.copy().is_(exp.null()).not_() for argument in [node.this, *node.expressions]]
    return exp.Count(this=exp.case().when(exp.and_(*known), exp.Literal.number(1)))


class Duck:
    """DuckDB over the relations of a database.

    Types are DuckDB's (sums of integers are HUGEINT, averages are DOUBLE), so compare the rows of
    its answers after :func:`loosened`, never the schema.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._connection = duckdb.connect()
        self._connection.execute("SET TimeZone = 'UTC'")
        self._gone: dict[str, frozenset[Key]] = {}

    def answer(self, sql: str, deletion: Deletion = NOTHING) -> Bag:
        """Return the rows of a Spark SQL query over what the deletion leaves."""
        query = sqlglot.parse_one(sql, read="spark")
        read = {table.name.lower() for table in query.find_all(exp.Table)}
        for name, relation in self.database.relations.items():
            gone = deletion.keys.get(name, frozenset())
            if name.lower() in read and self._gone.get(name) != gone:
                create_table(self._connection, name, relation.without(gone))
                self._gone[name] = gone
        return from_arrow(_table(self._connection.execute(_translated(query))))


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
