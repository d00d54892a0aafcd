"""Window functions: over rows, over groups, and conditions on them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tests.oracle.expressions import INTEGERS, NUMBERS, Column, Term, stable
from tests.oracle.queries.draw import Draw

_FRAMES: Final = (
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)
_DISTANCES: Final = (
    "RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING",
)


class Windows(Draw, ABC):
    """Draws window functions."""

    def window(self, scope: Sequence[Column], total: Sequence[Term]) -> Term | None:
        """Return a window function over rows of a scope; None where there is nothing to order by.

        Parameters
        ----------
        total
            What rows are sorted by where their order matters: rows that agree on it are equal.
            Empty: nothing may depend on the order.
        """
        terms = stable(scope)
        if not terms:
            return None
        partition = self.rng.sample(terms, min(len(terms), self.rng.choice((0, 1, 1, 1, 2))))
        roll = self.rng.random()
        if roll < 0.3:
            name = self.rng.choice(("RANK", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"))
            real = name in ("PERCENT_RANK", "CUME_DIST")
            ranking = Term(f"{name}()", "double" if real else "int", 1e4, inexact=real)
            return self._over(ranking, partition, self._order([self.rng.choice(terms)]))
        if roll < 0.65 and total:
            return self._in_order(terms, partition, total)
        return self._aggregated(terms, partition, total)

    def _in_order(
        self, terms: Sequence[Term], partition: Sequence[Term], total: Sequence[Term]
    ) -> Term:
        """Return a function of the order of rows."""
        order = self._order(self.rng.sample(list(total), len(total)))
        value = self.rng.choice(terms)
        name = self.rng.choice(("number", "number", "ntile", "offset", "offset", "value", "value"))
        if name in ("number", "ntile"):
            text = "ROW_NUMBER()" if name == "number" else f"NTILE({self.rng.choice((1, 2, 3))})"
            return self._over(Term(text, "int", 1e4), partition, order)
        nulls = self.rng.choice(("", "", " IGNORE NULLS"))
        if name == "offset":
            distance = self.rng.choice(("", ", 1", ", 2"))
            call = f"{self.rng.choice(('LAG', 'LEAD'))}({value.sql}{distance}){nulls}"
            return self._over(value.derived(call), partition, order)
        call = self.rng.choice(("FIRST_VALUE({})", "LAST_VALUE({})", "NTH_VALUE({}, 2)"))
        frame = self.rng.choice(_FRAMES[:4])
        function = value.derived(call.format(value.sql) + nulls)
        return self._over(function, partition, f"{order} {frame}")

    def _aggregated(
        self, terms: Sequence[Term], partition: Sequence[Term], total: Sequence[Term]
    ) -> Term:
        """Return an aggregate over a frame."""
        name = self.rng.choice(("COUNT", "SUM", "SUM", "MIN", "MAX"))
        numbers = [term for term in terms if term.kind in NUMBERS and not term.inexact]
        value = self.rng.choice(terms)
        aggregate = value.derived(f"{name}({value.sql})")
        if name == "COUNT":
            text = self.rng.choice(("COUNT(*)", aggregate.sql))
            aggregate = Term(text, "bigint", 1e4)
        elif name == "SUM":
            value = self.rng.choice(numbers) if numbers else Term("1", "int", 1.0)
            kind = "bigint" if value.kind in INTEGERS else value.kind
            aggregate = value.derived(f"SUM({value.sql})", kind=kind, bound=value.bound * 1e4)
        roll = self.rng.random()
        if roll < 0.45:
            return self._over(aggregate, partition, "")
        integers = [term for term in terms if term.kind in INTEGERS]
        if roll < 0.6 and integers:
            frame = self.rng.choice(_DISTANCES)
            return self._over(
                aggregate, partition, f"ORDER BY {self.rng.choice(integers).sql} {frame}"
            )
        if total and roll < 0.85:
            order = self._order(self.rng.sample(list(total), len(total)))
            return self._over(aggregate, partition, f"{order} {self.rng.choice(_FRAMES)}")
        frame = self.rng.choice(("", f" {_FRAMES[4]}", f" {_FRAMES[5]}"))
        return self._over(aggregate, partition, self._order([self.rng.choice(terms)]) + frame)

    def _order(self, terms: Sequence[Term]) -> str:
        direction = (
            term.sql + self.rng.choice(("", "", " DESC", " DESC NULLS FIRST", " NULLS LAST"))
            for term in terms
        )
        return f"ORDER BY {', '.join(direction)}"

    def _over(self, function: Term, partition: Sequence[Term], order: str) -> Term:
        by = f"PARTITION BY {', '.join(term.sql for term in partition)}" if partition else ""
        inside = " ".join(part for part in (by, order) if part)
        return replace(function, sql=f"{function.sql} OVER ({inside})", aggregated=True)

    def qualified(self, term: Term | None) -> str:
        """Return a QUALIFY clause on a window function, or nothing."""
        if term is None or term.kind not in INTEGERS:
            return ""
        self.exact = False
        operator = self.rng.choice(("<=", "=", ">", "<>"))
        return f" QUALIFY {term.sql} {operator} {self.rng.choice((1, 1, 2, 3))}"
