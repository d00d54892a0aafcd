"""Aggregates of Spark as DuckDB has them."""

from __future__ import annotations

from sqlglot import exp

_EXTREMES: dict[type[exp.Expr], str] = {exp.ArgMax: "arg_max_null", exp.ArgMin: "arg_min_null"}


def in_duckdb(node: exp.Expr) -> exp.Expr:
    """Return MAX_BY, MIN_BY and MODE as they keep NULLs, and decide ties, in Spark."""
    if type(node) in _EXTREMES:
        arguments = [node.this, node.expression]
        return exp.Anonymous(this=_EXTREMES[type(node)], expressions=arguments)
    if isinstance(node, exp.WithinGroup) and isinstance(node.this, exp.Mode):
        return _mode(node.expression.expressions[0])
    if isinstance(node, exp.Mode) and node.args.get("deterministic"):
        return _mode(exp.Ordered(this=node.this, nulls_first=True))
    if isinstance(node, exp.RegrCount):
        pair = (node.this, node.expression)
        # Of a correlated subquery over no rows DuckDB knows that COUNT is 0, and no other.
        known = [
            exp.Not(this=exp.Is(this=operand.copy(), expression=exp.null())) for operand in pair
        ]
        return exp.Count(this=exp.Case().when(exp.and_(*known), exp.Literal.number(1)))
    return node


def _mode(key: exp.Ordered) -> exp.Expr:
    """Return the most frequent value; of several the first in an order."""
    order = exp.Order(this=key.this.copy(), expressions=[key.copy()])
    return exp.Anonymous(this="mode", expressions=[order])
