"""Conditions taken apart: what must be true of which comparisons for a condition to be true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.interpret.calls import OPERATORS, Comparison
from rewriter.interpret.compile import Interpreted, interpret
from rewriter.interpret.once import once


@dataclass(frozen=True, slots=True)
class AllOf:
    """A conjunction; of nothing it is true."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A disjunction."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison that is true or, ``negated``, one that is not; ``whole`` is all of it."""

    comparison: Comparison
    whole: Interpreted
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Test:
    """Any other scalar that is true."""

    scalar: Interpreted


Condition: TypeAlias = AllOf | AnyOf | Compared | Test

_NEGATED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}


@once
def taken_apart(condition: Scalar) -> Condition:
    """Take a condition apart, by three-valued logic: what makes it true, not false or NULL."""
    return _true(condition)


def _true(node: Scalar) -> Condition:
    node = node.unnest()
    if isinstance(node, exp.Not):
        return _false(node.this)
    if isinstance(node, exp.And):
        return AllOf((_true(node.left), _true(node.right)))
    if isinstance(node, exp.Or):
        return AnyOf((_true(node.left), _true(node.right)))
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        low, high = _between(node)
        return AllOf((_true(low), _true(high)))
    if _is_list(node):
        return AnyOf(tuple(_true(equal) for equal in _equalities(node)))
    return _compared(node, negated=False) or Test(interpret(node))


def _false(node: Scalar) -> Condition:
    """What makes a condition false; so its negation true."""
    node = node.unnest()
    if isinstance(node, exp.Not):
        return _true(node.this)
    if isinstance(node, exp.And):
        return AnyOf((_false(node.left), _false(node.right)))
    if isinstance(node, exp.Or):
        return AllOf((_false(node.left), _false(node.right)))
    if isinstance(node, exp.Between) and not node.args.get("symmetric"):
        low, high = _between(node)
        return AnyOf((_false(low), _false(high)))
    if _is_list(node):
        return AllOf(tuple(_false(equal) for equal in _equalities(node)))
    if type(node) in _NEGATED:
        opposite = _NEGATED[type(node)]
        return _true(opposite(this=node.this.copy(), expression=node.expression.copy()))
    return _compared(node, negated=True) or Test(interpret(exp.Not(this=exp.paren(node.copy()))))


def _compared(node: Scalar, *, negated: bool) -> Compared | None:
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        sides, op = (node.this, node.expression), "<=>"
    elif type(node) in OPERATORS:
        sides, op = (node.args["this"], node.args["expression"]), OPERATORS[type(node)]
    else:
        return None
    left, right = map(interpret, sides)
    whole = interpret(exp.Not(this=exp.paren(node.copy())) if negated else node)
    return Compared(Comparison(op, left, right), whole, negated)


def _between(node: exp.Between) -> tuple[Scalar, Scalar]:
    value, low, high = (node.args[part].copy() for part in ("this", "low", "high"))
    return exp.GTE(this=value, expression=low), exp.LTE(this=value.copy(), expression=high)


def _is_list(node: Scalar) -> bool:
    return isinstance(node, exp.In) and bool(node.expressions) and not node.args.get("query")


def _equalities(node: Scalar) -> list[Scalar]:
    return [exp.EQ(this=node.this.copy(), expression=item.copy()) for item in node.expressions]


@once
def branches(scalar: Scalar) -> tuple[Interpreted, ...]:
    """Return the scalars of which CASE, or IF, yields one; none of other scalars."""
    node = scalar.unnest()
    if isinstance(node, exp.If):
        chosen = [node.args["true"], node.args.get("false")]
    elif isinstance(node, exp.Case):
        chosen = [*(branch.args["true"] for branch in node.args["ifs"]), node.args.get("default")]
    else:
        return ()
    return tuple(interpret(branch if branch is not None else exp.Null()) for branch in chosen)
