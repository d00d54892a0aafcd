"""Registered aggregate functions: which calls are theirs, and where they may stand.

Spark computes them beside none of its own aggregates, and without GROUP BY it has no row for no
input, where its own aggregates have one: a grouping by a constant.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from sqlglot import exp

from rewriter.bind.clauses.grouping import Grouping
from rewriter.bind.context import BindContext
from rewriter.bind.functions.calls import call_name
from rewriter.scalars.opaque import as_aggregate, is_opaque
from rewriter.scalars.special_functions import OF_SPARK


def with_aggregates(query: exp.Query, aggregates: Container[str]) -> exp.Query:
    """Return a query in which calls of registered aggregates are aggregates.

    Those of window functions stay as they are, since they aggregate no group, and so do those of
    table functions.
    """
    copy = query.copy()
    for call in list(copy.find_all(exp.Anonymous)):
        name = str(call.this).lower()
        apart = isinstance(call.parent, exp.Window | exp.Table | exp.Lateral)
        if not apart and name not in OF_SPARK and name in aggregates:
            call.replace(as_aggregate(call))
    return copy


def group_without_keys(grouping: Grouping, select: exp.Select, context: BindContext) -> None:
    """Group by a constant where a SELECT without keys has registered aggregates.

    Raises
    ------
    UnsupportedError
        Inside another query: whether it has a row for no input depends on what Spark's optimiser
        leaves of it.
    """
    call = None if grouping.has_keys else _opaque_call(_clauses(select))
    if call is None:
        return
    if select.find_ancestor(exp.Query, exp.CTE) is not None:
        name = call_name(call, context.source)
        problem = f"the registered aggregate {name} in a subquery without GROUP BY"
        advice = "Group by a constant: GROUP BY 'all'."
        raise context.source.unsupported(f"{problem} is not supported", advice, call)
    grouping.key("all", exp.true())


def _clauses(select: exp.Select) -> list[exp.Expr]:
    clauses = [select.args.get(name) for name in ("having", "qualify", "order")]
    return [*select.expressions, *filter(None, clauses)]


def _opaque_call(parts: Sequence[exp.Expr]) -> exp.Expr | None:
    """Return a call of a registered aggregate, not one of a subquery's; None without."""
    for part in parts:
        for node in part.walk(prune=lambda inner: isinstance(inner, exp.Query)):
            if is_opaque(node):
                return node
    return None
