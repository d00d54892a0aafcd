"""Making the grouping of operators visible, so that it does not rest on precedence."""

from __future__ import annotations

from sqlglot import exp

from rewriter.dialect.nodes import IsNotNull

_OPERATORS = (exp.Between, exp.Binary, exp.In, exp.Unary)
_TRANSPARENT = (exp.Dot, exp.Escape, exp.Kwarg, exp.Paren, exp.PropertyEQ)
_OPERANDS_OF = (*_OPERATORS, exp.Bracket)
_LEFT_GROUPED = (exp.Add, exp.Mul, exp.DPipe, exp.Union)
"""Operators of one precedence with themselves, which Spark's grammar groups from the left."""


def grouped_copy(expression: exp.Expr) -> exp.Expr:
    """Return a copy in which every operand that is an operator stands in parentheses.

    Chains of one connective stay as they are: Spark balances ``a AND b AND c AND d`` only when it
    is written without parentheses, and the grouping of a chain has no meaning. Nor are there
    parentheses around the left operand of sums, products and unions of one kind, which Spark
    groups from the left: a long chain would be a text too deep for its parser.
    """
    copy = expression.copy()
    for node in [node for node in copy.walk() if _needs_parentheses(node)]:
        wrapper = exp.Subquery() if isinstance(node, exp.SetOperation) else exp.Paren()
        node.replace(wrapper)
        wrapper.set("this", node)
    return copy


def _needs_parentheses(node: exp.Expr) -> bool:
    parent = node.parent
    if isinstance(parent, _LEFT_GROUPED) and type(node) is type(parent) and node.arg_key == "this":
        return isinstance(node, exp.SetOperation) and not _is_alike(node, parent)
    if isinstance(node, exp.SetOperation):
        return isinstance(parent, exp.SetOperation)
    if not isinstance(node, _OPERATORS) or isinstance(node, _TRANSPARENT):
        return False
    if not isinstance(parent, _OPERANDS_OF) or isinstance(parent, (*_TRANSPARENT, IsNotNull)):
        return False
    if isinstance(parent, exp.Bracket) and node.arg_key != "this":
        return False
    return not (isinstance(node, exp.Connector) and type(node) is type(parent))


def _is_alike(node: exp.Expr, parent: exp.Expr) -> bool:
    """Tell whether two unions are written alike, without clauses of their own on the inner one."""
    own = {name for name, value in node.args.items() if value} - {"this", "expression", "distinct"}
    return not own and bool(node.args.get("distinct")) == bool(parent.args.get("distinct"))
