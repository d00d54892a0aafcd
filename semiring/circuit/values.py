"""Gates read as formal values, whose parts are made when they are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.base import Array
from semiring.circuit.gates import AGGREGATED, APPLIED, CHOICE, OPEN, TENSOR, WINDOWED
from semiring.token import Token
from semiring.value import Value
from semiring.values import Aggregated, Applied, Choice, Windowed, WindowRows

if TYPE_CHECKING:
    from semiring.circuit.reading import CircuitReading


class _InCircuit:
    """The common part of values that are gates."""

    __slots__ = ()
    _made: Any
    _reading: CircuitReading
    gate: int

    def _hold(self, reading: CircuitReading, gate: int) -> None:
        object.__setattr__(self, "_reading", reading)
        object.__setattr__(self, "gate", gate)
        object.__setattr__(self, "_made", None)

    def _children(self) -> Array:
        store = self._reading.circuit.gates
        children: Array = store.child[store.offsets[self.gate] : store.offsets[self.gate + 1]]
        return children

    def _all(self) -> Any:
        if self._made is None:
            object.__setattr__(self, "_made", tuple(self._first(None)))
        return self._made

    def _first(self, limit: int | None) -> Any:
        """Return the first rows: annotations with tuples of operands."""
        children, width = self._children(), self._width()
        few = children if limit is None else children[: limit * width]
        parts = [
            self._reading.annotations(few[0::width]),
            *(self._reading.operands(few[place::width]) for place in range(1, width)),
        ]
        return [(row[0], row[1:]) for row in zip(*parts, strict=True)]

    def _width(self) -> int:
        """Return the number of edges of a row: its annotation, which is no value, and operands."""
        children = self._children()
        annotations = int((self._reading.circuit.gates.kind[children] < TENSOR).sum())
        return len(children) // max(annotations, 1) or 1

    @property
    def size(self) -> int:
        return len(self._children()) // self._width()

    @property
    def tokens(self) -> frozenset[Token]:
        return self._reading.tokens(np.array([self.gate]))

    @property
    def has_tokens(self) -> bool:
        return bool(self._reading.circuit.gates.flags[self.gate] & OPEN)

    def _function(self) -> Any:
        circuit = self._reading.circuit
        return circuit.operands.functions[int(circuit.gates.payload[self.gate])]


class CircuitApplied(_InCircuit, Applied):
    """A function of operands in a circuit."""

    __slots__ = ("_made", "_reading", "gate")

    def __init__(self, reading: CircuitReading, gate: int) -> None:
        self._hold(reading, gate)
        self._set(function=self._function())

    @property
    def operands(self) -> Any:  # type: ignore[override]
        return self._all()

    def _first(self, limit: int | None) -> Any:
        return self._reading.operands(self._children()[:limit])


class CircuitAggregated(_InCircuit, Aggregated):
    """An aggregate of rows in a circuit."""

    __slots__ = ("_made", "_reading", "gate")

    def __init__(self, reading: CircuitReading, gate: int) -> None:
        self._hold(reading, gate)
        self._set(function=self._function())

    @property
    def terms(self) -> Any:  # type: ignore[override]
        return self._all()


class CircuitChoice(_InCircuit, Choice):
    """A choice of alternatives in a circuit."""

    __slots__ = ("_made", "_reading", "gate")

    def __init__(self, reading: CircuitReading, gate: int) -> None:
        self._hold(reading, gate)

    @property
    def alternatives(self) -> Any:  # type: ignore[override]
        return self._all()

    def _first(self, limit: int | None) -> Any:
        operands = self._reading.operands(self._children()[1::2])
        return zip(self._reading.annotations(self.annotations), operands, strict=True)

    @property
    def annotations(self) -> Array:
        """The gates of the annotations of the alternatives."""
        return self._children()[0::2]


class CircuitRows(_InCircuit, WindowRows):
    """The rows that a window function is over, in a circuit."""

    __slots__ = ("_made", "_reading", "gate")

    def __init__(self, reading: CircuitReading, gate: int) -> None:
        self._hold(reading, gate)
        self.function = self._function()
        self._digest = None

    @property
    def rows(self) -> Any:  # type: ignore[override]
        return self._all()

    def annotation(self, place: int) -> Any:
        return self._reading.annotation(int(self._children()[place * self._width()]))


class CircuitWindowed(Windowed):
    """A window function's value in a circuit."""

    __slots__ = ("gate",)
    gate: int

    def __init__(self, reading: CircuitReading, gate: int) -> None:
        store = reading.circuit.gates
        rows = reading.rows(int(store.child[store.offsets[gate]]))
        super().__init__(rows, int(store.payload[gate]))
        object.__setattr__(self, "gate", gate)


_CLASSES: dict[int, Any] = {
    APPLIED: CircuitApplied,
    AGGREGATED: CircuitAggregated,
    CHOICE: CircuitChoice,
    WINDOWED: CircuitWindowed,
}


def formal_value(reading: CircuitReading, gate: int) -> Value:
    """Return a gate that is neither a tensor nor a plain value as a formal value."""
    made: Value = _CLASSES[int(reading.circuit.gates.kind[gate])](reading, gate)
    return made
