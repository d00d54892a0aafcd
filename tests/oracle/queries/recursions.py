"""WITH RECURSIVE: steps along the columns of a relation, a few of them."""

from __future__ import annotations

from abc import ABC
from typing import Final

from tests.oracle.expressions import INTEGERS, Column, Term, stable
from tests.oracle.queries.draw import Cte, Query, Table
from tests.oracle.queries.tables import Tables

_STEPS: Final = 2
"""So many steps from a first row; another one finds nothing."""


class Recursions(Tables, ABC):
    """Draws recursive CTEs."""

    def recursion(self) -> tuple[Cte, str] | None:
        """Return a recursive CTE and its definition; None where no column leads to another."""
        mark = len(self.read)
        first, then = self.table(0), self.table(0)
        here = stable(first.scope, INTEGERS)
        there = [t for t in stable(then.scope, INTEGERS) if "(" not in t.sql]
        if not here or len(there) < 2 or first.size * then.size > 400:
            return None
        name, at, steps = (self.fresh(prefix) for prefix in ("rec", "i", "d"))
        start = self.rng.choice(here)
        by, to = self.rng.sample(there, 2)
        # A recursive term has the types of the first one.
        kind = "BIGINT" if "bigint" in (start.kind, to.kind) else "INT"
        seed = (
            f"SELECT CAST({start.sql} AS {kind}) AS {at}, 0 AS {steps} FROM {first.sql}"
            f" WHERE {start.sql} > {self.rng.choice((1, 2, 3))}"
        )
        step = self._step(name, at, steps, then, by, f"CAST({to.sql} AS {kind})")
        self.decides(start, by, to)
        self.exact = False
        text = (
            f"{name}({at}, {steps}) MAX RECURSION LEVEL {_STEPS + 2} AS ({seed} UNION ALL {step})"
        )
        columns = (
            Column(at, Term(at, kind.lower(), max(start.bound, to.bound))),
            Column(steps, Term(steps, "int", _STEPS + 1.0)),
        )
        size = first.size * max(then.size / 6, 1) ** _STEPS
        return Cte(name, Query("", columns, size), frozenset(self.read[mark:])), text

    def _step(self, name: str, at: str, steps: str, then: Table, by: Term, to: str) -> str:
        word = self.rng.choice((", ", " JOIN "))
        condition = f"{name}.{at} = {by.sql}"
        tail = f" ON {condition} WHERE" if word == " JOIN " else f" WHERE {condition} AND"
        distinct = self.rng.choice(("", "", "DISTINCT "))
        return (
            f"SELECT {distinct}{to}, {name}.{steps} + 1 FROM {name}{word}{then.sql}{tail}"
            f" {name}.{steps} < {_STEPS}"
        )
