"""Time windows: ``window(time, width)``, of which Spark makes a column and rows to have it.

The call stands in the clauses of a SELECT. Under them Spark puts an operator that repeats every
row for each window that its time is in, and a column called ``window``; so it is bound here.
``session_window(time, gap)`` gives each row one window, which a grouping merges into sessions.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeGuard

from sqlglot import exp

from rewriter.algebra import Generate, Relation, Scalar
from rewriter.bind.catalog import SESSION, WINDOW
from rewriter.bind.columns.metadata import MARK, marks_of
from rewriter.bind.columns.scope import Bound, Entry, Scope
from rewriter.bind.fingerprint import fingerprint
from rewriter.bind.text import Source
from rewriter.scalars.units import MICROSECONDS

if TYPE_CHECKING:
    from rewriter.bind.scalars import ScalarBinder

_QUALIFIER = "time window"
"""What stands before the column where a call stood: no relation of a text is called so."""

_CLAUSES = ("expressions", "group")
"""Where calls are of one operator in Spark: in ORDER BY and QUALIFY they repeat rows once more."""

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
    """Yield the calls in a SELECT's clauses, without those of subqueries."""
    for clause in _CLAUSES:
        part = select.args.get(clause) or []
        for node in part if isinstance(part, list) else [part]:
            for inner in node.walk(prune=lambda inner: isinstance(inner, exp.Query)):
                if _is_call(inner):
                    yield inner


def _is_call(node: exp.Expr) -> TypeGuard[exp.Anonymous]:
    named = isinstance(node, exp.Anonymous) and node.name.lower() in (WINDOW, SESSION)
    return named and len(node.expressions) > 1


def _read(lengths: list[exp.Expr], call: exp.Expr, source: Source) -> _Windows:
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
