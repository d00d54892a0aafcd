"""Comparisons of aggregated values, [left op right], as factors of expressions.

Source: Amsterdamer, Deutch, Tannen, *Provenance for Aggregate Queries*, PODS 2011.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from semiring.base import Semiring
from semiring.comparison import FLIPPED, check_operator, compare_values
from semiring.expression.node import init
from semiring.expression.terms import Constant, Expression
from semiring.support.render import Style
from semiring.tensor import Tensor
from semiring.token import Token, normal_value
from semiring.value import Operand, Value, called, known, operand_key

K = TypeVar("K")


class Compare(Expression):
    """[left op right] of formal and plain values: 1 where it is true, else 0; built by
    `compare`."""

    __slots__ = ("left", "op", "right")
    op: str
    left: Operand
    right: Operand
    rank = 6
    is_truth_value = True

    def __init__(self, op: str, left: Operand, right: Operand) -> None:
        init(self, op=op, left=left, right=right)

    def _make_key(self) -> tuple[Any, ...]:
        return (self.rank, self.op, *(operand_key(side) for side in (self.left, self.right)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Compare, (self.op, self.left, self.right))

    @property
    def _inner(self) -> Iterable[Any]:
        return self.left, self.right

    def _evaluate(self, semiring: Semiring[K], value: Any) -> K:
        from semiring.semirings.counting import Counting

        sides: list[Any] = [self.left, self.right]
        if not (semiring.symbolic or "COUNT" in semiring.capabilities):
            # Which tuples are there decides: their values must say no more than that.
            there = {token: semiring.copies(value(token)) for token in self.tokens}
            return semiring.from_int(self._evaluate(Counting(), there.__getitem__))
        for index, side in enumerate(sides):
            if isinstance(side, Value):
                sides[index] = side.evaluate(semiring, value)
        return semiring.compare(self.op, *sides)

    def delete(self, tokens: Collection[Token]) -> Expression:
        left, right = (
            side.delete(tokens) if isinstance(side, Value) else side
            for side in (self.left, self.right)
        )
        return compare(self.op, left, right)

    def _text(self, style: Style, limit: int | None) -> str:
        left, right = (called(side, limit) for side in (self.left, self.right))
        return style.word(f"[{left} {self.op} {right}]")


def _never_null(value: Value) -> bool:
    return isinstance(value, Tensor) and value.monoid.over_empty is not None


def compare(op: str, left: Operand, right: Operand) -> Expression:
    """Return [left op right], formal values first; two known values are compared at once.

    Parameters
    ----------
    op
        One of ``= <> < <= > >= <=>``.
    left, right
        A formal value, or a plain one with None for NULL.

    Raises
    ------
    AnnotationError
        If the operator is unknown, or two constants cannot be compared.

    Examples
    --------
    >>> from semiring import COUNT, Polynomial, Tensor, Token
    >>> n = Tensor(COUNT, [(Polynomial.token(Token("cars", name)), 1) for name in ("C2", "C3")])
    >>> str(compare(">", n, 1))
    '[COUNT(cars:C2⊗1 + cars:C3⊗1) > 1]'
    >>> str(compare(">", 2, 1))
    '1'
    """
    check_operator(op)
    left, right = known(left), known(right)
    if not isinstance(left, Value):
        left = normal_value(left)
        if not isinstance(right, Value):
            return Constant(int(compare_values(op, left, normal_value(right))))
        op, left, right = FLIPPED[op], right, left
    if right is None and (op != "<=>" or _never_null(left)):
        # Compared with NULL nothing is true, and COUNT is NULL in no world.
        return Constant(0)
    return Compare(op, left, right if isinstance(right, Value) else normal_value(right))
