"""IN and EXISTS as values: in CASE, under OR, in a select list, as arguments.

As Spark computes them, by existence joins: never NULL. ``x IN (...)`` is false where it is not
known to be true; ``x NOT IN (...)`` is true where it is known to be, so that both may be false.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.bind.fingerprint import unwrap
from rewriter.bind.subqueries.memberships import Membership, exists, is_in, not_in

if TYPE_CHECKING:
    from rewriter.bind.scalars import ScalarBinder


def is_membership(node: exp.Expr) -> TypeGuard[exp.In | exp.Exists]:
    """Tell whether a node is IN or EXISTS of a subquery."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    return isinstance(node, exp.Exists) and isinstance(node.this, exp.Query)


def membership_value(node: exp.In | exp.Exists, binder: ScalarBinder) -> Scalar:
    """Return whether a row is in a subquery."""
    if _is_null_in(node):
        return _null_in(node, binder)

    def make() -> list[Membership]:
        return [is_in(node, binder) if isinstance(node, exp.In) else exists(node, binder)]

    return binder.subqueries.found(node, make)[0].column()


def simplified(node: exp.Expr, binder: ScalarBinder) -> Scalar | None:
    """Return NOT of IN, of NOT, or of AND and OR of such; None for any other.

    Equality with TRUE and FALSE is such a NOT, or none, too.
    """
    if isinstance(node, exp.EQ | exp.NEQ):
        return _compared(node, binder)
    return _negation(node, binder) if isinstance(node, exp.Not) else None


def _compared(node: exp.EQ | exp.NEQ, binder: ScalarBinder) -> Scalar | None:
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
    if _is_in(operand) and _is_null_in(operand):
        return exp.Not(this=exp.paren(_null_in(operand, binder)))
    if _is_in(operand):
        reasons = binder.subqueries.found(node, lambda: not_in(operand, binder))
        anyone = exp.or_(*(reason.column() for reason in reasons), copy=False)
        return exp.Not(this=exp.paren(anyone) if len(reasons) > 1 else anyone)
    if not _has_in(operand):
        return None
    if isinstance(operand, exp.EQ | exp.NEQ):
        opposite = exp.NEQ if isinstance(operand, exp.EQ) else exp.EQ
        return _compared(
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


def _is_null_in(node: exp.In | exp.Exists) -> bool:
    return isinstance(node, exp.In) and isinstance(unwrap(node.this), exp.Null)


def _null_in(node: exp.In | exp.Exists, binder: ScalarBinder) -> Scalar:
    """Return NULL IN (subquery): NULL where that has rows, else false, as Spark has it."""
    query = node.args["query"].this if isinstance(node, exp.In) else node.this
    there = exp.Exists(this=query.copy())
    return binder.bind(exp.Case().when(there, exp.null()).else_(exp.false()))


def _has_in(node: exp.Expr) -> bool:
    """Tell whether there is an IN of a subquery outside of subqueries."""
    return any(map(_is_in, node.walk(prune=lambda part: isinstance(part, exp.Query))))


def _is_in(node: exp.Expr) -> TypeGuard[exp.In]:
    return isinstance(node, exp.In) and is_membership(node)
