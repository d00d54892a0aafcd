"""Aggregate calls: those with a tensor, and those computed anew from their group's bag."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tests.oracle.expressions import INTEGERS, NUMBERS, Column, Term, predicate, scalar, stable
from tests.oracle.queries.draw import Draw

_COUNT: Final = Term("COUNT(*)", "bigint", 1e4)
_ALIKE: Final = frozenset({"int", "bigint", "string", "date", "boolean"})
"""Kinds whose values have one text each."""


class Aggregates(Draw, ABC):
    """Draws aggregate calls."""

    def aggregate(self, scope: Sequence[Column], stable_only: bool = False) -> Term:
        """Return an aggregate call over a scope, sometimes filtered."""
        while True:
            recomputed = self.chance(0.18)
            term = self._recomputed(scope) if recomputed else self._monoid(scope)
            if not (stable_only and term.unstable):
                break
        wrapped = recomputed and term.sql.startswith(("SIZE", "CONCAT_WS"))
        if self.chance(0.2) and not wrapped:
            test = predicate(self.rng, scope, 0)
            self.decides(test)
            term = term.derived(f"{term.sql} FILTER (WHERE {test.sql})", test)
        return replace(term, aggregated=True)

    def _monoid(self, scope: Sequence[Column]) -> Term:
        name = self.rng.choice(
            ("count", "count", "sum", "sum", "sum", "min", "max", "avg", "distinct")
        )
        plain = stable(scope)
        if name == "count" or not plain:
            columns = [term.sql for term in self.rng.sample(plain, min(2, len(plain)))]
            items = self.rng.choice(("*", "*", columns[0], ", ".join(columns))) if plain else "*"
            return replace(_COUNT, sql=f"COUNT({items})")
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
            return replace(_COUNT, sql=f"COUNT(DISTINCT {argument.sql})")
        numbers = stable(scope, NUMBERS)
        if not numbers:
            return _COUNT
        argument = scalar(
            self.rng, [c for c in scope if not c.term.unstable], self.rng.choice(numbers).kind
        )
        kind = "double" if name == "avg" else "bigint"
        kind = argument.kind if argument.kind in ("double", "decimal") else kind
        bound = argument.bound if name == "avg" else argument.bound * 100
        aggregate = argument.derived(f"{name.upper()}({argument.sql})", kind=kind, bound=bound)
        return replace(
            aggregate,
            inexact=argument.inexact or (name == "avg" and kind == "double"),
            unstable=argument.inexact,
        )

    def _recomputed(self, scope: Sequence[Column]) -> Term:
        """Return an aggregate that is not a monoid: only the bag of what it collects shows."""
        name = self.rng.choice(
            ("condition", "condition", "bits", "median", "spread", "list", "try", "both", "one")
        )
        integers, alike = stable(scope, INTEGERS), stable(scope, _ALIKE)
        if name == "one" and alike:
            return self._chosen(self.rng.choice(alike), integers)
        if name == "list" and alike:
            term = self.rng.choice(alike)
            if self.chance(0.5):
                return replace(_COUNT, sql=f"SIZE(COLLECT_SET({term.sql}))", kind="int")
            text = f"TRANSFORM(SORT_ARRAY(COLLECT_LIST({term.sql})), x -> CAST(x AS STRING))"
            return term.derived(f"CONCAT_WS(',', {text})", kind="string")
        if name == "bits" and integers:
            term = self.rng.choice(integers)
            word = self.rng.choice(("BIT_AND", "BIT_OR", "BIT_XOR"))
            return term.derived(f"{word}({term.sql})", bound=max(2 * term.bound, 1.0))
        if name == "median" and integers:
            term = self.rng.choice(integers)
            call = self.rng.choice(("MEDIAN({})", "PERCENTILE({}, 0.25)"))
            return replace(term.derived(call.format(term.sql), kind="double"), inexact=True)
        if name == "try" and integers:
            term = self.rng.choice(integers)
            if self.chance(0.5):
                return term.derived(f"TRY_SUM({term.sql})", kind="bigint", bound=term.bound * 100)
            aggregate = term.derived(f"TRY_AVG({term.sql})", kind="double")
            return replace(aggregate, inexact=True)
        if name == "both" and integers:
            first, other = self.rng.choice(integers), self.rng.choice(integers)
            word = self.rng.choice(("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_COUNT"))
            if word == "REGR_COUNT":
                return replace(_COUNT, sql=f"{word}({first.sql}, {other.sql})")
            bound = first.bound * other.bound
            aggregate = first.derived(
                f"{word}({first.sql}, {other.sql})", other, kind="double", bound=bound
            )
            return replace(aggregate, inexact=True, unstable=True)
        if name == "spread" and integers:
            term = self.rng.choice(integers)
            word = self.rng.choice(("STDDEV", "VAR_POP", "STDDEV_POP", "VARIANCE", "STD"))
            aggregate = term.derived(f"{word}({term.sql})", kind="double", bound=term.bound**2)
            return replace(aggregate, inexact=True, unstable=True)
        test = predicate(self.rng, scope, 1)
        if self.chance(0.4):
            return test.derived(f"COUNT_IF({test.sql})", kind="bigint", bound=1e4)
        word = self.rng.choice(("BOOL_OR", "BOOL_AND", "EVERY", "SOME"))
        return test.derived(f"{word}({test.sql})", kind="boolean")

    def _chosen(self, term: Term, integers: Sequence[Term]) -> Term:
        """Return an aggregate that chooses among values, or lists them in their order."""
        name = self.rng.choice(("mode", "mode", "extreme", "list", "percentile"))
        if name == "mode":
            words = ("MODE({0}, TRUE)", "MODE() WITHIN GROUP (ORDER BY {0} DESC)")
            return term.derived(self.rng.choice(words).format(term.sql))
        if name == "extreme":
            word = self.rng.choice(("MAX_BY", "MIN_BY"))
            return term.derived(f"{word}({term.sql}, {term.sql})")
        if name == "percentile" and integers:
            term = self.rng.choice(integers)
            call = f"PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {term.sql})"
            return term.derived(call, kind="double")
        text = term.sql if term.kind == "string" else f"CAST({term.sql} AS STRING)"
        distinct = self.rng.choice(("", "DISTINCT "))
        call = f"LISTAGG({distinct}{text}, ',') WITHIN GROUP (ORDER BY {text})"
        return term.derived(call, kind="string")
