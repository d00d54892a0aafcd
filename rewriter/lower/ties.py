"""Aggregates and window functions whose value depends on the order of tied rows.

Spark does not define that order: for rows that tie in the argument of MAX_BY, the order in LISTAGG,
the first row of a group, the most frequent of equally frequent values, and for ROW_NUMBER, LAG,
FIRST_VALUE and every frame that counts rows. The answer, a capture and a hypothetical answer must
not differ for such a reason. So tied rows are compared by their identity, and of equally frequent
values the least is taken. An array is collected in a defined order if the query observes it.

In a window, the identity of the rows is the last sort key. Before it come the sort keys of the
derived table that the window functions read, if it has any, because Spark's sort keeps the order of
tied rows. A RANGE frame ends with tied rows, which a further sort key would separate. There,
functions that depend on the order are computed from the position of each row, which is a window
function of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Attribute, Scalar, SortKey, Windows, bracketed, is_known
from rewriter.scalars.aggregates import (
    EXTREMES,
    LISTS,
    arguments,
    chooses,
    collects_in_order,
    compared_row,
    deciding_argument,
    is_distinct,
    lists,
    name_of,
    sort_keys,
    with_arguments,
    within_group,
    without_filter,
    without_order,
)
from rewriter.scalars.text import field
from rewriter.scalars.windows import (
    CURRENT_ROW,
    UNBOUNDED,
    WindowFrame,
    called,
    condition_of,
    depends_on_order,
    depends_on_ties,
    frame_of,
    function_name,
    ignores_nulls,
)

_OF_ORDER = {
    "any_value": "min_by",
    "first": "min_by",
    "first_value": "min_by",
    "last": "max_by",
    "last_value": "max_by",
}
"""Functions of the order of a group's rows, and their forms by the rows' identity."""


def over_values(call: Scalar, stored: Callable[[Scalar], Scalar]) -> Scalar:
    """Return a call over the stored columns of its arguments, without FILTER.

    For rows that FILTER excludes, the deciding argument is NULL.
    """
    call, condition = without_filter(call)
    call = _by_order(call)
    read = arguments(call)
    if condition is not None:
        decides = read[deciding_argument(call)]
        read = [
            _filtered(argument, condition) if argument == decides else argument for argument in read
        ]
    return with_arguments(
        call,
        [argument if isinstance(argument, exp.Star) else stored(argument) for argument in read],
    )


def follows_order(call: Scalar) -> bool:
    """Return True if a call depends on the order of a group's rows."""
    name = name_of(call)
    listed = name in LISTS and not sort_keys(call) and not is_distinct(call)
    return listed or (name in _OF_ORDER and name != "any_value")


def read_by(call: Scalar) -> list[Scalar]:
    """Return the arguments of a call in a form that rows can be sorted by.

    A collected argument may be of a type without an order.
    """
    read = arguments(call)
    if collects_in_order(call) and not is_distinct(call):
        read[0] = exp.cast(read[0].copy(), "string")
    return read


def decided(call: Scalar, ties: Sequence[Scalar]) -> Scalar:
    """Return a call in which tied rows are compared by ``ties``."""
    if name_of(call) in EXTREMES:
        return _with_extreme_of(call, ties)
    if lists(call):
        return _listed(call, ties)
    return _with_mode_of_least(call) if chooses(call) else call


def _filtered(value: Scalar, condition: Scalar) -> Scalar:
    value = exp.Literal.number(1) if isinstance(value, exp.Star) else value
    return exp.Case().when(condition.copy(), value.copy())


def _by_order(call: Scalar) -> Scalar:
    """Return a function of the order of rows as a function of tied rows."""
    extreme = _OF_ORDER.get(name_of(call))
    if extreme is None:
        return call
    value, *flags = arguments(call)
    ignored = isinstance(call, exp.IgnoreNulls) or any(flag == exp.true() for flag in flags)
    seen: Scalar = exp.Literal.number(1)
    if ignored:
        seen = exp.Case().when(is_known(value), seen)
    return exp.AnonymousAggFunc(this=extreme, expressions=[value.copy(), seen])


def _with_extreme_of(call: Scalar, ties: Sequence[Scalar]) -> Scalar:
    value, compared, *more = arguments(call)
    other_ties = [tie for tie in ties if tie != compared]
    if not other_ties:
        return call
    return with_arguments(call, [value, compared_row(compared, other_ties), *more])


def _listed(call: Scalar, ties: Sequence[Scalar]) -> Scalar:
    """Return a list aggregate in a total order; DISTINCT values are ordered by themselves by
    default.
    """
    keys = sort_keys(call)
    added: Sequence[Scalar] = ()
    if is_distinct(call) and not keys:
        value, *rest = arguments(call)
        if not collects_in_order(call):
            # As the text or the bytes that are joined: before Spark 4.2 no others are put in order.
            value = exp.Anonymous(this="substring", expressions=[value, exp.Literal.number(1)])
            call = with_arguments(call, [value, *rest])
        added = [value]
    elif not is_distinct(call):
        known = [key.this for key in keys]
        added = [tie for tie in ties if tie not in known]
    more = [exp.Ordered(this=scalar.copy(), desc=False, nulls_first=True) for scalar in added]
    if not is_distinct(call):
        more = [breaking_ties(key) for key in more]
    if not keys and not more:
        # There is one row.
        return without_order(call)
    return within_group(call, [*keys, *more]) if more else call


def _with_mode_of_least(call: Scalar) -> Scalar:
    value, *_ = arguments(call)
    return with_arguments(call, [value, exp.true()])


_FIRST = {"first", "first_value", "any_value"}
_LAST = {"last", "last_value"}
_LISTS = {"collect_list", "array_agg"}
_BY_PLACE = "by place"
"""Marks a call that compares positions, which differ for all rows."""


@dataclass(frozen=True, slots=True)
class PlacedCalls:
    """Window functions over the positions of rows: ``calls`` read the columns of ``positions``."""

    positions: Windows
    calls: tuple[Scalar, ...]


def settled(scalar: Scalar, ties: Sequence[Scalar], arrival: Sequence[SortKey] = ()) -> Scalar:
    """Return an expression whose window functions sort by ``arrival``, then ``ties``.

    Only those whose values depend on the order of tied rows do.
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        return _settled(node, ties, arrival) if isinstance(node, exp.Window) else node

    result: Scalar = scalar.copy().transform(replaced, copy=False)
    return result


def ties_of(identity: Sequence[Scalar], scalars: Sequence[Scalar], *, unique: bool) -> list[Scalar]:
    """Return the last sort keys of rows; rows that agree on them are interchangeable.

    Unless the identity is unique, they include every value that the scalars read.
    """
    ties = list(identity)
    if not unique:
        plain = [scalar for scalar in scalars if not scalar.find(exp.Window)]
        windows = [window for scalar in scalars for window in scalar.find_all(exp.Window)]
        read = [leaf for window in windows for leaf in window.find_all(exp.Column)]
        ties += [scalar for scalar in (*plain, *read) if scalar.find(exp.Column)]
    return list(dict.fromkeys(ties))


def placed_by(relation: Windows, fresh_id: Callable[[str], str]) -> PlacedCalls | None:
    """Return the window functions over positions, if some need positions."""
    positions: dict[exp.Window, Attribute] = {}

    def position(window: exp.Window) -> Attribute:
        number = exp.Window(
            this=exp.Anonymous(this="row_number", expressions=[]),
            partition_by=[part.copy() for part in window.args.get("partition_by") or []],
            order=window.args["order"].copy(),
            over="OVER",
        )
        if number not in positions:
            positions[number] = Attribute(fresh_id("position"), "position")
        return positions[number]

    calls = tuple(
        _by_position(call, position(call).column()) if _needs_position(call) else call
        for call in relation.calls
        if isinstance(call, exp.Window)
    )
    if not positions:
        return None
    return PlacedCalls(Windows(relation.input, tuple(positions.values()), tuple(positions)), calls)


def is_ordered(window: exp.Window) -> bool:
    """Return True if a window's ORDER BY may distinguish rows of a partition."""
    order = window.args.get("order")
    parts = window.args.get("partition_by") or []
    keys = [key.this for key in order.expressions] if order else []
    return any(key.find(exp.Column, exp.Anonymous) and key not in parts for key in keys)


def lists_by_range(relation: Windows) -> bool:
    """Return True if a LISTAGG joins values of rows that tie at the end of its RANGE frame."""
    windows = [call for call in relation.calls if isinstance(call, exp.Window)]
    return any(function_name(call) in LISTS and _needs_position(call) for call in windows)


def _settled(window: exp.Window, ties: Sequence[Scalar], arrival: Sequence[SortKey]) -> exp.Window:
    name, frame = function_name(window), frame_of(window)
    listed = depends_on_order(window)
    if chooses(window.this) and not listed and _BY_PLACE not in called(window).meta:
        window = window.copy()
        window.set("this", decided(window.this, ties))
    if not depends_on_ties(window):
        return window.copy()
    keys = [*arrival, *(SortKey(tie, descending=False, nulls_first=True) for tie in ties)]
    last = [exp.Ordered(this=k.scalar, desc=k.descending, nulls_first=k.nulls_first) for k in keys]
    if name in _FIRST and _starts_filled(window, frame):
        return _ordered_last(window, last, WindowFrame(True, UNBOUNDED, CURRENT_ROW))
    if listed and frame.whole:
        return _ordered_last(window, last, WindowFrame(True, UNBOUNDED, UNBOUNDED))
    if listed and not frame.rows:
        # What it lists is sorted by position.
        return window.copy()
    return _ordered_last(window, last)


def _needs_position(window: exp.Window) -> bool:
    name, frame = function_name(window), frame_of(window)
    if frame.rows or frame.whole or not depends_on_order(window):
        return False
    return not (name in _FIRST and _starts_filled(window, frame))


def _starts_filled(window: exp.Window, frame: WindowFrame) -> bool:
    """Return True if a frame always has a first row, which is the first of the partition."""
    filled = frame.from_first and frame.end in (CURRENT_ROW, UNBOUNDED)
    return filled and not ignores_nulls(window) and condition_of(window) is None


def breaking_ties(key: exp.Ordered) -> exp.Ordered:
    """Return a sort key that the query does not have: its column is in brackets."""
    key.set("this", exp.Paren(this=key.this))
    return key


def _ordered_last(
    window: exp.Window, last: Sequence[exp.Ordered], frame: WindowFrame | None = None
) -> exp.Window:
    """Return the window with more sort keys, its frame changed to one from the first row."""
    window = window.copy()
    order = window.args.get("order")
    keys = list(order.expressions) if order else []
    known = [*(window.args.get("partition_by") or []), *(key.this for key in keys)]
    for key in last:
        if key.this not in known:
            known.append(key.this)
            keys.append(breaking_ties(key.copy()))
    if keys:
        window.set("order", exp.Order(expressions=keys))
    if frame is not None:
        side = "FOLLOWING" if frame.whole else None
        window.set(
            "spec",
            exp.WindowSpec(
                kind="ROWS", start=UNBOUNDED, start_side="PRECEDING", end=frame.end, end_side=side
            ),
        )
    return window


def _by_position(window: exp.Window, position: exp.Column) -> Scalar:
    """Return an order-dependent function in a RANGE frame, computed by the positions of its
    rows.
    """
    name = function_name(window)
    value, *more = called(window).expressions
    seen = _seen(window, value, name)
    if name in _FIRST or name in _LAST:
        rank = position if seen is None else exp.Case().when(seen, position)
        return _over(window, "min_by" if name in _FIRST else "max_by", value, rank)
    if name == "nth_value" and frame_of(window).from_first and seen is None:
        nth = exp.EQ(this=position.copy(), expression=bracketed(more[0].copy()))
        return _over(window, "min_by", value, exp.Case().when(nth, position))
    names = (exp.Literal.string("at"), position, exp.Literal.string("value"), value.copy())
    item: Scalar = exp.Anonymous(this="named_struct", expressions=list(names))
    if seen is not None:
        item = exp.Case().when(seen, item)
    values = _values_by_position(_over(window, "collect_list", item))
    if name in _LISTS:
        return values
    index = exp.Sub(this=bracketed(more[0].copy()), expression=exp.Literal.number(1))
    return exp.Anonymous(this="get", expressions=[values, index])


def _seen(window: exp.Window, value: Scalar, name: str) -> Scalar | None:
    """Return the condition on the rows of its frame that a function reads, or None for all rows."""
    conditions: list[Scalar] = []
    filtered = condition_of(window)
    if filtered is not None:
        conditions.append(filtered.copy())
    if ignores_nulls(window) or name in _LISTS:
        known = exp.Is(this=bracketed(value.copy()), expression=exp.null())
        conditions.append(exp.Not(this=known))
    return exp.and_(*conditions, copy=False) if conditions else None


def _over(window: exp.Window, name: str, *arguments: Scalar) -> exp.Window:
    """Return a different aggregate over the same window."""
    copy = window.copy()
    call = exp.AnonymousAggFunc(this=name, expressions=[argument.copy() for argument in arguments])
    call.meta[_BY_PLACE] = True
    copy.set("this", call)
    return copy


def _values_by_position(items: Scalar) -> Scalar:
    """Return the values of a list of positions and values, in the order of the positions."""
    left, right, each = (exp.to_identifier(name) for name in ("l", "r", "e"))
    order = exp.Sub(this=field("l", "at"), expression=field("r", "at"))
    compare = exp.Lambda(this=order, expressions=[left, right])
    in_order = exp.Anonymous(this="array_sort", expressions=[items, compare])
    value = exp.Lambda(this=field("e", "value"), expressions=[each])
    return exp.Anonymous(this="transform", expressions=[in_order, value])
