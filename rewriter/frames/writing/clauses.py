"""Clauses added to SELECTs in the making, where an operator has one input.

Where a clause does not fit into the SELECT that its rows are, ``close`` makes a step of them first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.frames.writing.selects import Column, FromRows, LastClause

Close = Callable[[FromRows], FromRows]
"""Makes a step of rows."""


def ready(
    close: Close, rows: FromRows, stage: LastClause, used: Collection[int] | None = None
) -> FromRows:
    """Return rows whose SELECT can take a clause that comes after the clauses of a stage.

    Parameters
    ----------
    used
        The columns that the clause is over, which are to be columns of FROM; None: all.
    """
    if rows.stage > stage or rows.query is not None or not rows.is_plain(used):
        return close(rows)
    return rows


def sortable(close: Close, rows: FromRows, used: Collection[int] | None = None) -> FromRows:
    """Return rows as ORDER BY can be over: it knows columns by the names that they have in FROM."""
    rows = ready(close, rows, LastClause.ORDER, used)
    if all(column.kept for column in rows.columns if used is None or column.id in used):
        return rows
    return close(rows)


def sorted_in_tasks(
    close: Close, rows: FromRows, keys: Callable[[FromRows], Sequence[exp.Expr]]
) -> FromRows:
    """Return a step of rows that each task sorts, for an operator in which chance decides.

    Parameters
    ----------
    keys
        Writes the sort keys over the rows of one relation.
    """
    if not rows.single:
        rows = close(rows)
    return close(rows.with_clause("sort", exp.Sort(expressions=[*keys(rows)]), LastClause.ITEMS))


def restricted(rows: FromRows, clause: str, condition: exp.Expr, stage: LastClause) -> FromRows:
    """Return the rows with one more condition in WHERE or HAVING."""
    before = rows.select.args.get(clause)
    if before is not None:
        condition = exp.and_(before.this.copy(), condition, copy=False)
    added = exp.Where(this=condition) if clause == "where" else exp.Having(this=condition)
    return rows.with_clause(clause, added, stage)


def grouped(rows: FromRows, group: exp.Group | None, columns: Sequence[Column]) -> FromRows:
    """Return groups of rows; None: all of them are one."""
    return replace(rows.with_clause("group", group, LastClause.ITEMS), columns=tuple(columns))


def ordered(rows: FromRows, order: exp.Order) -> FromRows:
    """Return the rows in an order."""
    return rows.with_clause("order", order, LastClause.ORDER)


def offset(rows: FromRows, count: exp.Expr) -> FromRows:
    """Return the rows without the first."""
    return rows.with_clause("offset", exp.Offset(expression=count), LastClause.OFFSET)


def limited(rows: FromRows, count: exp.Expr) -> FromRows:
    """Return the first rows."""
    return rows.with_clause("limit", exp.Limit(expression=count), LastClause.LIMIT)
