"""Statements really run by DuckDB; MERGE, which it has not, row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

import sqlglot

from tests.oracle.duck import connected_duck
from tests.oracle.histories.draw import COLUMNS, Drawn, DrawnClause, Row, quoted

_TYPES = ("INTEGER", "INTEGER", "INTEGER", "VARCHAR")


@cache
def transpiled(sql: str) -> str:
    """Return Spark's SQL as DuckDB's."""
    [text] = sqlglot.transpile(sql, read="spark", write="duckdb")
    return text


class AmbiguousMergeError(Exception):
    """A row of the target is matched by several rows of the source."""


class Tables:
    """Tables of a database in memory, which statements change."""

    def __init__(self, rows: Mapping[str, Sequence[Row]], columns: Sequence[str] = COLUMNS) -> None:
        self.columns = columns
        self.database = connected_duck()
        for name, its in rows.items():
            typed = zip(map(_double_quoted, columns), _TYPES, strict=True)
            listed = ", ".join(f"{column} {kind}" for column, kind in typed)
            self.database.execute(f"CREATE TABLE {name} ({listed})")
            self.fill(name, its)

    def fill(self, name: str, rows: Sequence[Row]) -> None:
        if rows:
            self.database.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", list(rows))

    def rows(self, name: str) -> list[Row]:
        columns = ", ".join(map(_double_quoted, self.columns))
        return self.database.execute(f"SELECT {columns} FROM {name}").fetchall()

    def run(self, statement: Drawn) -> None:
        """Run a statement.

        Raises
        ------
        AmbiguousMergeError
            As Delta does, for a row that several rows of the source match, unless clauses only
            insert rows, or delete all rows that match.
        """
        if statement.kind == "merge":
            self._merge(statement)
        elif statement.kind == "plain":
            self._execute(statement.text)
        else:
            new: list[Row] = []
            if statement.insert:
                # The query sees the table as it was.
                self.database.execute(f"CREATE TEMP TABLE _new AS FROM {statement.table} LIMIT 0")
                target = statement.insert.replace(f"INTO {statement.table}", "INTO _new", 1)
                self._execute(target)
                new = self.rows("_new")
                self.database.execute("DROP TABLE _new")
            if statement.deletes is not None:
                self._execute(f"DELETE FROM {statement.table} WHERE {statement.deletes}")
            self.fill(statement.table, new)

    def _execute(self, sql: str) -> None:
        self.database.execute(transpiled(sql))

    def _merge(self, merge: Drawn) -> None:
        run = self.database.execute
        run(f"CREATE TEMP TABLE _source AS {transpiled(merge.source)}")
        try:
            pairs = run(
                transpiled(
                    f"SELECT x.rowid, y.rowid FROM {merge.table} AS x JOIN _source AS y "
                    f"ON {merge.on}"
                )
            ).fetchall()
            matched = [clause for clause in merge.clauses if clause.matching == "MATCHED"]
            alone = len(matched) == 1 and matched[0].values is None and not matched[0].condition
            others = any(clause.matching == "NOT MATCHED BY SOURCE" for clause in merge.clauses)
            counts = Counter(target for target, _ in pairs)
            if (matched or others) and not alone and any(count > 1 for count in counts.values()):
                raise AmbiguousMergeError(merge.text)
            partners = dict(pairs)
            found = {source for _, source in pairs}
            rows = []
            for (target,) in run(f"SELECT rowid FROM {merge.table}").fetchall():
                source = partners.get(target)
                kind = "NOT MATCHED BY SOURCE" if source is None else "MATCHED"
                row = self._row(merge, kind, target, source)
                rows += [] if row is None else [row]
            for (source,) in run("SELECT rowid FROM _source").fetchall():
                if source not in found:
                    row = self._row(merge, "NOT MATCHED", None, source)
                    rows += [] if row is None else [row]
            run(f"DELETE FROM {merge.table}")
            self.fill(merge.table, rows)
        finally:
            run("DROP TABLE _source")

    def _row(self, merge: Drawn, kind: str, target: int | None, source: int | None) -> Row | None:
        """Return a row after a MERGE; None: it has none for this row or pair."""
        froms = ["(SELECT 1) AS z"]
        if target is not None:
            froms.append(f"(SELECT * FROM {merge.table} WHERE rowid = {target}) AS x")
        if source is not None:
            froms.append(f"(SELECT * FROM _source WHERE rowid = {source}) AS y")

        def value(text: str) -> object:
            sql = transpiled(f"SELECT {text}")
            [(result,)] = self.database.execute(f"{sql} FROM {', '.join(froms)}").fetchall()
            return result

        applies: DrawnClause | None = next(
            (
                clause
                for clause in merge.clauses
                if clause.matching == kind
                and (clause.condition is None or value(clause.condition) is True)
            ),
            None,
        )
        if applies is None or applies.values is None:
            if target is None or applies is not None:
                return None
            own = (value(f"x.{quoted(name)}") for name in self.columns)
            return tuple(own)  # type: ignore[return-value]
        kept = {n: "NULL" if target is None else f"x.{quoted(n)}" for n in self.columns}
        values = {**kept, **applies.values}
        return tuple(value(values[name]) for name in self.columns)  # type: ignore[return-value]


def _double_quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
