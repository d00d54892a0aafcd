"""Random histories: small tables and statements of all forms over them, from a seed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random

COLUMNS = ("k", "a", "b", "c")
TYPES = ("INT", "INT", "INT", "STRING")
NAMES = (COLUMNS, ("Key", "größe", "b b", "select"), ("k", "a`b", 'b"q', "c.d"))
"""Columns under other names."""
TARGETS = ("t", "u")
SOURCES = ("r", "s")

Row = tuple[int | None, int | None, int | None, str | None]


@dataclass(frozen=True)
class DrawnClause:
    """A clause of a drawn MERGE; values by column, None where it deletes."""

    matching: str
    condition: str | None
    values: dict[str, str] | None
    star: bool = False


@dataclass(frozen=True)
class Drawn:
    """A drawn statement, with the parts that a run of it by hand needs.

    Attributes
    ----------
    deletes
        For INSERT the condition of the rows that go first; None: none do.
    """

    text: str
    table: str
    kind: str
    source: str = ""
    on: str = ""
    clauses: tuple[DrawnClause, ...] = ()
    deletes: str | None = None
    insert: str = ""


@dataclass(frozen=True)
class DrawnHistory:
    """Rows of tables, and statements over them."""

    tables: dict[str, list[Row]]
    statements: tuple[Drawn, ...]
    columns: tuple[str, ...] = COLUMNS


def draw(seed: int) -> DrawnHistory:
    """Return the history of a seed."""
    random = Random(seed)
    tables = {name: _rows(random, random.randint(0, 7)) for name in (*TARGETS, *SOURCES)}
    statements = tuple(statement(random) for _ in range(random.randint(2, 12)))
    return DrawnHistory(tables, statements)


def quoted(column: str) -> str:
    """Return a name as SQL has it anywhere."""
    return "`" + column.replace("`", "``") + "`"


def renamed(drawn: Drawn, columns: tuple[str, ...]) -> Drawn:
    """Return a statement over columns of other names, in the order of `COLUMNS`."""
    if columns == COLUMNS:
        return drawn
    names = dict(zip(COLUMNS, columns, strict=True))

    def text(sql: str) -> str:
        return re.sub(r"\b[kabc]\b", lambda match: quoted(names[match[0]]), sql)

    def clause(each: DrawnClause) -> DrawnClause:
        condition = None if each.condition is None else text(each.condition)
        values = each.values
        if values is not None:
            values = {names[column]: text(value) for column, value in values.items()}
        return replace(each, condition=condition, values=values)

    return replace(
        drawn,
        text=text(drawn.text),
        source=text(drawn.source),
        on=text(drawn.on),
        clauses=tuple(map(clause, drawn.clauses)),
        deletes=None if drawn.deletes is None else text(drawn.deletes),
        insert=text(drawn.insert),
    )


def statement(random: Random) -> Drawn:
    """Return a statement of any form."""
    kinds = (_update, _delete, _insert, _overwrite, _replace_where, _truncate, _merge)
    [kind] = random.choices(kinds, (4, 3, 3, 1, 1, 0.3, 8))
    return kind(random, random.choice(TARGETS))


def _rows(random: Random, count: int) -> list[Row]:
    def number(most: int) -> int | None:
        return None if random.random() < 0.12 else random.randint(0, most)

    return [
        (number(5), number(4), number(4), random.choice(["x", "y", "z", None]))
        for _ in range(count)
    ]


def _value(random: Random, column: str, *sides: str) -> str:
    side = random.choice(sides)
    if column == "c":
        return random.choice([f"{side}c", "'n'", f"coalesce({side}c, 'm')", f"{side}c || 'w'"])
    other = random.choice(["a", "b"])
    if random.random() < 0.06:
        return f"(SELECT {random.choice(['max', 'count'])}(a) FROM {random.choice(SOURCES)})"
    return random.choice(
        [
            f"{side}a",
            f"{side}b",
            f"coalesce({side}{other}, 0) % 7 + 1",
            str(random.randint(0, 5)),
            f"CASE WHEN {side}a > 2 THEN {side}b ELSE {random.choice(sides)}{other} END",
        ]
    )


def _condition(random: Random, *sides: str) -> str:
    side, other = random.choice(sides), random.choice(sides)
    return random.choice(
        [
            f"{side}a > {random.randint(0, 3)}",
            f"{side}b = {other}a",
            f"{side}c = '{random.choice('xyz')}'",
            f"{side}a IS NULL",
            f"{side}k <> {random.randint(0, 5)} OR {other}b < 2",
            f"NOT {side}a >= 2",
        ]
    )


def _query(random: Random, *names: str) -> str:
    name = random.choice(names or (*SOURCES, *SOURCES, *TARGETS))
    return random.choice(
        [
            f"SELECT k, a, b, c FROM {name}",
            f"SELECT k, a, b, c FROM {name} WHERE {_condition(random, '')}",
            f"SELECT k, max(a) AS a, sum(b) % 50 AS b, min(c) AS c FROM {name} GROUP BY k",
            f"SELECT k, max(a) AS a, count(*) AS b, max(c) AS c FROM {name} "
            f"WHERE {_condition(random, '')} GROUP BY k",
        ]
    )


def _update(random: Random, table: str) -> Drawn:
    columns = random.sample(COLUMNS[1:], random.randint(1, 2))
    values = ", ".join(f"{column} = {_value(random, column, '')}" for column in columns)
    where = [
        "",
        f" WHERE {_condition(random, '')}",
        f" WHERE {_condition(random, '')}",
        f" WHERE k IN (SELECT k FROM {random.choice((*SOURCES, *TARGETS))} WHERE k IS NOT NULL)",
    ]
    return Drawn(f"UPDATE {table} SET {values}{random.choice(where)}", table, "plain")


def _delete(random: Random, table: str) -> Drawn:
    where = [
        _condition(random, ""),
        _condition(random, ""),
        f"EXISTS (SELECT 1 FROM {random.choice(SOURCES)} AS q WHERE q.k = {table}.k)",
        f"a NOT IN (SELECT a FROM {random.choice(SOURCES)} WHERE a IS NOT NULL)",
    ]
    return Drawn(f"DELETE FROM {table} WHERE {random.choice(where)}", table, "plain")


def _insert(random: Random, table: str) -> Drawn:
    query = _query(random)
    text = random.choice(
        [
            f"INSERT INTO {table} {query}",
            f"INSERT INTO {table} (k, c, a) SELECT q.k, q.c, q.b FROM ({query}) AS q",
            f"INSERT INTO {table} VALUES ({random.randint(0, 9)}, 1, NULL, 'v')",
        ]
    )
    return Drawn(text, table, "insert", insert=text)


def _overwrite(random: Random, table: str) -> Drawn:
    query = _query(random)
    return Drawn(
        f"INSERT OVERWRITE {table} {query}",
        table,
        "insert",
        deletes="TRUE",
        insert=f"INSERT INTO {table} {query}",
    )


def _replace_where(random: Random, table: str) -> Drawn:
    query, condition = _query(random), _condition(random, "")
    return Drawn(
        f"INSERT INTO {table} REPLACE WHERE {condition} {query}",
        table,
        "insert",
        deletes=condition,
        insert=f"INSERT INTO {table} {query}",
    )


def _truncate(random: Random, table: str) -> Drawn:
    return Drawn(f"TRUNCATE TABLE {table}", table, "insert", deletes="TRUE")


def _merge(random: Random, table: str) -> Drawn:
    others = (*SOURCES, *SOURCES, *TARGETS)
    query = random.choice([_query(random, *others), _grouped(random, *others)])
    on = "x.k = y.k"
    if random.random() < 0.3:
        on = random.choice([f"{on} AND {_condition(random, 'x.', 'y.')}", "y.a = x.k", "x.a < y.b"])
    clauses: list[DrawnClause] = []
    for matching, sides in (
        ("MATCHED", ("x.", "y.")),
        ("NOT MATCHED", ("y.",)),
        ("NOT MATCHED BY SOURCE", ("x.",)),
    ):
        weights = (1, 5, 2) if matching != "NOT MATCHED BY SOURCE" else (5, 2, 1)
        [count] = random.choices((0, 1, 2), weights)
        for number in range(count):
            last = number == count - 1
            condition = _condition(random, *sides) if not last or random.random() < 0.5 else None
            clauses.append(_clause(random, matching, condition, sides))
    clauses = clauses or [DrawnClause("MATCHED", None, None)]
    written = " ".join(map(_clause_text, clauses))
    text = f"MERGE INTO {table} AS x USING ({query}) AS y ON {on} {written}"
    return Drawn(text, table, "merge", query, on, tuple(clauses))


def _grouped(random: Random, *names: str) -> str:
    name = random.choice(names)
    return f"SELECT k, max(a) AS a, min(b) AS b, max(c) AS c FROM {name} GROUP BY k"


def _clause(
    random: Random, matching: str, condition: str | None, sides: tuple[str, ...]
) -> DrawnClause:
    if matching != "NOT MATCHED" and random.random() < 0.35:
        return DrawnClause(matching, condition, None)
    if matching != "NOT MATCHED BY SOURCE" and random.random() < 0.4:
        return DrawnClause(matching, condition, {name: f"y.{name}" for name in COLUMNS}, star=True)
    if matching == "NOT MATCHED":
        columns = ["k", *random.sample(COLUMNS[1:], random.randint(1, 3))]
    else:
        columns = random.sample(COLUMNS[1:], random.randint(1, 2))
    values = {c: f"{sides[0]}k" if c == "k" else _value(random, c, *sides) for c in columns}
    return DrawnClause(matching, condition, values)


def _clause_text(clause: DrawnClause) -> str:
    head = f"WHEN {clause.matching}" + (f" AND ({clause.condition})" if clause.condition else "")
    inserts = clause.matching == "NOT MATCHED"
    if clause.values is None:
        return f"{head} THEN DELETE"
    if clause.star:
        return f"{head} THEN {'INSERT' if inserts else 'UPDATE SET'} *"
    if inserts:
        columns, values = ", ".join(clause.values), ", ".join(clause.values.values())
        return f"{head} THEN INSERT ({columns}) VALUES ({values})"
    assigned = ", ".join(f"{column} = {value}" for column, value in clause.values.items())
    return f"{head} THEN UPDATE SET {assigned}"
