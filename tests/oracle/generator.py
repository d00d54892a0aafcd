"""Random databases and valid Spark SQL over them, replayable from a seed.

``python -m tests.oracle.generator SEED`` prints the database and the query of a seed.
"""

from __future__ import annotations

import datetime as dt
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

import duckdb
import pyarrow as pa
import sqlglot

from tests.oracle.database import Database, Key, Relation
from tests.oracle.duck import Duck
from tests.oracle.expressions import (
    INTEGERS,
    KINDS,
    NUMBERS,
    STRINGS,
    Column,
    Term,
    compared,
    literal,
    predicate,
    scalar,
    stable,
)
from tests.oracle.rows import OrderKey

_ARROW: Final[dict[str, pa.DataType]] = {
    "int": pa.int32(),
    "double": pa.float64(),
    "decimal": pa.decimal128(10, 2),
    "string": pa.string(),
    "date": pa.date32(),
    "boolean": pa.bool_(),
}
_SPARK: Final = {kind: kind for kind in KINDS} | {"decimal": "decimal(10,2)"}
_POOL: Final = (
    ("b", "int"),
    ("c", "string"),
    ("x", "double"),
    ("m", "decimal"),
    ("w", "date"),
    ("f", "boolean"),
    ("e", "int"),
    ("y", "double"),
    ("g", "string"),
)
_KEYS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "r": (("id", "int"),),
    "s": (("code", "string"),),
    "t": (("n", "int"), ("tag", "string")),
    "u": (("uid", "int"),),
    "v": (("day", "date"), ("k", "int")),
}
_KEY_STRINGS: Final = ("", "a", "A", "b", "it's", "ä", "z z", "10", "9", "k|1", "k,2", "NULL")
_SMALL: Final = 1_500.0
_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class Case:
    """A database and a query over it.

    ``exact`` is true where nothing in the query can make a row appear when inputs are deleted:
    there are no comparisons on aggregated values and no LIMIT. None: not known from the text.
    """

    seed: int
    database: Database
    sql: str
    exact: bool | None
    grouping: bool
    order: tuple[OrderKey, ...]
    compared: tuple[str, ...]

    @property
    def replay(self) -> str:
        """The command that shows this case."""
        return f"python -m tests.oracle.generator {self.seed}"

    def __str__(self) -> str:
        return f"-- seed {self.seed}: {self.replay}\n{self.sql}"


def generate(seed: int) -> Case:
    """Return the case of a seed.

    The first of a few queries over the database that returns rows; DuckDB is asked, which is only
    a matter of which queries are drawn, so that it may be wrong or not understand one.
    """
    rng = random.Random(seed)
    database = random_database(rng)
    duck = Duck(database)
    for _ in range(_ATTEMPTS - 1):
        case = _Queries(rng, database).case(seed)
        try:
            if len(duck.answer(case.sql)) > 0:
                return case
        except (duckdb.Error, sqlglot.errors.SqlglotError):
            return case
    return _Queries(rng, database).case(seed)


def random_database(rng: random.Random) -> Database:
    """Return three to five small relations, sometimes an empty one among them."""
    names = ("r", "s", "t", "u", "v")[: rng.choice((3, 3, 4, 5))]
    return Database({name: _relation(rng, name) for name in names})


def _relation(rng: random.Random, name: str) -> Relation:
    key = _KEYS[name]
    extra = rng.sample(_POOL, rng.randint(2, 5))
    columns = [*key, ("a", "int"), *sorted(extra)]
    count = 0 if name == "u" and rng.random() < 0.3 else rng.choice((3, 6, 9, 12, 15, 18, 24, 30))
    keys: dict[Key, None] = {}
    while len(keys) < count:
        keys[tuple(_key_value(rng, kind, count) for _, kind in key)] = None
    rows = [(*values, *(_value(rng, kind) for _, kind in columns[len(key) :])) for values in keys]
    arrays = [
        pa.array([row[index] for row in rows], _ARROW[kind])
        for index, (_, kind) in enumerate(columns)
    ]
    schema = ", ".join(f"{column} {_SPARK[kind]}" for column, kind in columns)
    data = pa.Table.from_arrays(arrays, names=[column for column, _ in columns])
    return Relation(name, tuple(column for column, _ in key), schema, data)


def _key_value(rng: random.Random, kind: str, count: int) -> Any:
    if kind == "string":
        return rng.choice(_KEY_STRINGS) if rng.random() < 0.5 else f"k{rng.randint(0, 30)}"
    if kind == "date":
        return dt.date(2020, 1, rng.randint(1, 20))
    return rng.randint(-1, count + 3)


def _value(rng: random.Random, kind: str) -> Any:
    if rng.random() < 0.13:
        return None
    if kind == "int":
        return rng.choice((1, 1, 2, 2, 3, 3, 4, 5, 7, 0, -1, -4, 12))
    if kind == "double":
        return rng.choice((0.0, -0.0, 0.5, 1.25, 1.25, -2.5, 4.0, 10.75, 3.0, float("nan")))
    if kind == "decimal":
        return Decimal(rng.choice(("0.00", "0.50", "1.25", "1.25", "-3.10", "7.00", "99.99")))
    if kind == "date":
        return dt.date(2020, 1, rng.randint(1, 9))
    if kind == "boolean":
        return rng.random() < 0.6
    return rng.choice(STRINGS)


@dataclass(frozen=True, slots=True)
class _Query:
    """A query expression: its text, its columns by name, an estimate of its rows."""

    sql: str
    columns: tuple[Column, ...]
    size: float
    grouping: bool = False


@dataclass(frozen=True, slots=True)
class _From:
    """A FROM clause and the columns it puts in scope."""

    sql: str
    scope: tuple[Column, ...]
    size: float
    conjuncts: tuple[str, ...] = ()


class _Queries:
    """One random query; what is noted on the way says whether deletion can make rows appear."""

    def __init__(self, rng: random.Random, database: Database) -> None:
        self.rng = rng
        self.database = database
        self.exact = True
        self.used: set[str] = set()
        self.ctes: list[tuple[str, _Query]] = []
        self._count = 0

    def case(self, seed: int) -> Case:
        """Return a whole statement: CTEs, a query, ORDER BY and LIMIT."""
        for _ in range(self.rng.choice((0, 0, 0, 0, 1, 1, 2))):
            query = self.query(1)
            self.ctes.append((self.fresh("cte"), query))
        query = self.query(self.rng.choice((1, 2, 2, 3)), top=True)
        sql, order = self.ordered(query)
        if self.ctes:
            sql = "WITH " + ", ".join(f"{n} AS ({q.sql})" for n, q in self.ctes) + f" {sql}"
        suspects = () if self.exact else tuple(sorted(self.used))
        exact = True if self.exact else None
        return Case(seed, self.database, sql, exact, query.grouping, order, suspects)

    def fresh(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def decides(self, *terms: Term) -> None:
        """Note that these terms decide which rows or groups there are."""
        if any(term.aggregated for term in terms):
            self.exact = False

    # Whole queries

    def query(self, depth: int, top: bool = False) -> _Query:
        if self.chance(0.16):
            return self.union(depth)
        return self.select(depth, top)

    def union(self, depth: int) -> _Query:
        branches = [self.select(max(depth - 1, 0))]
        kinds = [column.term.kind for column in branches[0].columns]
        branches += [self.typed(kinds) for _ in range(self.rng.choice((1, 1, 2)))]
        columns = tuple(
            Column(column.name, column.term.derived("", *(b.columns[i].term for b in branches[1:])))
            for i, column in enumerate(branches[0].columns)
        )
        distinct = self.chance(0.35) and not any(column.term.unstable for column in columns)
        if distinct:
            self.decides(*(column.term for column in columns))
        word = " UNION " if distinct else " UNION ALL "
        size = sum(branch.size for branch in branches)
        return _Query(word.join(branch.sql for branch in branches), columns, size, distinct)

    def typed(self, kinds: Sequence[str]) -> _Query:
        source = self.from_clause(0, self.rng.choice((1, 1, 2)))
        items = [(self.fresh("c"), scalar(self.rng, source.scope, kind)) for kind in kinds]
        text = ", ".join(f"{term.sql} AS {name}" for name, term in items)
        columns = tuple(Column(name, term) for name, term in items)
        return _Query(f"SELECT {text} {source.sql}{self.where(source, 0)}", columns, source.size)

    def select(self, depth: int, top: bool = False) -> _Query:
        source = self.from_clause(depth, self.rng.choice((1, 1, 2, 2, 2, 3)))
        where = self.where(source, depth)
        shape = self.rng.choices(
            ("plain", "star", "distinct", "group", "global"), (33, 6, 12, 38, 8 if top else 3)
        )[0]
        if shape == "group":
            return self.grouped(source, where, depth)
        if shape == "global":
            return self.totals(source, where)
        names = [column.name for column in source.scope]
        if shape == "star" and (top or len(set(names)) == len(names)):
            return _Query(f"SELECT * {source.sql}{where}", source.scope, source.size)
        columns = self.items(source.scope, depth, top)
        distinct = shape == "distinct" and not any(column.term.unstable for column in columns)
        if distinct:
            self.decides(*(column.term for column in columns))
        text = ", ".join(self.item(column) for column in columns)
        word = "SELECT DISTINCT" if distinct else "SELECT"
        return _Query(f"{word} {text} {source.sql}{where}", columns, source.size, distinct)

    def item(self, column: Column) -> str:
        if column.term.sql.split(".")[-1] == column.name:
            return column.term.sql
        return f"{column.term.sql} {self.rng.choice(('AS ', ''))}{column.name}"

    def items(self, scope: Sequence[Column], depth: int, top: bool) -> tuple[Column, ...]:
        chosen: list[Column] = []
        for _ in range(self.rng.randint(1, 4)):
            if self.chance(0.6):
                column = self.rng.choice(scope)
                taken = column.name in {other.name for other in chosen}
                chosen.append(column if top or not taken else Column(self.fresh("c"), column.term))
            elif depth > 0 and self.chance(0.12):
                chosen.append(Column(self.fresh("c"), self.scalar_subquery()))
            else:
                kind = self.rng.choice(scope).term.kind
                chosen.append(Column(self.fresh("c"), scalar(self.rng, scope, kind)))
        return tuple(chosen)

    def ordered(self, query: _Query) -> tuple[str, tuple[OrderKey, ...]]:
        """Return the statement, perhaps ordered, and limited only where ties are equal rows."""
        allowed = [i for i, column in enumerate(query.columns) if not column.term.unstable]
        if not allowed or not self.chance(0.3):
            return query.sql, ()
        total = len(allowed) == len(query.columns) and self.chance(0.4)
        positions = list(allowed) if total else [self.rng.choice(allowed)]
        self.rng.shuffle(positions)
        keys, texts = [], []
        for position in positions:
            descending = self.chance(0.4)
            nulls = self.rng.choice((None, None, True, False))
            keys.append(OrderKey(position, descending, not descending if nulls is None else nulls))
            places = {None: "", True: " NULLS FIRST", False: " NULLS LAST"}
            direction = " DESC" if descending else self.rng.choice(("", " ASC"))
            texts.append(f"{position + 1}{direction}{places[nulls]}")
        sql = f"{query.sql} ORDER BY {', '.join(texts)}"
        if total:
            self.exact = False
            sql += f" LIMIT {self.rng.choice((1, 2, 3, 5, 10))}"
            sql += f" OFFSET {self.rng.choice((1, 2))}" if self.chance(0.25) else ""
        return sql, tuple(keys)

    # FROM

    def source(self, depth: int) -> tuple[str, tuple[Column, ...], float]:
        """Return a table expression without an alias."""
        if self.ctes and self.chance(0.6):
            name, query = self.rng.choice(self.ctes)
            return name, query.columns, query.size
        if depth > 0 and self.chance(0.45):
            query = self.derived(depth - 1)
            return f"({query.sql})", query.columns, query.size
        relation = self.rng.choice(list(self.database.relations.values()))
        self.used.add(relation.name)
        columns = []
        for item in relation.schema.split(", "):
            name, kind = item.split(" ")
            kind = "decimal" if kind.startswith("decimal") else kind
            columns.append(Column(name, Term(name, kind)))
        return relation.name, tuple(columns), float(relation.data.num_rows)

    def derived(self, depth: int) -> _Query:
        if self.chance(0.5):
            source = self.from_clause(depth, self.rng.choice((1, 1, 2)))
            return self.grouped(source, self.where(source, depth), depth)
        query = self.query(depth)
        total = not any(column.term.unstable for column in query.columns)
        if total and self.chance(0.04):
            self.exact = False
            order = ", ".join(str(i + 1) for i in range(len(query.columns)))
            limit = self.rng.choice((3, 6, 10))
            return replace(query, sql=f"{query.sql} ORDER BY {order} LIMIT {limit}")
        return query

    def aliased(self, depth: int) -> tuple[str, tuple[Column, ...], float]:
        """Return a table expression with an alias, and its columns under that alias."""
        text, columns, size = self.source(depth)
        alias = self.fresh("q")
        scope = tuple(column.referred(f"{alias}.{column.name}") for column in columns)
        return f"{text} {self.rng.choice(('AS ', ''))}{alias}", scope, size

    def from_clause(self, depth: int, count: int) -> _From:
        if count > 1 and self.chance(0.07):
            return self.natural()
        text, scope, size = self.aliased(depth)
        if self.chance(0.2) and " " not in text.replace(" AS ", "") and count == 1:
            scope = tuple(column.referred(column.name) for column in scope)
        made = _From(f"FROM {text}", scope, size)
        comma = False
        for _ in range(count - 1):
            text, right, size = self.aliased(depth if self.chance(0.6) else 0)
            style = (
                "comma"
                if comma
                else self.rng.choice(("comma", "comma", "inner", "inner", "using", "semi", "cross"))
            )
            comma = comma or style == "comma"
            made = self.joined(made, style, text, right, size)
        return made

    def natural(self) -> _From:
        """Join two derived tables that have one column name in common."""
        shared = self.fresh("j")
        names, scope, size = [], [], 1.0
        for index in range(2):
            text, columns, rows = self.aliased(0)
            integers = stable(columns, frozenset({"int"})) or [literal(self.rng, "int")]
            key, other = self.rng.choice(integers), self.rng.choice(columns)
            alias, extra = self.fresh("q"), self.fresh("c")
            names.append(
                f"(SELECT {key.sql} AS {shared}, {other.term.sql} AS {extra} FROM {text}) {alias}"
            )
            self.decides(key)
            if index == 0:
                scope.append(Column(shared, replace(key, sql=f"{alias}.{shared}")))
            scope.append(Column(extra, replace(other.term, sql=f"{alias}.{extra}")))
            size *= rows
        return _From(f"FROM {' NATURAL JOIN '.join(names)}", tuple(scope), size / 6)

    def joined(
        self, left: _From, style: str, text: str, right: tuple[Column, ...], rows: float
    ) -> _From:
        scope, size = left.scope + right, left.size * rows
        pair = self.pair(left.scope, right)
        if style == "using":
            common = self.common(left.scope, right)
            if common:
                name = self.rng.choice(common)
                merged = next(column for column in left.scope if column.name == name)
                self.decides(merged.term, *(column.term for column in right if column.name == name))
                scope = (merged, *(c for c in left.scope + right if c.name != name))
                return replace(
                    left, sql=f"{left.sql} JOIN {text} USING ({name})", scope=scope, size=size / 6
                )
            style = "inner"
        if pair is None or (style == "cross" and size > 300):
            style = "inner" if style == "cross" else style
        if pair is None:
            # Nothing to join on: a product, kept small by a filter on the smaller side.
            if size > _SMALL:
                return left
            separator = ", " if style == "comma" else " CROSS JOIN "
            return replace(left, sql=f"{left.sql}{separator}{text}", scope=scope, size=size)
        if style == "cross":
            return replace(left, sql=f"{left.sql} CROSS JOIN {text}", scope=scope, size=size)
        if size / 6 > _SMALL:
            return left
        condition = f"{pair[0].sql} = {pair[1].sql}"
        self.decides(*pair)
        if style == "comma":
            return _From(f"{left.sql}, {text}", scope, size / 6, (*left.conjuncts, condition))
        if self.chance(0.15):
            extra = predicate(self.rng, scope, 0)
            self.decides(extra)
            condition += f" AND {extra.sql}"
        if style == "semi":
            return replace(left, sql=f"{left.sql} LEFT SEMI JOIN {text} ON {condition}")
        word = self.rng.choice(("JOIN", "INNER JOIN"))
        return replace(
            left, sql=f"{left.sql} {word} {text} ON {condition}", scope=scope, size=size / 6
        )

    def common(self, left: Sequence[Column], right: Sequence[Column]) -> list[str]:
        names = [column.name for column in left]
        shared = []
        for column in right:
            if names.count(column.name) == 1 and column.term.kind in ("int", "string", "date"):
                twin = next(other for other in left if other.name == column.name)
                if twin.term.kind == column.term.kind:
                    shared.append(column.name)
        return shared

    def pair(self, left: Sequence[Column], right: Sequence[Column]) -> tuple[Term, Term] | None:
        """Return two columns to equate, most often integers of a small range."""
        for kinds in (
            INTEGERS,
            frozenset({"string"}),
            frozenset({"date"}),
            frozenset({"double", "decimal"}),
        ):
            lefts, rights = stable(left, kinds), stable(right, kinds)
            if lefts and rights and self.chance(0.92):
                return self.likely(lefts), self.likely(rights)
        lefts, rights = stable(left, INTEGERS), stable(right, INTEGERS)
        return (lefts[0], rights[0]) if lefts and rights else None

    def likely(self, terms: Sequence[Term]) -> Term:
        """Return a term to join on, preferring base columns that have small values."""
        common = [term for term in terms if term.sql.split(".")[-1] in ("a", "b", "e", "c", "g")]
        return self.rng.choice(common if common and self.chance(0.7) else terms)

    # WHERE and subqueries

    def where(self, source: _From, depth: int) -> str:
        conjuncts = list(source.conjuncts)
        if self.chance(0.35):
            test = predicate(self.rng, source.scope, 1)
            self.decides(test)
            conjuncts.append(test.sql)
        if depth > 0 and self.chance(0.22):
            conjuncts.append(self.subquery(source.scope))
        return f" WHERE {' AND '.join(conjuncts)}" if conjuncts else ""

    def subquery(self, scope: Sequence[Column]) -> str:
        """Return a conjunct with a subquery: IN, EXISTS or a comparison with a scalar."""
        roll = self.rng.random()
        text, inner, _ = self.aliased(1 if self.chance(0.2) else 0)
        pair = self.pair(scope, inner)
        if pair is None or roll < 0.2:
            numbers = stable(scope, NUMBERS)
            if not numbers:
                return "TRUE"
            value = self.scalar_subquery()
            self.exact = False
            operator = self.rng.choice(("<=", ">=", "<>"))
            return f"{self.rng.choice(numbers).sql} {operator} {value.sql}"
        outer, member = pair
        self.decides(outer, member)
        correlation = self.pair(scope, inner) if self.chance(0.25) else None
        conjuncts = [f"{correlation[1].sql} = {correlation[0].sql}"] if correlation else []
        if correlation:
            self.decides(*correlation)
        if self.chance(0.25):
            test = predicate(self.rng, inner, 0)
            self.decides(test)
            conjuncts.append(test.sql)
        grouped = self.chance(0.3)
        if roll < 0.6:
            tail = self.tail(inner, member, conjuncts, grouped)
            return f"{outer.sql} IN (SELECT {member.sql} FROM {text}{tail})"
        conjuncts.insert(0, f"{member.sql} = {outer.sql}")
        head = member.sql if grouped else self.rng.choice(("1", "*", member.sql))
        tail = self.tail(inner, member, conjuncts, grouped)
        return f"EXISTS (SELECT {head} FROM {text}{tail})"

    def tail(
        self, scope: Sequence[Column], key: Term, conjuncts: Sequence[str], grouped: bool
    ) -> str:
        where = f" WHERE {' AND '.join(conjuncts)}" if conjuncts else ""
        if not grouped:
            return where
        self.exact = False
        value = self.aggregate(scope, stable_only=True)
        return f"{where} GROUP BY {key.sql} HAVING {compared(self.rng, value, ()).sql}"

    def scalar_subquery(self) -> Term:
        """Return a subquery of one row: an aggregate without GROUP BY."""
        text, scope, _ = self.aliased(0)
        numbers = stable(scope, NUMBERS)
        value = self.aggregate(scope, stable_only=True)
        if value.kind not in NUMBERS and numbers:
            number = self.rng.choice(numbers)
            value = replace(number, sql=f"MAX({number.sql})", aggregated=True)
        elif value.kind not in NUMBERS:
            value = Term("COUNT(*)", "bigint", aggregated=True)
        where = ""
        if self.chance(0.4):
            test = predicate(self.rng, scope, 0)
            self.decides(test)
            where = f" WHERE {test.sql}"
        return replace(value, sql=f"(SELECT {value.sql} FROM {text}{where})")

    # Grouping

    def aggregate(self, scope: Sequence[Column], stable_only: bool = False) -> Term:
        """Return an aggregate call over a scope, sometimes filtered."""
        while True:
            term = self.call(scope)
            if not (stable_only and term.unstable):
                break
        if self.chance(0.2):
            test = predicate(self.rng, scope, 0)
            self.decides(test)
            term = term.derived(f"{term.sql} FILTER (WHERE {test.sql})", test)
        return replace(term, aggregated=True)

    def call(self, scope: Sequence[Column]) -> Term:
        name = self.rng.choice(
            ("count", "count", "sum", "sum", "sum", "min", "max", "avg", "distinct")
        )
        plain = stable(scope)
        if name == "count" or not plain:
            columns = [term.sql for term in self.rng.sample(plain, min(2, len(plain)))]
            items = self.rng.choice(("*", "*", columns[0], ", ".join(columns))) if plain else "*"
            return Term(f"COUNT({items})", "bigint", 1e4)
        if name in ("min", "max"):
            kind = self.rng.choice(plain).kind
            argument = scalar(self.rng, [c for c in scope if not c.term.unstable], kind)
            return argument.derived(f"{name.upper()}({argument.sql})")
        if name == "distinct":
            exact = [term for term in plain if term.kind in (*INTEGERS, "decimal")]
            if exact and self.chance(0.4):
                argument = self.rng.choice(exact)
                kind = "bigint" if argument.kind in INTEGERS else "decimal"
                return argument.derived(
                    f"SUM(DISTINCT {argument.sql})", kind=kind, bound=argument.bound * 100
                )
            argument = self.rng.choice(plain)
            return Term(f"COUNT(DISTINCT {argument.sql})", "bigint", 1e4)
        numbers = stable(scope, NUMBERS)
        if not numbers:
            return Term("COUNT(*)", "bigint", 1e4)
        argument = scalar(
            self.rng, [c for c in scope if not c.term.unstable], self.rng.choice(numbers).kind
        )
        kind = "double" if name == "avg" else "bigint"
        kind = argument.kind if argument.kind in ("double", "decimal") else kind
        bound = argument.bound if name == "avg" else argument.bound * 100
        made = argument.derived(f"{name.upper()}({argument.sql})", kind=kind, bound=bound)
        return replace(
            made,
            inexact=argument.inexact or (name == "avg" and kind == "double"),
            unstable=argument.inexact,
        )

    def grouped(self, source: _From, where: str, depth: int) -> _Query:
        keys = self.keys(source.scope)
        values = [
            Column(self.fresh("v"), self.aggregate(source.scope))
            for _ in range(self.rng.randint(0 if keys else 1, 3))
        ]
        values = [self.post(value) if self.chance(0.15) else value for value in values]
        columns = [*keys, *values]
        if self.chance(0.2):
            self.rng.shuffle(columns)
        if values and self.chance(0.08):
            # A key that is grouped by and not an output.
            columns.remove(keys[0])
        by = ", ".join(self.key_text(key, columns) for key in keys)
        having = self.having(source.scope, keys, values, depth)
        text = ", ".join(self.item(column) for column in columns)
        self.decides(*(key.term for key in keys))
        sql = f"SELECT {text} {source.sql}{where} GROUP BY {by}{having}"
        out = tuple(columns)
        return _Query(sql, out, max(source.size / 2, 1), True)

    def keys(self, scope: Sequence[Column]) -> list[Column]:
        candidates = [column for column in scope if not column.term.unstable]
        keys: dict[str, Column] = {}
        for _ in range(self.rng.choice((1, 1, 1, 2, 2, 3))):
            column = self.rng.choice(candidates) if candidates else None
            if column is None:
                break
            if self.chance(0.2):
                term = scalar(self.rng, candidates, column.term.kind)
                column = Column(self.fresh("k"), term)
            if column.name not in {key.name for key in keys.values()}:
                keys.setdefault(column.term.sql, column)
        return list(keys.values()) or [Column(self.fresh("k"), literal(self.rng, "string"))]

    def key_text(self, key: Column, columns: Sequence[Column]) -> str:
        generated = key.term.sql.split(".")[-1] != key.name
        if key not in columns:
            return key.term.sql
        position = str(columns.index(key) + 1)
        if not any(mark in key.term.sql for mark in (".", " ", "(")) and generated:
            return position
        options = [key.term.sql, key.term.sql, position]
        return self.rng.choice([*options, key.name] if generated else options)

    def post(self, value: Column) -> Column:
        """Return an expression over an aggregate."""
        term = value.term
        if term.kind in NUMBERS and self.chance(0.6):
            sql = self.rng.choice(("COALESCE({0}, 0)", "({0} + 1)", "({0} * 2)"))
            return replace(value, term=term.derived(sql.format(term.sql), bound=term.bound * 3))
        tail = f"CASE WHEN COUNT(*) > 2 THEN {term.sql} END"
        return replace(value, term=term.derived(tail))

    def having(
        self, scope: Sequence[Column], keys: Sequence[Column], values: Sequence[Column], depth: int
    ) -> str:
        if not self.chance(0.25):
            return ""
        roll = self.rng.random()
        plain = [key.term for key in keys if "." in key.term.sql and "(" not in key.term.sql]
        if roll < 0.15 and plain:
            test = compared(self.rng, self.rng.choice(plain), ())
            self.decides(test)
            return f" HAVING {test.sql}"
        self.exact = False
        seen = [value.term for value in values if not value.term.unstable]
        numbers = [term for term in seen if term.kind in NUMBERS]
        if roll < 0.3 and numbers and depth > 0:
            operator = self.rng.choice((">=", "<=", "<>"))
            return f" HAVING {self.rng.choice(numbers).sql} {operator} {self.scalar_subquery().sql}"
        if roll < 0.5 or not seen:
            comparison = self.rng.choice(("> 1", ">= 2", "< 4", "<> 2", ">= 1", "< 7"))
            return f" HAVING COUNT(*) {comparison}"
        value = self.rng.choice(seen) if self.chance(0.6) else self.aggregate(scope, True)
        first = compared(self.rng, value, seen).sql
        if self.chance(0.2):
            first = f"({first} OR COUNT(*) >= {self.rng.randint(1, 4)})"
        return f" HAVING {first}"

    def totals(self, source: _From, where: str) -> _Query:
        values = [
            Column(self.fresh("v"), self.aggregate(source.scope))
            for _ in range(self.rng.randint(1, 4))
        ]
        text = ", ".join(f"{value.term.sql} AS {value.name}" for value in values)
        having = ""
        if self.chance(0.08):
            self.exact = False
            having = f" HAVING COUNT(*) > {self.rng.randint(0, 3)}"
        return _Query(f"SELECT {text} {source.sql}{where}{having}", tuple(values), 1.0, True)


def main(arguments: Sequence[str]) -> None:
    """Print the database and the query of each seed given."""
    for argument in arguments:
        case = generate(int(argument))
        print(case.database)
        print()
        print(case.sql)


if __name__ == "__main__":
    main(sys.argv[1:])
