"""Time windows: ``window(time, width)`` and ``session_window(time, gap)``.

A call of ``window`` stands in the clauses of a SELECT. Under them Spark puts an operator that
repeats every row for each window that contains its time, and a column called ``window``; so the
call is bound here.

``session_window(time, gap)`` gives each row a window of its own. A grouping by such a column merges
windows that meet, among the rows of equal other keys; so does a grouping by a column that was
passed on or merged before: Spark marks the column, and looks at the grouping expressions. A field
of the window is no such column.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeGuard

from sqlglot import exp

from rewriter.algebra import Attribute, Generate, Project, Relation, Scalar, Windows, references
from rewriter.bind.catalog import SESSION, WINDOW
from rewriter.bind.columns.scope import AttributeNames, Bound, Entry, Scope
from rewriter.bind.columns.types import HOLDS_SESSIONS, MARK, mark_of, marks_of
from rewriter.bind.text import SourceText, fingerprint
from rewriter.position import Span
from rewriter.scalars.units import MICROSECONDS
from rewriter.scalars.windows import CURRENT_ROW, UNBOUNDED

if TYPE_CHECKING:
    from rewriter.bind.context import BindContext
    from rewriter.bind.scalars import ScalarBinder


_QUALIFIER = "time window"
"""Qualifier of the column that replaces a call; no relation of a text has this name."""

_CLAUSES = ("expressions", "group")
"""Clauses whose calls are one operator in Spark; ORDER BY and QUALIFY repeat rows once more."""

_PART = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*([a-z]+?)s?(?:\s+|$)")


@dataclass(frozen=True, slots=True)
class _Windows:
    """Windows, in microseconds: each ``width`` long, one every ``slide``, one at ``start``.

    Spark knows no slide that is longer than the width.
    """

    width: int
    slide: int
    start: int

    def of(self, time: Scalar) -> Scalar:
        """Return the array of the windows that a time is in, as structs of start and end."""
        if self.width == self.slide:
            return _call("array", self._slide_of(time))
        count = -(-self.width // self.slide)
        windows = [self._before(time, number) for number in range(count)]
        if self.width % self.slide:
            end = windows[-1].expressions[-1].copy()
            there = exp.LT(this=exp.paren(time.copy()), expression=end)
            windows[-1] = exp.Case(ifs=[exp.If(this=there, true=windows[-1])])
            return _call("array_compact", _call("array", *windows))
        return _call("array", *windows)

    def _slide_of(self, time: Scalar) -> Scalar:
        """Return Spark's window of a time among those as long as the slide."""
        lengths = (self.slide, self.slide, self.start)
        texts = (exp.Literal.string(f"{length} microseconds") for length in lengths)
        return _call(WINDOW, time.copy(), *texts)

    def _before(self, time: Scalar, number: int) -> Scalar:
        """Return the window that starts this number of slides before the slide of a time."""
        start = exp.Dot(this=self._slide_of(time), expression=exp.to_identifier("start"))
        first = -number * self.slide
        return _call(
            "named_struct",
            exp.Literal.string("start"),
            _moved(start, first),
            exp.Literal.string("end"),
            _moved(start, first + self.width),
        )


def with_time_window(
    bound: Bound, select: exp.Select, binder: ScalarBinder, *, grouped: bool
) -> tuple[exp.Select, Bound]:
    """Bind the time window of a SELECT's clauses; there, its column takes the place of the call.

    Raises
    ------
    UnsupportedError
        There are several, or a length is none that can be read.
    """
    source = binder.context.source
    calls = list(_calls(select))
    if not calls:
        return select, bound
    copy = select.copy()
    name = str(calls[0].this).lower()
    arrays: dict[Hashable, Scalar] = {}
    for call in list(_calls(copy)):
        window_array = _windows(call, bound.relation, binder)
        arrays[fingerprint(window_array)] = window_array
        call.replace(exp.column(name, table=exp.to_identifier(_QUALIFIER, quoted=True)))
    if len(arrays) > 1:
        advice = "Compute one of them in a derived table."
        raise source.unsupported("several time windows are not supported", advice, calls[-1])
    relation, (array,) = binder.subqueries.attach(bound.relation, [*arrays.values()])
    array.meta[MARK] = name
    attribute_of, span = binder.context.names.attribute, source.span(calls[0])
    attribute = attribute_of(name)
    generated = Generate(relation, array, attribute_of("pos"), (attribute,), span=span)
    entry = Entry(attribute, name, (_QUALIFIER,), hidden=not grouped, origin=attribute.id)
    return copy, Bound(generated, Scope((*bound.scope.entries, entry)))


def _windows(call: exp.Anonymous, rows: Relation, binder: ScalarBinder) -> Scalar:
    """Return the array of the windows that a row is in; a window stands for its last moment."""
    time, *lengths = call.expressions
    scalar = binder.bind(time)
    if isinstance(scalar, exp.Column) and marks_of(rows).get(scalar.name) in (WINDOW, SESSION):
        scalar = time_of(scalar)
    if str(call.this).lower() == SESSION:
        return _call("array", _call(SESSION, scalar, *map(binder.bind, lengths)))
    return _read(lengths, call, binder.context.source).of(scalar)


def time_of(window: Scalar) -> Scalar:
    """Return the time that ``window_time`` gives a window: its last microsecond."""
    end = exp.Dot(this=exp.paren(window), expression=exp.to_identifier("end"))
    return exp.paren(_moved(end, -1))


def _calls(select: exp.Select) -> Iterator[exp.Anonymous]:
    """Yield the calls in a SELECT's clauses, without calls in subqueries."""
    for clause in _CLAUSES:
        part = select.args.get(clause) or []
        for node in part if isinstance(part, list) else [part]:
            for inner in node.walk(prune=lambda inner: isinstance(inner, exp.Query)):
                if _is_call(inner):
                    yield inner


def _is_call(node: exp.Expr) -> TypeGuard[exp.Anonymous]:
    named = isinstance(node, exp.Anonymous) and node.name.lower() in (WINDOW, SESSION)
    return named and len(node.expressions) > 1


def _read(lengths: list[exp.Expr], call: exp.Expr, source: SourceText) -> _Windows:
    read = [_microseconds(length) for length in lengths]
    known = [length for length in read if length is not None]
    if not known or len(known) < len(read) or min(known[:2]) <= 0:
        advice = "Give width, slide and start as texts in weeks or less: window(t, '1 hour')."
        raise source.unsupported("a time window of these lengths is not supported", advice, call)
    width = known[0]
    slide, start = (known[1:] + [width, 0][len(known) - 1 :])[:2]
    return _Windows(width, slide, start)


def _microseconds(length: exp.Expr) -> int | None:
    """Return a length that a literal gives: a number of microseconds, or a text with units."""
    if not isinstance(length, exp.Literal):
        return None
    text = str(length.this).strip().lower()
    if not length.is_string:
        return int(text) if text.isdigit() else None
    text = text.removeprefix("interval ").strip()
    total, position = Fraction(0), 0
    while position < len(text):
        part = _PART.match(text, position)
        if part is None or part[2] not in MICROSECONDS or ("." in part[1] and part[2] != "second"):
            return None
        total += Fraction(part[1]) * MICROSECONDS[part[2]]
        position = part.end()
    return int(total) if text and total.denominator == 1 else None


def _moved(time: Scalar, by: int) -> Scalar:
    """Return a time moved by microseconds: by an interval without days, which have no length."""
    if not by:
        return time.copy()
    sign, (seconds, rest) = -1 if by < 0 else 1, divmod(abs(by), 1_000_000)
    amount: exp.Expr = exp.Literal.number(f"{seconds}.{rest:06}" if rest else str(seconds))
    zeros = (exp.Literal.number(0) for _ in range(6))
    interval = _call("make_interval", *zeros, amount)
    operator = exp.Sub if sign < 0 else exp.Add
    return operator(this=time.copy(), expression=interval)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def in_sessions(
    rows: Relation,
    keys: Sequence[Scalar],
    calls: Sequence[Scalar],
    context: BindContext,
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
    source, marks = context.source, marks_of(rows)
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
    merged, session = _merged(rows, window, other_keys, context.names, span)
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
