"""Where random queries lose rows, by nested loops: ``python -m tests.oracle.missing_rows 0-500``.

A query is drawn as a description from which both its text and, operator by operator with Python's
own values, the way of every candidate follow. Nothing of the rewriter takes part in the latter.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from lipstick.questions.missing.answer import LostRows
from lipstick.questions.missing.changes import DataChange, changes, edits_by_relation
from lipstick.questions.missing.losses import DroppedRows, dropped
from lipstick.questions.missing.proposals import Edits
from lipstick.questions.missing.why_not import Tracer
from rewriter.analysis.placed_conditions import place_conditions
from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TrackedRelation
from rewriter.blocks import TokenSource
from rewriter.emit.edits import edited_text, matching_text
from rewriter.emit.patterns import ScalarTexts, pattern_of
from tests.oracle.duck import connected_duck, create_table
from tests.oracle.duck_sql import to_duckdb

TABLES = {"r": ("id", "a", "b"), "s": ("id", "a", "c"), "t": ("id", "b", "c")}
_SYMBOLS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda x, y: x == y,
    "<>": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    ">=": lambda x, y: x >= y,
}

Row = dict[str, Any]
"""Values by ``alias.column``."""


@dataclass(frozen=True)
class Comparison:
    """``left symbol right``; the right is a column, or a number."""

    left: str
    symbol: str
    right: str | int

    @property
    def text(self) -> str:
        return f"{self.left} {self.symbol} {self.right}"

    @property
    def aliases(self) -> set[str]:
        sides = [self.left] + ([self.right] if isinstance(self.right, str) else [])
        return {side.split(".")[0] for side in sides}

    def holds(self, row: Row) -> bool | None:
        left = row[self.left]
        right = row[self.right] if isinstance(self.right, str) else self.right
        return None if left is None or right is None else _SYMBOLS[self.symbol](left, right)


@dataclass(frozen=True)
class Membership:
    """``left [NOT] IN (SELECT column FROM table WHERE where)``, or EXISTS of ``left = column``."""

    left: str
    table: str
    column: str
    negated: bool
    exists: bool
    where: Comparison | None

    @property
    def text(self) -> str:
        word = "NOT " * self.negated
        inner = f" FROM {self.table} q"
        conditions = [self.where.text] if self.where else []
        if self.exists:
            conditions.append(f"q.{self.column} = {self.left}")
            return f"{word}EXISTS (SELECT 1{inner} WHERE {' AND '.join(conditions)})"
        where = f" WHERE {conditions[0]}" if conditions else ""
        return f"{self.left} {word}IN (SELECT q.{self.column}{inner}{where})"


@dataclass(frozen=True)
class ScalarCondition:
    """``left symbol (SELECT aggregate FROM table [WHERE a column equals one of the query])``."""

    left: str
    symbol: str
    aggregate: str
    table: str
    column: str
    equal: tuple[str, str] | None

    @property
    def text(self) -> str:
        where = f" WHERE q.{self.equal[0]} = {self.equal[1]}" if self.equal else ""
        inner = f"SELECT {self.aggregate}(q.{self.column}) FROM {self.table} q{where}"
        return f"{self.left} {self.symbol} ({inner})"

    @property
    def condition(self) -> str:
        return f"{self.left} {self.symbol} the subquery's value"

    def holds(self, row: Row, rows: list[Row]) -> bool:
        if self.equal is not None:
            wanted = row[self.equal[1]]
            rows = [each for each in rows if wanted is not None and each[self.equal[0]] == wanted]
        values = [each[self.column] for each in rows if each[self.column] is not None]
        value = len(values) if self.aggregate == "COUNT" else max(values, default=None)
        left = row[self.left]
        return left is not None and value is not None and _SYMBOLS[self.symbol](left, value)


@dataclass(frozen=True)
class Window:
    """The first rows of each partition, in the order of a column."""

    partition: str
    order: str
    number: int

    def text(self, sources: Sequence[Source]) -> str:
        keys = ", ".join([self.order, *(f"{source.alias}.id" for source in sources)])
        return f"ROW_NUMBER() OVER (PARTITION BY {self.partition} ORDER BY {keys})"

    @property
    def condition(self) -> str:
        return f"place <= {self.number}"

    def kept(self, rows: list[Row], sources: Sequence[Source]) -> set[tuple[Any, ...]]:
        """Return the keys of the rows that the condition keeps."""
        partitions: dict[Any, list[Row]] = {}
        for row in rows:
            partitions.setdefault(row[self.partition], []).append(row)
        columns = [self.order, *(f"{source.alias}.id" for source in sources)]
        return {
            tuple(row[name] for name in columns[1:])
            for own in partitions.values()
            for row in sorted(
                own, key=lambda row: [(row[c] is not None, row[c] or 0) for c in columns]
            )[: self.number]
        }


@dataclass(frozen=True)
class Source:
    alias: str
    table: str
    kind: str
    """``,``, ``JOIN`` or ``LEFT JOIN``."""
    on: tuple[Comparison, ...] = ()


@dataclass(frozen=True)
class Query:
    sources: tuple[Source, ...]
    where: tuple[Comparison, ...]
    memberships: tuple[Membership, ...]
    shown: tuple[str, ...]
    having: tuple[tuple[str, str, int], ...] | None = None
    """Aggregate, symbol, number; None: there are no groups."""
    limit: int | None = None
    pattern: tuple[tuple[str, int], ...] = ()
    scalar: ScalarCondition | None = None
    window: Window | None = None

    @property
    def aliases(self) -> set[str]:
        """The relations that the pattern is about."""
        return {column.split(".")[0] for column, _ in self.pattern}

    @property
    def text(self) -> str:
        shown = ", ".join(f"{column} AS {_name(column)}" for column in self.shown)
        if self.window is not None:
            shown += f", {self.window.text(self.sources)} AS place"
        parts = []
        for source in self.sources:
            if not parts:
                parts.append(f"{source.table} {source.alias}")
            elif source.kind == ",":
                parts.append(f", {source.table} {source.alias}")
            else:
                on = " AND ".join(each.text for each in source.on)
                parts.append(f" {source.kind} {source.table} {source.alias} ON {on}")
        sql = f"SELECT {shown} FROM {''.join(parts)}"
        conditions = [each.text for each in (*self.where, *self.memberships)]
        if self.scalar is not None:
            conditions.append(self.scalar.text)
        if conditions:
            sql += f" WHERE {' AND '.join(conditions)}"
        if self.window is not None:
            names = ", ".join(map(_name, self.shown))
            sql = f"SELECT {names} FROM ({sql}) v WHERE {self.window.condition}"
        if self.having is not None:
            sql += f" GROUP BY {', '.join(self.shown)}"
            if self.having:
                sql += " HAVING " + " AND ".join(f"{a} {s} {n}" for a, s, n in self.having)
        if self.limit is not None:
            sql += f" ORDER BY {', '.join(map(_name, self.shown))} LIMIT {self.limit}"
        return sql


@dataclass(frozen=True)
class SetOperation:
    """UNION, UNION ALL, EXCEPT or INTERSECT of two queries with as many columns."""

    left: Query
    right: Query
    word: str

    @property
    def text(self) -> str:
        return f"{self.left.text} {self.word} {self.right.text}"

    @property
    def pattern(self) -> tuple[tuple[str, int], ...]:
        return self.left.pattern

    @property
    def aliases(self) -> set[str]:
        """The relations whose rows become rows of the answer, and that the pattern is about."""
        parts = self.left.pattern
        if self.word.startswith("UNION"):
            parts += self.right.pattern
        return {column.split(".")[0] for column, _ in parts}

    def expected(self, rows: dict[str, list[Row]]) -> set[Expected]:
        """Return where candidates of both sides are lost, or of the left one."""
        right = Evaluation(self.right, rows)
        if self.word.startswith("UNION"):
            return Evaluation(self.left, rows).expected() | right.expected()
        return Evaluation(self.left, rows, (self.word, right.answer())).expected()


def _name(column: str) -> str:
    return column.replace(".", "_")


# -- drawing -----------------------------------------------------------------------------------


def draw(seed: int) -> tuple[Query | SetOperation, dict[str, list[Row]]]:
    """Return a query and the rows of its tables; every third is a set operation."""
    chance = random.Random(seed)
    rows = {
        name: [
            {column: number if column == "id" else _value(chance) for column in columns}
            for number in range(chance.randint(1, 6))
        ]
        for name, columns in TABLES.items()
    }
    left = _drawn(chance, rows, "xyz")
    if seed % 3:
        return left, rows
    right = _drawn(chance, rows, "uvw")
    count = min(len(left.shown), len(right.shown))
    pattern = tuple(part for part in left.pattern if part[0] in left.shown[:count])
    others = tuple((right.shown[left.shown.index(name)], value) for name, value in pattern)
    left, right = (
        replace(query, shown=query.shown[:count], limit=None, pattern=own)
        for query, own in ((left, pattern), (right, others))
    )
    word = chance.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
    return SetOperation(left, right, word), rows


def _drawn(chance: random.Random, rows: dict[str, list[Row]], aliases: str) -> Query:
    sources: list[Source] = []
    for place in range(chance.choice([1, 2, 2, 3])):
        alias, table = aliases[place], chance.choice(list(TABLES))
        kind = chance.choice([",", "JOIN", "JOIN", "LEFT JOIN"]) if place else ""
        if any(source.kind == "LEFT JOIN" for source in sources) and kind == ",":
            kind = "JOIN"  # a comma binds less
        on: list[Comparison] = []
        new = Source(alias, table, kind)
        if kind in ("JOIN", "LEFT JOIN"):
            on.append(_joined(chance, sources, new, "="))
            if chance.random() < 0.3:
                on.append(_joined(chance, sources, new, chance.choice(list(_SYMBOLS))))
            if chance.random() < 0.2:
                on.append(_alone(chance, chance.choice([*sources, new])))
        sources.append(Source(alias, table, kind, tuple(on)))
    where = [_alone(chance, chance.choice(sources)) for _ in range(chance.choice([0, 1, 1, 2]))]
    for place, source in enumerate(sources):
        if source.kind == ",":
            where.append(_joined(chance, sources[:place], source, "="))
    memberships = []
    if chance.random() < 0.4:
        table = chance.choice(list(TABLES))
        inner = Comparison(f"q.{chance.choice(TABLES[table])}", ">=", chance.randint(0, 2))
        memberships.append(
            Membership(
                _column(chance, chance.choice(sources)),
                table,
                chance.choice(TABLES[table]),
                chance.random() < 0.5,
                chance.random() < 0.4,
                inner if chance.random() < 0.5 else None,
            )
        )
    shown = tuple(
        dict.fromkeys(_column(chance, chance.choice(sources)) for _ in range(chance.randint(1, 2)))
    )
    having = None
    if chance.random() < 0.4:
        number = chance.choice([0, 1, 1, 2])
        having = tuple(_having(chance, sources[0]) for _ in range(number))
    limit = chance.randint(1, 3) if chance.random() < 0.3 else None
    of = {source.alias: source.table for source in sources}
    pattern = tuple(
        (column, _wanted(chance, rows[of[column.split(".")[0]]], column.split(".")[1]))
        for column in shown
    )
    if len(pattern) > 1 and chance.random() < 0.5:
        pattern = pattern[:1]
    scalar = _scalar(chance, sources) if chance.random() < 0.3 else None
    window = None
    if having is None and chance.random() < 0.35:
        partition, order = (_column(chance, chance.choice(sources)) for _ in range(2))
        window = Window(partition, order, chance.randint(1, 2))
    return Query(
        tuple(sources),
        tuple(where),
        tuple(memberships),
        shown,
        having,
        limit,
        pattern,
        scalar,
        window,
    )


def _scalar(chance: random.Random, sources: Sequence[Source]) -> ScalarCondition:
    table, source = chance.choice(list(TABLES)), chance.choice(sources)
    column, own = (chance.choice(TABLES[table]) for _ in range(2))
    equal = (own, _column(chance, source)) if chance.random() < 0.5 else None
    left, symbol = _column(chance, source), chance.choice(list(_SYMBOLS))
    return ScalarCondition(left, symbol, chance.choice(["MAX", "COUNT"]), table, column, equal)


def _having(chance: random.Random, source: Source) -> tuple[str, str, int]:
    aggregate = chance.choice(["COUNT(*)", f"SUM({_column(chance, source)})"])
    return aggregate, ">=", chance.randint(1, 4)


def _wanted(chance: random.Random, rows: list[Row], column: str) -> int:
    """Return a value for a pattern, mostly one of the rows."""
    value = chance.choice(rows)[column]
    return chance.randint(0, 5) if value is None or chance.random() < 0.1 else value


def _value(chance: random.Random) -> int | None:
    return None if chance.random() < 0.12 else chance.randint(0, 4)


def _column(chance: random.Random, source: Source) -> str:
    return f"{source.alias}.{chance.choice(TABLES[source.table])}"


def _alone(chance: random.Random, source: Source) -> Comparison:
    return Comparison(_column(chance, source), chance.choice(list(_SYMBOLS)), chance.randint(0, 4))


def _joined(
    chance: random.Random, before: Sequence[Source], new: Source, symbol: str
) -> Comparison:
    return Comparison(_column(chance, chance.choice(before)), symbol, _column(chance, new))


# -- the independent evaluation ----------------------------------------------------------------


@dataclass(frozen=True)
class Expected:
    """Where candidates of one alias are lost: operator and text of the condition, and how many."""

    alias: str
    operator: str
    condition: str
    rows: int


class Ambiguous(Exception):  # noqa: N818 - not an error
    """Some of equal rows are within LIMIT and others are not."""


class Evaluation:
    """Follows candidates through a query by nested loops.

    A condition of WHERE and of an inner join's ON stands as low as inner joins let it. `other` is
    EXCEPT or INTERSECT, with the rows of the query on its right.
    """

    def __init__(
        self,
        query: Query,
        rows: dict[str, list[Row]],
        other: tuple[str, list[tuple[Any, ...]]] | None = None,
    ) -> None:
        self._query = query
        self._other = other
        self._tables = rows
        count = len(query.sources)
        self._own: list[list[Comparison]] = [[] for _ in range(count)]
        self._joins: list[list[Comparison]] = [[] for _ in range(count)]
        self._filters: list[list[Comparison]] = [[] for _ in range(count)]
        for place, source in enumerate(query.sources):
            if source.kind == "LEFT JOIN":
                self._joins[place] += source.on
            else:
                for condition in source.on:
                    self._place(condition, place)
        for condition in query.where:
            self._place(condition, count - 1)

    def _place(self, condition: Comparison, level: int) -> None:
        """Put a condition over the first sources up to ``level`` where it first can decide."""
        order = {source.alias: place for place, source in enumerate(self._query.sources)}
        used = {order[alias] for alias in condition.aliases}
        while level > 0:
            if self._query.sources[level].kind == "LEFT JOIN":
                self._filters[level].append(condition)
                return
            if used == {level}:
                self._own[level].append(condition)
                return
            if level in used:
                self._joins[level].append(condition)
                return
            level -= 1
        self._own[0].append(condition)

    def expected(self) -> set[Expected]:
        """Return where the candidates of each alias that the pattern is about are lost."""
        found: set[Expected] = set()
        for source in self._query.sources:
            parts = [(c, v) for c, v in self._query.pattern if c.split(".")[0] == source.alias]
            if not parts:
                continue
            table = [_qualified(source.alias, row) for row in self._tables[source.table]]
            candidates = [row for row in table if all(row[c] == v for c, v in parts)]
            if not candidates:
                found.add(Expected(source.alias, "relation", "", 0))
            ends = [self._end(source.alias, row) for row in candidates]
            for operator, condition in set(ends):
                number = ends.count((operator, condition))
                found.add(Expected(source.alias, operator, condition, number))
        return found

    def _rows(self, place: int, only: tuple[str, Row] | None = None) -> list[Row]:
        """Return the rows of a source that its own conditions keep."""
        source = self._query.sources[place]
        rows = [_qualified(source.alias, row) for row in self._tables[source.table]]
        if only is not None and only[0] == source.alias:
            rows = [only[1]]
        return [row for row in rows if all(c.holds(row) is True for c in self._own[place])]

    def _joined(self, until: int) -> list[Row]:
        """Return the rows of the first sources."""
        rows = self._rows(0)
        rows = [row for row in rows if all(c.holds(row) is True for c in self._filters[0])]
        for place in range(1, until + 1):
            rows = self._step(rows, place)
            rows = [r for r in rows if all(c.holds(r) is True for c in self._filters[place])]
        return rows

    def _step(self, rows: list[Row], place: int) -> list[Row]:
        others = self._rows(place)
        joined = []
        for row in rows:
            partners = [
                {**row, **other}
                for other in others
                if all(c.holds({**row, **other}) is True for c in self._joins[place])
            ]
            if not partners and self._query.sources[place].kind == "LEFT JOIN":
                source = self._query.sources[place]
                partners = [{**row, **{f"{source.alias}.{c}": None for c in TABLES[source.table]}}]
            joined += partners
        return joined

    def _end(self, alias: str, candidate: Row) -> tuple[str, str]:
        """Return the operator and condition at which nothing is left of a candidate."""
        query = self._query
        start = next(i for i, source in enumerate(query.sources) if source.alias == alias)
        for condition in self._own[start]:
            if condition.holds(candidate) is not True:
                return "WHERE", condition.text
        flow = [candidate]
        for place in range(max(start, 1), len(query.sources)):
            if place == start:
                flow = [
                    {**left, **candidate}
                    for left in self._joined(place - 1)
                    if all(c.holds({**left, **candidate}) is True for c in self._joins[place])
                ]
            else:
                flow = self._step(flow, place)
            if not flow:
                return "JOIN", " AND ".join(c.text for c in self._joins[place])
            # A part of the pattern that a row of another relation decides is asked right away.
            flow, end = self._asked(flow, place, alias)
            if end:
                return end
            flow, failed = _kept(flow, self._filters[place])
            if failed:
                return "WHERE", failed
        flow = self._compared(flow)
        if not flow and query.scalar is not None:
            return "WHERE", query.scalar.condition
        for membership in query.memberships:
            flow, end = self._members(flow, membership)
            if end:
                return end
        if query.window is not None:
            flow = self._first(flow, query.window)
            if not flow:
                return "WHERE", query.window.condition
        flow, end = self._grouped(flow)
        if end:
            return end
        return self._last(flow)

    def _last(self, flow: list[Row]) -> tuple[str, str]:
        """Return what becomes of rows of the answer in a set operation, and by LIMIT."""
        query = self._query
        if self._other is not None:
            word, others = self._other
            negated = word == "EXCEPT"
            if all((_key(query, row) in others) == negated for row in flow):
                return "NOT IN, NOT EXISTS or EXCEPT" if negated else "IN or EXISTS", ""
        if query.limit is not None:
            answer = self.answer()
            keys = [_key(query, row) for row in flow]
            first = min(answer.index(key) for key in keys)
            if any(answer.index(k) < query.limit < answer.index(k) + answer.count(k) for k in keys):
                raise Ambiguous
            if first >= query.limit:
                return "LIMIT", f"LIMIT {query.limit}"
        return "answer", ""

    def _asked(
        self, flow: list[Row], place: int, alias: str
    ) -> tuple[list[Row], tuple[str, str] | None]:
        """Ask the parts of the pattern that this join first lets a candidate be asked."""
        order = {source.alias: i for i, source in enumerate(self._query.sources)}
        start = order[alias]
        parts = [
            Comparison(column, "=", value)
            for column, value in self._query.pattern
            if (other := order[column.split(".")[0]]) != start and max(other, start) == place
        ]
        flow, failed = _kept(flow, parts)
        return flow, ("the pattern", failed) if failed else None

    def _members(
        self, flow: list[Row], membership: Membership
    ) -> tuple[list[Row], tuple[str, str] | None]:
        inner = [_qualified("q", row) for row in self._tables[membership.table]]
        if membership.where is not None:
            inner = [row for row in inner if membership.where.holds(row) is True]
        values = [row[f"q.{membership.column}"] for row in inner]
        left = membership.left
        found = [row for row in flow if row[left] is not None and row[left] in values]
        if not membership.negated:
            return found, None if found else ("IN or EXISTS", "")
        rest = [row for row in flow if row not in found]
        if not membership.exists and values:
            rest = [row for row in rest if row[left] is not None and None not in values]
        return rest, None if rest else ("NOT IN, NOT EXISTS or EXCEPT", "")

    def _compared(self, flow: list[Row]) -> list[Row]:
        """Return the rows that the comparison with a scalar subquery keeps."""
        scalar = self._query.scalar
        if scalar is None:
            return flow
        return [row for row in flow if scalar.holds(row, self._tables[scalar.table])]

    def _first(self, flow: list[Row], window: Window) -> list[Row]:
        sources = self._query.sources
        kept = window.kept(self._members_of_answer(), sources)
        return [row for row in flow if tuple(row[f"{s.alias}.id"] for s in sources) in kept]

    def _grouped(self, flow: list[Row]) -> tuple[list[Row], tuple[str, str] | None]:
        if self._query.having is None:
            return flow, None
        groups = self._groups()
        last = -1
        kept = []
        for row in flow:
            failing = self._failing(groups[_key(self._query, row)])
            if failing is None:
                kept.append(row)
            else:
                last = max(last, failing)
        if kept:
            return kept, None
        aggregate, symbol, number = self._query.having[last]
        return [], ("HAVING", f"{aggregate} {symbol} {number}")

    def _failing(self, members: list[Row]) -> int | None:
        """Return the first condition of HAVING that a group does not meet."""
        for place, (aggregate, symbol, number) in enumerate(self._query.having or ()):
            value: int | None = len(members)
            if aggregate != "COUNT(*)":
                known = [row[aggregate[4:-1]] for row in members]
                known = [value for value in known if value is not None]
                value = sum(known) if known else None
            if value is None or not _SYMBOLS[symbol](value, number):
                return place
        return None

    def _members_of_answer(self) -> list[Row]:
        rows = self._joined(len(self._query.sources) - 1)
        for membership in self._query.memberships:
            rows, _ = self._members(rows, membership)
        return self._compared(rows)

    def _groups(self) -> dict[tuple[Any, ...], list[Row]]:
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self._members_of_answer():
            groups.setdefault(_key(self._query, row), []).append(row)
        return groups

    def answer(self) -> list[tuple[Any, ...]]:
        """Return the rows of the answer before LIMIT, in order; NULL comes first."""
        if self._query.having is None:
            rows = self._members_of_answer()
            if self._query.window is not None:
                rows = self._first(rows, self._query.window)
            keys = [_key(self._query, row) for row in rows]
        else:
            keys = [key for key, rows in self._groups().items() if self._failing(rows) is None]
        return sorted(keys, key=lambda key: [(value is not None, value or 0) for value in key])


def _kept(flow: list[Row], conditions: Sequence[Comparison]) -> tuple[list[Row], str]:
    """Return the rows that conditions keep; if none is left, the condition got to furthest."""
    last, kept = -1, []
    for row in flow:
        failing = next((i for i, c in enumerate(conditions) if c.holds(row) is not True), None)
        if failing is None:
            kept.append(row)
        else:
            last = max(last, failing)
    return kept, "" if kept else conditions[last].text


def _key(query: Query, row: Row) -> tuple[Any, ...]:
    return tuple(row[column] for column in query.shown)


def _qualified(alias: str, row: Row) -> Row:
    return {f"{alias}.{column}": value for column, value in row.items()}


# -- the comparison ----------------------------------------------------------------------------


class DuckQuestion:
    """A question about a missing row, asked by the statements that Spark gets, run by DuckDB.

    The first column of a table is its key. The query over edited relations is that of the text.
    """

    def __init__(
        self,
        sql: str,
        tables: Mapping[str, pa.Table],
        equal: Mapping[str, Any],
        condition: str | None = None,
    ) -> None:
        self._sql = sql
        self._connection = connected_duck()
        for name, rows in tables.items():
            create_table(self._connection, name, rows)
        self._columns = {name: tuple(table.column_names) for name, table in tables.items()}
        relations = [TrackedRelation(name, columns) for name, columns in self._columns.items()]
        environment = Environment(
            MemoryCatalog(relations), functions=set(), aggregates=set(), tables={}, levels={}
        )
        self.root = place_conditions(bind_query(sql, environment).root)
        tokens = {n: TokenSource(n, key[:1], (key[:1],)) for n, key in self._columns.items()}
        self._tracer = Tracer(self._run, tokens, sql, ScalarTexts(self.root, sql))
        shown = [attribute.name for attribute in self.root.attributes]
        self.pattern = pattern_of(self.root, shown, equal, condition)

    def _run(self, statement: str) -> pa.Table:
        return self._connection.execute(to_duckdb(statement)).fetch_arrow_table()

    def reasons(self) -> list[LostRows]:
        return self._tracer.lost(self.root, self.pattern)

    def changes(self, limit: int = 3) -> list[DataChange]:
        return changes(self, self.root, self.pattern, limit)

    def dropped(self) -> DroppedRows:
        traced = self._tracer
        return dropped(self.root, traced.tokens, self._sql, traced.texts, self._run)

    def tracer(self, edits: Edits) -> Tracer:
        tokens = dict(self._tracer.tokens)
        for name, rows in self._edited(edits).items():
            view = f"{name}_{abs(hash(str(edits)))}"
            create_table(self._connection, view, rows)
            tokens[name] = replace(tokens[name], view=view)
        return replace(self._tracer, tokens=tokens)

    def difference(self, edits: Edits, limit: int) -> pa.Table:
        raise NotImplementedError

    def brings(self, edits: Edits) -> bool:
        """Run the user's text over copies of the tables with the edits."""
        names = list(self._columns)
        tables = {name: self._run(f"SELECT * FROM {name}") for name in names}
        connection = connected_duck()
        for name, rows in {**tables, **self._edited(edits)}.items():
            create_table(connection, name, rows)
        connection.execute(f"CREATE VIEW answer AS {to_duckdb(self._sql)}")
        ids = [attribute.id for attribute in self.root.attributes]
        found = connection.execute(to_duckdb(matching_text("answer", ids, self.pattern)))
        return found.fetch_arrow_table().num_rows > 0

    def _edited(self, edits: Edits) -> dict[str, pa.Table]:
        return {
            name: self._run(edited_text(name, self._columns[name], own))
            for name, own in edits_by_relation(edits).items()
        }


def difference(seed: int) -> str | None:
    """Return how the reasons of a random question differ from its independent evaluation."""
    query, rows = draw(seed)
    try:
        expected = _expected(query, rows)
    except Ambiguous:
        return None
    schemas = {
        name: pa.schema([(c, pa.int64()) for c in columns]) for name, columns in TABLES.items()
    }
    tables = {name: pa.Table.from_pylist(rows[name], schemas[name]) for name in TABLES}
    equal = {_name(column): value for column, value in query.pattern}
    question = DuckQuestion(query.text, tables, equal)
    reasons = question.reasons()
    found = {
        Expected(r.relation, r.operator, _condition(r), r.rows)
        for r in reasons
        if r.relation in query.aliases
    }
    if found == expected:
        return _unchanged(question, query, seed)
    return f"{seed}: {query.text}\n  {query.pattern}\n  expected {expected}\n  found {found}"


def _expected(query: Query | SetOperation, rows: dict[str, list[Row]]) -> set[Expected]:
    return (
        query.expected(rows)
        if isinstance(query, SetOperation)
        else Evaluation(query, rows).expected()
    )


def _unchanged(question: DuckQuestion, query: Query | SetOperation, seed: int) -> str | None:
    """Return a change, if there is one, whose reasons over the changed data are not "it is there".

    Nothing brings a row that is there already.
    """
    for change in question.changes(2) if seed % 4 == 0 else []:
        after = question.tracer(change.edits).lost(question.root, question.pattern)
        if not any(reason.operator == "answer" for reason in after):
            return f"{seed}: {query.text}\n  {query.pattern}\n  {change} brings nothing"
    return None


def _condition(reason: LostRows) -> str:
    compared = reason.operator in ("WHERE", "HAVING", "LIMIT", "JOIN", "the pattern")
    return reason.condition if compared else ""


def main() -> None:
    """Compare the questions of a range of seeds."""
    first, last = map(int, sys.argv[1].split("-"))
    kinds: dict[str, int] = {}
    wrong = 0
    for seed in range(first, last):
        query, rows = draw(seed)
        try:
            for each in _expected(query, rows):
                kinds[each.operator] = kinds.get(each.operator, 0) + 1
        except Ambiguous:
            continue
        problem = difference(seed)
        if problem is not None:
            wrong += 1
            print(problem)
    print(f"{last - first} questions, {wrong} answers differ; {kinds}")


if __name__ == "__main__":
    main()
