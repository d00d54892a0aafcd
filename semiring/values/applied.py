"""A function of formal values: arithmetic over aggregates, CASE, a Boolean condition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from semiring.base import Array
from semiring.possible_worlds import PossibleWorlds, by_case
from semiring.render import REPR_TERMS
from semiring.value import (
    Compound,
    Operand,
    Substitution,
    Value,
    called,
    known,
    substituted,
)


class Function(Protocol):
    """A deterministic function of plain values."""

    @property
    def name(self) -> str:
        """The identity of the function: functions with one name have the same values."""

    def text(self, operands: Sequence[str]) -> str:
        """The call, with texts in the place of the operands."""

    def __call__(self, cases: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The values for some cases, each a tuple of the operands' values.

        None where the value is NULL, and where Spark would fail.

        Raises
        ------
        CapabilityError
            When only Spark can compute it.
        """


class Applied(Compound):
    """A function applied to operands, some of them formal; built by `applied`."""

    __slots__ = ("function", "operands")
    _label = "Applied"
    function: Function
    operands: tuple[Operand, ...]

    def __init__(self, function: Function, operands: Sequence[Operand]) -> None:
        self._set(function=function, operands=tuple(operands))

    @property
    def _kind(self) -> str:
        return self.function.name

    def _parts(self) -> Iterable[Any]:
        return self.operands

    @property
    def has_tokens(self) -> bool:
        return any(isinstance(part, Value) and part.has_tokens for part in self.operands)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Applied, (self.function, self.operands))

    def in_worlds(self, worlds: PossibleWorlds) -> Array:
        columns = [worlds.values(operand) for operand in self.operands]
        return by_case(columns, worlds.length, self.function)

    def substituted(self, of: Substitution) -> Operand:
        return applied(self.function, [substituted(operand, of) for operand in self.operands])

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        return self.function.text([called(operand, limit) for operand in self.operands])


def applied(function: Function, operands: Sequence[Operand]) -> Operand:
    """A function of operands: its value where all operands are known."""
    parts = [known(operand) for operand in operands]
    if any(isinstance(part, Value) for part in parts):
        return Applied(function, parts)
    return function([tuple(parts)])[0]
