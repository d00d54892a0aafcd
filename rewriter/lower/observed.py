"""Which arrays a query looks into: whose elements' order its answer may depend on.

Spark leaves open in which order a grouping collects. An array that is only shown is compared as a
bag; one that is taken apart, indexed or joined to a text must have the same order in the answer, in
a capture and in a hypothetical answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields

from sqlglot import exp

from rewriter.algebra import (
    BagDifference,
    CorrelatedScalar,
    Generate,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    SortKey,
    UnionAll,
    walk,
)
from rewriter.lower.collected import collected_by

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
    """Return the ids of attributes whose values anything but the select list reads."""
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
    """Yield the scalars of an operator that do more than to rename."""
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
    """Yield the attributes on whose values' order a scalar may depend."""
    calls = filter(_is_free, scalar.find_all(exp.Anonymous))
    free = {id(call.expressions[0].unnest()) for call in calls if call.expressions}
    for node in scalar.find_all(exp.Column):
        if id(node) not in free:
            yield node.name


def _is_free(call: exp.Anonymous) -> bool:
    name = call.name.lower()
    # Without a comparison of its own it sorts by the values.
    by_values = name == "array_sort" and len(call.expressions) == 1
    return by_values or name in _WITHOUT_ORDER
