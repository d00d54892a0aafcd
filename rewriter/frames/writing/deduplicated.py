"""The rows that ``dropDuplicates`` keeps: as Spark does it, the first of each group."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace

from sqlglot import exp

from rewriter.frames.writing.calls import call
from rewriter.frames.writing.clauses import Close
from rewriter.frames.writing.selects import Rows, Stage


def deduplicated(close: Close, rows: Rows, keys: AbstractSet[int]) -> Rows:
    """Return a row for each combination of values of the columns with these ids.

    By other columns than all it is planned as GROUP BY with ``first`` of every other column.
    """
    if keys >= {output.id for output in rows.columns}:
        return rows.having("distinct", exp.Distinct(), Stage.ITEMS)
    if not rows.is_plain():
        rows = close(rows)
    columns = tuple(
        output if output.id in keys else replace(output, scalar=call("first", output.scalar))
        for output in rows.columns
    )
    group = exp.Group(
        expressions=[output.scalar.copy() for output in rows.columns if output.id in keys]
    )
    return replace(rows.having("group", group, Stage.ITEMS), columns=columns)
