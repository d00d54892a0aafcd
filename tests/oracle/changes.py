"""Changed relations held in DuckDB: ``python -m tests.oracle.changes 0-200``.

Rows of generated databases get other values, and others are inserted. The blocks of the query that
read them run again, over the captured rows of the other blocks; the answer is that of the query
over the changed database.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot

from lipstick.capture.writer import needs_rows
from rewriter.blocks import topological
from rewriter.emit import unchanged
from rewriter.emit.statements import plain_sql, rows_sql
from rewriter.errors import UnsupportedError
from tests.oracle.captured import blocks_of, capture, connected, members_of, shown_rows
from tests.oracle.database import Database, Relation
from tests.oracle.duck import Duck, create_table, loosened
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.generator import Case, generate
from tests.oracle.rows import assert_same_bag


def changed_rows(relation: Relation, rng: random.Random) -> pa.Table:
    """Return the rows of a relation, some with values of others, and some copied under new keys."""
    rows = relation.data.to_pylist()
    free = [name for name in relation.data.column_names if name not in relation.key]
    for row in rng.sample(rows, min(len(rows), 3)):
        for name in rng.sample(free, min(len(free), 2)):
            row[name] = rng.choice([*(other[name] for other in rows), None])
    kind = relation.data.schema.field(relation.key[0]).type
    if rows and (pa.types.is_integer(kind) or pa.types.is_string(kind)):
        known = {row[relation.key[0]] for row in rows}
        for number in range(rng.randint(0, 3)):
            new: Any = f"new {number}" if pa.types.is_string(kind) else max(known) + 1 + number
            rows.append({**rng.choice(rows), relation.key[0]: new})
    return pa.Table.from_pylist(rows, relation.data.schema)


def hold(case: Case) -> tuple[bool, int]:
    """Hold an answer over changed rows; see :func:`hold_changed`."""
    rng = random.Random(case.seed)
    root = blocks_of(case.sql, case.database)
    names = sorted({token.relation for block in topological(root) for token in block.tokens})
    chosen = rng.sample(names, min(len(names), rng.randint(1, 2)))
    other = {name: changed_rows(case.database.relations[name], rng) for name in chosen}
    return hold_changed(case.sql, case.database, other)


def hold_changed(sql: str, database: Database, other: Mapping[str, pa.Table]) -> tuple[bool, int]:
    """Hold the answer over other rows of relations, from captured rows of unchanged blocks.

    Returns
    -------
    tuple
        True if the answer changed, and the number of blocks that are read as captured.

    Raises
    ------
    AssertionError
        With the statement, the changed rows, and the rows that are missing or unexpected.
    """
    root = blocks_of(sql, database)
    expected = loosened(Duck(database.replaced(**other)).answer(sql))
    views = {name: f"changed_{name}" for name in other}
    with connected(database) as connection:
        capture(connection, root)
        known: dict[str, str] = {}
        for block in filter(needs_rows, topological(root)):
            statement = to_duckdb(rows_sql(block, members_of, known))
            connection.execute(f'CREATE TABLE "rows_{block.name}" AS {statement}')
            known[block.name] = f"rows_{block.name}"
        for name, table in other.items():
            create_table(connection, views[name], table)
        stay = unchanged(root, views)
        rows = {name: view for name, view in known.items() if name in stay}
        statement = plain_sql(root, views, identity=True, rows=rows)
        actual = shown_rows(connection, root, to_duckdb(statement))
    assert_same_bag(expected, actual, f"changed {other}\n{sql}")
    before = loosened(Duck(database).answer(sql))
    return sorted(map(repr, before.rows)) != sorted(map(repr, expected.rows)), len(rows)


def main(arguments: Sequence[str]) -> None:
    """Hold the queries of a range of seeds, and print what became of them."""
    first, last = map(int, arguments[0].split("-"))
    held: Counter[str] = Counter()
    for seed in range(first, last):
        for conditional in (False, True):
            case = generate(seed, conditional=conditional)
            try:
                changed, stayed = hold(case)
            except UnsupportedError:
                held["refused"] += 1
            except (duckdb.Error, sqlglot.errors.SqlglotError):
                held["not known to DuckDB"] += 1
            except AssertionError as error:
                held["failed"] += 1
                print(f"{case}\n{error}\n")
            else:
                held["held"] += 1
                held["changed"] += changed
                held["blocks that stayed"] += stayed
    print(", ".join(f"{count} {name}" for name, count in held.items()))
    if held["failed"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
