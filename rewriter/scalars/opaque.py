"""Calls of registered aggregate functions: black boxes over the bag of a group.

Such a call is an ``exp.AnonymousAggFunc`` whose name is none of Spark's own aggregates.
"""

from __future__ import annotations

from sqlglot import exp

from rewriter.dialect.functions import AGGREGATES


def is_opaque(call: exp.Expr) -> bool:
    """Tell whether an expression is the call of a registered aggregate function."""
    return isinstance(call, exp.AnonymousAggFunc) and str(call.this).lower() not in AGGREGATES


def as_aggregate(call: exp.Expr) -> exp.Expr:
    """Return the call of an aggregate function, which the parser takes for one of any function."""
    if not isinstance(call, exp.Anonymous):
        return call
    aggregate = exp.AnonymousAggFunc(this=str(call.this).lower(), expressions=call.expressions)
    aggregate.meta.update(call.meta)
    return aggregate
