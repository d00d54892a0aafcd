"""Outer-join elimination: an outer join whose padded rows a condition rejects becomes inner.

``FROM a LEFT JOIN b ON ... WHERE b.x > 1`` keeps no row without a partner, after any deletion.
Captured as an outer join, each row of ``a`` would be stored a second time for the case without a
partner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, replace
from typing import Any

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
    CorrelatedScalar,
    ExistenceJoin,
    Filter,
    InnerJoin,
    OuterJoin,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    SemiJoin,
    Side,
    Sort,
    UnionAll,
    reference_counts,
)

_NULL_OF_NULL = (
    exp.Add,
    exp.Cast,
    exp.EQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.Like,
    exp.Mul,
    exp.NEQ,
    exp.Neg,
    exp.Not,
    exp.Paren,
    exp.Sub,
)
"""Operators that are NULL where an operand is."""

_NOTHING: Set[str] = frozenset()


def eliminate_outer_joins(root: Relation) -> Relation:
    """Return a query with outer joins made inner if a condition rejects their padded rows.

    ``a LEFT JOIN b ON a.k = b.k WHERE b.x > 1`` is ``a JOIN b ON a.k = b.k WHERE b.x > 1``.
    """
    return _Eliminating(root).relation(root, _NOTHING)


def null_rejected(predicate: Scalar) -> Set[str]:
    """Return the attributes that are not NULL if a predicate is true."""
    predicate = predicate.unnest()
    if isinstance(predicate, exp.And):
        return null_rejected(predicate.left) | null_rejected(predicate.right)
    if isinstance(predicate, exp.Or):
        return null_rejected(predicate.left) & null_rejected(predicate.right)
    if isinstance(predicate, exp.Between | exp.In):
        return _strict(predicate.this)
    if isinstance(predicate, exp.Not):
        tested = predicate.this.unnest()
        if isinstance(tested, exp.Is) and isinstance(tested.expression, exp.Null):
            return _strict(tested.this)
    return _strict(predicate)


def _strict(scalar: Scalar) -> Set[str]:
    """Return the attributes that make a scalar NULL when they are NULL."""
    if isinstance(scalar, exp.Column):
        return {scalar.name}
    if isinstance(scalar, exp.Not) and isinstance(scalar.this.unnest(), exp.In):
        return _strict(scalar.this.unnest().this)
    if not isinstance(scalar, _NULL_OF_NULL):
        return _NOTHING
    operands = (scalar.args.get("this"), scalar.args.get("expression"))
    return frozenset().union(
        *(_strict(operand) for operand in operands if isinstance(operand, exp.Expr))
    )


class _Eliminating:
    """Rewrites, top down, the operators of a query that have one reader."""

    def __init__(self, root: Relation) -> None:
        self._readers: Counter[int] = reference_counts(root)
        self._done: dict[int, Relation] = {}

    def relation(self, relation: Relation, known: Set[str]) -> Relation:
        """Simplify a relation whose parent rejects rows where an attribute in `known` is NULL."""
        if self._readers[id(relation)] > 1:
            known = _NOTHING
        if id(relation) not in self._done:
            self._done[id(relation)] = self._rebuilt(relation, known)
        return self._done[id(relation)]

    def _rebuilt(self, relation: Relation, known: Set[str]) -> Relation:
        if isinstance(relation, OuterJoin):
            return self._outer_join(relation, known)
        if isinstance(relation, UnionAll):
            return self._union(relation, known)
        below = _below(relation, known)
        changed: dict[str, Any] = {}
        for field in fields(relation):
            value = getattr(relation, field.name)
            if isinstance(value, Relation):
                new = self.relation(value, below.get(field.name, _NOTHING))
                if new is not value:
                    changed[field.name] = new
        return replace(relation, **changed) if changed else relation

    def _outer_join(self, relation: OuterJoin, known: Set[str]) -> Relation:
        lefts, rights = ({a.id for a in side.attributes} for side in relation.inputs)
        keeps_left = relation.side.keeps_left and known.isdisjoint(rights)
        keeps_right = relation.side.keeps_right and known.isdisjoint(lefts)
        matching = _null_rejected(relation.condition)
        left = (_NOTHING if keeps_right else known) | (_NOTHING if keeps_left else matching)
        right = (_NOTHING if keeps_left else known) | (_NOTHING if keeps_right else matching)
        inputs = self.relation(relation.left, left), self.relation(relation.right, right)
        if not (keeps_left or keeps_right):
            return InnerJoin(*inputs, relation.condition, relation.span)
        side = Side.FULL if keeps_left and keeps_right else Side.LEFT if keeps_left else Side.RIGHT
        same = inputs[0] is relation.left and inputs[1] is relation.right
        if side is relation.side and same:
            return relation
        return OuterJoin(*inputs, relation.condition, relation.span, side=side)

    def _union(self, relation: UnionAll, known: Set[str]) -> Relation:
        places = [n for n, attribute in enumerate(relation.output) if attribute.id in known]
        branches = tuple(
            self.relation(branch, {branch.attributes[index].id for index in places})
            for branch in relation.branches
        )
        if all(new is old for new, old in zip(branches, relation.branches, strict=True)):
            return relation
        return replace(relation, branches=branches)


def _below(relation: Relation, known: Set[str]) -> Mapping[str, Set[str]]:
    """Return, by field of its inputs, the attributes that are not NULL in the relevant rows."""
    match relation:
        case Filter():
            return {"input": known | null_rejected(relation.predicate)}
        case Project():
            return {"input": _made_of(relation.output, relation.scalars, known)}
        case Aggregate() if relation.sets is None:
            return {"input": _made_of(relation.key_output, relation.keys, known)}
        case InnerJoin():
            both = known | _null_rejected(relation.condition)
            return {"left": both, "right": both}
        case SemiJoin():
            matching = _null_rejected(relation.condition)
            return {"left": known | matching, "right": matching}
        case AntiJoin() | ExistenceJoin():
            return {"left": known, "right": _null_rejected(relation.condition)}
        case ScalarSubquery() | CorrelatedScalar() | Sort():
            return {"input": known}
    return {}


def _null_rejected(condition: Scalar | None) -> Set[str]:
    return _NOTHING if condition is None else null_rejected(condition)


def _made_of(
    output: Sequence[Attribute], scalars: Sequence[Scalar], known: Set[str]
) -> frozenset[str]:
    pairs = zip(output, scalars, strict=True)
    return frozenset().union(*(_strict(scalar) for a, scalar in pairs if a.id in known))
