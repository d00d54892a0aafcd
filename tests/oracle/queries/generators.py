"""explode and its kin: arrays made of a row, and arrays that a grouping has collected."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tests.oracle.expressions import INTEGERS, Column, Term, literal, predicate, stable
from tests.oracle.queries.draw import SMALL, From
from tests.oracle.queries.tables import Tables

_COUNT: Final = Term("", "int", 4.0)
_ORDERED: Final = frozenset({"int", "bigint", "string", "date", "decimal"})
"""Kinds whose equal values look alike, so that a sorted or distinct array is one value."""


class Generators(Tables, ABC):
    """Draws generators: LATERAL VIEW, LATERAL, and those of the select list."""

    def generated(self, source: From) -> From:
        """Return a FROM clause whose rows are taken apart by a generator."""
        call, columns = self._generator(source.scope)
        alias = self.fresh("g")
        columns = [column.referred(f"{alias}.{column.name}") for column in columns]
        names = ", ".join(column.name for column in columns)
        scope, size = (*source.scope, *columns), min(source.size * 2, SMALL)
        if not source.views and self.chance(0.2):
            sql = f"{source.sql}, LATERAL {call} AS {alias}({names})"
            return replace(source, sql=sql, scope=scope, size=size)
        word = self.rng.choice(("LATERAL VIEW", "LATERAL VIEW", "LATERAL VIEW OUTER"))
        view = f" {word} {call} {alias} AS {names}"
        return replace(source, views=source.views + view, scope=scope, size=size)

    def selected(self, scope: Sequence[Column]) -> tuple[str, tuple[Column, ...]]:
        """Return an item of the select list that is a generator, and its columns."""
        call, columns = self._generator(scope)
        names = [column.name for column in columns]
        text = names[0] if len(names) == 1 else f"({', '.join(names)})"
        return f"{call} AS {text}", tuple(columns)

    def collected(self, depth: int) -> From:
        """Return the groups of a query with an array of their members, taken apart again."""
        source = self.from_clause(max(depth - 1, 0), self.rng.choice((1, 1, 2)))
        where = self.where(source, 0)
        keys = self.rng.sample(terms := stable(source.scope), min(len(terms), 2))[:1]
        values = stable(source.scope, _ORDERED)
        if not keys or not values or source.size > SMALL:
            return source
        key, value = keys[0], self.rng.choice(values)
        self.decides(key, value)
        alias, group = self.fresh("q"), self.fresh("k")
        items, having = [f"{key.sql} AS {group}"], ""
        scope = [Column(group, replace(key, sql=f"{alias}.{group}"))]
        call, fields = self._collection(source.scope, value)
        array = self.fresh("v")
        items.append(f"{call} AS {array}")
        if self.chance(0.4):
            count = self.fresh("v")
            items.append(f"COUNT(*) AS {count}")
            scope.append(Column(count, Term(f"{alias}.{count}", "bigint", 1e4, aggregated=True)))
        if self.chance(0.2):
            self.exact = False
            having = f" HAVING COUNT(*) {self.rng.choice(('> 1', '< 4', '>= 2'))}"
        sql = f"SELECT {', '.join(items)} {source.text}{where} GROUP BY {key.sql}{having}"
        groups = From(f"FROM ({sql}) {alias}", tuple(scope), source.size, partial=True)
        return self._taken_apart(groups, f"{alias}.{array}", fields, call)

    def _collection(self, scope: Sequence[Column], value: Term) -> tuple[str, tuple[Term, ...]]:
        """Return an aggregate that collects, and the fields of its elements."""
        roll = self.rng.random()
        if roll < 0.3:
            other = self.rng.choice(stable(scope, _ORDERED))
            call = f"COLLECT_LIST(STRUCT({value.sql} AS p, {other.sql} AS s))"
            return call, (value, other)
        if roll < 0.55:
            return f"COLLECT_SET({value.sql})", (value,)
        if roll < 0.7:
            return f"SORT_ARRAY(COLLECT_LIST({value.sql}))", (value,)
        call = f"COLLECT_LIST({value.sql})"
        if self.chance(0.2):
            test = predicate(self.rng, scope, 0)
            self.decides(test)
            call += f" FILTER (WHERE {test.sql})"
        return call, (value,)

    def _taken_apart(self, source: From, array: str, fields: Sequence[Term], call: str) -> From:
        alias = self.fresh("g")
        columns = []
        for field in fields:
            name = self.fresh("x")
            columns.append(Column(name, replace(field, sql=f"{alias}.{name}")))
        name = "INLINE" if len(fields) > 1 else "EXPLODE"
        if call.startswith("SORT_ARRAY") and self.chance(0.5):
            name = "POSEXPLODE"
            position = self.fresh("x")
            counted = replace(_COUNT, sql=f"{alias}.{position}", bound=1e4, aggregated=True)
            columns.insert(0, Column(position, counted))
        outer = " OUTER" if self.chance(0.25) else ""
        if call.startswith("SORT_ARRAY") or outer:
            columns = [replace(c, term=replace(c.term, aggregated=True)) for c in columns]
            self.exact = False
        names = ", ".join(column.name for column in columns)
        view = f" LATERAL VIEW{outer} {name}({array}) {alias} AS {names}"
        return replace(source, scope=(*source.scope, *columns), views=source.views + view)

    # Arrays of a row

    def _generator(self, scope: Sequence[Column]) -> tuple[str, list[Column]]:
        """Return a call of a generator over a row, and its columns, not yet qualified."""
        roll = self.rng.random()
        if roll < 0.2:
            array, terms = self._structs(scope)
            return f"INLINE({array})", [self._column(term) for term in terms]
        if roll < 0.3:
            mapping, term = self._map(scope)
            key = Term("", "string")
            return f"EXPLODE({mapping})", [self._column(key), self._column(term)]
        array, term = self._array(scope)
        if roll < 0.45:
            return f"POSEXPLODE({array})", [self._column(_COUNT), self._column(term)]
        return f"EXPLODE({array})", [self._column(term)]

    def _column(self, term: Term) -> Column:
        name = self.fresh("x")
        return Column(name, replace(term, sql=name))

    def _array(self, scope: Sequence[Column]) -> tuple[str, Term]:
        """Return an array over a row, sometimes empty or NULL, and what its elements are."""
        strings, integers = stable(scope, frozenset({"string"})), stable(scope, INTEGERS)
        roll = self.rng.random()
        if strings and roll < 0.2:
            term = self.rng.choice(strings)
            self.decides(term)
            return f"SPLIT({term.sql}, '{self.rng.choice(('b', ' ', ''))}')", term
        if integers and roll < 0.4:
            term = self.rng.choice(integers)
            self.decides(term)
            array = f"SEQUENCE(0, CAST(ABS({term.sql}) % 3 AS INT))"
            return array, term.derived("", kind="int", bound=3)
        terms = stable(scope) or [literal(self.rng, "int")]
        term = self.rng.choice(terms)
        same = [other for other in terms if other.kind == term.kind]
        members = [term, self.rng.choice([*same, literal(self.rng, term.kind)])]
        if self.chance(0.3):
            members.append(literal(self.rng, term.kind))
        array = f"ARRAY({', '.join(member.sql for member in members)})"
        element = term.derived("", *members[1:])
        if self.chance(0.25):
            test = predicate(self.rng, scope, 0)
            self.decides(test)
            absent = self.rng.choice(("NULL", f"SLICE({array}, 1, 0)"))
            array = f"CASE WHEN {test.sql} THEN {array} ELSE {absent} END"
        return array, element

    def _structs(self, scope: Sequence[Column]) -> tuple[str, tuple[Term, Term]]:
        terms = stable(scope) or [literal(self.rng, "int")]
        first, second = self.rng.choice(terms), self.rng.choice(terms)
        structs = [f"STRUCT({first.sql} AS p, {second.sql} AS s)"]
        literals = [literal(self.rng, first.kind), literal(self.rng, second.kind)]
        if self.chance(0.7) and {first.kind, second.kind} <= {"int", "string", "date", "boolean"}:
            structs.append(f"NAMED_STRUCT('p', {literals[0].sql}, 's', {literals[1].sql})")
        return f"ARRAY({', '.join(structs)})", (first, second)

    def _map(self, scope: Sequence[Column]) -> tuple[str, Term]:
        terms = stable(scope) or [literal(self.rng, "int")]
        term = self.rng.choice(terms)
        other = self.rng.choice([other for other in terms if other.kind == term.kind])
        return f"MAP('p', {term.sql}, 's', {other.sql})", term.derived("", other)
