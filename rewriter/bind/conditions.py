"""Conditions of WHERE, ON and HAVING: predicates, and IN and EXISTS, which are semi-joins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import AntiJoin, Filter, Relation, Scalar, SemiJoin, bracketed
from rewriter.bind.context import Members
from rewriter.bind.fingerprint import unwrap
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.scope import Outer
from rewriter.bind.subqueries import Subqueries
from rewriter.position import Span, keyword_after, keyword_before


@dataclass(frozen=True, slots=True)
class Membership:
    """IN or EXISTS: some row of ``right`` makes the condition true; ``negated``: none does."""

    right: Relation
    condition: Scalar | None
    span: Span | None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition taken apart: it is true where all of its parts are."""

    predicates: tuple[Scalar, ...]
    memberships: tuple[Membership, ...]


def bind_condition(node: exp.Expr, binder: ScalarBinder) -> Condition:
    """Bind a condition, its top-level [NOT] IN and [NOT] EXISTS as memberships."""
    predicates: list[Scalar] = []
    memberships: list[Membership] = []
    for conjunct in conjuncts(node):
        bare = unwrap(conjunct)
        negated = isinstance(bare, exp.Not)
        asked = unwrap(bare.this) if negated else bare
        if isinstance(asked, exp.Exists) and isinstance(asked.this, exp.Query):
            memberships.append(replace(_exists(asked, binder), negated=negated))
        elif isinstance(asked, exp.In) and asked.args.get("query") is not None:
            memberships += _not_in(asked, binder) if negated else [_in(asked, binder)]
        else:
            predicates.append(binder.bind(conjunct))
    return Condition(tuple(predicates), tuple(memberships))


def restrict(
    relation: Relation, condition: Condition, subqueries: Subqueries, span: Span | None = None
) -> Relation:
    """Return the rows of the relation for which a condition is true."""
    if condition.predicates:
        relation, attached = subqueries.attach(relation, condition.predicates)
        relation = Filter(relation, conjunction(attached), span)
    for membership in condition.memberships:
        scalar = membership.condition
        if scalar is not None:
            relation, (scalar,) = subqueries.attach(relation, [scalar])
        join = AntiJoin if membership.negated else SemiJoin
        relation = join(relation, membership.right, scalar, membership.span)
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


def conjunction(scalars: tuple[Scalar, ...]) -> Scalar:
    """Return the conjunction of scalars."""
    return exp.and_(*scalars, copy=False) if len(scalars) > 1 else scalars[0]


def _exists(node: exp.Exists, binder: ScalarBinder) -> Membership:
    context = binder.context
    members = context.bind.members(node.this, context, Outer(binder.scope), exists=True)
    condition = conjunction(members.conditions) if members.conditions else None
    return Membership(members.relation, condition, _exists_span(node, binder))


def _in(node: exp.In, binder: ScalarBinder) -> Membership:
    members, pairs = _compared(node, binder)
    equalities = [exp.EQ(this=bracketed(a), expression=bracketed(b)) for a, b in pairs]
    condition = conjunction((*equalities, *members.conditions))
    return Membership(members.relation, condition, _in_span(node, binder))


def _not_in(node: exp.In, binder: ScalarBinder) -> list[Membership]:
    """Return NOT IN: no row of the subquery is equal, or may be but for a NULL on either side.

    Of one column these are three memberships, of which only the first compares two values.
    """
    members, pairs = _compared(node, binder)
    equal = [exp.EQ(this=bracketed(a), expression=bracketed(b)) for a, b in pairs]
    unknown = [
        [exp.Is(this=bracketed(s.copy()), expression=exp.null()) for s in pair] for pair in pairs
    ]
    cases: list[Scalar]
    if len(pairs) == 1:
        cases = [equal[0], *unknown[0]]
    else:
        cases = [
            conjunction(
                tuple(
                    exp.paren(exp.or_(one, *parts))
                    for one, parts in zip(equal, unknown, strict=True)
                )
            )
        ]
    span = _in_span(node, binder)
    return [
        Membership(
            members.relation,
            conjunction((case, *(condition.copy() for condition in members.conditions))),
            span,
            negated=True,
        )
        for case in cases
    ]


def _compared(node: exp.In, binder: ScalarBinder) -> tuple[Members, list[tuple[Scalar, Scalar]]]:
    """Return the subquery of IN, and what it compares: the outer and the inner scalars."""
    context = binder.context
    left = unwrap(node.this)
    parts = left.expressions if isinstance(left, exp.Tuple) else [node.this]
    query = node.args["query"]
    members = context.bind.members(query, context, Outer(binder.scope), exists=False)
    if len(members.values) != len(parts):
        problem = f"IN compares {len(parts)} with {len(members.values)} columns"
        raise context.source.error(problem, "Select as many columns as stand before IN.", node)
    pairs = [
        (binder.bind(part), value.copy()) for part, value in zip(parts, members.values, strict=True)
    ]
    return members, pairs


def _exists_span(node: exp.Exists, binder: ScalarBinder) -> Span | None:
    return keyword_before(binder.context.source.sql, node.this, "EXISTS")


def _in_span(node: exp.In, binder: ScalarBinder) -> Span | None:
    return keyword_after(binder.context.source.sql, node.this, "IN")
