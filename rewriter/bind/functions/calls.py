"""Calls of functions: aggregates, calls that have no rule, and registered aggregate functions."""

from __future__ import annotations

from collections.abc import Container

from sqlglot import exp

from rewriter.bind.context import BindContext
from rewriter.bind.text import SourceText
from rewriter.dialect import AGGREGATES
from rewriter.position import text_of
from rewriter.scalars import aggregates, functions
from rewriter.scalars.functions import OF_SPARK, SCALAR_FUNCTIONS, as_aggregate
from rewriter.scalars.windows import operands

_GENERATORS = (exp.Explode, exp.Posexplode, exp.Inline, exp.Stack)
_RANDOM = (exp.Rand, exp.Randn, exp.Uuid)

_Unnamed = (exp.Anonymous, exp.AnonymousAggFunc)


def is_mean(call: exp.Expr) -> bool:
    """Return True if a call is ``mean``, which the parser does not know as AVG."""
    named = isinstance(call, _Unnamed) and str(call.this).lower() == "mean"
    return named and len(call.expressions) == 1


def is_aggregate(node: exp.Expr) -> bool:
    """Return True if a node is a call of an aggregate function, FILTER and the like included."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in AGGREGATES
    return isinstance(node, (exp.AggFunc, *aggregates.WRAPPERS))


def has_aggregate(node: exp.Expr) -> bool:
    """Return True if an expression has an aggregate call of its own, not one of a subquery's.

    A window function is none, but its operands may be or have one.
    """
    apart = (exp.Query, exp.Window)
    parts = list(node.walk(prune=lambda part: isinstance(part, apart)))
    windows = (part for part in parts if isinstance(part, exp.Window))
    inside = (operand for window in windows for operand in operands(window))
    return any(map(is_aggregate, parts)) or any(map(has_aggregate, inside))


def call_name(node: exp.Expr, source: SourceText) -> str:
    """Return the name of a called function in lower case, as it was written."""
    call = aggregates.called(node)
    if isinstance(call, _Unnamed):
        return str(call.this).lower()
    written = text_of(call, source.sql)
    if written is not None and written.replace("_", "").isalnum():
        return written.lower()
    return call.sql_name().lower() if isinstance(call, exp.Func) else call.key


def check_call(node: exp.Func, name: str, context: BindContext) -> None:
    """Raise unless a call is of a deterministic function of one row."""
    if isinstance(node, _GENERATORS) or name in functions.GENERATORS:
        problem = f"generator {name} is not supported"
        advice = "Store the generated rows in a relation and track it."
    elif isinstance(node, _RANDOM) or name in functions.DRAWN:
        problem = f"function {name}, which is not deterministic, is not supported here"
        advice = "Compute it in the select list of a derived table."
    elif name in functions.OF_FILES:
        problem = f"function {name} is not supported"
        advice = "Track the relation with its value as a column."
    elif name in functions.WINDOW_FUNCTIONS:
        problem = f"window function {name} without OVER"
        advice = "Say over which rows: OVER (PARTITION BY ... ORDER BY ...)."
    elif name in functions.TIME_WINDOWS:
        problem = "a time window cannot stand here"
        advice = "Compute it in the select list of a derived table."
    elif not _known(node, name, context):
        problem = f"function {name} is not one of Spark's"
        advice = "Declare it as a deterministic function of one row, or use a function of Spark's."
    else:
        return
    raise context.source.unsupported(problem, advice, node)


def _known(node: exp.Func, name: str, context: BindContext) -> bool:
    if name in SCALAR_FUNCTIONS or name in context.environment.functions:
        return True
    return not isinstance(node, exp.Anonymous) and text_of(node, context.source.sql) is None


def with_aggregates(query: exp.Query, aggregates: Container[str]) -> exp.Query:
    """Return a query in which calls of registered aggregates are aggregates.

    Calls in window functions stay as they are, since they aggregate no group, and so do calls of
    table functions.
    """
    copy = query.copy()
    for call in list(copy.find_all(exp.Anonymous)):
        name = str(call.this).lower()
        apart = isinstance(call.parent, exp.Window | exp.Table | exp.Lateral)
        if not apart and name not in OF_SPARK and name in aggregates:
            call.replace(as_aggregate(call))
    return copy
