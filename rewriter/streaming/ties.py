"""Groups of a streaming query in which Spark leaves open which row an aggregate takes.

Of rows that tie in what MAX_BY compares, of the first row of a group, of equally frequent values
and of the order in which LISTAGG joins, any may have been emitted. A query finds the groups.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from rewriter.algebra import Aggregate, Filter, Relation, Scalar, is_known
from rewriter.scalars.aggregates import (
    EXTREMES,
    arguments,
    chooses,
    lists,
    name_of,
    sort_keys,
    without_filter,
)
from rewriter.streaming.context import Context

_OF_ORDER = frozenset({"any_value", "first", "first_value", "last", "last_value"})


def tied_groups(context: Context, aggregate: Aggregate) -> Iterator[tuple[Relation, Scalar]]:
    """Yield, for each aggregate that rows may tie in, a query of such groups, and its call."""
    for call in aggregate.aggregates:
        if chooses(call) or name_of(call) in _OF_ORDER:
            yield _tied(context, aggregate, call), call


def _tied(context: Context, aggregate: Aggregate, call: Scalar) -> Relation:
    bare, condition = without_filter(call)
    rows = aggregate.input if condition is None else Filter(aggregate.input, condition)
    keys = aggregate.keys
    name = name_of(call)
    if name in EXTREMES:
        value, compared, *_ = arguments(bare)
        values = _grouped(context, rows, (*keys, compared), _different([value]))
        return _several(context, values, len(keys), name)
    if name == "mode":
        value, *_ = arguments(bare)
        rows = Filter(rows, is_known(value))
        counts = _grouped(context, rows, (*keys, value), exp.Count(this=exp.Star()))
        numbers = [a.column() for a in counts.attributes]
        same = (*numbers[: len(keys)], numbers[-1])
        equals = _grouped(context, counts, same, exp.Count(this=exp.Star()))
        return _several(context, equals, len(keys), "max_by")
    read = arguments(bare)
    ordered = [key.this for key in sort_keys(bare)] if lists(call) else []
    if name in _OF_ORDER:
        ignores = bare.find(exp.IgnoreNulls) is not None or exp.true() in read[1:]
        read = read[:1]
        rows = Filter(rows, is_known(read[0])) if ignores else rows
    found = _grouped(context, rows, (*keys, *ordered), _different(read))
    return Filter(found, _more_than_one(found.attributes[-1].column()))


def _several(context: Context, counts: Aggregate, keys: int, extreme: str) -> Relation:
    """Return the groups with more than one of the counted values, if these are compared last."""
    columns = [attribute.column() for attribute in counts.attributes]
    *group, compared, number = columns
    assert len(group) == keys
    last = exp.AnonymousAggFunc(this=extreme, expressions=[number, compared])
    found = _grouped(context, counts, tuple(group), last)
    return Filter(found, _more_than_one(found.attributes[-1].column()))


def _grouped(context: Context, rows: Relation, keys: tuple[Scalar, ...], call: Scalar) -> Aggregate:
    names = tuple(context.attribute("key") for _ in keys)
    scalars = tuple(key.copy() for key in keys)
    return Aggregate(rows, names, scalars, (context.attribute("number"),), (call,))


def _different(values: list[Scalar]) -> Scalar:
    """Return the number of combinations of values, also of values that have no order."""
    fields: list[Scalar] = []
    for number, value in enumerate(values):
        fields += [exp.Literal.string(f"c{number}"), value.copy()]
    struct = exp.Anonymous(this="named_struct", expressions=fields)
    return exp.Count(this=exp.Distinct(expressions=[struct]))


def _more_than_one(number: Scalar) -> Scalar:
    return exp.GT(this=number, expression=exp.Literal.number(1))
