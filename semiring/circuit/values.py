"""Formal values over annotations in a circuit, which are made when they are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from semiring.base import Array
from semiring.circuit.gates import OPEN
from semiring.circuit.reading import CircuitReading
from semiring.token import Token
from semiring.value import Operand, Value, known, tokens_of
from semiring.values import Aggregated, AggregateFunction, Choice, WindowFunction, WindowRows


class CircuitAggregated(Aggregated):
    """An aggregate of rows whose annotations are gates."""

    __slots__ = ("_gates", "_made", "_reading", "_rows")
    _gates: Array
    _made: Any
    _reading: CircuitReading
    _rows: Sequence[tuple[Operand, ...]]

    def __init__(
        self,
        reading: CircuitReading,
        function: AggregateFunction,
        gates: Array,
        rows: Sequence[tuple[Operand, ...]],
    ) -> None:
        self._set(function=function, _reading=reading, _gates=gates, _rows=rows, _made=None)

    @property
    def terms(self) -> Any:  # type: ignore[override]
        if self._made is None:
            self._set(_made=tuple(self._first(None)))
        return self._made

    @property
    def size(self) -> int:
        return len(self._gates)

    def _first(self, limit: int | None) -> Any:
        return _annotated_rows(self._reading, self._gates, self._rows, limit)

    @property
    def tokens(self) -> frozenset[Token]:
        return _tokens(self._reading, self._gates, self._rows)

    @property
    def has_tokens(self) -> bool:
        return _has_tokens(self._reading, self._gates, self._rows)


class CircuitChoice(Choice):
    """A choice whose conditions are gates."""

    __slots__ = ("_made", "_reading", "gates", "operands")
    _made: Any
    _reading: CircuitReading
    gates: Array
    operands: Sequence[Operand]

    def __init__(self, reading: CircuitReading, gates: Array, operands: Sequence[Operand]) -> None:
        self._set(_reading=reading, gates=gates, operands=operands, _made=None)

    @property
    def alternatives(self) -> Any:  # type: ignore[override]
        if self._made is None:
            annotations = self._reading.annotations(self.gates)
            self._set(_made=tuple(zip(annotations, self.operands, strict=True)))
        return self._made

    @property
    def tokens(self) -> frozenset[Token]:
        return self._reading.tokens(self.gates) | tokens_of(self.operands)

    @property
    def has_tokens(self) -> bool:
        return True


def choices(
    reading: CircuitReading, gates: Array, operands: Sequence[Operand], offsets: Array
) -> list[Operand]:
    """The values of the alternatives that are there, for CSR segments of alternatives.

    See :func:`semiring.values.choice`.
    """
    is_open = ((reading.circuit.gates.flags[gates] & OPEN) != 0).tolist()
    present = (gates != 0).tolist()
    bounds = offsets.tolist()
    values: list[Operand] = []
    for start, stop in pairwise(bounds):
        kept = [place for place in range(start, stop) if present[place]]
        certain = next((n for n, place in enumerate(kept) if not is_open[place]), None)
        if certain is not None:
            kept = kept[: certain + 1]
        if not kept:
            values.append(None)
        elif certain == 0:
            values.append(known(operands[kept[0]]))
        else:
            own = [known(operands[place]) for place in kept]
            values.append(CircuitChoice(reading, gates[kept], own))
    return values


class CircuitRows(WindowRows):
    """The rows that a window function is over, whose annotations are gates."""

    __slots__ = ("_gates", "_made", "_operands", "_reading")

    def __init__(
        self,
        reading: CircuitReading,
        function: WindowFunction,
        gates: Array,
        operands: Iterable[tuple[Operand, ...]],
    ) -> None:
        self.function = function
        self._digest = None
        self._reading = reading
        self._gates = gates
        self._operands = list(operands)
        self._made: Any = None

    @property
    def rows(self) -> Any:  # type: ignore[override]
        if self._made is None:
            self._made = tuple(self._first(None))
        return self._made

    def _first(self, limit: int | None) -> Any:
        return _annotated_rows(self._reading, self._gates, self._operands, limit)

    @property
    def size(self) -> int:
        return len(self._gates)

    def annotation(self, place: int) -> Any:
        return self._reading.annotation(int(self._gates[place]))

    @property
    def has_tokens(self) -> bool:
        return _has_tokens(self._reading, self._gates, self._operands)

    @property
    def tokens(self) -> frozenset[Token]:
        return _tokens(self._reading, self._gates, self._operands)


def _annotated_rows(
    reading: CircuitReading, gates: Array, rows: Sequence[tuple[Operand, ...]], limit: int | None
) -> list[tuple[Any, tuple[Operand, ...]]]:
    shown = [tuple(map(known, row)) for row in rows[:limit]]
    return list(zip(reading.annotations(gates[:limit]), shown, strict=True))


def _tokens(
    reading: CircuitReading, gates: Array, rows: Iterable[tuple[Operand, ...]]
) -> frozenset[Token]:
    return reading.tokens(gates) | tokens_of(part for row in rows for part in row)


def _has_tokens(reading: CircuitReading, gates: Array, rows: Iterable[tuple[Operand, ...]]) -> bool:
    if (reading.circuit.gates.flags[gates] & OPEN).any():
        return True
    return any(isinstance(part, Value) and part.has_tokens for row in rows for part in row)
