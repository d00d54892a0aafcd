"""The rows of a SELECT: FROM and WHERE, before its items are bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import (
    Relation,
    Scalar,
)
from rewriter.bind.columns.scope import Lookup, Outer, Scope
from rewriter.bind.context import BindContext
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.subqueries.values import Subqueries


@dataclass(frozen=True)
class BoundRows:
    """FROM and WHERE of a SELECT: the rows that its other clauses read."""

    select: exp.Select
    context: BindContext
    outer: Outer | None
    subqueries: Subqueries
    relation: Relation
    scope: Scope
    correlated: tuple[Scalar, ...] = ()

    def binder(
        self,
        clause: str,
        refusal: str | None,
        lookups: Sequence[Lookup] | None = None,
        *,
        windows: bool = False,
    ) -> ScalarBinder:
        """Return the binder of a clause, where names mean columns of FROM unless told otherwise."""
        chosen = list(lookups) if lookups is not None else [self.scope.lookup(self.context.source)]
        if self.outer is not None:
            chosen.append(self.outer.beyond(f"{clause} of a subquery").lookup(self.context.source))
        return ScalarBinder(
            self.context,
            tuple(chosen),
            self.subqueries,
            self.scope,
            refusal,
            self.outer,
            windows=windows,
            draws=clause != "LATERAL VIEW",
        )
