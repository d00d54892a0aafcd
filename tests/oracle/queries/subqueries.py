"""Subqueries as values of a row, and LATERAL: what is asked anew for every row."""

from __future__ import annotations

from abc import ABC
from dataclasses import replace

from tests.oracle.expressions import INTEGERS, NUMBERS, Column, Term, predicate, stable
from tests.oracle.queries.conditions import Conditions
from tests.oracle.queries.draw import SMALL, From, Table

_OPERATORS = ("=", "=", "=", "<=>", "<", ">=", "<>")


class Subqueries(Conditions, ABC):
    """Draws subqueries that depend on the row they are asked for."""

    def asked(self, source: From) -> Term:
        """Return [NOT] IN or [NOT] EXISTS as a value of a row."""
        return Term(f"({self.membership(source)})", "boolean", aggregated=True)

    def correlated_value(self, source: From) -> Term | None:
        """Return a correlated scalar subquery; None where there is nothing to correlate by."""
        table = self.table(1 if self.chance(0.2) else 0)
        link = self._link(source, table)
        if link is None:
            return None
        value = self.aggregate(table.scope, stable_only=True)
        where = [link]
        if self.chance(0.3):
            where.append(predicate(self.rng, table.scope, 0).sql)
        self.subtracts(table.reads)
        sql = f"({self.subselect(value.sql, table, where)})"
        return replace(value, sql=sql, aggregated=True)

    def compared_value(self, source: From) -> str:
        """Return a condition on a correlated scalar subquery."""
        value = self.correlated_value(source)
        numbers = stable(source.scope, NUMBERS)
        self.exact = False
        if value is None or not numbers or value.kind not in NUMBERS:
            return "TRUE"
        operator = self.rng.choice(("<=", ">=", "<>", "<", "="))
        return f"{self.rng.choice(numbers).sql} {operator} {value.sql}"

    def lateral(self, source: From) -> From:
        """Return a FROM clause joined with a subquery that reads its columns."""
        table = self.table(0)
        link = self._link(source, table)
        if link is None or source.views or source.size * table.size > SMALL:
            return source
        alias = self.fresh("l")
        tail, items = "", []
        if self.chance(0.5):
            values = [self.aggregate(table.scope, stable_only=True) for _ in range(2)]
            outputs = [Column(self.fresh("v"), value) for value in values]
            key = stable(table.scope)
            if key and self.chance(0.4):
                outputs.append(Column(self.fresh("k"), self.rng.choice(key)))
                tail = f" GROUP BY {outputs[-1].term.sql}"
                self.decides(outputs[-1].term)
        else:
            picked = [self.rng.choice(table.scope) for _ in range(self.rng.choice((1, 2)))]
            outputs = [Column(self.fresh("c"), column.term) for column in picked]
        items = [f"{column.term.sql} AS {column.name}" for column in outputs]
        inner = self.subselect(", ".join(items), table, [link], tail)
        scope = tuple(column.referred(f"{alias}.{column.name}") for column in outputs)
        size = min(source.size * max(table.size / 6, 1), SMALL)
        if self.chance(0.35):
            self.subtracts(table.reads)
            condition = predicate(self.rng, scope, 0)
            self.decides(condition)
            on = self.rng.choice(("TRUE", condition.sql))
            sql = f"{source.sql} LEFT JOIN LATERAL ({inner}) AS {alias} ON {on}"
        else:
            separator = self.rng.choice((", ", " JOIN ", " CROSS JOIN "))
            sql = f"{source.sql}{separator}LATERAL ({inner}) AS {alias}"
        return replace(source, sql=sql, scope=(*source.scope, *scope), size=size)

    def _link(self, source: From, table: Table) -> str | None:
        """Return a condition between a row and those of a table."""
        pair = self.pair(source.scope, table.scope)
        if pair is None:
            return None
        operator = self.rng.choice(_OPERATORS)
        if source.size * table.size > SMALL and operator not in ("=", "<=>"):
            operator = "="
        self.decides(*pair)
        link = f"{pair[1].sql} {operator} {pair[0].sql}"
        integers = stable(source.scope, INTEGERS), stable(table.scope, INTEGERS)
        if all(integers) and operator in ("=", "<=>") and self.chance(0.2):
            outer, inner = (self.rng.choice(terms) for terms in integers)
            self.decides(outer, inner)
            link += f" AND {inner.sql} {self.rng.choice(('<', '>=', '<>'))} {outer.sql}"
        return link
