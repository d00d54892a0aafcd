"""Conditions of WHERE, ON and HAVING: predicates, and IN and EXISTS, which are semi-joins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Filter, Relation, Scalar, SemiJoin, bracketed
from rewriter.bind.fingerprint import unwrap
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.scope import Outer
from rewriter.bind.subqueries import Subqueries
from rewriter.position import Span, keyword_after, keyword_before, keyword_before_offset


@dataclass(frozen=True, slots=True)
class Membership:
    """IN or EXISTS: some row of ``right`` makes the condition true."""

    right: Relation
    condition: Scalar | None
    span: Span | None


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition taken apart: it is true where all of its parts are."""

    predicates: tuple[Scalar, ...]
    memberships: tuple[Membership, ...]


def bind_condition(node: exp.Expr, binder: ScalarBinder) -> Condition:
    """Bind a condition, its top-level IN and EXISTS as memberships."""
    predicates: list[Scalar] = []
    memberships: list[Membership] = []
    for conjunct in conjuncts(node):
        bare = unwrap(conjunct)
        if isinstance(bare, exp.Exists) and isinstance(bare.this, exp.Query):
            memberships.append(_exists(bare, binder))
        elif isinstance(bare, exp.In) and bare.args.get("query") is not None:
            memberships.append(_in(bare, binder))
        else:
            _refuse_negated(bare, binder)
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
        relation = SemiJoin(relation, membership.right, scalar, membership.span)
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
    context = binder.context
    left = unwrap(node.this)
    parts = left.expressions if isinstance(left, exp.Tuple) else [node.this]
    query = node.args["query"]
    members = context.bind.members(query, context, Outer(binder.scope), exists=False)
    if len(members.values) != len(parts):
        problem = f"IN compares {len(parts)} with {len(members.values)} columns"
        raise context.source.error(problem, "Select as many columns as stand before IN.", node)
    equalities = [
        exp.EQ(this=bracketed(binder.bind(part)), expression=bracketed(value.copy()))
        for part, value in zip(parts, members.values, strict=True)
    ]
    condition = conjunction((*equalities, *members.conditions))
    return Membership(members.relation, condition, _in_span(node, binder))


def _exists_span(node: exp.Exists, binder: ScalarBinder) -> Span | None:
    return keyword_before(binder.context.source.sql, node.this, "EXISTS")


def _in_span(node: exp.In, binder: ScalarBinder) -> Span | None:
    return keyword_after(binder.context.source.sql, node.this, "IN")


def _refuse_negated(node: exp.Expr, binder: ScalarBinder) -> None:
    inner = unwrap(node.this) if isinstance(node, exp.Not) else None
    if isinstance(inner, exp.Exists) and isinstance(inner.this, exp.Query):
        name, keyword = "NOT EXISTS", _exists_span(inner, binder)
    elif isinstance(inner, exp.In) and inner.args.get("query") is not None:
        name, keyword = "NOT IN (subquery)", _in_span(inner, binder)
    else:
        return
    source = binder.context.source
    place = keyword and (keyword_before_offset(source.sql, keyword.start, "NOT") or keyword)
    advice = "Difference has no rule yet; annotate the query without this condition."
    raise source.unsupported(f"{name} is not supported", advice, place)
