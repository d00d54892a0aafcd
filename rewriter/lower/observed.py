"""Collected arrays whose order the query observes.

Spark does not define the order in which a grouping collects. An array that is only shown is
compared as a bag; one that is unnested, indexed or joined to a text must have the same order in the
answer, in a capture and in a hypothetical answer. A generator over COLLECT_LIST or COLLECT_SET
undoes the grouping: GROUP, then FLATTEN.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Attribute,
    BagDifference,
    CorrelatedScalar,
    Filter,
    Generate,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    Sort,
    SortKey,
    UnionAll,
    walk,
)
from rewriter.scalars.aggregates import ARRAYS, SETS


@dataclass(frozen=True, slots=True)
class Collected:
    """A collected array of a grouping that a generator unnests.

    Parameters
    ----------
    below
        The input of the grouping: its rows are the elements' tuples.
    keys, scalars
        The grouping's keys, as its attributes and over its input.
    value
        The element, over the input; NULLs are not collected.
    condition
        The FILTER of the aggregate.
    distinct
        Whether each value is collected once.
    """

    below: Relation
    keys: tuple[Attribute, ...]
    scalars: tuple[Scalar, ...]
    value: Scalar
    condition: Scalar | None
    distinct: bool

    def fields(self, value: Scalar) -> tuple[Scalar, ...]:
        """Return the fields of an element that is a struct."""
        return _fields(value) or ()


def collected_by(relation: Generate) -> Collected | None:
    """Return the collected array that a generator unnests, or None.

    None if the array is anything else, if the position of an element is used (the order of
    collection is not defined), or if empty groups are kept.
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
    """Return the grouping and the aggregate behind an attribute, or None."""
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


_WITHOUT_ORDER = frozenset(
    {
        "array_contains",
        "array_max",
        "array_min",
        "array_size",
        "cardinality",
        "size",
        "sort_array",
    }
)
"""Functions whose value does not depend on the order of an array."""


def observed(root: Relation) -> frozenset[str]:
    """Return the ids of attributes whose values are read outside the select list."""
    shown: dict[str, list[str]] = {}
    seen: set[str] = set()
    for relation in walk(root):
        for new, old in _renamed(relation):
            shown.setdefault(new, []).append(old)
        for scalar in _scalars(relation):
            seen.update(_looked_into(scalar))
        if isinstance(relation, BagDifference):
            seen.update(a.id for side in relation.inputs for a in side.attributes)
    read: set[str] = set()
    while seen:
        identity = seen.pop()
        if identity not in read:
            read.add(identity)
            seen.update(shown.get(identity, ()))
    return frozenset(read)


def _renamed(relation: Relation) -> Iterator[tuple[str, str]]:
    """Yield the attributes of an operator that only rename attributes of its inputs."""
    match relation:
        case Project():
            for attribute, scalar in zip(relation.output, relation.scalars, strict=True):
                bare = scalar.unnest()
                if isinstance(bare, exp.Column):
                    yield attribute.id, bare.name
        case UnionAll():
            for branch in relation.branches:
                for new, old in zip(relation.output, branch.attributes, strict=True):
                    yield new.id, old.id
        case ScalarSubquery():
            yield relation.output.id, relation.value.id
        case CorrelatedScalar():
            yield relation.output.id, relation.value.id


def _scalars(relation: Relation) -> Iterator[Scalar]:
    """Yield the scalars of an operator that do more than rename an attribute."""
    if isinstance(relation, Project):
        yield from (
            scalar for scalar in relation.scalars if not isinstance(scalar.unnest(), exp.Column)
        )
    elif not (isinstance(relation, Generate) and collected_by(relation) is not None):
        yield from _of_values(getattr(relation, field.name) for field in fields(relation))


def _of_values(values: Iterable[object]) -> Iterator[Scalar]:
    for value in values:
        if isinstance(value, exp.Expr):
            yield value
        elif isinstance(value, SortKey):
            yield value.scalar
        elif isinstance(value, tuple):
            yield from _of_values(value)


def _looked_into(scalar: Scalar) -> Iterator[str]:
    """Yield the attributes whose array order a scalar may depend on."""
    calls = filter(_is_free, scalar.find_all(exp.Anonymous))
    free = {id(call.expressions[0].unnest()) for call in calls if call.expressions}
    for node in scalar.find_all(exp.Column):
        if id(node) not in free:
            yield node.name


def _is_free(call: exp.Anonymous) -> bool:
    name = call.name.lower()
    # Without a comparator it sorts by the values.
    by_values = name == "array_sort" and len(call.expressions) == 1
    return by_values or name in _WITHOUT_ORDER
