"""Calls of aggregate functions, as trees: what stands around them, what they read, what they see.

A call may stand in FILTER, WITHIN GROUP and IGNORE NULLS, each a node around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from sqlglot import exp

from rewriter.algebra import Scalar, SortKey, is_known

WRAPPERS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
"""Nodes that may stand around the call of an aggregate or window function."""

EXTREMES = frozenset({"max_by", "min_by"})
"""Functions that choose a row by the value of their second argument."""
LISTS = frozenset({"listagg", "string_agg"})
"""Functions that join the values of rows in an order."""
SETS = frozenset({"collect_set"})
"""Functions that collect different values."""
ARRAYS = frozenset({"array_agg", "collect_list", *SETS})
"""Functions that collect the values of rows, in WITHIN GROUP in an order, which Spark has not."""


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


def collects_in_order(call: Scalar) -> bool:
    """Return True if a call collects values in an order: WITHIN GROUP, maybe without keys."""
    if name_of(call) not in ARRAYS:
        return False
    while isinstance(call, WRAPPERS):
        if isinstance(call, exp.WithinGroup):
            return True
        call = call.this
    return False


def lists(call: Scalar) -> bool:
    """Return True if a call lists the values of rows in an order: joined, or as an array."""
    return name_of(call) in LISTS or collects_in_order(call)


def is_distinct(call: Scalar) -> bool:
    """Return True if a call aggregates different values only."""
    return name_of(call) in SETS or isinstance(_first(called(call)), exp.Distinct)


def arguments(call: Scalar) -> list[Scalar]:
    """Return what a call reads of a row: its arguments without DISTINCT, then its sort keys."""
    return [*_own_arguments(called(call)), *(key.this for key in sort_keys(call))]


def with_arguments(call: Scalar, scalars: Sequence[Scalar]) -> Scalar:
    """Return the call of other arguments and sort keys, as many as :func:`arguments` gives."""
    copy = call.copy()
    keys = sort_keys(copy)
    operands = [scalar.copy() for scalar in scalars[: len(scalars) - len(keys)]]
    for key, scalar in zip(keys, scalars[len(operands) :], strict=True):
        key.set("this", scalar.copy())
    bare = called(copy)
    first = _first(bare)
    if isinstance(first, exp.Distinct):
        first.set("expressions", operands)
    elif isinstance(bare, exp.AnonymousAggFunc):
        bare.set("expressions", operands)
    else:
        bare.set("this", operands[0])
        bare.set("expressions", operands[1:])
    return copy


def within_group(call: Scalar, keys: Sequence[exp.Ordered]) -> Scalar:
    """Return a copy of a call in WITHIN GROUP, sorted by these keys and no others."""
    copy = call.copy()
    order = exp.Order(expressions=[key.copy() for key in keys])
    bare = called(copy)
    if isinstance(bare.parent, exp.WithinGroup):
        bare.parent.set("expression", order)
        return copy
    within = exp.WithinGroup(this=bare.copy(), expression=order)
    if bare is copy:
        return within
    bare.replace(within)
    return copy


def without_order(call: Scalar) -> Scalar:
    """Return a copy of a call that is not in WITHIN GROUP."""
    copy = call.copy()
    bare = called(copy)
    if not isinstance(bare.parent, exp.WithinGroup):
        return copy
    if bare.parent is copy:
        return bare.pop()
    bare.parent.replace(bare)
    return copy


def in_order(call: Scalar, keys: Sequence[SortKey]) -> Scalar:
    """Return the call of a function that collects values, in an order of rows."""
    order = [
        exp.Ordered(this=key.scalar.copy(), desc=key.descending, nulls_first=key.nulls_first)
        for key in keys
    ]
    return within_group(call, order)


def without_filter(call: Scalar) -> tuple[Scalar, Scalar | None]:
    """Return a copy of a call without FILTER, and the condition of that; None without it."""
    copy = call.copy()
    node: Scalar = copy
    while isinstance(node, WRAPPERS) and not isinstance(node, exp.Filter):
        node = node.this
    if not isinstance(node, exp.Filter):
        return copy, None
    condition: Scalar = node.expression.this
    if node is copy:
        return node.this.pop(), condition
    node.replace(node.this)
    return copy, condition


def chooses(call: Scalar) -> bool:
    """Return True if a value depends on the order of rows that tie, or on a choice among them."""
    name = name_of(call)
    any_mode = name == "mode" and not sort_keys(call)
    return any_mode or name in EXTREMES or lists(call)


def deciding_argument(call: Scalar) -> int:
    """Return the place of the argument whose NULLs leave rows out of an aggregate."""
    if name_of(call) in EXTREMES:
        return 1
    if sort_keys(call) and not lists(call):
        return len(_own_arguments(called(call)))
    return 0


def compared_row(compared: Scalar, ties: Sequence[Scalar]) -> Scalar:
    """Return what MAX_BY or MIN_BY compares, with what decides among rows that tie behind it.

    Like the value itself it is NULL where that is, which leaves the row out.
    """
    constant = isinstance(compared, exp.Literal)
    parts = [part.copy() for part in (*[compared] * (not constant), *ties)]
    row = exp.Anonymous(this="struct", expressions=parts)
    return row if constant else exp.Case().when(is_known(compared), row)


def compared_parts(row: Scalar) -> tuple[list[Scalar], bool]:
    """Return what :func:`compared_row` is made of, and whether it is never NULL."""
    if _is_struct(row):
        return list(row.expressions), True
    if isinstance(row, exp.Case) and row.this is None and not row.args.get("default"):
        (branch, *more) = row.args["ifs"]
        struct = branch.args["true"]
        if not more and _is_struct(struct) and branch.this == is_known(struct.expressions[0]):
            return list(struct.expressions), False
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
    scalars: list[Scalar] = []
    for part in written:
        if isinstance(part, exp.Distinct):
            scalars += part.expressions
        elif part is not None:
            scalars.append(part)
    return scalars
