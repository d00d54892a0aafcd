"""The difference of two captures: the rows that differ, and the parts of a number's change."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from lipstick.display.number_text import signed
from lipstick.engines.memory.places import NOTHING
from lipstick.errors import first_line
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures import query
from lipstick.explorer.captures.comparison import SECONDS
from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.cells import cell, columns
from lipstick.explorer.params import Params
from lipstick.questions.diff.difference import AnswerDifference
from lipstick.questions.why.measure import column_of, rows_with
from lipstick.questions.why.measure import difference as exact
from rewriter.interpret import in_time_zone
from semiring.errors import LipstickError
from semiring.support.budget import call_within

SHOWN = 20
"""Rows at most, of the answer and of the input."""


def difference(
    before: CaptureSource, after: CaptureSource, params: Params, budget: Budget
) -> dict[str, Any]:
    """Return how two answers differ, or the parts of the difference of one number.

    Parameters
    ----------
    params
        ``column``, and ``row``, the place of the row in the answer after; without these it is about
        the whole answers. ``seconds`` that it may take.

    Raises
    ------
    BudgetError
        Where it takes longer.
    """

    def answer() -> dict[str, Any]:
        with in_time_zone(after.capture.manifest.time_zone):
            found = after.difference_from(before)
            return _parts(after, found, params) if params.text("column", "") else _whole(found)

    seconds = min(params.integer("seconds", SECONDS, 1, 60), budget.left)
    return call_within(seconds, answer, budget.is_cancelled)


def paired(before: CaptureSource, after: CaptureSource) -> AnswerDifference:
    """Return the difference of two answers, with rows paired by a key where there is any.

    Where the query has no grouping, the columns identify rows that are called as keys of its
    relations, or else whose values do not depend on other rows, if no two rows share them. Of
    edited texts, the session of a query runs the one before over the data after.
    """
    edited = before.capture.query.split() != after.capture.query.split()
    old, new = (each.run if edited else each.capture for each in (before, after))
    found = old.diff(new)
    names = found.after.column_names
    tokens = {n for record in after.capture.manifest.relations.values() for n in record.token}
    explained = {names[place] for place in query.explained(after.capture.memory)}
    for key in ([n for n in names if n in tokens], [n for n in names if n not in explained]):
        if found.key is None and key and len(key) < len({*names}) == len(names):
            tables = [
                table for table in (found.before, found.after) if {*key} <= {*table.column_names}
            ]
            counts = [t.group_by(key).aggregate([]).num_rows == t.num_rows for t in tables]
            if counts == [True, True]:
                return old.diff(new, key)
    return found


def _parts(after: CaptureSource, found: AnswerDifference, params: Params) -> dict[str, Any]:
    """Return the parts of the difference of a number, in words, and the rows that changed."""
    row, table = after.row(params), after.windows.table
    names = [column_of(table.column_names, name) for name in found.key or ()]
    where = {table.column_names[at]: table.column(at)[row].as_py() for at in names}
    parts = found.parts(params.text("column"), where)
    first, *others = str(parts).splitlines()
    return {
        "sentence": cell(first),
        "parts": [cell(line.removeprefix("- "), 600) for line in others],
        "inputs": [
            {"text": cell(each.sentence, 600), "part": signed(part)}
            for each, part in parts.inputs(SHOWN)
        ],
        "not_held": found.not_held,
    }


def _whole(found: AnswerDifference) -> dict[str, Any]:
    """Return the rows that differ, with old and new values, and the input rows that differ."""
    table = found.rows(SHOWN)
    key = table.column_names[1:] if found.key is None else list(found.key)
    values = [n for n in found.after.column_names if f"{n} after" in table.column_names[1:]]
    kind, lines = table.column_names[0], []
    for row in table.to_pylist():
        where = {name: row[name] for name in key}
        is_there = found.key is not None and row[kind] != "removed"
        at = rows_with(found.after, where) if is_there else NOTHING
        lines.append(
            {
                "change": row[kind],
                "row": int(at[0]) if len(at) == 1 else None,
                "key": [cell(row[name]) for name in key],
                "values": [_change(row[f"{name} before"], row[f"{name} after"]) for name in values],
            }
        )
    schema = found.after.schema
    try:
        inputs = found.inputs_sentences
    except LipstickError as error:  # as of relations without a key
        inputs = [first_line(error)]
    return {
        "sentence": str(found),
        "columns": columns(pa.schema([schema.field(name) for name in key])),
        "values": columns(pa.schema([schema.field(name) for name in values])),
        "rows": lines,
        "total": found.added + found.removed + found.changed,
        "inputs": [cell(line, 600) for line in inputs],
    }


def _change(before: Any, after: Any) -> dict[str, str | None]:
    """Return both values, and their difference where it is a number."""
    gap = exact(after, before)
    return {
        "before": cell(before),
        "after": cell(after),
        "difference": signed(gap) if gap else None,
    }
