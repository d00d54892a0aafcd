"""Window functions taken apart, and the scalars that they stand in."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import qualified
from rewriter.interpret.calls import AggregateCall, aggregate_call
from rewriter.interpret.compile import Interpreted, interpret, once
from rewriter.scalars.text import text
from rewriter.scalars.windows import (
    CURRENT_ROW,
    UNBOUNDED,
    WindowFrame,
    called,
    condition_of,
    extent_of,
    frame_of,
    function_name,
    ignores_nulls,
)

WINDOW = "w"
"""The alias of the columns that stand for window functions: by their numbers."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A frame: offsets from the current row or its value; None where it is not bounded."""

    rows: bool
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One key of a window's ORDER BY."""

    scalar: Interpreted
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window function.

    Attributes
    ----------
    function
        Its name in lower case.
    aggregate
        The call that it evaluates over its rows, if it is an aggregate.
    frame, extent
        The rows that it sees, and the rows that its value depends on; None: only Spark knows.
    """

    text: str
    function: str
    arguments: tuple[Interpreted, ...]
    aggregate: AggregateCall | None
    ignores_nulls: bool
    partition: tuple[Interpreted, ...]
    order: tuple[OrderKey, ...]
    frame: Bounds | None
    extent: Bounds | None


@dataclass(frozen=True, slots=True)
class Windowed:
    """A scalar over window functions: ``scalar`` reads them under the alias ``w``."""

    scalar: Interpreted
    calls: tuple[WindowCall, ...]


@once
def windowed(scalar: Scalar) -> Windowed:
    """Take the window functions out of a scalar; there may be none."""
    calls: list[WindowCall] = []

    def replaced(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Window):
            return node
        calls.append(_window_call(node))
        return qualified(WINDOW, str(len(calls) - 1))

    outer: Scalar = scalar.copy().transform(replaced, copy=False)
    return Windowed(interpret(outer), tuple(calls))


def _window_call(window: exp.Window) -> WindowCall:
    call, condition = called(window), condition_of(window)
    aggregate = aggregate_call(call if condition is None else _filtered(call, condition))
    known = condition is None or aggregate.function is not None
    order = window.args.get("order")
    return WindowCall(
        text(window),
        function_name(window),
        tuple(interpret(argument) for argument in call.expressions),
        aggregate if aggregate.function is not None else None,
        ignores_nulls(window),
        tuple(interpret(part) for part in window.args.get("partition_by") or []),
        tuple(
            OrderKey(interpret(key.this), bool(key.args.get("desc")), bool(key.args["nulls_first"]))
            for key in (order.expressions if order else [])
        ),
        _bounds(frame_of(window)) if known else None,
        _bounds(extent_of(window)),
    )


def _filtered(call: exp.Expr, condition: Scalar) -> exp.Expr:
    """Return an aggregate call that sees NULL where the condition of its FILTER is not true."""
    call = call.copy()
    value = exp.Literal.number(1) if isinstance(call.this, exp.Star) else call.this
    if isinstance(value, exp.Expr):
        call.set("this", exp.Case().when(condition.copy(), value.copy()))
    return call


def _bounds(frame: WindowFrame) -> Bounds | None:
    numbers: list[int | None] = []
    for bound in (frame.start, frame.end):
        if bound in (UNBOUNDED, CURRENT_ROW):
            numbers.append(None if bound == UNBOUNDED else 0)
            continue
        value = bound.unnest() if isinstance(bound, exp.Expr) else bound
        number = value.this.unnest() if isinstance(value, exp.Neg) else value
        if not isinstance(number, exp.Literal) or number.is_string or not number.this.isdigit():
            return None
        numbers.append(-int(number.this) if isinstance(value, exp.Neg) else int(number.this))
    return Bounds(frame.rows, *numbers)
