"""A capture held in DuckDB: the statements of a capture and of its what-ifs, without Spark.

DuckDB does not know all of Spark SQL, and types its answers otherwise: what it cannot run, and
what it rounds otherwise, is left to the runs with Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb

from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TrackedRelation, Type
from rewriter.blocks import Block, TokenSource
from rewriter.emit.statements import Groups, asked_groups_sql, hypothetical_sql, members_sql
from rewriter.lower import lower_query
from rewriter.passes import planned_capture
from tests.oracle.database import Database, Deletion
from tests.oracle.duck import Duck, connected_duck, create_table, loosened
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.rows import Bag, assert_same_bag, from_arrow

_LEVELS = 32
"""The levels that a recursion is unfolded into, unless its query says how many."""


def blocks_of(sql: str, database: Database) -> Block:
    """Return the block that yields the answer of a query; recursions are unfolded."""
    relations = database.relations.values()
    catalog = MemoryCatalog(
        [TrackedRelation(r.name, tuple(r.data.column_names)) for r in relations],
        types={
            (r.name, field.name): field.args["kind"]
            for r in relations
            for field in Type.build(f"STRUCT<{r.schema}>", dialect="spark").expressions
        },
    )
    tokens = {r.name: TokenSource(r.name, r.key) for r in database.relations.values()}
    levels: dict[str, int] = {}
    query = bind_query(sql, Environment(catalog, levels=levels))
    while unknown := [key for key in query.recursions if key not in levels]:
        most = query.recursions[unknown[0]].most
        levels[unknown[0]] = _LEVELS if most is None else most
        query = bind_query(sql, Environment(catalog, levels=levels))
    return lower_query(query.root, tokens, sql)


def check_captured(
    sql: str, database: Database, deletions: Sequence[Deletion], plain: str | None = None
) -> int:
    """Hold what-ifs over captured members against the query on the reduced database.

    Parameters
    ----------
    plain
        A query to ask DuckDB instead: all its answers are answers of the query.

    Returns
    -------
    int
        How many deletions changed the answer.

    Raises
    ------
    AssertionError
        With the statement, the deletion, and the rows that are missing or unexpected.
    duckdb.Error
        DuckDB does not know something in the query.
    """
    plain = plain or sql
    root = blocks_of(sql, database)
    duck = Duck(database)
    before = loosened(duck.answer(plain))
    changed = 0
    with connected(database) as connection:
        capture(connection, root)
        for deletion in deletions:
            expected = loosened(duck.answer(plain, deletion))
            actual = answer_without(connection, root, database, deletion)
            assert_same_bag(expected, actual, f"deleting {deletion}\n{sql}")
            changed += sorted(map(repr, before.rows)) != sorted(map(repr, expected.rows))
    return changed


@contextmanager
def connected(database: Database) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to DuckDB with the relations, in which statements of captures run."""
    with connected_duck() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("CREATE MACRO raise_error(message) AS error(message)")
        connection.execute("CREATE MACRO rand() AS random()")
        for relation in database.relations.values():
            create_table(connection, relation.name, relation.data)
        yield connection


def capture(connection: duckdb.DuckDBPyConnection, root: Block) -> None:
    """Write the members of every block into :func:`members_of` it."""
    for block, statement in statements_of_members(connection, root):
        connection.execute(f'CREATE TABLE "{members_of(block)}" AS {to_duckdb(statement)}')


def statements_of_members(
    connection: duckdb.DuckDBPyConnection, root: Block
) -> Iterator[tuple[Block, str]]:
    """Yield every block with members and the statement that makes them, in the order to run them.

    Whatever can be reduced to the groups that are asked for is.
    """
    plan = planned_capture(root, lambda _: False)
    for block in plan.order():
        if block.core is None:
            continue
        kept = None
        if block.name in plan.reductions:
            view = f"asked_{block.name}"
            reduction = plan.reductions[block.name]
            statement = to_duckdb(asked_groups_sql(reduction, members_of))
            connection.execute(f'CREATE TABLE "{view}" AS {statement}')
            keys = tuple(key for _, key in reduction.pairs)
            kept = Groups(view, keys, reduction.null_safe)
        yield block, members_sql(plan.captured(block), members_of, kept=kept)


def answer_without(
    connection: duckdb.DuckDBPyConnection,
    root: Block,
    database: Database,
    deletion: Deletion,
) -> Bag:
    """Return the answer over the captured members that a deletion leaves."""
    gone = {}
    for name, keys in deletion.keys.items():
        relation = database.relations[name]
        view = f"_gone_{name}"
        rows = relation.data.filter(relation.among(keys))
        create_table(connection, view, rows.select(list(relation.key)))
        gone[name] = (view, relation.key)
    return shown_rows(connection, root, to_duckdb(hypothetical_sql(root, members_of, gone)))


def shown_rows(connection: duckdb.DuckDBPyConnection, root: Block, statement: str) -> Bag:
    """Return the rows of a statement of an answer with its identity, without the identity."""
    result: Any = connection.execute(statement)
    table = result.fetch_arrow_table()
    shown = loosened(from_arrow(table))
    places = [shown.columns.index(output.name) for output in root.outputs]
    rows = tuple(tuple(row[index] for index in places) for row in shown.rows)
    return Bag(
        tuple(shown.columns[index] for index in places),
        tuple(shown.types[index] for index in places),
        rows,
    )


def members_of(block: Block) -> str:
    """Return the table that has a block's members."""
    return f"captured_{block.name}"
