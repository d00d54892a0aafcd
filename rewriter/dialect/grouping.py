"""Making the grouping of operators visible, so that it does not rest on precedence."""

from __future__ import annotations

from sqlglot import exp

from rewriter.dialect.nodes import IsNotNull

_OPERATORS = (exp.Between, exp.Binary, exp.In, exp.Unary)
_TRANSPARENT = (exp.Dot, exp.Escape, exp.Kwarg, exp.Paren, exp.PropertyEQ)
_OPERANDS_OF = (*_OPERATORS, exp.Bracket)


def grouped_copy(expression: exp.Expr) -> exp.Expr:
    """Return a copy in which every operand that is an operator stands in parentheses.

    Chains of one connective stay as they are: Spark balances ``a AND b AND c AND d`` only when it
    is written without parentheses, and the grouping of a chain has no meaning.
    """
    copy = expression.copy()
    for node in [node for node in copy.walk() if _needs_parentheses(node)]:
        wrapper = exp.Subquery() if isinstance(node, exp.SetOperation) else exp.Paren()
        node.replace(wrapper)
        wrapper.set("this", node)
    return copy


def _needs_parentheses(node: exp.Expr) -> bool:
    parent = node.parent
    if isinstance(node, exp.SetOperation):
        return isinstance(parent, exp.SetOperation)
    if not isinstance(node, _OPERATORS) or isinstance(node, _TRANSPARENT):
        return False
    if not isinstance(parent, _OPERANDS_OF) or isinstance(parent, (*_TRANSPARENT, IsNotNull)):
        return False
    if isinstance(parent, exp.Bracket) and node.arg_key != "this":
        return False
    return not (isinstance(node, exp.Connector) and type(node) is type(parent))
