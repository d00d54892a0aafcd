"""Whole statements: CTEs, a query, ORDER BY and LIMIT."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.queries.draw import Cte, Query
from tests.oracle.queries.pipes import Pipes
from tests.oracle.queries.recursions import Recursions
from tests.oracle.queries.selects import Selects
from tests.oracle.rows import OrderKey


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, and what is known of it; see :class:`tests.oracle.generator.Case`."""

    sql: str
    exact: bool | None
    grouping: bool
    order: tuple[OrderKey, ...]
    compared: tuple[str, ...]
    subtracted: tuple[str, ...]


class Statements(Selects, Recursions, Pipes):
    """Draws one statement."""

    def statement(self) -> Statement:
        """Return the statement."""
        named: list[str] = []
        recursive = self.recursion() if self.chance(0.05) else None
        if recursive is not None:
            self.ctes.append(recursive[0])
            named.append(recursive[1])
        for _ in range(self.rng.choice((0, 0, 0, 0, 1, 1, 2))):
            mark = len(self.read)
            query = self.query(1)
            cte = Cte(self.fresh("cte"), query, frozenset(self.read[mark:]))
            named.append(f"{cte.name} AS ({query.sql})")
            self.ctes.append(cte)
        query = self.query(self.rng.choice((1, 2, 2, 3)), top=True)
        if self.chance(0.06):
            query = self.piped(query)
        sql, order = self._ordered(query)
        if named:
            word = "WITH RECURSIVE" if recursive is not None else "WITH"
            sql = f"{word} {', '.join(named)} {sql}"
        return Statement(
            sql,
            True if self.exact else None,
            query.grouping,
            order,
            () if self.exact else tuple(sorted(set(self.read))),
            tuple(sorted(self.subtracted)),
        )

    def _ordered(self, query: Query) -> tuple[str, tuple[OrderKey, ...]]:
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
        pipe = " |>" if " |> " in query.sql else ""
        sql = f"{query.sql}{pipe} ORDER BY {', '.join(texts)}"
        if total and not query.bag:
            self.exact = False
            sql += f"{pipe} LIMIT {self.rng.choice((1, 2, 3, 5, 10))}"
            sql += f" OFFSET {self.rng.choice((1, 2))}" if self.chance(0.25) else ""
        return sql, tuple(keys)
