"""Conditions placed as low as possible: on one relation, else on the join that needs them.

``FROM a, b WHERE a.x = b.y AND a.z > 3`` is bound as a filter of a product. To report the operator
that loses a row of ``a``, its own condition becomes a filter of ``a``, and the equality the join's
condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    CorrelatedScalar,
    ExistenceJoin,
    Filter,
    InnerJoin,
    Relation,
    Scalar,
    ScalarSubquery,
    Windows,
    conjuncts,
    references,
    with_inputs,
)
from rewriter.analysis.may_throw import may_raise
from rewriter.position import Span


def place_conditions(root: Relation) -> Relation:
    """Return an equivalent plan with conjuncts of WHERE and ON as low as possible.

    They pass inner joins, and values of subqueries that they do not mention, as in Spark's
    optimiser; filters of derived tables, groupings and outer joins stay above these. So do
    conditions that may raise an error, which must not fail on rows without a partner.
    """
    placed: dict[int, tuple[Relation, Relation]] = {}

    def place(relation: Relation) -> Relation:
        if id(relation) not in placed:
            below = with_inputs(relation, place)
            if isinstance(below, Filter):
                below = _above(below.input, conjuncts(below.predicate), below.span)
            elif isinstance(below, InnerJoin) and below.condition is not None:
                without = replace(below, condition=None)
                below = _above(without, conjuncts(below.condition), below.span)
            placed[id(relation)] = (relation, below)
        return placed[id(relation)][1]

    return place(root)


def _above(relation: Relation, conditions: Sequence[Scalar], span: Span | None) -> Relation:
    """Return the rows of a relation that satisfy conditions, placed as low as possible."""
    if not conditions:
        return relation
    match relation:
        case InnerJoin():
            left = [each for each in conditions if _is_over(each, relation.left)]
            right = [
                each for each in conditions if each not in left and _is_over(each, relation.right)
            ]
            both = [each for each in conditions if each not in left and each not in right]
            own = conjuncts(relation.condition)
            return replace(
                relation,
                left=_above(relation.left, left, span),
                right=_above(relation.right, right, span),
                condition=_conjunction([*own, *both]),
            )
        case ScalarSubquery() | CorrelatedScalar():
            below = [each for each in conditions if _is_over(each, relation.input)]
            passed: Relation = replace(relation, input=_above(relation.input, below, span))
        case ExistenceJoin():
            below = [each for each in conditions if _is_over(each, relation.left)]
            passed = replace(relation, left=_above(relation.left, below, span))
        case _:
            below, passed = [], relation
    rest = _conjunction([each for each in conditions if each not in below])
    return passed if rest is None else Filter(passed, rest, span)


def _is_over(condition: Scalar, relation: Relation) -> bool:
    known = {attribute.id for attribute in relation.attributes}
    found = set(references(condition))
    return bool(found) and found <= known and not may_raise(condition)


def _conjunction(conditions: Sequence[Scalar]) -> Scalar | None:
    if not conditions:
        return None
    return exp.and_(*(each.copy() for each in conditions))


def is_above_groups(relation: Relation) -> bool:
    """Return True if a filter on top of a relation is a HAVING."""
    while isinstance(relation, ScalarSubquery | CorrelatedScalar | ExistenceJoin | Windows):
        relation = relation.inputs[0]
    return isinstance(relation, Aggregate)
