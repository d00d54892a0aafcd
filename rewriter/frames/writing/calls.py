"""Calls of functions, and memberships in queries."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import bracketed


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return the call of a function."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def membership(values: list[exp.Expr], query: exp.Query) -> exp.Expr:
    """Return IN of a query."""
    left = [bracketed(value) for value in values]
    operand = left[0] if len(left) == 1 else exp.Tuple(expressions=left)
    return exp.In(this=operand, query=exp.Subquery(this=query))
