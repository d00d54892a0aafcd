"""Scalars as Spark SQL and back, and the columns that they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sqlglot
from sqlglot import exp

from rewriter.algebra import Scalar, is_compound
from rewriter.dialect import SparkSQL


def text(tree: Scalar, *, pretty: bool = False) -> str:
    """Return a scalar or a statement as Spark SQL."""
    return tree.sql(dialect=SparkSQL, pretty=pretty)


def scalar(sql: str) -> Scalar:
    """Return the scalar of a piece of Spark SQL whose columns are qualified by one alias."""
    parsed: Scalar = sqlglot.parse_one(f"SELECT {sql}", dialect=SparkSQL).expressions[0]
    return parsed.transform(_with_fields, copy=False)


def _with_fields(node: Scalar) -> Scalar:
    """Read ``alias.column.field`` as a field of a column, not as a column of a longer name."""
    if not isinstance(node, exp.Column) or len(node.parts) < 3:
        return node
    table, column, *fields = node.parts
    nested: Scalar = exp.Column(this=column, table=table)
    for field in fields:
        nested = exp.Dot(this=nested, expression=field)
    return nested


_ENCLOSING = (exp.Paren, exp.AggFunc, exp.Anonymous, exp.Coalesce)
"""Nodes whose text stands around their operands, so that these need no brackets."""


def qualified(alias: str, name: str) -> exp.Column:
    """Return a reference to a column of the thing called alias."""
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(alias))


def field(of: str, name: str) -> exp.Dot:
    """Return a reference to a field of a struct that a lambda function has as an argument."""
    return exp.Dot(this=exp.to_identifier(of), expression=exp.to_identifier(name))


def aliases(scalar: Scalar) -> set[str]:
    """Return the aliases that a lowered scalar refers to."""
    return {node.table for node in scalar.find_all(exp.Column)}


def substitute(scalar: Scalar, env: Mapping[str, Scalar]) -> Scalar:
    """Replace attribute ids by the scalars that compute them."""

    def leaf(node: exp.Column) -> Scalar:
        return env[node.name] if not node.table else node

    return rewrite_columns(scalar, leaf)


def rewrite_columns(scalar: Scalar, change: Callable[[exp.Column], Scalar]) -> Scalar:
    """Return a copy with every column replaced by ``change(column)``, in brackets where needed."""
    if isinstance(scalar, exp.Column):
        return change(scalar).copy()
    copy = scalar.copy()
    for node in list(copy.find_all(exp.Column)):
        new = change(node)
        if new is node:
            continue
        new = new.copy()
        if is_compound(new) and not isinstance(node.parent, _ENCLOSING):
            new = exp.Paren(this=new)
        node.replace(new)
    return copy
