"""Calls of functions: which aggregate, and which have no rule."""

from __future__ import annotations

from sqlglot import exp

from rewriter.bind.context import BindContext
from rewriter.bind.text import Source
from rewriter.dialect import AGGREGATES
from rewriter.position import text_of
from rewriter.scalars import aggregates
from rewriter.scalars import special_functions as functions
from rewriter.scalars.row_functions import SCALAR_FUNCTIONS
from rewriter.scalars.windows import operands

_GENERATORS = (exp.Explode, exp.Posexplode, exp.Inline, exp.Stack)
_RANDOM = (exp.Rand, exp.Randn, exp.Uuid)

_Unnamed = (exp.Anonymous, exp.AnonymousAggFunc)


def is_mean(call: exp.Expr) -> bool:
    """Tell whether a call is ``mean``, which the parser does not know as AVG."""
    named = isinstance(call, _Unnamed) and str(call.this).lower() == "mean"
    return named and len(call.expressions) == 1


def is_aggregate(node: exp.Expr) -> bool:
    """Tell whether a node is a call of an aggregate function, with what stands around it."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in AGGREGATES
    return isinstance(node, (exp.AggFunc, *aggregates.WRAPPERS))


def has_aggregate(node: exp.Expr) -> bool:
    """Tell whether an expression has an aggregate call of its own, not one of a subquery's.

    A window function is none, what it is applied to may be one.
    """
    apart = (exp.Query, exp.Window)
    parts = list(node.walk(prune=lambda part: isinstance(part, apart)))
    windows = (part for part in parts if isinstance(part, exp.Window))
    inside = (operand for window in windows for operand in operands(window))
    return any(map(is_aggregate, parts)) or any(map(has_aggregate, inside))


def call_name(node: exp.Expr, source: Source) -> str:
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
