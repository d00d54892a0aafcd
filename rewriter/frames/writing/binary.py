"""Joins and set operations of SELECTs in the making."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.frames.writing.clauses import Close
from rewriter.frames.writing.names import identifier
from rewriter.frames.writing.selects import Column, Rows, Stage, beside, unique

JOINS: Mapping[str, tuple[str | None, str | None]] = {
    "cross": (None, "CROSS"),
    "fullouter": ("FULL", None),
    "inner": (None, None),
    "leftanti": ("LEFT", "ANTI"),
    "leftouter": ("LEFT", None),
    "leftsemi": ("LEFT", "SEMI"),
    "rightouter": ("RIGHT", None),
}
"""Type of a join, in lower case: the side and the kind by which SQL says it."""

SET_OPERATIONS: Mapping[str, type[exp.SetOperation]] = {
    "except": exp.Except,
    "intersect": exp.Intersect,
    "union": exp.Union,
}

_TRAILING = ("order", "limit", "offset")


def join_inputs(close: Close, left: Rows, right: Rows) -> tuple[Rows, Rows]:
    """Return the sides of a join as they can stand in one FROM."""
    left = left_input(close, left)
    if not right.single:
        right = close(right)
    return left, beside(right, left.tables)


def left_input(close: Close, left: Rows) -> Rows:
    """Return the left side of a join as it can stand in a FROM."""
    joinable = left.stage is Stage.FROM and not left.select.args.get("laterals")
    return left if joinable and left.is_plain() else close(left)


def joined(
    left: Rows, right: Rows, side: str | None, kind: str | None, condition: exp.Expr | None
) -> Rows:
    """Return the join of two sides; a semi or anti join has the columns of the left alone."""
    join = exp.Join(this=right.select.args["from_"].this, side=side, kind=kind, on=condition)
    joins = [*left.select.args.get("joins", ()), join]
    columns = left.columns if kind in ("SEMI", "ANTI") else left.columns + right.columns
    return replace(left.having("joins", joins, Stage.FROM), columns=columns)


def operand(close: Close, rows: Rows) -> Rows:
    """Return rows as they can stand beside others in a set operation."""
    simple = rows.query is None and not any(rows.select.args.get(c) for c in _TRAILING)
    return rows if simple else close(rows)


def combined(operator: type[exp.SetOperation], inputs: Sequence[Rows], *, distinct: bool) -> Rows:
    """Return a set operation of operands; its columns are the first's."""
    names = unique(output.name for output in inputs[0].columns)
    query = inputs[0].written(names)
    for branch in inputs[1:]:
        query = operator(this=query, expression=branch.written(), distinct=distinct)
    pairs = zip(inputs[0].columns, names, strict=True)
    columns = (Column(c.id, c.name, exp.Column(this=identifier(n))) for c, n in pairs)
    return Rows(tuple(columns), exp.Select(), Stage.LIMIT, query)
