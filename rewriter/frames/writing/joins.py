"""Joins, LATERAL relations and set operations of SELECTs in the making."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.frames.writing.clauses import Close
from rewriter.frames.writing.selects import (
    Column,
    FromRows,
    LastClause,
    beside,
    column,
    fresh,
    identifier,
    unique,
)

JOINS: Mapping[str, tuple[str | None, str | None]] = {
    "cross": (None, "CROSS"),
    "fullouter": ("FULL", None),
    "inner": (None, None),
    "leftanti": ("LEFT", "ANTI"),
    "leftouter": ("LEFT", None),
    "leftsemi": ("LEFT", "SEMI"),
    "rightouter": ("RIGHT", None),
}
"""Type of a join, in lower case: the side and the kind that SQL writes."""

SET_OPERATIONS: Mapping[str, type[exp.SetOperation]] = {
    "except": exp.Except,
    "intersect": exp.Intersect,
    "union": exp.Union,
}

_TRAILING = ("order", "limit", "offset")


def join_inputs(close: Close, left: FromRows, right: FromRows) -> tuple[FromRows, FromRows]:
    """Return the sides of a join as they can stand in one FROM."""
    left = left_input(close, left)
    if not right.single:
        right = close(right)
    return left, beside(right, left.tables)


def left_input(close: Close, left: FromRows) -> FromRows:
    """Return the left side of a join as it can stand in a FROM."""
    joinable = left.stage is LastClause.FROM and not left.select.args.get("laterals")
    return left if joinable and left.is_plain() else close(left)


def joined(
    left: FromRows, right: FromRows, side: str | None, kind: str | None, condition: exp.Expr | None
) -> FromRows:
    """Return the join of two sides; a semi or anti join has the columns of the left alone."""
    join = exp.Join(this=right.select.args["from_"].this, side=side, kind=kind, on=condition)
    joins = [*left.select.args.get("joins", ()), join]
    columns = left.columns if kind in ("SEMI", "ANTI") else left.columns + right.columns
    return replace(left.with_clause("joins", joins, LastClause.FROM), columns=columns)


def operand(close: Close, rows: FromRows) -> FromRows:
    """Return rows as they can stand beside others in a set operation."""
    simple = rows.query is None and not any(rows.select.args.get(c) for c in _TRAILING)
    return rows if simple else close(rows)


def combined(
    operator: type[exp.SetOperation], inputs: Sequence[FromRows], *, distinct: bool
) -> FromRows:
    """Return a set operation of operands; its columns are the first's."""
    names = unique(output.name for output in inputs[0].columns)
    query = inputs[0].written(names)
    for branch in inputs[1:]:
        query = operator(this=query, expression=branch.written(), distinct=distinct)
    pairs = zip(inputs[0].columns, names, strict=True)
    columns = (Column(c.id, c.name, exp.Column(this=identifier(n))) for c, n in pairs)
    return FromRows(tuple(columns), exp.Select(), LastClause.LIMIT, query)


def lateral_join(
    left: FromRows, lateral: exp.Lateral, columns: Sequence[Column], join: exp.Join
) -> FromRows:
    """Return the join of rows with a lateral relation, whose columns are names of its own."""
    alias = fresh("l", left.tables)
    lateral = lateral.copy()
    lateral.set("alias", exp.TableAlias(this=identifier(alias), **_alias_columns(lateral)))
    join.set("this", lateral)
    joins = [*left.select.args.get("joins", ()), join]
    added = tuple(replace(output, scalar=column(alias, output.scalar.name)) for output in columns)
    return replace(left.with_clause("joins", joins, LastClause.FROM), columns=left.columns + added)


def subquery_lateral(inner: FromRows) -> tuple[exp.Lateral, tuple[Column, ...]]:
    """Return a LATERAL subquery and its columns."""
    if inner.query is None:
        names = unique([output.name for output in inner.columns])
    else:
        names = [output.scalar.name for output in inner.columns]
    pairs = zip(inner.columns, names, strict=True)
    columns = (replace(output, scalar=exp.Column(this=identifier(name))) for output, name in pairs)
    return exp.Lateral(this=exp.Subquery(this=inner.written(names))), tuple(columns)


def call_lateral(written: exp.Expr, names: Sequence[str]) -> exp.Lateral:
    """Return the LATERAL call of a table function whose columns have these names."""
    columns = [identifier(name) for name in names]
    return exp.Lateral(this=written, alias=exp.TableAlias(columns=columns))


def _alias_columns(lateral: exp.Lateral) -> dict[str, list[exp.Expr]]:
    alias = lateral.args.get("alias")
    return {} if alias is None else {"columns": alias.args["columns"]}
