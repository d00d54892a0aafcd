"""Annotations as trees for a page: factored, and folded where they are long."""

from __future__ import annotations

from typing import Any

from lipstick.explorer.cells import cell
from semiring.expression import Expression
from semiring.expression.compared import Compare
from semiring.expression.condition import Condition
from semiring.expression.terms import Atom, Constant, Delta, Monus, Product, Sum
from semiring.forms import factored
from semiring.polynomial import Polynomial
from semiring.token import Token, format_value

TERMS = 12
"""Summands of a sum that are shown at first."""

_FACTORED = 400
"""Terms of a polynomial that common factors are looked for in."""

_DEPTH = 40


def tree(annotation: Polynomial | Expression, terms: int = TERMS) -> dict[str, Any]:
    """An annotation as nested operations.

    Parameters
    ----------
    terms
        Summands of each sum at most; how many are left out is ``more``.

    Returns
    -------
    dict
        ``op`` is ``token``, ``number``, ``sum``, ``product``, ``delta``, ``monus`` or
        ``condition``; ``parts`` are operands, ``times`` a coefficient, ``power`` an exponent.
    """
    if isinstance(annotation, Polynomial):
        few = len(annotation.terms) <= _FACTORED
        annotation = factored(annotation) if few else Expression.of(annotation)
    return _tree(annotation, terms, 0)


def _tree(node: Expression, terms: int, depth: int) -> dict[str, Any]:
    if depth > _DEPTH:
        return {"op": "condition", "text": cell(node.truncated(3))}
    if isinstance(node, Atom):
        return token(node.of_token)
    if isinstance(node, Constant):
        return {"op": "number", "text": str(node.n)}
    if isinstance(node, Product):
        parts = [
            _tree(factor, terms, depth + 1) | ({"power": n} if n > 1 else {})
            for factor, n in node.factors[:terms]
        ]
        return _folded({"op": "product", "parts": parts}, len(node.factors))
    if isinstance(node, Sum):
        parts = [
            _tree(summand, terms, depth + 1) | ({"times": n} if n > 1 else {})
            for summand, n in node.summands[:terms]
        ]
        return _folded({"op": "sum", "parts": parts}, len(node.summands))
    if isinstance(node, Delta):
        inner = node.operand
        if inner.is_polynomial and len(inner.terms) <= _FACTORED:
            # Only here is it known to be a polynomial, whose common factors can be taken out.
            inner = factored(inner.to_polynomial())
        return {"op": "delta", "parts": [_tree(inner, terms, depth + 1)]}
    if isinstance(node, Monus):
        sides = (node.left, node.right)
        return {"op": "monus", "parts": [_tree(side, terms, depth + 1) for side in sides]}
    if isinstance(node, (Compare, Condition)):
        return {"op": "condition", "text": cell(node.truncated(3))}
    return {"op": "condition", "text": cell(node.truncated(3))}


def _folded(node: dict[str, Any], count: int) -> dict[str, Any]:
    hidden = count - len(node["parts"])
    return node | {"more": hidden} if hidden else node


def token(element: Token) -> dict[str, Any]:
    """A token: ``text`` is its key as people write it."""
    key = "|".join(format_value(value) for value in element.key)
    return {"op": "token", "relation": element.relation, "text": cell(key) or "·"}
