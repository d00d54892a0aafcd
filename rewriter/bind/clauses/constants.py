"""Relations that the text itself gives: VALUES and range()."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Constant, Scalar
from rewriter.bind.columns.scope import Bound, Scope, scope_of
from rewriter.bind.context import BindContext
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.subqueries.values import Subqueries

_MOST_ARGUMENTS = 4


def bind_values(values: exp.Values, context: BindContext) -> Bound:
    """Bind an inline table; its rows are numbered by one more column, which is out of sight."""
    rows = [[_bind_constant(part, context) for part in _parts(row)] for row in values.expressions]
    width = len(rows[0])
    for row, written in zip(rows, values.expressions, strict=True):
        if len(row) != width:
            problem = f"a row of {len(row)} values among rows of {width}"
            raise context.source.error(problem, "Give every row as many values.", written)
    columns = tuple(context.names.attribute(f"col{number + 1}") for number in range(width))
    position = context.names.attribute("position")
    numbered = [
        exp.Tuple(expressions=[*row, exp.Literal.number(number)]) for number, row in enumerate(rows)
    ]
    table = exp.Values(expressions=numbered)
    constant = Constant(table, (*columns, position), position)
    names = [attribute.name for attribute in columns]
    shown = context.project(constant, names, [attribute.column() for attribute in columns])
    return Bound(shown, scope_of(shown.attributes))


def is_range(node: exp.Expr) -> bool:
    """Tell whether a node calls the table function range."""
    return isinstance(node, exp.Anonymous) and str(node.this).lower() == "range"


def bind_range(call: exp.Expr, context: BindContext) -> Bound:
    """Bind range([start,] end [, step [, partitions]])."""
    if not 1 <= len(call.expressions) <= _MOST_ARGUMENTS:
        advice = "Write range(start, end, step)."
        problem = f"range of {len(call.expressions)} arguments is not supported"
        raise context.source.unsupported(problem, advice, call)
    arguments = [_bind_constant(part, context) for part in call.expressions]
    number = context.names.attribute("id")
    table = exp.Anonymous(this="range", expressions=arguments)
    return Bound(Constant(table, (number,), number), scope_of((number,)))


def _parts(row: exp.Expr) -> list[exp.Expr]:
    return list(row.expressions) if isinstance(row, exp.Tuple) else [row]


def _bind_constant(written: exp.Expr, context: BindContext) -> Scalar:
    subqueries = Subqueries(context)
    binder = ScalarBinder(context, (), subqueries, Scope(), "cannot stand among constants")
    scalar = binder.bind(written)
    if subqueries.ids:
        advice = "Join with the subquery instead."
        raise context.source.unsupported("a subquery in VALUES is not supported", advice, written)
    return scalar
