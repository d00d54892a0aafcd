"""WHERE: predicates, and the subqueries of [NOT] IN, [NOT] EXISTS and of comparisons."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tests.oracle.expressions import NUMBERS, Column, Term, compared, predicate, stable
from tests.oracle.queries.draw import SMALL, From, Table
from tests.oracle.queries.tables import Tables

_OPERATORS: Final = ("<", "<=", ">", ">=", "<>", "<=>")


class Conditions(Tables, ABC):
    """Draws WHERE clauses."""

    def where(self, source: From, depth: int) -> str:
        """Return a WHERE clause, or nothing."""
        conjuncts = list(source.conjuncts)
        if self.chance(0.35):
            test = predicate(self.rng, source.scope, 1)
            self.decides(test)
            conjuncts.append(test.sql)
        if depth > 0 and self.chance(0.28):
            conjuncts.append(self._subquery(source))
        if depth > 0 and self.chance(0.06):
            conjuncts.append(self.compared_value(source))
        return f" WHERE {' AND '.join(conjuncts)}" if conjuncts else ""

    def _subquery(self, source: From) -> str:
        """Return a conjunct with a subquery: [NOT] IN, [NOT] EXISTS or a comparison."""
        if not self.chance(0.15):
            return self.membership(source)
        numbers = stable(source.scope, NUMBERS)
        if not numbers:
            return "TRUE"
        value = self.scalar_subquery()
        self.exact = False
        operator = self.rng.choice(("<=", ">=", "<>"))
        return f"{self.rng.choice(numbers).sql} {operator} {value.sql}"

    @abstractmethod
    def compared_value(self, source: From) -> str:
        """Return a condition on a correlated scalar subquery."""

    def membership(self, source: From) -> str:
        """Return [NOT] IN or [NOT] EXISTS, sometimes in a condition, not as a conjunct."""
        scope = source.scope
        negated = self.chance(0.5)
        table = self.table(1 if self.chance(0.2) else 0)
        pair = self.pair(scope, table.scope)
        if pair is None:
            return "TRUE"
        if negated:
            self.subtracts(table.reads)
        self.decides(*pair)
        grouped = self.chance(0.22)
        conjuncts = self._correlated(source, table)
        if self.chance(0.25):
            test = predicate(self.rng, table.scope, 0)
            self.decides(test)
            conjuncts.append(test.sql)
        ask = self._exists if self.chance(0.5) else self._in
        membership = ask(source, table, pair, conjuncts, negated, grouped)
        return self._among(membership, source, table) if self.chance(0.3) else membership

    def _among(self, membership: str, source: From, table: Table) -> str:
        """Return a condition in which a subquery is not a conjunct."""
        test = predicate(self.rng, source.scope, 0)
        self.decides(test)
        self.subtracts(table.reads)
        return self.rng.choice(
            (
                f"({membership} OR {test.sql})",
                f"NOT ({membership} AND {test.sql})",
                f"CASE WHEN {test.sql} THEN {membership} ELSE {test.sql} IS NULL END",
            )
        )

    def _correlated(self, source: From, table: Table) -> list[str]:
        """Return conditions between the outer and the inner row."""
        conjuncts: list[str] = []
        if self.chance(0.3):
            other = self.pair(source.scope, table.scope)
            if other is not None:
                small = source.size * table.size < SMALL
                operator = self.rng.choice(_OPERATORS) if small and self.chance(0.5) else "="
                self.decides(*other)
                conjuncts.append(f"{other[1].sql} {operator} {other[0].sql}")
        return conjuncts

    def _in(
        self,
        source: From,
        table: Table,
        pair: tuple[Term, Term],
        conjuncts: list[str],
        negated: bool,
        grouped: bool,
    ) -> str:
        outer, member = pair
        word = "NOT IN" if negated else "IN"
        second = self.pair(source.scope, table.scope) if self.chance(0.15) else None
        if second is not None and not grouped:
            self.decides(*second)
            members = f"{member.sql}, {second[1].sql}"
            subquery = self.subselect(members, table, conjuncts)
            return f"({outer.sql}, {second[0].sql}) {word} ({subquery})"
        if self.chance(0.3 if negated else 0.0):
            # Without NULLs on either side, NOT IN is what most people think it is.
            conjuncts = [*conjuncts, f"{member.sql} IS NOT NULL"]
        tail = self._tail(table.scope, member, grouped)
        return f"{outer.sql} {word} ({self.subselect(member.sql, table, conjuncts, tail)})"

    def _exists(
        self,
        source: From,
        table: Table,
        pair: tuple[Term, Term],
        conjuncts: list[str],
        negated: bool,
        grouped: bool,
    ) -> str:
        outer, member = pair
        word = "NOT EXISTS" if negated else "EXISTS"
        operator = "="
        if not grouped and source.size * table.size < SMALL and self.chance(0.3):
            operator = self.rng.choice(_OPERATORS)
        first = f"{member.sql} {operator} {outer.sql}"
        if operator != "=" and self.chance(0.3):
            other = predicate(self.rng, table.scope, 0)
            self.decides(other)
            first = f"({first} OR {other.sql})"
        conjuncts = [first, *conjuncts]
        head = member.sql if grouped else self.rng.choice(("1", "*", member.sql))
        tail = self._tail(table.scope, member, grouped)
        return f"{word} ({self.subselect(head, table, conjuncts, tail)})"

    def _tail(self, scope: Sequence[Column], key: Term, grouped: bool) -> str:
        if not grouped:
            return ""
        self.exact = False
        value = self.aggregate(scope, stable_only=True)
        return f" GROUP BY {key.sql} HAVING {compared(self.rng, value, ()).sql}"

    def scalar_subquery(self) -> Term:
        """Return a subquery of one row: an aggregate without GROUP BY."""
        table = self.table(0)
        numbers = stable(table.scope, NUMBERS)
        value = self.aggregate(table.scope, stable_only=True)
        if value.kind not in NUMBERS and numbers:
            number = self.rng.choice(numbers)
            value = replace(number, sql=f"MAX({number.sql})", aggregated=True)
        elif value.kind not in NUMBERS:
            value = Term("COUNT(*)", "bigint", aggregated=True)
        where = ""
        if self.chance(0.4):
            test = predicate(self.rng, table.scope, 0)
            self.decides(test)
            where = f" WHERE {test.sql}"
        return replace(value, sql=f"(SELECT {value.sql} FROM {table.sql}{where})")
