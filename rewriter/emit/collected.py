"""Arrays that a grouping collects in an order, which Spark's functions cannot be told."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.scalars.aggregates import arguments, called, collects_in_order, is_distinct, sort_keys

_VALUE = "value"
_BEFORE, _AFTER = exp.Literal.number(-1), exp.Literal.number(1)


def sorted_arrays(call: Scalar) -> Scalar:
    """Return the call of an aggregate as Spark knows it: arrays are sorted when they are whole."""
    if not collects_in_order(call):
        return call
    if is_distinct(call):
        # Different values are sorted by themselves.
        return _call("array_sort", called(call).copy())
    keys = sort_keys(call)
    value = arguments(call)[0]
    fields = [(_VALUE, value), *((f"key{at}", key.this) for at, key in enumerate(keys))]
    parts = [part for name, scalar in fields for part in (exp.Literal.string(name), scalar.copy())]
    row = exp.Anonymous(this="named_struct", expressions=parts)
    collected = exp.AnonymousAggFunc(this=called(call).this, expressions=[row])
    in_order = _call("array_sort", collected, _function(_comparison(keys), "l", "r"))
    values = _call("transform", in_order, _function(_field("e", _VALUE), "e"))
    return _call("array_compact", values)


def _comparison(keys: Sequence[exp.Ordered]) -> exp.Case:
    """Return -1, 0 or 1 as ``l`` stands before, with or after ``r``."""
    case = exp.Case()
    for at, key in enumerate(keys):
        left, right = (_field(of, f"key{at}") for of in ("l", "r"))
        first, last = (_BEFORE, _AFTER) if key.args.get("nulls_first") else (_AFTER, _BEFORE)
        less, more = (_AFTER, _BEFORE) if key.args.get("desc") else (_BEFORE, _AFTER)
        case = case.when(exp.and_(_is_null(left), exp.not_(_is_null(right))), first)
        case = case.when(exp.and_(exp.not_(_is_null(left)), _is_null(right)), last)
        case = case.when(exp.LT(this=left.copy(), expression=right.copy()), less)
        case = case.when(exp.GT(this=left.copy(), expression=right.copy()), more)
    return case.else_(exp.Literal.number(0))


def _is_null(scalar: exp.Expr) -> exp.Is:
    return exp.Is(this=scalar.copy(), expression=exp.null())


def _call(name: str, *given: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(given))


def _function(body: exp.Expr, *names: str) -> exp.Lambda:
    return exp.Lambda(this=body, expressions=[exp.to_identifier(name) for name in names])


def _field(of: str, name: str) -> exp.Dot:
    return exp.Dot(this=exp.to_identifier(of), expression=exp.to_identifier(name))
