"""Conditions of any form, [φ], as factors of expressions.

Source: Amsterdamer, Deutch, Tannen, *Provenance for Aggregate Queries*, PODS 2011, section 4, for
comparisons; φ is here any Boolean function of values that depend on which tuples are there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from semiring.base import Semiring
from semiring.expression.node import init
from semiring.expression.terms import Constant, Expression
from semiring.support.render import Style
from semiring.token import Token
from semiring.value import Operand, Value, known

K = TypeVar("K")


class Condition(Expression):
    """[φ]: 1 if the formal value φ is true, else 0, also if it is NULL or fails."""

    __slots__ = ("value",)
    value: Value
    rank = 7
    is_truth_value = True

    def __init__(self, value: Value) -> None:
        init(self, value=value)

    def _make_key(self) -> tuple[Any, ...]:
        return (self.rank, self.value.sort_key)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Condition, (self.value,))

    @property
    def _inner(self) -> Iterable[Any]:
        return (self.value,)

    def _evaluate(self, semiring: Semiring[K], value: Any) -> K:
        if semiring.symbolic:
            return condition(self.value.substituted(value))  # type: ignore[return-value]
        truth = self.value.evaluate(semiring, value)
        return semiring.one if truth is True else semiring.zero

    def delete(self, tokens: Collection[Token]) -> Expression:
        return condition(self.value.delete(tokens))

    def _text(self, style: Style, limit: int | None) -> str:
        return style.word(f"[{self.value.truncated(limit)}]")


def condition(value: Operand) -> Expression:
    """Return [value]: a constant if the value is known, else a `Condition`."""
    value = known(value)
    return Condition(value) if isinstance(value, Value) else Constant(int(value is True))
