"""Conditions of WHERE, ON and HAVING: predicates, and IN and EXISTS, which are semi-joins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import AntiJoin, Filter, Relation, Scalar, SemiJoin
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.subqueries.memberships import BoundMembership, conjunction, exists, is_in, not_in
from rewriter.bind.subqueries.values import Subqueries
from rewriter.bind.text import unwrap
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class BoundCondition:
    """A condition taken apart: it is true where all of its parts are."""

    predicates: tuple[Scalar, ...]
    memberships: tuple[BoundMembership, ...]


def bind_condition(
    node: exp.Expr, binder: ScalarBinder, *, memberships_apart: bool = True
) -> BoundCondition:
    """Bind a condition, its top-level [NOT] IN and [NOT] EXISTS as memberships.

    These are values like any other if they are not to be taken apart.
    """
    predicates: list[Scalar] = []
    memberships: list[BoundMembership] = []
    for conjunct in conjuncts(node):
        bare = unwrap(conjunct)
        negated = isinstance(bare, exp.Not)
        membership = unwrap(bare.this) if negated else bare
        if not memberships_apart:
            predicates.append(binder.bind(conjunct))
        elif isinstance(membership, exp.Exists) and isinstance(membership.this, exp.Query):
            memberships.append(replace(exists(membership, binder), negated=negated))
        elif isinstance(membership, exp.In) and membership.args.get("query") is not None:
            memberships += not_in(membership, binder) if negated else [is_in(membership, binder)]
        else:
            predicates.append(binder.bind(conjunct))
    return BoundCondition(tuple(predicates), tuple(memberships))


def restrict(
    relation: Relation, condition: BoundCondition, subqueries: Subqueries, span: Span | None = None
) -> Relation:
    """Return the rows of the relation for which a condition is true."""
    if condition.predicates:
        relation, attached = subqueries.attach(relation, condition.predicates)
        relation = Filter(relation, conjunction(attached), span)
    rows, rights = relation, dict[int, Relation]()
    for membership in condition.memberships:
        scalar = membership.condition
        if scalar is not None:
            relation, (scalar,) = subqueries.attach(relation, [scalar])
        if membership.tie is not None:
            rows = subqueries.attach(rows, membership.tie.scalars)[0]
        right = rights.setdefault(id(membership.right), membership.right_of(rows))
        join = AntiJoin if membership.negated else SemiJoin
        relation = join(relation, right, scalar, membership.span)
    return relation


def conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the conditions that AND combines, in order."""
    stack = [node]
    while stack:
        part = stack.pop()
        bare = unwrap(part)
        if isinstance(bare, exp.And):
            stack += [bare.expression, bare.this]
        else:
            yield part
