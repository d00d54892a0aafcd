"""Named cells and columns against changed ones: ``python -m tests.oracle.perturbed 0-60``.

Every cell of a small database gets other values, one at a time, and DuckDB runs the query again. A
cell of the answer that changes must be one that ``where`` names the changed cell for, or whose
``column_lineage`` has its column; and what they name as copied or computed from must change it for
some of the values. A run goes on where ``--output FILE`` was left.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from lipstick.engines.memory.memory import Memory
from lipstick.questions.where.origins import CellOrigins, cell_origins, lineage_of_columns
from semiring.errors import CapabilityError
from tests.oracle.database import Database, Relation
from tests.oracle.duck import connected_duck, create_table
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.written import written

Rows = dict[str, list[dict[str, Any]]]
Cell = tuple[str, Any, str]
Place = tuple[str, str]
"""Relation and column."""
_TYPES: Final = {
    "o": {"id": "bigint", "cust": "bigint", "status": "string", "pieces": "bigint", "price": "int"},
    "c": {"id": "bigint", "name": "string", "region": "string", "credit": "bigint"},
}
_ARROW: Final = {"bigint": pa.int64(), "string": pa.string(), "int": pa.int32()}
_SOURCES: Final = (
    "o JOIN c ON o.cust = c.id",
    "o LEFT JOIN c ON o.cust = c.id AND c.credit > 20",
    "o LEFT JOIN c ON c.id = o.cust",
    "o JOIN (SELECT * FROM c WHERE credit > 10) c ON o.cust = c.id",
    "o JOIN c ON o.cust = c.id AND o.pieces < c.credit",
)
_VALUES: Final = (
    "o.pieces",
    "o.pieces * o.price",
    "c.name",
    "upper(c.region)",
    "concat(c.name, '/', o.status)",
    "CASE WHEN o.status = 'ok' THEN o.price ELSE c.credit END",
    "coalesce(c.credit, o.price)",
    "c.credit - o.pieces",
    "length(c.name) + o.price",
    "if(o.pieces > 4, c.region, o.status)",
    "nullif(o.status, 'open')",
    "7",
    "greatest(o.price, c.credit)",
    "substring(c.name, 1, 2)",
)
_NUMBERS: Final = ("o.pieces", "o.pieces * o.price", "c.credit", "o.price + 1")
_CALLS: Final = (
    "sum({})",
    "max({})",
    "min({})",
    "count({})",
    "avg({})",
    "count(DISTINCT {})",
    "sum(CASE WHEN o.status = 'ok' THEN {} END)",
    "max_by({}, o.id)",
)
_WINDOWS: Final = (
    "sum({}) OVER (PARTITION BY o.status)",
    "lag({}) OVER (ORDER BY o.id)",
    "row_number() OVER (PARTITION BY o.cust ORDER BY o.price, o.id)",
    "first_value({}) OVER (PARTITION BY o.status ORDER BY o.id)",
    "max({}) OVER (ORDER BY o.id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
)
_FILTERS: Final = (
    "",
    " WHERE o.pieces > 1",
    " WHERE o.status IN ('ok', 'open') AND o.price > 3",
    " WHERE o.cust IN (SELECT id FROM c WHERE region = 'north')",
    " WHERE NOT EXISTS (SELECT 1 FROM c d WHERE d.id = o.cust AND d.credit > 60)",
    " WHERE o.price >= (SELECT avg(p.price) FROM o p)",
)


@dataclass(frozen=True)
class PerturbedQuery:
    """A query whose rows are named by its first column, and a database."""

    sql: str
    rows: Rows


def generate(seed: int) -> PerturbedQuery:
    """Return a random query over a random database; its forms take turns."""
    chance = random.Random(seed)
    c = [
        {
            "id": n,
            "name": f"name {n}{n}",
            "region": chance.choice(("north", "south", "east")),
            "credit": chance.choice((15, 30, 55, 70)) + n,
        }
        for n in range(1, 5)
    ]
    o = [
        {
            "id": 10 + n,
            "cust": chance.choice((1, 2, 3, 4, 4, 9)),
            "status": chance.choice(("ok", "open", "late")),
            "pieces": chance.randint(1, 9),
            "price": 2 + 3 * n,
        }
        for n in range(6)
    ]
    form = _FORMS[seed % len(_FORMS)]
    return PerturbedQuery(form(chance), {"o": o, "c": c})


def _items(chance: random.Random, count: int = 3) -> list[str]:
    return [f"{each} AS v{n}" for n, each in enumerate(chance.sample(_VALUES, count))]


def _from(chance: random.Random) -> str:
    return f"FROM {chance.choice(_SOURCES)}{chance.choice(_FILTERS)}"


def _calls(chance: random.Random, count: int = 2) -> list[str]:
    return [
        f"{call.format(chance.choice(_NUMBERS))} AS v{n}"
        for n, call in enumerate(chance.sample(_CALLS, count))
    ]


def _plain(chance: random.Random) -> str:
    return f"SELECT o.id AS n, {', '.join(_items(chance))} {_from(chance)}"


def _grouped(chance: random.Random) -> str:
    key = chance.choice(("o.status", "o.cust", "upper(o.status)", "o.pieces % 3"))
    having = chance.choice(("", " HAVING count(*) > 1", " HAVING max(o.price) > 5"))
    calls = ", ".join(_calls(chance))
    return f"SELECT {key} AS n, {calls}, count(*) AS size {_from(chance)} GROUP BY {key}{having}"


def _windowed(chance: random.Random) -> str:
    one, two = (w.format(chance.choice(_NUMBERS)) for w in chance.sample(_WINDOWS, 2))
    return f"SELECT o.id AS n, {one} AS v0, {two} AS v1, o.status AS v2 {_from(chance)}"


def _derived(chance: random.Random) -> str:
    calls = ", ".join(_calls(chance))
    inner = f"SELECT o.cust AS k, {calls} {_from(chance)} GROUP BY o.cust"
    return f"SELECT c.id AS n, v0, v1, c.name AS v2 FROM c LEFT JOIN ({inner}) g ON g.k = c.id"


def _union(chance: random.Random) -> str:
    own, other = chance.sample(("o.pieces", "o.price", "o.cust * 2"), 2)
    return (
        (
            f"SELECT o.id AS n, {own} AS v0, o.status AS v1 {_from(chance)} UNION ALL "
            f"SELECT c.id, {other.replace('o.cust * 2', 'c.credit').replace('o.', 'c.')}"
            f", c.region FROM c"
        )
        .replace("c.pieces", "c.credit")
        .replace("c.price", "CAST(c.credit AS INT)")
    )


def _scalar(chance: random.Random) -> str:
    value = chance.choice(("max(p.price)", "sum(p.pieces)", "count(*)"))
    return (
        f"SELECT c.id AS n, c.credit - (SELECT {value} FROM o p WHERE p.cust = c.id) AS v0, "
        f"(SELECT min(p.price) FROM o p) + c.credit AS v1, c.region AS v2 FROM c"
    )


_FORMS: Final = (_plain, _grouped, _windowed, _derived, _union, _scalar)


def database(rows: Rows) -> Database:
    """Return rows as a database."""
    relations = {}
    for name, its in rows.items():
        kinds = _TYPES[name]
        schema = pa.schema([(column, _ARROW[kind]) for column, kind in kinds.items()])
        text = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
        relations[name] = Relation(name, ("id",), text, pa.Table.from_pylist(its, schema))
    return Database(relations)


_OTHERS: Final = {"string": (None, "ok", "north", "zz top!"), "int": (None, -1000, 6, 1000)}


def others(kind: str) -> tuple[Any, ...]:
    """Return values that cells of a type are given."""
    return _OTHERS.get(kind, (None, 1, 4, -1000, 1000))


@dataclass
class Held:
    """What was held of one query.

    Attributes
    ----------
    missed, silent
        Cells of the answer that change and for which no one names the changed cell; and cells that
        are named and never change the value.
    """

    cells: int = 0
    named: int = 0
    changed: int = 0
    refused: int = 0
    missed: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


def hold(query: PerturbedQuery) -> Held:
    """Hold all cells of a query's answer, and all of its columns."""
    with tempfile.TemporaryDirectory(prefix="perturbed-") as folder:
        data = database(query.rows)
        memory = written(query.sql, data, Path(folder))
        answer = memory.answer()
        names = answer.column_names
        columns: dict[str, dict[Place, str]] = {name: {} for name in names}
        for row in lineage_of_columns(memory).to_pylist():
            place = (row["relation"], row["source"])
            kinds = columns[row["column"]]
            kinds[place] = min(kinds.get(place, "INDIRECT"), row["kind"])
        origins: dict[tuple[Any, int], CellOrigins] = {}
        refused = 0
        for row in answer.to_pylist():
            for place, name in enumerate(names[1:], start=1):
                try:
                    origins[row["c0"], place] = _origins(memory, data, name, row["c0"])
                except CapabilityError:
                    refused += 1
    before, changes = _changes(query)
    alike = {at: _alike(found) for at, found in origins.items()}
    held = Held(len(before) * (len(names) - 1), refused=refused)
    missed, silent = [], []
    for (n, place), found in origins.items():
        cited = _cited(found)
        held.named += len(cited)
        deciding = {(each.relation, each.column) for each in found.deciding}
        changing = changes.get((n, place), set())
        held.changed += len(changing)
        for cell in changing - cited.keys():
            if (cell[0], cell[2]) not in deciding:
                missed.append(f"where c{place} of {n}: {cell}")
        for cell, role in cited.items():
            is_hidden = before[n][place] is None or cell[2] == "id"
            if role == "chosen by" or is_hidden or cell in changing:
                continue
            # Of equal extremes all are copied: the value changes when all of them do.
            if not _changed_by(query, alike[n, place].get(cell, ()), n, place):
                silent.append(f"where c{place} of {n}: {role} {cell}")
    for place, name in enumerate(names):
        moved = {(c[0], c[2]) for (_, at), cells in changes.items() if at == place for c in cells}
        missed += [f"column_lineage {name}: {each}" for each in moved - columns[name].keys()]
        named = {each for each, kind in columns[name].items() if kind == "DIRECT"}
        named = {each for each in named if each[1] != "id"}
        if any(row[place] is not None for row in before.values()):
            silent += [f"column_lineage {name}: {each}" for each in named - moved]
    held.missed, held.silent = tuple(missed), tuple(silent)
    return held


def _origins(memory: Memory, data: Database, column: str, key: Any) -> CellOrigins:
    read = {token.relation for block in memory.blocks for token in block.tokens}
    tables = {name: each.data for name, each in data.relations.items() if name in read}
    tables |= {n: r.data.slice(0, 0) for n, r in data.relations.items() if n not in read}
    return cell_origins(memory, None, column, {"c0": key}, tables)


def _cited(found: CellOrigins) -> dict[Cell, str]:
    return {
        (name, row["id"], row["_column"]): row["_role"]
        for name, table in found.cells.items()
        for row in table.to_pylist()
    }


def _alike(found: CellOrigins) -> dict[Cell, list[Cell]]:
    """Return, by cell that is copied, the copied ones of its column."""
    copied = [cell for cell, role in _cited(found).items() if role == "copied"]
    return {one: [c for c in copied if (c[0], c[2]) == (one[0], one[2])] for one in copied}


def _changed_by(query: PerturbedQuery, cells: Sequence[Cell], n: Any, place: int) -> bool:
    """Return True if other values of all these cells change a cell of the answer."""
    text = to_duckdb(query.sql)
    with connected_duck() as connection:
        for name, relation in database(query.rows).relations.items():
            create_table(connection, name, relation.data)
        before = _answer(connection, text)
        for cell in cells:
            value = others(_TYPES[cell[0]][cell[2]])[-1]
            update = f"UPDATE {cell[0]} SET {cell[2]} = ? WHERE id = ?"
            connection.execute(update, [value, cell[1]])
        return _answer(connection, text).get(n) != before[n] if cells else False


Changes = dict[tuple[Any, int], set[Cell]]
"""By row and column of the answer, the cells that change it for some value."""


def _changes(query: PerturbedQuery) -> tuple[dict[Any, tuple[Any, ...]], Changes]:
    """Return the answer by its first column, and the cells of the database that change it."""
    text = to_duckdb(query.sql)
    changes: Changes = {}
    with connected_duck() as connection:
        for name, relation in database(query.rows).relations.items():
            create_table(connection, name, relation.data)
        before = _answer(connection, text)
        for cell, value, old in _perturbations(query.rows):
            update = f"UPDATE {cell[0]} SET {cell[2]} = ? WHERE id = ?"
            connection.execute(update, [value, cell[1]])
            after = _answer(connection, text)
            for n in before.keys() | after.keys():
                was, now = before.get(n), after.get(n)
                width = len(was or now or ())
                for place in range(width):
                    if was is None or now is None or was[place] != now[place]:
                        changes.setdefault((n, place), set()).add(cell)
            connection.execute(update, [old, cell[1]])
    return before, changes


def _perturbations(rows: Rows) -> Iterator[tuple[Cell, Any, Any]]:
    for name, its in rows.items():
        for row in its:
            for column in row.keys() - {"id"}:
                for value in others(_TYPES[name][column]):
                    yield (name, row["id"], column), value, row[column]


def _answer(connection: duckdb.DuckDBPyConnection, text: str) -> dict[Any, tuple[Any, ...]]:
    return {row[0]: row for row in connection.execute(text).fetchall()}


def main() -> None:
    """Hold a range of queries."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("queries", help="as 0-60")
    parser.add_argument("--output", type=Path, help="goes on where it was")
    options = parser.parse_args()
    first, last = map(int, options.queries.split("-"))
    known: dict[int, dict[str, Any]] = {}
    if options.output is not None and options.output.exists():
        known = dict(map(json.loads, options.output.read_text().splitlines()))
    total: Counter[str] = Counter()
    for seed in range(first, last):
        if seed not in known:
            query = generate(seed)
            known[seed] = vars(hold(query))
            for word in ("missed", "silent"):
                for each in known[seed][word]:
                    print(f"{seed} {word}: {each}\n  {query.sql}", flush=True)
            if options.output is not None:
                with options.output.open("a") as file:
                    file.write(json.dumps([seed, known[seed]]) + "\n")
        for word, value in known[seed].items():
            total[word] += value if isinstance(value, int) else len(value)
    print(
        f"{last - first} queries, {total['cells']} cells of answers, {total['refused']} refused: "
        f"{total['named']} named cells, {total['changed']} that change them; "
        f"{total['missed']} change and are not named, "
        f"{total['silent']} are named and change nothing"
    )


if __name__ == "__main__":
    main()
