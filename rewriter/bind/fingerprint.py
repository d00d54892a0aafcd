"""Equality of scalar expressions as grouping needs it: up to brackets and operand order."""

from __future__ import annotations

from collections.abc import Hashable

from sqlglot import exp

_COMMUTATIVE = (
    exp.Add,
    exp.Mul,
    exp.And,
    exp.Or,
    exp.EQ,
    exp.NullSafeEQ,
    exp.NEQ,
    exp.BitwiseAnd,
    exp.BitwiseOr,
    exp.BitwiseXor,
)
_ASSOCIATIVE = (exp.Add, exp.Mul, exp.And, exp.Or, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)
_FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}


def fingerprint(node: exp.Expr) -> Hashable:
    """Return a value that is equal for expressions that Spark takes for the same.

    Spark compares a grouping expression with a part of the select list in a canonical form:
    brackets do not count, nor does the order of the operands of a commutative operator.
    """
    node = unwrap(node)
    if isinstance(node, exp.Identifier):
        return ("identifier", node.name.lower())
    if isinstance(node, exp.Literal):
        return ("literal", node.this, node.is_string)
    if isinstance(node, _COMMUTATIVE):
        return (type(node).__name__, *sorted((fingerprint(o) for o in _operands(node)), key=repr))
    flipped = _FLIPPED.get(type(node))
    if flipped is not None:
        return (flipped.__name__, fingerprint(node.expression), fingerprint(node.this))
    if isinstance(node, (exp.LT, exp.LTE)):
        return (type(node).__name__, fingerprint(node.this), fingerprint(node.expression))
    if isinstance(node, exp.Anonymous):
        name = str(node.this).lower()
        return ("function", name, *(fingerprint(argument) for argument in node.expressions))
    arguments = tuple(
        (key, _value(value))
        for key, value in sorted(node.args.items())
        if value is not None and value is not False and value != []
    )
    return (type(node).__name__, arguments)


def unwrap(node: exp.Expr) -> exp.Expr:
    """Return the expression without the brackets around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _operands(node: exp.Expr) -> list[exp.Expr]:
    if not isinstance(node, _ASSOCIATIVE):
        return [node.this, node.expression]
    operands: list[exp.Expr] = []
    stack = [node.expression, node.this]
    while stack:
        operand = unwrap(stack.pop())
        if type(operand) is type(node):
            stack += [operand.expression, operand.this]
        else:
            operands.append(operand)
    return operands


def _value(value: object) -> Hashable:
    if isinstance(value, exp.Expr):
        return fingerprint(value)
    if isinstance(value, list):
        return tuple(_value(element) for element in value)
    return str(value)
