"""PIVOT of one relation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.frames.writing.clauses import Close
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.names import column, identifier
from rewriter.frames.writing.selects import Rows

_ALIAS = "p"


def pivot_input(close: Close, rows: Rows, used: Collection[int]) -> Rows:
    """Return rows as one relation that has the columns PIVOT reads: others would be keys too."""
    columns = tuple(output for output in rows.columns if output.id in used)
    if rows.single and columns == rows.columns:
        return rows
    return close(replace(rows, columns=columns))


def pivot_select(
    rows: Rows,
    keys: Sequence[exp.Expr],
    aggregates: Sequence[exp.Expr],
    of: exp.Expr,
    values: Sequence[exp.Expr],
) -> exp.Select:
    """Return a SELECT from the PIVOT of one relation.

    It groups by the columns that it does not read elsewhere, so that a key must not be read.

    Raises
    ------
    UnsupportedError
        A key is read by an aggregate, or is the pivot column, which is to be a column itself.
    """
    read = {reference for part in (*aggregates, of) for reference in part.find_all(exp.Column)}
    if not read.isdisjoint(keys):
        raise unsupported(
            "a pivot that reads a column that it groups by has no rule",
            "Add the column once more, under another name, before groupBy.",
        )
    named = [
        exp.Alias(this=aggregate, alias=identifier(f"a{number}"))
        for number, aggregate in enumerate(aggregates)
    ]
    choices = [
        exp.PivotAlias(this=value, alias=identifier(f"v{number}"))
        for number, value in enumerate(values)
    ]
    node = exp.Pivot(
        expressions=named,
        fields=[exp.In(this=_unqualified(of), expressions=choices)],
        unpivot=False,
    )
    table = rows.select.args["from_"].this.copy()
    table.set("pivots", [node])
    # Spark 4.0 knows no alias of a PIVOT.
    return exp.Select(from_=exp.From(this=exp.select("*").from_(table).subquery(_ALIAS)))


def _unqualified(column: exp.Expr) -> exp.Expr:
    """Return the pivot column as PIVOT has it: a name of its only relation."""
    if not isinstance(column, exp.Column):
        raise unsupported(
            "a pivot of an expression has no rule", "Add it as a column before groupBy."
        )
    return exp.Column(this=column.this.copy())


def pivot_key(scalar: exp.Expr) -> exp.Column:
    """Return a column of the pivoted relation as a key of the PIVOT."""
    return column(_ALIAS, scalar.name)


def pivot_value(value: int, aggregate: int, aggregates: int) -> exp.Column:
    """Return the column of an aggregate of a value; a single aggregate is not named."""
    return column(_ALIAS, f"v{value}_a{aggregate}" if aggregates > 1 else f"v{value}")
