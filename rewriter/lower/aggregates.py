"""Aggregates whose value Spark leaves open, decided the same way every time.

Rows that tie in what MAX_BY compares, the order of what LISTAGG joins, the first row of a group and
the most frequent of equally frequent values: the answer, a capture and a hypothetical answer must
not differ for such a reason. So rows that tie are compared by their identity, and of equally
frequent values the least is taken. An array is collected in an order where the query looks into it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from rewriter.algebra import Scalar, is_known
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

_OF_ORDER = {
    "any_value": "min_by",
    "first": "min_by",
    "first_value": "min_by",
    "last": "max_by",
    "last_value": "max_by",
}
"""Functions of the order of a group's rows, which is that of their identity."""


def over_values(call: Scalar, stored: Callable[[Scalar], Scalar]) -> Scalar:
    """Return a call over what is stored of its arguments, without FILTER.

    The rows that FILTER leaves out are those where the argument that decides is NULL.
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
    """Tell whether a call sees the rows of a group in the order in which they come."""
    name = name_of(call)
    listed = name in LISTS and not sort_keys(call) and not is_distinct(call)
    return listed or (name in _OF_ORDER and name != "any_value")


def read_by(call: Scalar) -> list[Scalar]:
    """Return what a call reads of a row, as far as rows can be sorted by it.

    What is collected may be of a type that has no order.
    """
    read = arguments(call)
    if collects_in_order(call) and not is_distinct(call):
        read[0] = exp.cast(read[0].copy(), "string")
    return read


def decided(call: Scalar, ties: Sequence[Scalar]) -> Scalar:
    """Return a call in which rows that tie are compared by ``ties``."""
    if name_of(call) in EXTREMES:
        return _with_extreme_of(call, ties)
    if lists(call):
        return _listed(call, ties)
    return _with_mode_of_least(call) if chooses(call) else call


def _filtered(value: Scalar, condition: Scalar) -> Scalar:
    value = exp.Literal.number(1) if isinstance(value, exp.Star) else value
    return exp.Case().when(condition.copy(), value.copy())


def _by_order(call: Scalar) -> Scalar:
    """Return a function of the order of rows as one of rows that all tie."""
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
    """Return a list in a full order; of different values in theirs, if no other was given."""
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
    if not keys and not more:
        # There is one row.
        return without_order(call)
    return within_group(call, [*keys, *more]) if more else call


def _with_mode_of_least(call: Scalar) -> Scalar:
    value, *_ = arguments(call)
    return with_arguments(call, [value, exp.true()])
