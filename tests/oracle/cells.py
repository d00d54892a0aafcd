"""Cells of answers held against perturbed databases: ``python -m tests.oracle.cells 0-500``.

Each cell of a small database gets other values, one at a time, and DuckDB runs the query again. A
cell that is cited as copied or computed changes the value for some of them; one that is not cited
does not, unless its column decides which rows take part.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from lipstick.questions.where.origins import CellOrigins, cell_origins
from semiring.errors import CapabilityError
from tests.oracle.database import Database, Relation
from tests.oracle.duck import connected_duck, create_table
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.written import written

_VALUES = ("b", "e", "coalesce(b, e)", "CASE WHEN f > 3 THEN b ELSE e END", "b + e", "2 * b", "7")
_CALLS = ("sum({})", "max({})", "min({})", "max_by({}, r.id)", "avg({})", "count(b)")
_FRAMES = (
    "PARTITION BY {p} ORDER BY {o}",
    "PARTITION BY {p} ORDER BY {o} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "PARTITION BY {p} ORDER BY {o} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "ORDER BY {o} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
)
_OVER_FRAMES = (
    "first_value({v})",
    "last_value({v})",
    "nth_value({v}, 2)",
    "sum({v})",
    "max({v})",
    "count(b)",
    "first_value({v}) IGNORE NULLS",
    "last_value({v}) IGNORE NULLS",
    "max_by({v}, r.id)",
)
_OVER_ORDER = ("lag({v})", "lead({v}, 2)", "lag({v}, 1, e)", "row_number()", "rank()")
_GENERATORS = (
    ("explode(array(b, 2 * e))", "x", "x"),
    ("explode(array({v}, g))", "x", "x"),
    ("posexplode(array(b, {v}, 8))", "p, x", "x + p"),
    ("inline(array(named_struct('m', 'b', 'x', b), named_struct('m', 'e', 'x', e)))", "m, x", "x"),
    ("explode(map('b', b, 'v', {v}))", "m, x", "coalesce(x, e)"),
    ("explode(sequence(1, g + 1))", "x", "x + b"),
)
_SOURCES = ("r JOIN s ON r.k = s.id", "r LEFT JOIN s ON r.k = s.id AND s.g > 0")
Cell = tuple[str, int, str]


@dataclass(frozen=True)
class CellQuery:
    """A query whose rows are named by its first column, and a database."""

    sql: str
    rows: dict[str, list[dict[str, Any]]]


def generate(seed: int) -> CellQuery:
    """Return a random query over a random database."""
    rng = random.Random(seed)
    r = [
        {
            "id": n,
            "k": rng.choice([1, 2, 3, None]),
            "b": rng.choice([None if seed % 2 else 20 + n, 4 + n, 40 - n]),
        }
        for n in range(6)
    ]
    s = [
        {"id": n, "e": 100 + 7 * n, "f": rng.choice([2, 5, None]), "g": rng.choice([0, 1])}
        for n in range(1, 4)
    ]
    source, value = rng.choice(_SOURCES), rng.choice(_VALUES)
    call = rng.choice(_CALLS).format(value)
    window = _window(rng, value)
    generator, names, made = (part.format(v=value) for part in rng.choice(_GENERATORS))
    view = f"{source} LATERAL VIEW {rng.choice(('', 'OUTER '))}{generator} t AS {names}"
    grouped = f"SELECT r.k AS n, {call} AS v, count(*) AS c FROM {source} GROUP BY r.k"
    texts: tuple[str, ...] = (
        f"SELECT r.id AS n, {value} AS v FROM {source}",
        f"SELECT r.k AS n, {call} AS v FROM {source} WHERE r.k IS NOT NULL GROUP BY r.k",
        f"SELECT n, v FROM (SELECT r.k AS n, {call} AS v FROM {source} GROUP BY r.k) t WHERE n > 0",
        f"SELECT r.id AS n, {value} AS v FROM {source} UNION ALL SELECT s.id + 50, e FROM s",
        f"SELECT r.id AS n, b - (SELECT {call} FROM {source}) AS v FROM r",
        f"SELECT coalesce(r.k, 9 * grouping(r.k)) AS n, {call} AS v FROM {source} "
        "GROUP BY ROLLUP (r.k)",
    )
    if seed % 3 == 1:
        texts = (
            f"SELECT r.id AS n, {window} AS v FROM {source}",
            f"SELECT r.id AS n, CASE WHEN {window} > 9 THEN b ELSE e END AS v FROM {source}",
            f"SELECT n, sum(w) AS v FROM (SELECT r.k AS n, {window} AS w FROM {source}) t "
            "WHERE n > 0 GROUP BY n",
            f"SELECT n, {_window(rng, 'v', 'c', 'n')} + 1 AS v FROM ({grouped}) t WHERE n > 0",
            f"SELECT r.id AS n, {window} AS v FROM {source} UNION ALL SELECT s.id + 50, e FROM s",
        )
    elif seed % 3 == 2:
        of_group = "LATERAL VIEW posexplode(array(v, c, v + c)) g AS p, x"
        texts = (
            f"SELECT r.id AS n, sum({made}) AS v FROM {view} GROUP BY r.id",
            f"SELECT r.id AS n, max({made}) AS v FROM {view} WHERE x > 3 GROUP BY r.id",
            f"SELECT 10 * r.id + p AS n, x AS v FROM {source} "
            f"LATERAL VIEW OUTER posexplode(array(b, {value}, 8)) t AS p, x",
            f"SELECT 10 * r.id + p AS n, a AS v FROM {source} "
            f"LATERAL VIEW posexplode(array(b, {value})) t AS p, x "
            "LATERAL VIEW explode(array(coalesce(x, e))) u AS a",
            f"SELECT 10 * n + p AS n, x AS v FROM ({grouped}) t {of_group} WHERE n > 0",
            f"SELECT 10 * n + p AS n, x AS v FROM (SELECT r.id AS n, {window} AS v, b AS c "
            f"FROM {source}) t {of_group}",
        )
    return CellQuery(rng.choice(texts), {"r": r, "s": s})


def _window(rng: random.Random, value: str, column: str = "b", key: str = "r.id") -> str:
    calls = (*_OVER_FRAMES, *_OVER_ORDER)
    call, frame = rng.choice(calls), rng.choice(_FRAMES)
    if call in _OVER_ORDER:
        frame = frame.split(" ROWS")[0]
    if key != "r.id":
        call = call.replace("r.id", key).replace("1, e", "1, 7").replace("(b)", f"({column})")
    order = rng.choice((key, f"{column}, {key}", f"{column} DESC, {key}"))
    frame = frame.format(p=rng.choice(("f", "r.k")) if key == "r.id" else "c", o=order)
    return f"{call.format(v=value)} OVER ({frame})"


def database(rows: dict[str, list[dict[str, Any]]]) -> Database:
    """Return rows as a database."""
    relations = {}
    for name, its in rows.items():
        data = pa.Table.from_pylist(its, pa.schema([(c, pa.int64()) for c in its[0]]))
        schema = ", ".join(f"{column} bigint" for column in its[0])
        relations[name] = Relation(name, ("id",), schema, data)
    return Database(relations)


class Held:
    """What has been held of queries.

    Attributes
    ----------
    cells
        The numbers of cited cells by role, and of perturbed others.
    refused
        The number of queries through which cells are not followed.
    """

    def __init__(self) -> None:
        self.cells: Counter[str] = Counter()
        self.refused = 0

    def hold(self, query: CellQuery) -> None:
        """Hold all cells of the second column of an answer."""
        data = database(query.rows)
        with tempfile.TemporaryDirectory(prefix="cells-") as folder:
            memory = written(query.sql, data, Path(folder))
            read = {token.relation for block in memory.blocks for token in block.tokens}
            tables = {n: r.data for n, r in data.relations.items() if n in read}
            tables |= {n: r.data.slice(0, 0) for n, r in data.relations.items() if n not in read}
            origins = {}
            for row in memory.answer().to_pylist():
                try:
                    found = cell_origins(memory, None, "c1", {"c0": row["c0"]}, tables)
                except CapabilityError:
                    self.refused += 1
                    return
                origins[row["c0"]] = found
        self._perturb(query, origins)

    def _perturb(self, query: CellQuery, origins: dict[Any, CellOrigins]) -> None:
        text = to_duckdb(query.sql)
        cited = {n: _cited(found) for n, found in origins.items()}
        changing: dict[Any, set[Cell]] = {n: set() for n in origins}
        with connected_duck() as connection:
            for name, relation in database(query.rows).relations.items():
                create_table(connection, name, relation.data)
            before = dict(connection.execute(text).fetchall())
            for name, rows in query.rows.items():
                for row in rows:
                    for column in row.keys() - {"id"}:
                        for value in (None, 1, 3, 4, 1000, -1000):
                            where = f"UPDATE {name} SET {column} = ? WHERE id = ?"
                            connection.execute(where, [value, row["id"]])
                            after = dict(connection.execute(text).fetchall())
                            for n in origins:
                                if after.get(n, "gone") != before[n]:
                                    changing[n].add((name, row["id"], column))
                        connection.execute(where, [row[column], row["id"]])
        for n, found in origins.items():
            deciding = {(each.relation, each.column) for each in found.deciding}
            what = f"{n}\n{found}\n{query.sql}\n{query.rows}"
            # NULL hides what the other operands of a function are.
            hidden = before[n] is None or any(row["b"] is None for row in query.rows["r"])
            values = {c for c, role in cited[n].items() if role != "chosen by" and not hidden}
            silent = {cell for cell in values if cell[2] != "id"} - changing[n]
            assert not silent, f"cited, and never changes the value: {silent} of {what}"
            more = {c for c in changing[n] - cited[n].keys() if (c[0], c[2]) not in deciding}
            assert not more, f"changes the value, and is not cited: {more} of {what}"
            self.cells.update(cited[n].values())
            self.cells["other"] += sum(len(r) * (len(r[0]) - 1) for r in query.rows.values())


def _cited(found: CellOrigins) -> dict[Cell, str]:
    return {
        (name, row["id"], row["_column"]): row["_role"]
        for name, table in found.cells.items()
        for row in table.to_pylist()
    }


def queries(first: int, last: int) -> Iterator[CellQuery]:
    """Yield random queries."""
    for seed in range(first, last):
        yield generate(seed)


if __name__ == "__main__":
    start, stop = map(int, sys.argv[1].split("-"))
    held = Held()
    for each in queries(start, stop):
        held.hold(each)
    print(f"{stop - start} queries, {held.refused} refused; cells: {dict(held.cells)}")
