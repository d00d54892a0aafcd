"""What explanations find of planted errors, each suggestion carried out on the reduced data."""

from __future__ import annotations

import math
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from lipstick.capture.capture import Capture
from lipstick.questions.why.answer import Explanation
from tests.oracle.database import Database, Relation
from tests.oracle.duck import connected_duck
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.written import write_capture
from tests.planted.baseline import group_by_every_column
from tests.planted.cases import Array, Case, draw

_ALIKE = 0.8
"""The share of common rows from which a suggestion is a planted predicate."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case.

    Attributes
    ----------
    found
        Planted predicates among the first three suggestions.
    baseline
        Whether one is among the first three of the baseline.
    """

    case: Case
    found: int
    baseline: bool
    explanation: Explanation
    seconds: float


def database_of(case: Case) -> Database:
    """Return the tables of a case."""
    return Database(
        {
            name: Relation(name, table.key, table.schema, table.arrow())
            for name, table in case.tables.items()
        }
    )


def run(seed: int, size: int = 12_000, *, check: bool = True) -> Outcome:
    """Ask for the explanation of a case, and hold every suggestion against the reduced data.

    Raises
    ------
    AssertionError
        Where a suggestion does not do what it says.
    """
    case = draw(seed, size)
    database = database_of(case)
    with tempfile.TemporaryDirectory() as folder:
        capture = write_capture(case.sql, database, Path(folder) / "capture")
        tables = {name: relation.data for name, relation in database.relations.items()}
        tables = {n: t for n, t in tables.items() if n in capture.manifest.relations}
        start = time.monotonic()
        explanation = capture.why(**case.ask, sources=tables, limit=3)
        seconds = time.monotonic() - start
        if check:
            check_suggestions(capture, case, database, explanation)
    planted = [mask & case.concerned for _, mask in case.planted]
    suggested = [_rows(cause, case) & case.concerned for cause in explanation.causes]
    found = sum(any(_same(mask, rows) for rows in suggested) for mask in planted)
    base = any(_same(mask, r) for mask in planted for r in group_by_every_column(case))
    return Outcome(case, found, base, explanation, seconds)


def _rows(cause: Any, case: Case) -> Array:
    """Return a Boolean per row of the corrupted relation: those that a suggestion selects."""
    table = case.tables[case.relation]
    size = len(table.columns[table.key[0]])
    if cause.relation != case.relation:
        return np.zeros(size, dtype=np.bool_)
    keys = {tuple(row.values()) for row in cause.keys.to_pylist()}
    columns = [table.columns[name].tolist() for name in table.key]
    return np.array([key in keys for key in zip(*columns, strict=True)])


def _same(one: Array, other: Array) -> bool:
    either = int((one | other).sum())
    return either > 0 and int((one & other).sum()) >= _ALIKE * either


def check_suggestions(
    capture: Capture, case: Case, database: Database, explanation: Explanation
) -> None:
    """Delete by each predicate in an independent engine, and by the first ones together.

    Raises
    ------
    AssertionError
        Where the numbers differ from what is said, or a predicate that reaches what is wanted
        comes after one that does not.
    """
    wanted = case.ask.get("than")
    if case.ask.get("column") in (None, "ok") or isinstance(wanted, float):
        reached = [cause.after == (wanted or 0.0) for cause in explanation.causes]
        assert reached == sorted(reached, reverse=True), (case.name, reached)
    with connected_duck() as connection:
        for name, relation in database.relations.items():
            connection.register(f"_{name}", relation.data)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM _{name}")
        sql = to_duckdb(case.sql)
        assert math.isclose(
            _measure(connection, sql, case, explanation), explanation.before, rel_tol=1e-9
        ), (case.name, "before")
        for cause in explanation.causes:
            condition = to_duckdb(f"SELECT 1 FROM {cause.relation} WHERE {cause.sql}")
            condition = condition.split("WHERE", 1)[1]
            connection.execute("BEGIN")
            gone = connection.execute(f"DELETE FROM {cause.relation} WHERE {condition}").fetchall()
            assert gone[0][0] == cause.rows, (case.name, cause.sql, gone, cause.rows)
            number = _measure(connection, sql, case, explanation)
            connection.execute("ROLLBACK")
            assert _close(number, cause.after), (case.name, cause.sql, number, cause.after)
        for each in explanation.corrections() if _updates(case) else []:
            name, column = each.cause.relation, each.column
            keys = " AND ".join(f"{name}.{key} = _new.{key}" for key in case.tables[name].key)
            connection.register("_new", each.values)
            connection.execute("BEGIN")
            connection.execute(f"UPDATE {name} SET {column} = _new.{column} FROM _new WHERE {keys}")
            number = _measure(connection, sql, case, explanation)
            connection.execute("ROLLBACK")
            assert _close(number, each.after), (case.name, each.sentence, number)
            assert each.reached == _reached(case, number), (case.name, each.sentence)
        # Without the rows of the first predicates together: none comes back.
        for cause, after in zip(
            explanation.causes, [None, *explanation.together], strict=bool(explanation.together)
        ):
            condition = to_duckdb(f"SELECT 1 FROM {cause.relation} WHERE {cause.sql}")
            connection.execute(
                f"DELETE FROM {cause.relation} WHERE {condition.split('WHERE', 1)[1]}"
            )
            number = _measure(connection, sql, case, explanation)
            assert after is None or _close(number, after), (case.name, number, after)


def _updates(case: Case) -> bool:
    """Return True if aggregates alone read the wrong column."""
    return (
        case.ask.get("column") is not None and " WHERE " not in case.sql and "CASE" not in case.sql
    )


def _reached(case: Case, number: float) -> bool:
    wanted = case.ask.get("than")
    if isinstance(wanted, float):
        return number == wanted
    return case.ask.get("column") == "ok" and number == 0


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) or (
        math.isnan(one) and math.isnan(other)
    )


def _measure(
    connection: duckdb.DuckDBPyConnection, sql: str, case: Case, explanation: Explanation
) -> float:
    table = connection.execute(sql).fetch_arrow_table()
    column = case.ask.get("column")
    if column is None:
        return float(table.num_rows)
    number = _value(table, column, case.ask.get("where") or {})
    if isinstance(case.ask.get("than"), dict):
        number -= _value(table, column, case.ask["than"])
    if column == "ok":
        bound = float(case.sql.split("<= ")[1].split(" AS")[0])
        average = sql.split(" <= ", maxsplit=1)[0] + " AS v " + sql[sql.index("FROM") :]
        value = connection.execute(average).fetchall()[0][0]
        return max(value - bound, 0.0)
    return number


def _value(table: pa.Table, column: str, where: dict[str, Any]) -> float:
    rows = [r for r in table.to_pylist() if all(r[name] == v for name, v in where.items())]
    return float(rows[0][column]) if rows and rows[0][column] is not None else math.nan
