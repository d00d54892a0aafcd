"""IN and EXISTS: the rows of a subquery that they ask for, and their value outside of WHERE.

A value of IN or EXISTS, in CASE, under OR, in a select list or as an argument, is computed by an
existence join, as Spark does: it is never NULL. ``x IN (...)`` is false where it is not known to be
true; ``x NOT IN (...)`` is true where it is known to be, so that both may be false.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeGuard

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Project,
    Relation,
    Scalar,
    bracketed,
    column,
    references,
)
from rewriter.bind.context import BindContext, SubqueryMembers, Tie
from rewriter.bind.text import unwrap
from rewriter.position import Span

if TYPE_CHECKING:
    from rewriter.bind.scalars import ScalarBinder


_WITH_NULL = (exp.Case, exp.Cast, exp.Coalesce, exp.Greatest, exp.If, exp.Least, exp.Nullif)
"""Calls that may have a value though an argument is NULL."""


@dataclass(frozen=True, slots=True)
class BoundMembership:
    """IN or EXISTS: some row of ``right`` makes the condition true; ``negated``: none does."""

    right: Relation
    condition: Scalar | None
    span: Span | None
    negated: bool = False
    tie: Tie | None = None

    @property
    def outer_scalars(self) -> tuple[Scalar, ...]:
        """The columns and outer values that the condition uses of the row it is asked for."""
        inner = {attribute.id for attribute in self.right.attributes}
        names = () if self.condition is None else dict.fromkeys(references(self.condition))
        tied = () if self.tie is None else self.tie.scalars
        return (*(column(name) for name in names if name not in inner), *tied)

    def above(self, over: Callable[[Scalar, frozenset[str]], Scalar]) -> BoundMembership:
        """Return the membership asked of groups of rows; see :class:`Tie`."""
        inner = frozenset(attribute.id for attribute in self.right.attributes)
        condition = None if self.condition is None else over(self.condition, inner)
        return replace(
            self, condition=condition, tie=None if self.tie is None else self.tie.above(over)
        )

    def right_of(self, relation: Relation) -> Relation:
        """Return the rows of the subquery, for the rows of a relation."""
        return self.right if self.tie is None else self.tie.over(self.right, relation)


def conjunction(scalars: tuple[Scalar, ...]) -> Scalar:
    """Return the conjunction of scalars."""
    return exp.and_(*scalars, copy=False) if len(scalars) > 1 else scalars[0]


def exists(node: exp.Exists, binder: ScalarBinder) -> BoundMembership:
    context = binder.context
    members = context.bind.members(node.this, context, binder.around, exists=True)
    condition = conjunction(members.conditions) if members.conditions else None
    return BoundMembership(members.relation, condition, _exists_span(node, binder), tie=members.tie)


def is_in(node: exp.In, binder: ScalarBinder) -> BoundMembership:
    members, pairs = _compared(node, binder)
    equalities = [exp.EQ(this=bracketed(a), expression=bracketed(b)) for a, b in pairs]
    condition = conjunction((*equalities, *members.conditions))
    return BoundMembership(members.relation, condition, _in_span(node, binder), tie=members.tie)


def not_in(node: exp.In, binder: ScalarBinder) -> list[BoundMembership]:
    """Return NOT IN: no row of the subquery is equal, or may be but for a NULL on either side.

    For one column these are three memberships. Only the first compares two values, and it does so
    last, after the conditions that tie all of them to the outer row.
    """
    members, pairs = _compared(node, binder, once=True)
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
                    exp.paren(exp.or_(equality, *parts))
                    for equality, parts in zip(equal, unknown, strict=True)
                )
            )
        ]
    span = _in_span(node, binder)
    return [
        BoundMembership(
            members.relation,
            conjunction((*(condition.copy() for condition in members.conditions), case)),
            span,
            negated=True,
            tie=members.tie,
        )
        for case in cases
    ]


def _compared(
    node: exp.In, binder: ScalarBinder, *, once: bool = False
) -> tuple[SubqueryMembers, list[tuple[Scalar, Scalar]]]:
    """Return the subquery of IN, and what it compares: the outer and the inner scalars.

    With ``once``, one value is asked for in several ways: by reading the different ones.
    """
    context = binder.context
    left = unwrap(node.this)
    parts = left.expressions if isinstance(left, exp.Tuple) else [node.this]
    query = node.args["query"]
    members = context.bind.members(query, context, binder.around, exists=False)
    if len(members.values) != len(parts):
        problem = f"IN compares {len(parts)} with {len(members.values)} columns"
        raise context.source.error(problem, "Select as many columns as stand before IN.", node)
    if once and len(parts) == 1:
        members = _different(members, context)
    pairs = [
        (binder.bind(part), value.copy()) for part, value in zip(parts, members.values, strict=True)
    ]
    return members, pairs


def _different(members: SubqueryMembers, context: BindContext) -> SubqueryMembers:
    """Return the different values of a subquery, for what ties it to the outer row."""
    below = members.relation
    while isinstance(below, Project):
        below = below.input
    if isinstance(below, Aggregate) or members.tie is not None:
        return members
    (value,) = members.values
    inner = {attribute.id: attribute for attribute in members.relation.attributes}
    tied = dict.fromkeys(n for c in members.conditions for n in references(c) if n in inner)
    key = context.names.attribute("value")
    renamed = {name: context.names.attribute(inner[name].name) for name in tied}
    relation = Aggregate(
        members.relation,
        (key, *renamed.values()),
        (value, *(column(name) for name in tied)),
        (),
        (),
    )

    def replaced(node: exp.Expr) -> exp.Expr:
        known = renamed.get(node.name) if isinstance(node, exp.Column) else None
        return node if known is None else known.column()

    conditions = tuple(condition.transform(replaced) for condition in members.conditions)
    return SubqueryMembers(relation, (key.column(),), conditions)


def _exists_span(node: exp.Exists, binder: ScalarBinder) -> Span | None:
    return binder.context.source.keyword_before(node.this, "EXISTS")


def _in_span(node: exp.In, binder: ScalarBinder) -> Span | None:
    return binder.context.source.keyword_after(node.this, "IN")


def is_membership(node: exp.Expr) -> TypeGuard[exp.In | exp.Exists]:
    """Return True if a node is IN or EXISTS of a subquery."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    return isinstance(node, exp.Exists) and isinstance(node.this, exp.Query)


def membership_value(node: exp.In | exp.Exists, binder: ScalarBinder) -> Scalar:
    """Return whether a row is in a subquery."""
    if isinstance(node, exp.In) and _is_null(node.this):
        return _null_in(node, binder)

    def make() -> list[BoundMembership]:
        return [is_in(node, binder) if isinstance(node, exp.In) else exists(node, binder)]

    found = binder.subqueries.found(node, make)[0].column()
    return _unless_null(node, found, binder) if isinstance(node, exp.In) else found


def simplified(node: exp.Expr, binder: ScalarBinder) -> Scalar | None:
    """Return NOT of IN, of NOT, or of AND and OR of such; None for any other.

    Equality with TRUE and FALSE is such a NOT, or none, too.
    """
    if isinstance(node, exp.EQ | exp.NEQ):
        return _compared_values(node, binder)
    return _negation(node, binder) if isinstance(node, exp.Not) else None


def _compared_values(node: exp.EQ | exp.NEQ, binder: ScalarBinder) -> Scalar | None:
    for operand, other in ((node.this, node.expression), (node.expression, node.this)):
        constant = unwrap(other)
        if isinstance(constant, exp.Boolean) and _has_in(operand):
            negated = bool(constant.this) is isinstance(node, exp.NEQ)
            bare = exp.paren(operand.copy())
            return exp.paren(binder.bind(exp.Not(this=bare) if negated else bare), copy=False)
        if _has_in(operand) and constant.find(exp.Column, exp.Query) is None:
            problem = "IN (subquery) compared with a constant expression is not supported"
            raise binder.context.source.unsupported(problem, "Write TRUE or FALSE.", other)
    return None


def _negation(node: exp.Not, binder: ScalarBinder) -> Scalar | None:
    operand = unwrap(node.this)
    if _is_in(operand):
        if _is_null(operand.this):
            return exp.Not(this=exp.paren(_null_in(operand, binder)))
        reasons = binder.subqueries.found(node, lambda: not_in(operand, binder))
        anyone = exp.or_(*(reason.column() for reason in reasons), copy=False)
        found = _unless_null(operand, anyone, binder)
        return exp.Not(this=exp.paren(found) if len(reasons) > 1 else found)
    if not _has_in(operand):
        return None
    if isinstance(operand, exp.EQ | exp.NEQ):
        opposite = exp.NEQ if isinstance(operand, exp.EQ) else exp.EQ
        return _compared_values(
            opposite(this=operand.this.copy(), expression=operand.expression.copy()), binder
        )
    if isinstance(operand, exp.Not):
        return binder.bind(operand.this)
    if isinstance(operand, exp.And | exp.Or):
        other = exp.Or if isinstance(operand, exp.And) else exp.And
        parts = [
            exp.Not(this=exp.paren(part.copy())) for part in (operand.this, operand.expression)
        ]
        return exp.paren(binder.bind(other(this=parts[0], expression=parts[1])), copy=False)
    return None


def _is_null(scalar: exp.Expr) -> bool:
    """Return True if Spark's optimiser makes NULL of an expression, whatever the row is."""
    match unwrap(scalar):
        case exp.Null():
            return True
        case exp.Cast() | exp.Neg() as node:
            return _is_null(node.this)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod() | exp.DPipe() as node:
            return _is_null(node.left) or _is_null(node.right)
        case exp.Case() as node:
            values = [branch.args["true"] for branch in node.args["ifs"]]
            return all(map(_is_null, [*values, node.args.get("default") or exp.null()]))
        case exp.Coalesce() as node:
            return all(map(_is_null, [node.this, *node.expressions]))
    return False


def _unless_null(node: exp.In, value: Scalar, binder: ScalarBinder) -> Scalar:
    """Return the value of IN; that of NULL where the left side is a constant that may be NULL.

    Spark computes constants first, and an existence join of NULL is none.
    """
    left = unwrap(node.this)
    may_be_null = (exp.Case, exp.Cast, exp.Null, exp.Nullif)
    if left.find(*may_be_null) is None:
        return value
    if left.find(exp.Column, exp.From) is not None:
        calls = (call for call in left.find_all(exp.Func) if not isinstance(call, _WITH_NULL))
        if any(map(_is_null, chain.from_iterable(call.iter_expressions() for call in calls))):
            problem = "IN (subquery) of a call of NULL is not supported"
            raise binder.context.source.unsupported(problem, "Write NULL if it is NULL.", node)
        return value
    if isinstance(left, exp.Cast) and left.is_type(*exp.DataType.TEMPORAL_TYPES):
        return value  # as literals of dates and times are read
    is_null = exp.Is(this=exp.paren(left.copy()), expression=exp.null())
    return exp.Case().when(binder.bind(is_null), _null_in(node, binder)).else_(value)


def _null_in(node: exp.In, binder: ScalarBinder) -> Scalar:
    """Return NULL IN (subquery): NULL where that has rows, else false, as Spark has it."""
    there = exp.Exists(this=node.args["query"].this.copy())
    return binder.bind(exp.Case().when(there, exp.null()).else_(exp.false()))


def _has_in(node: exp.Expr) -> bool:
    """Return True if there is an IN of a subquery outside of subqueries."""
    return any(map(_is_in, node.walk(prune=lambda part: isinstance(part, exp.Query))))


def _is_in(node: exp.Expr) -> TypeGuard[exp.In]:
    return isinstance(node, exp.In) and is_membership(node)
