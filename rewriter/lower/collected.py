"""collect_list and collect_set whose arrays are taken apart again: GROUP, then FLATTEN."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Aggregate, Attribute, Filter, Generate, Project, Relation, Scalar, Sort
from rewriter.scalars.aggregates import ARRAYS, SETS


@dataclass(frozen=True, slots=True)
class Collected:
    """What a generator takes apart: the arrays of a grouping.

    Parameters
    ----------
    below
        The input of the grouping: its rows are the elements' tuples.
    keys, scalars
        The grouping's keys, as its attributes and over its input.
    value
        The element, over the input; NULLs are not collected.
    condition
        FILTER of the aggregate.
    distinct
        Each value once.
    """

    below: Relation
    keys: tuple[Attribute, ...]
    scalars: tuple[Scalar, ...]
    value: Scalar
    condition: Scalar | None
    distinct: bool

    def fields(self, value: Scalar) -> tuple[Scalar, ...]:
        """Return the fields of the struct that an element is."""
        return _fields(value) or ()


def collected_by(relation: Generate) -> Collected | None:
    """Return what a generator takes apart, where that is the array of a grouping as it was made.

    None where the array is anything else, the place of an element is asked for (the order of
    collection is not defined), or empty groups are kept.
    """
    argument = relation.argument.unnest()
    if relation.outer or relation.counted or not isinstance(argument, exp.Column):
        return None
    collected = _made_by(relation.input, argument.name)
    if collected is None or not collected[0].keys:
        return None
    aggregate, call = collected
    condition = None
    if isinstance(call, exp.Filter):
        condition, call = call.expression.this, call.this
    name = _name(call)
    if name not in ARRAYS or (not relation.inline and len(relation.output) != 1):
        return None
    value = call.expressions[0] if isinstance(call, exp.AnonymousAggFunc) else call.this
    distinct = name in SETS
    if isinstance(value, exp.Distinct):
        distinct, value = True, value.expressions[0]
    if isinstance(value, exp.Order) or (relation.inline and (distinct or not _fields(value))):
        return None
    if relation.inline and len(_fields(value) or ()) != len(relation.output):
        return None
    return Collected(
        aggregate.input, aggregate.key_output, aggregate.keys, value, condition, distinct
    )


def _made_by(relation: Relation, identity: str) -> tuple[Aggregate, Scalar] | None:
    """Return the grouping and the aggregate that an attribute is."""
    while isinstance(relation, Project | Filter | Sort):
        if isinstance(relation, Project):
            computed = dict(zip((a.id for a in relation.output), relation.scalars, strict=True))
            scalar = computed[identity].unnest()
            if not isinstance(scalar, exp.Column):
                return None
            identity = scalar.name
        relation = relation.input
    if not isinstance(relation, Aggregate) or relation.sets is not None:
        return None
    calls = zip((a.id for a in relation.aggregate_output), relation.aggregates, strict=True)
    call = dict(calls).get(identity)
    return None if call is None else (relation, call)


def _name(call: Scalar) -> str:
    if isinstance(call, exp.Anonymous | exp.AnonymousAggFunc):
        return str(call.this).lower()
    return call.sql_name().lower() if isinstance(call, exp.Func) else ""


def _fields(value: Scalar) -> tuple[Scalar, ...] | None:
    """Return the fields of struct(...) or named_struct(...)."""
    value = value.unnest()
    name = _name(value)
    if name == "named_struct":
        return tuple(value.expressions[1::2])
    if name == "struct":
        return tuple(_field(field) for field in value.expressions)
    return None


def _field(field: Scalar) -> Scalar:
    value: Scalar = field.this if isinstance(field, exp.Alias) else field
    return value
