"""SELECT without grouping, and set operations."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from tests.oracle.expressions import Column, Term, scalar, stable
from tests.oracle.queries.draw import From, Query
from tests.oracle.queries.generators import Generators
from tests.oracle.queries.groupings import Groupings
from tests.oracle.queries.joins import Joins
from tests.oracle.queries.subqueries import Subqueries


class Selects(Joins, Subqueries, Generators, Groupings, ABC):
    """Draws queries: what :class:`~tests.oracle.queries.draw.Draw` calls by these names."""

    def query(self, depth: int, top: bool = False) -> Query:
        """Return a query: a SELECT or a set operation."""
        roll = self.rng.random()
        if roll < 0.13:
            return self._union(depth)
        if roll < 0.23:
            return self._difference(depth, top)
        return self._select(depth, top)

    def _union(self, depth: int) -> Query:
        branches = [self._select(max(depth - 1, 0))]
        kinds = [column.term.kind for column in branches[0].columns]
        branches += [self._typed(kinds) for _ in range(self.rng.choice((1, 1, 2)))]
        columns = tuple(
            Column(column.name, column.term.derived("", *(b.columns[i].term for b in branches[1:])))
            for i, column in enumerate(branches[0].columns)
        )
        distinct = self.chance(0.35) and not any(column.term.unstable for column in columns)
        if distinct:
            self.decides(*(column.term for column in columns))
        word = " UNION " if distinct else " UNION ALL "
        size = sum(branch.size for branch in branches)
        return Query(word.join(branch.sql for branch in branches), columns, size, distinct)

    def _difference(self, depth: int, top: bool) -> Query:
        """Return EXCEPT or INTERSECT of queries whose rows are often the same."""
        bag = self.chance(0.35 if top else 0.12)
        kinds = self.rng.choices(("int", "string", "boolean", "date", "decimal"), k=2)
        kinds = kinds[: self.rng.choice((1, 1, 2))]
        left = self._typed(kinds, depth)
        sql = left.sql
        for number in range(1 if bag else self.rng.choice((1, 1, 1, 2))):
            mark = len(self.read)
            right = self._typed(kinds, depth - 1)
            self.decides(*(column.term for column in (*left.columns, *right.columns)))
            word = self.rng.choice(("EXCEPT", "EXCEPT", "MINUS", "INTERSECT"))
            if word != "INTERSECT":
                self.subtracts(self.read[mark:])
            left_text = f"({sql})" if number else sql
            other = f"({right.sql})" if self.chance(0.2) else right.sql
            sql = f"{left_text} {word}{' ALL' * bag} {other}"
        columns = tuple(Column(c.name, c.term) for c in left.columns)
        return Query(sql, columns, left.size, not bag, bag)

    def _typed(self, kinds: Sequence[str], depth: int = 0) -> Query:
        """Return a query whose columns have these kinds."""
        depth = depth if depth > 0 and self.chance(0.3) else 0
        source = self.from_clause(depth, self.rng.choice((1, 1, 2)))
        items = [(self.fresh("c"), scalar(self.rng, source.scope, kind)) for kind in kinds]
        text = ", ".join(f"{term.sql} AS {name}" for name, term in items)
        columns = tuple(Column(name, term) for name, term in items)
        where = self.where(source, depth)
        return Query(f"SELECT {text} {source.text}{where}", columns, source.size)

    def _select(self, depth: int, top: bool = False) -> Query:
        if self.chance(0.05):
            source = self.collected(depth)
        else:
            source = self.from_clause(depth, self.rng.choice((1, 1, 2, 2, 2, 3)))
        if depth > 0 and self.chance(0.05):
            source = self.lateral(source)
        if self.chance(0.08):
            source = self.generated(source)
        where = self.where(source, depth)
        shape = self.rng.choices(
            ("plain", "star", "distinct", "group", "global", "generator", "window"),
            (33, 6, 12, 38, 8 if top else 3, 3, 12),
        )[0]
        if shape == "group":
            return self.grouped(source, where, depth)
        if shape == "global":
            return self.totals(source, where)
        names = [column.name for column in source.scope]
        unique = top or len(set(names)) == len(names)
        if shape == "star" and unique and not source.partial:
            return Query(f"SELECT * {source.text}{where}", source.scope, source.size)
        columns = self._items(source, depth, top)
        if shape == "generator":
            return self._exploded(source, where, columns)
        if shape == "window":
            return self._windowed(source, where, columns)
        distinct = shape == "distinct" and not any(column.term.unstable for column in columns)
        if distinct:
            self.decides(*(column.term for column in columns))
        text = ", ".join(self.item(column) for column in columns)
        word = "SELECT DISTINCT" if distinct else "SELECT"
        return Query(f"{word} {text} {source.text}{where}", columns, source.size, distinct)

    def _exploded(self, source: From, where: str, columns: tuple[Column, ...]) -> Query:
        """Return a SELECT with a generator in its list."""
        text, generated = self.selected(source.scope)
        items = [*map(self.item, columns), text]
        sql = f"SELECT {', '.join(items)} {source.text}{where}"
        return Query(sql, (*columns, *generated), source.size * 2)

    def _windowed(self, source: From, where: str, columns: tuple[Column, ...]) -> Query:
        """Return a SELECT with window functions in its list, and sometimes QUALIFY."""
        # Rows that agree on all columns are equal, if there are no others.
        whole = not source.partial and not any(c.term.unstable for c in source.scope)
        total = stable(source.scope) if whole else []
        drawn = [self.window(source.scope, total) for _ in range(self.rng.choice((1, 1, 2)))]
        windows = [Column(self.fresh("w"), term) for term in drawn if term is not None]
        items = ", ".join(map(self.item, (*columns, *windows)))
        qualify = self.qualified(self.window(source.scope, total)) if self.chance(0.35) else ""
        sql = f"SELECT {items} {source.text}{where}{qualify}"
        return Query(sql, (*columns, *windows), source.size)

    def _items(self, source: From, depth: int, top: bool) -> tuple[Column, ...]:
        chosen: list[Column] = []
        scope = source.scope
        for _ in range(self.rng.randint(1, 4)):
            if self.chance(0.6):
                column = self.rng.choice(scope)
                taken = column.name in {other.name for other in chosen}
                chosen.append(column if top or not taken else Column(self.fresh("c"), column.term))
            elif depth > 0 and self.chance(0.22):
                chosen.append(Column(self.fresh("c"), self._subquery_value(source)))
            else:
                kind = self.rng.choice(scope).term.kind
                term: Term = scalar(self.rng, scope, kind)
                chosen.append(Column(self.fresh("c"), term))
        return tuple(chosen)

    def _subquery_value(self, source: From) -> Term:
        """Return a subquery as a value: a scalar one, correlated or not, or a membership."""
        roll = self.rng.random()
        value = self.correlated_value(source) if roll < 0.4 else None
        if value is not None:
            return value
        return self.asked(source) if roll < 0.7 else self.scalar_subquery()
