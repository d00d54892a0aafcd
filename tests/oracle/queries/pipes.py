"""Queries with pipes: |> WHERE, EXTEND, SELECT, AGGREGATE, JOIN, UNION ALL and others."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import replace

from tests.oracle.expressions import Column, predicate, scalar, stable
from tests.oracle.queries.draw import Draw, Query


class Pipes(Draw, ABC):
    """Draws pipe operators after a query."""

    def piped(self, query: Query) -> Query:
        """Return a query with a few operators after it; it itself where names are not unique."""
        names = [column.name for column in query.columns]
        if len(set(names)) < len(names) or query.bag:
            return query
        columns = tuple(column.referred(column.name) for column in query.columns)
        piped = replace(query, columns=columns, sql=f"FROM ({query.sql}) {self.fresh('q')}")
        for _ in range(self.rng.choice((1, 2, 2, 3))):
            operators: tuple[Callable[[Query], Query], ...] = (
                self._then_where,
                self._then_extend,
                self._then_selected,
                self._then_aggregated,
                self._then_united,
                self._then_joined,
            )
            piped = self.rng.choice(operators)(piped)
        return piped

    def _then_where(self, query: Query) -> Query:
        test = predicate(self.rng, query.columns, 1)
        self.decides(test)
        return replace(query, sql=f"{query.sql} |> WHERE {test.sql}", grouping=False)

    def _then_extend(self, query: Query) -> Query:
        term = scalar(self.rng, query.columns, self.rng.choice(query.columns).term.kind)
        name = self.fresh("c")
        extension = Column(name, term).referred(name)
        sql = f"{query.sql} |> EXTEND {term.sql} AS {name}"
        return replace(query, sql=sql, columns=(*query.columns, extension))

    def _then_selected(self, query: Query) -> Query:
        chosen = self.rng.sample(query.columns, self.rng.randint(1, len(query.columns)))
        listed = ", ".join(column.name for column in chosen)
        distinct = self.chance(0.3) and not any(column.term.unstable for column in chosen)
        if distinct:
            self.decides(*(column.term for column in chosen))
        sql = f"{query.sql} |> SELECT {'DISTINCT ' * distinct}{listed}"
        return replace(query, sql=sql, columns=tuple(chosen), grouping=distinct)

    def _then_aggregated(self, query: Query) -> Query:
        keys = stable(query.columns)
        value = Column(self.fresh("v"), self.aggregate(query.columns))
        text = f"{query.sql} |> AGGREGATE {value.term.sql} AS {value.name}"
        if not keys:
            return replace(query, sql=text, columns=(value.referred(value.name),), grouping=True)
        key = self.rng.choice([column for column in query.columns if not column.term.unstable])
        self.decides(key.term)
        sql = f"{text} GROUP BY {key.name}"
        return replace(query, sql=sql, columns=(key, value.referred(value.name)), grouping=True)

    def _then_united(self, query: Query) -> Query:
        table = self.table(0)
        terms = [scalar(self.rng, table.scope, column.term.kind) for column in query.columns]
        listed = ", ".join(term.sql for term in terms)
        sql = f"{query.sql} |> UNION ALL (SELECT {listed} FROM {table.sql})"
        columns = tuple(
            Column(column.name, column.term.derived(column.name, term))
            for column, term in zip(query.columns, terms, strict=True)
        )
        return replace(
            query, sql=sql, columns=columns, grouping=False, size=query.size + table.size
        )

    def _then_joined(self, query: Query) -> Query:
        """Join with the keys of a relation, so that the columns stay those of the left side."""
        table = self.table(0)
        alias = self.fresh("q")
        left = tuple(column.referred(f"{alias}.{column.name}") for column in query.columns)
        pair = self.pair(left, table.scope)
        if pair is None:
            return query
        self.decides(*pair)
        word = self.rng.choice(("LEFT SEMI JOIN", "LEFT ANTI JOIN", "JOIN", "LEFT JOIN"))
        if word in ("LEFT ANTI JOIN", "LEFT JOIN"):
            self.subtracts(table.reads)
        listed = ", ".join(f"{alias}.{column.name}" for column in query.columns)
        sql = (
            f"{query.sql} |> AS {alias} |> {word} {table.sql} ON {pair[0].sql} = {pair[1].sql}"
            f" |> SELECT {listed}"
        )
        return replace(query, sql=sql, grouping=False)
