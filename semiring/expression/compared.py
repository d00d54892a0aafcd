"""Comparisons of aggregated values, [left op right], as factors of expressions.

Source: Amsterdamer, Deutch, Tannen, *Provenance for Aggregate Queries*, PODS 2011.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from semiring.base import Semiring
from semiring.comparison import FLIPPED, check_operator, compare_values
from semiring.expression.node import init
from semiring.expression.terms import Constant, Expression
from semiring.render import Style
from semiring.tensor import Tensor
from semiring.token import Token, format_value, normal_value, order_key

K = TypeVar("K")


class Compare(Expression):
    """[left op right] of tensors and constants: 1 where it is true, else 0; built by `compare`."""

    __slots__ = ("left", "op", "right")
    op: str
    left: Any
    right: Any
    rank = 6
    is_truth_value = True

    def __init__(self, op: str, left: Any, right: Any) -> None:
        key = (self.rank, op, *(_side_key(side) for side in (left, right)))
        init(self, op=op, left=left, right=right, _key=key)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Compare, (self.op, self.left, self.right))

    @property
    def tokens(self) -> frozenset[Token]:
        tensors = (side for side in (self.left, self.right) if isinstance(side, Tensor))
        return frozenset().union(*(tensor.tokens for tensor in tensors))

    @property
    def is_polynomial(self) -> bool:
        return False

    def _evaluate(self, semiring: Semiring[K], value: Any) -> K:
        left, right = (
            side.evaluate(semiring, value) if isinstance(side, Tensor) else side
            for side in (self.left, self.right)
        )
        return semiring.compare(self.op, left, right)

    def delete(self, tokens: Collection[Token]) -> Expression:
        left, right = (
            side.delete(tokens) if isinstance(side, Tensor) else side
            for side in (self.left, self.right)
        )
        return compare(self.op, left, right)

    def _text(self, style: Style, limit: int | None) -> str:
        left, right = (_side_text(side, limit) for side in (self.left, self.right))
        return style.word(f"[{left} {self.op} {right}]")

    def _sympy(self) -> Any:
        import sympy

        return sympy.Symbol(self.truncated(None))


def _side_key(side: Any) -> tuple[Any, ...]:
    return (1, side.sort_key) if isinstance(side, Tensor) else (0, order_key(side))


def _side_text(side: Any, limit: int | None) -> str:
    if isinstance(side, Tensor):
        return f"{side.monoid}({side.truncated(limit)})"
    return format_value(side)


def compare(op: str, left: Any, right: Any) -> Expression:
    """[left op right], tensors first; two constants are compared at once.

    Parameters
    ----------
    op
        One of ``= <> < <= > >= <=>``.
    left, right
        A `Tensor`, or a plain value with None for NULL.

    Raises
    ------
    AnnotationError
        If the operator is unknown, or two constants cannot be compared.
    """
    check_operator(op)
    left, right = (
        side.monoid.over_empty if isinstance(side, Tensor) and side.is_zero else side
        for side in (left, right)
    )
    if not isinstance(left, Tensor):
        left = normal_value(left)
        if not isinstance(right, Tensor):
            return Constant(int(compare_values(op, left, normal_value(right))))
        return Compare(FLIPPED[op], right, left)
    return Compare(op, left, right if isinstance(right, Tensor) else normal_value(right))
