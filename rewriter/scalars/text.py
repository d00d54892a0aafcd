"""Scalars and statements as Spark SQL, and back."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from rewriter.algebra import Scalar
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
