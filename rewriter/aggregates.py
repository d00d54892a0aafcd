"""Calls of aggregate functions, as trees: what stands around them, what they read, what they see.

A call may stand in FILTER, WITHIN GROUP and IGNORE NULLS, each a node around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from sqlglot import exp

from rewriter.algebra import Scalar, is_known

WRAPPERS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
"""What may stand around the call of an aggregate or window function."""

EXTREMES = frozenset({"max_by", "min_by"})
"""Functions that choose a row by the value of their second argument."""
LISTS = frozenset({"listagg", "string_agg"})
"""Functions that join the values of rows in an order."""


def called(call: Scalar) -> exp.Expr:
    """Return the call of a function, without what stands around it."""
    while isinstance(call, WRAPPERS):
        call = call.this
    return call


def name_of(call: Scalar) -> str:
    """Return the name of a called function in lower case."""
    bare = called(call)
    unnamed = isinstance(bare, (exp.Anonymous, exp.AnonymousAggFunc))
    return str(bare.this if unnamed else bare.key).lower()


def sort_keys(call: Scalar) -> list[exp.Ordered]:
    """Return what WITHIN GROUP sorts the rows by; nothing without it."""
    while isinstance(call, WRAPPERS):
        if isinstance(call, exp.WithinGroup):
            return list(call.expression.expressions)
        call = call.this
    return []


def is_distinct(call: Scalar) -> bool:
    """Whether a call aggregates different values only."""
    return isinstance(_first(called(call)), exp.Distinct)


def arguments(call: Scalar) -> list[Scalar]:
    """Return what a call reads of a row: its arguments without DISTINCT, then its sort keys."""
    return [*_own_arguments(called(call)), *(key.this for key in sort_keys(call))]


def with_arguments(call: Scalar, scalars: Sequence[Scalar]) -> Scalar:
    """Return the call of other arguments and sort keys, as many as :func:`arguments` gives."""
    copy = call.copy()
    keys = sort_keys(copy)
    own = [scalar.copy() for scalar in scalars[: len(scalars) - len(keys)]]
    for key, scalar in zip(keys, scalars[len(own) :], strict=True):
        key.set("this", scalar.copy())
    bare = called(copy)
    first = _first(bare)
    if isinstance(first, exp.Distinct):
        first.set("expressions", own)
    elif isinstance(bare, exp.AnonymousAggFunc):
        bare.set("expressions", own)
    else:
        bare.set("this", own[0])
        bare.set("expressions", own[1:])
    return copy


def without_filter(call: Scalar) -> tuple[Scalar, Scalar | None]:
    """Return a copy of a call without FILTER, and the condition of that; None without it."""
    copy = call.copy()
    found: Scalar = copy
    while isinstance(found, WRAPPERS) and not isinstance(found, exp.Filter):
        found = found.this
    if not isinstance(found, exp.Filter):
        return copy, None
    condition: Scalar = found.expression.this
    if found is copy:
        return found.this.pop(), condition
    found.replace(found.this)
    return copy, condition


def chooses(call: Scalar) -> bool:
    """Whether a value depends on the order of rows that tie, or on which of them is taken."""
    name = name_of(call)
    any_mode = name == "mode" and not sort_keys(call)
    return any_mode or name in EXTREMES or name in LISTS


def deciding_argument(call: Scalar) -> int:
    """Return the place of the argument whose NULLs leave rows out of an aggregate."""
    if name_of(call) in EXTREMES:
        return 1
    if sort_keys(call) and name_of(call) not in LISTS:
        return len(_own_arguments(called(call)))
    return 0


def compared_row(compared: Scalar, ties: Sequence[Scalar]) -> Scalar:
    """Return what MAX_BY or MIN_BY compares, with what decides among rows that tie behind it.

    Like the value itself it is NULL where that is, which leaves the row out.
    """
    constant = isinstance(compared, exp.Literal)
    parts = [one.copy() for one in (*[compared] * (not constant), *ties)]
    row = exp.Anonymous(this="struct", expressions=parts)
    return row if constant else exp.Case().when(is_known(compared), row)


def compared_parts(row: Scalar) -> tuple[list[Scalar], bool]:
    """Return what :func:`compared_row` is made of, and whether it is never NULL."""
    if _is_struct(row):
        return list(row.expressions), True
    if isinstance(row, exp.Case) and row.this is None and not row.args.get("default"):
        (branch, *more) = row.args["ifs"]
        found = branch.args["true"]
        if not more and _is_struct(found) and branch.this == is_known(found.expressions[0]):
            return list(found.expressions), False
    return [row], False


def _is_struct(scalar: Scalar) -> bool:
    return isinstance(scalar, exp.Anonymous) and str(scalar.this).lower() == "struct"


def _first(bare: exp.Expr) -> exp.Expr | None:
    if not isinstance(bare, (exp.Anonymous, exp.AnonymousAggFunc)):
        return cast("exp.Expr | None", bare.this)
    return next(iter(bare.expressions), None)


def _own_arguments(bare: exp.Expr) -> list[Scalar]:
    unnamed = isinstance(bare, (exp.Anonymous, exp.AnonymousAggFunc))
    written = list(bare.expressions) if unnamed else [bare.this, *bare.expressions]
    found: list[Scalar] = []
    for part in written:
        if isinstance(part, exp.Distinct):
            found += part.expressions
        elif part is not None:
            found.append(part)
    return found
