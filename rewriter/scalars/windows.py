"""The parts of window functions, as trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar, bracketed
from rewriter.scalars import aggregates

Window = exp.Window
UNBOUNDED = "UNBOUNDED"
CURRENT_ROW = "CURRENT ROW"


@dataclass(frozen=True, slots=True)
class WindowFrame:
    """The rows that an aggregate over a window sees: Spark's default if no frame is written.

    ``start`` and ``end`` are ``UNBOUNDED``, ``CURRENT ROW``, or an expression, which is negated
    where it counts to the front.
    """

    rows: bool
    start: str | Scalar
    end: str | Scalar

    @property
    def from_first(self) -> bool:
        """True if the frame starts with the partition."""
        return self.start == UNBOUNDED

    @property
    def whole(self) -> bool:
        """True if the frame is the whole partition."""
        return self.from_first and self.end == UNBOUNDED


_OF_ORDER = frozenset(
    {
        "any_value",
        "array_agg",
        "collect_list",
        "first",
        "first_value",
        "last",
        "last_value",
        "listagg",
        "nth_value",
        "string_agg",
    }
)
"""Functions of the order of the rows in their frame."""
_OF_PLACE = {"counter_diff", "lag", "lead", "ntile", "row_number"}
"""Functions of the place of a row, without a frame."""
_OF_PEERS = {"cume_dist", "dense_rank", "percent_rank", "rank"}
"""Functions with one value for rows that tie."""
_TO_ITSELF = {
    "rank": WindowFrame(False, UNBOUNDED, CURRENT_ROW),
    "dense_rank": WindowFrame(False, UNBOUNDED, CURRENT_ROW),
    "row_number": WindowFrame(True, UNBOUNDED, CURRENT_ROW),
    "counter_diff": WindowFrame(True, UNBOUNDED, CURRENT_ROW),
}
_OF_ALL = {"percent_rank", "cume_dist", "ntile"}


def called(window: exp.Window) -> exp.Expr:
    """Return the call of a window function, without what stands around it."""
    return aggregates.called(window.this)


def function_name(window: exp.Window) -> str:
    """Return the name of a window function in lower case."""
    return aggregates.name_of(window.this)


def frame_of(window: exp.Window) -> WindowFrame:
    """Return the frame of a window function; the ranking and offset functions ask for none."""
    spec = window.args.get("spec")
    if spec is None:
        ordered = bool(window.args.get("order"))
        return WindowFrame(not ordered, UNBOUNDED, CURRENT_ROW if ordered else UNBOUNDED)
    return WindowFrame(spec.args["kind"] == "ROWS", _bound(spec, "start"), _bound(spec, "end"))


def _bound(spec: exp.Expr, which: str) -> str | Scalar:
    value: str | Scalar = spec.args[which]
    if isinstance(value, str) or spec.args[f"{which}_side"] != "PRECEDING":
        return value
    return exp.Neg(this=bracketed(value.copy()))


def depends_on_ties(window: exp.Window) -> bool:
    """Return True if a value depends on the order among rows that tie, which Spark leaves open."""
    name = function_name(window)
    if name in _OF_PEERS:
        return False
    frame = frame_of(window)
    return name in _OF_PLACE or depends_on_order(window) or (frame.rows and not frame.whole)


def depends_on_order(window: exp.Window) -> bool:
    """Return True if a value depends on the order of rows in its frame, not on its own place."""
    return function_name(window) in _OF_ORDER and not aggregates.sort_keys(window.this)


def extent_of(window: exp.Window) -> WindowFrame:
    """Return the rows that a window function's value comes from or is decided by."""
    name = function_name(window)
    if name in _OF_ALL:
        return WindowFrame(True, UNBOUNDED, UNBOUNDED)
    if name in ("lag", "lead"):
        return _offset_extent(window, name)
    return _TO_ITSELF.get(name) or frame_of(window)


def _offset_extent(window: exp.Window, name: str) -> WindowFrame:
    """Return the frame from the current row to the row of the value, of LAG or LEAD."""
    _, *more = called(window).expressions
    offset = more[0] if more else exp.Literal.number(1)
    if not isinstance(offset, exp.Literal):
        return WindowFrame(True, UNBOUNDED, UNBOUNDED)
    before: str | Scalar = UNBOUNDED
    after: str | Scalar = UNBOUNDED
    if not ignores_nulls(window):
        before, after = exp.Neg(this=offset.copy()), offset.copy()
    return (
        WindowFrame(True, before, CURRENT_ROW)
        if name == "lag"
        else WindowFrame(True, CURRENT_ROW, after)
    )


def condition_of(window: exp.Window) -> Scalar | None:
    """Return the condition of FILTER; None without it."""
    return window.this.expression.this if isinstance(window.this, exp.Filter) else None


def aggregate_of(window: exp.Window) -> exp.Expr:
    """Return the aggregate of a window function; FILTER has it see NULL for the other rows."""
    call, condition = called(window), condition_of(window)
    if condition is None:
        return call
    call = call.copy()
    value = exp.Literal.number(1) if isinstance(call.this, exp.Star) else call.this
    if isinstance(value, exp.Expr):
        call.set("this", exp.Case().when(condition.copy(), value.copy()))
    return call


def ignores_nulls(window: exp.Window) -> bool:
    """Return True if an offset function passes over NULLs, in either of Spark's notations.

    A flag is the last argument, but for LAG and LEAD, where that is a value.
    """
    if isinstance(window.this, exp.IgnoreNulls):
        return True
    if function_name(window) in ("lag", "lead"):
        return False
    _, *flags = called(window).expressions or [None]
    return any(isinstance(flag, exp.Boolean) and flag.this for flag in flags)


def operands(window: exp.Window) -> list[exp.Expr]:
    """Return what a window function reads: arguments, partition, order, and bounds of its frame."""
    parts: list[exp.Expr] = []

    def keep(part: Scalar) -> Scalar:
        parts.append(part)
        return part

    changed(window, keep)
    return parts


def changed(window: exp.Window, change: Callable[[Scalar], Scalar]) -> exp.Window:
    """Return a window function with something done to every operand, its frame in full."""
    copy = window.copy()
    if isinstance(copy.this, exp.Filter):
        where = copy.this.expression
        where.set("this", change(where.this))
    _change_arguments(called(copy), change)
    for key in aggregates.sort_keys(copy.this):
        key.set("this", change(key.this))
    if copy.args.get("partition_by"):
        copy.set("partition_by", [change(part) for part in copy.args["partition_by"]])
    if copy.args.get("order"):
        for item in copy.args["order"].expressions:
            item.set("this", change(item.this))
    if copy.args.get("spec"):
        _change_frame(copy.args["spec"], change)
    return copy


def _change_arguments(call: exp.Expr, change: Callable[[Scalar], Scalar]) -> None:
    for key, value in list(call.args.items()):
        if isinstance(value, list):
            call.set(key, [change(part) for part in value])
        elif isinstance(value, exp.Expr) and not isinstance(value, exp.Star):
            call.set(key, change(value))


def _change_frame(spec: exp.Expr, change: Callable[[Scalar], Scalar]) -> None:
    spec.set("kind", spec.args["kind"].upper())
    spec.set("end", spec.args.get("end") or CURRENT_ROW)
    for bound in ("start", "end"):
        value, side = spec.args[bound], spec.args.get(f"{bound}_side")
        spec.set(bound, change(value) if isinstance(value, exp.Expr) else value.upper())
        spec.set(f"{bound}_side", side and side.upper())
