"""Sessions: the windows of rows, merged where they meet, among the rows of equal other keys.

``session_window(time, gap)`` gives each row a window of its own. A grouping by such a column merges
those that meet; so does one by a column that has been passed on, or merged before: Spark marks the
column, and looks at what rows are grouped by. A field of the window is no such column.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import (
    Attribute,
    Project,
    Relation,
    Scalar,
    Windows,
    references,
)
from rewriter.bind.catalog import SESSION
from rewriter.bind.columns.metadata import HOLDS_SESSIONS, MARK, mark_of, marks_of
from rewriter.bind.columns.names import AttributeNames
from rewriter.bind.text import Source
from rewriter.position import Span
from rewriter.scalars.windows import CURRENT_ROW, UNBOUNDED


def in_sessions(
    rows: Relation,
    keys: Sequence[Scalar],
    calls: Sequence[Scalar],
    names: AttributeNames,
    source: Source,
    span: Span | None,
    *,
    sets: bool = False,
) -> tuple[Relation, tuple[Scalar, ...]]:
    """Return rows with the sessions that they are grouped by, and the keys with these.

    Parameters
    ----------
    calls
        The aggregates.
    sets
        Whether the grouping is one in sets.

    Raises
    ------
    UnsupportedError
        There are several, or grouping sets; or an aggregate is of the windows: which ones it sees
        is Spark's affair; or a key is taken of a value that windows were put into.
    """
    marks = marks_of(rows)
    kinds = [mark_of(key, marks) for key in keys]
    if HOLDS_SESSIONS in kinds:
        advice = "Make the window a column of its own, or group by its start and end."
        problem = "a grouping by what is taken of a value that holds session windows has no rule"
        raise source.unsupported(problem, advice, span)
    windows = [key for key, mark in zip(keys, kinds, strict=True) if mark == SESSION]
    if not windows:
        return rows, tuple(keys)
    if sets:
        advice = "Compute the sessions in a derived table, grouped by every key."
        raise source.unsupported("a session window in grouping sets is not supported", advice, span)
    if len(windows) > 1:
        advice = "Group by one of them, and by fields of the others."
        raise source.unsupported("a grouping by several session windows has no rule", advice, span)
    (window,) = windows
    if any(window.name in references(call) for call in calls):
        advice = "Aggregate its start and end in a derived table, as columns of their own."
        raise source.unsupported(
            "an aggregate of the session window that rows are grouped by has no rule", advice, span
        )
    other_keys = [key for key in keys if key is not window]
    merged, session = _merged(rows, window, other_keys, names, span)
    return merged, tuple(session.column() if key is window else key for key in keys)


def _merged(
    rows: Relation, window: Scalar, keys: Sequence[Scalar], names: AttributeNames, span: Span | None
) -> tuple[Relation, Attribute]:
    """Return rows with their sessions, as Spark merges them.

    A session begins with a row that the windows of no earlier ones reach, and ends with the last
    window in it.
    """
    start, end = _field(window, "start"), _field(window, "end")
    before, first, last = (names.attribute(name) for name in ("before", "first", "last"))
    reached = exp.LTE(this=start, expression=before.column())
    begun = exp.Case(ifs=[exp.If(this=reached, true=exp.null())], default=start)
    earlier = exp.WindowSpec(
        kind="ROWS",
        start=UNBOUNDED,
        start_side="PRECEDING",
        end=exp.Literal.number(1),
        end_side="PRECEDING",
    )
    so_far = exp.WindowSpec(kind="RANGE", start=UNBOUNDED, start_side="PRECEDING", end=CURRENT_ROW)
    merged = rows
    for output, value, by, spec in (
        (before, end, keys, earlier),
        (first, begun, keys, so_far),
        (last, end, [*keys, first.column()], None),
    ):
        call = exp.Window(
            this=exp.Max(this=value.copy()),
            partition_by=[key.copy() for key in by],
            over="OVER",
        )
        if spec is not None:
            order = exp.Ordered(this=start.copy(), nulls_first=True)
            call.set("order", exp.Order(expressions=[order]))
            call.set("spec", spec)
        merged = Windows(merged, (output,), (call,), span)
    fields = [exp.Literal.string("start"), first.column()]
    fields += [exp.Literal.string("end"), last.column()]
    value = exp.Anonymous(this="named_struct", expressions=fields)
    value.meta[MARK] = SESSION
    session = names.attribute(SESSION)
    kept = tuple(attribute.column() for attribute in rows.attributes)
    return Project(merged, (*rows.attributes, session), (*kept, value)), session


def _field(struct: Scalar, name: str) -> Scalar:
    return exp.Dot(this=struct.copy(), expression=exp.to_identifier(name))
