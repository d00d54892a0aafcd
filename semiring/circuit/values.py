"""Gates read as formal values, whose parts are made when they are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from semiring.base import Array
from semiring.circuit.gates import (
    AGGREGATED,
    APPLIED,
    CANONICAL,
    CHOICE,
    OPEN,
    SUM,
    TENSOR,
    WINDOWED,
)
from semiring.circuit.ranges import flat_tensor
from semiring.monoid import Monoid
from semiring.render import REPR_TERMS, join_terms, left_out
from semiring.tensor import Tensor, simple_tensors, simple_text
from semiring.token import Token
from semiring.value import Value
from semiring.values import Aggregated, Applied, Choice, Windowed, WindowRows

if TYPE_CHECKING:
    from semiring.circuit.reading import CircuitReading


SMALL = 16
"""Sums of so many terms are made at once."""


class _InCircuit:
    """The common part of values and tensors that are gates."""

    __slots__ = ()
    _made: Any
    _reading: CircuitReading
    gate: int

    def _hold(self, reading: CircuitReading, gate: int) -> None:
        object.__setattr__(self, "_reading", reading)
        object.__setattr__(self, "gate", gate)
        object.__setattr__(self, "_made", None)

    @property
    def tokens(self) -> frozenset[Token]:
        return self._reading.tokens(np.array([self.gate]))

    @property
    def has_tokens(self) -> bool:
        return bool(self._reading.circuit.gates.flags[self.gate] & OPEN)


class _OfOperands(_InCircuit):
    """The common part of values whose edges are annotations and operands."""

    __slots__ = ()

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

    def _function(self) -> Any:
        circuit = self._reading.circuit
        return circuit.operands.functions[int(circuit.gates.payload[self.gate])]


class CircuitApplied(_OfOperands, Applied):
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


class CircuitAggregated(_OfOperands, Aggregated):
    """An aggregate of rows in a circuit."""

    __slots__ = ("_made", "_reading", "gate")

    def __init__(self, reading: CircuitReading, gate: int) -> None:
        self._hold(reading, gate)
        self._set(function=self._function())

    @property
    def terms(self) -> Any:  # type: ignore[override]
        return self._all()


class CircuitChoice(_OfOperands, Choice):
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


class CircuitRows(_OfOperands, WindowRows):
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


class CircuitTensor(_InCircuit, Tensor):
    """A tensor in a circuit, whose terms are made when they are looked at."""

    __slots__ = ("_made", "_reading", "gate")

    def __init__(self, reading: CircuitReading, gate: int) -> None:
        self._hold(reading, gate)

    def _scalars(self) -> Any:
        circuit = self._reading.circuit
        return circuit.scalars[int(circuit.gates.payload[self.gate])]

    @property
    def _monoid(self) -> Any:  # type: ignore[override]
        return self._scalars().monoid

    @property
    def monoid(self) -> Monoid:
        return cast(Monoid, self._monoid)

    def _edges(self) -> tuple[Array, Array]:
        """The annotations and the places of their values, in the order of values."""
        store = self._reading.circuit.gates
        edges, _ = store.edges_of(np.array([flat_tensor(self._reading.circuit, self.gate)]))
        return store.child[edges], store.label[edges]

    def values(self) -> list[Any]:
        """The values of the terms, in their order, without their annotations."""
        return cast(list[Any], self._scalars().values(self._edges()[1]))

    @property
    def _terms(self) -> Any:  # type: ignore[override]
        if self._made is None:
            gates, places = self._edges()
            values = self._scalars().values(places)
            terms = zip(self._reading.annotations(gates), values, strict=True)
            object.__setattr__(self, "_made", tuple((k, v) for k, v in terms if not k.is_zero))
        return self._made

    @property
    def is_zero(self) -> bool:
        return not len(self._edges()[0])

    @property
    def size(self) -> int:
        gates, _ = self._edges()
        store = self._reading.circuit.gates
        if not store.has(gates, CANONICAL).all():
            return len(self.simple_tensors)
        return int(np.where(store.kind[gates] == SUM, store.sizes(gates), 1).sum())

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        gates, places = self._edges()
        store = self._reading.circuit.gates
        # How many simple tensors there are follows from the sizes of sums.
        sizes = np.where(store.kind[gates] == SUM, store.sizes(gates), 1)
        small = sizes.sum() <= SMALL
        if limit is None or small or not store.has(gates, CANONICAL).all():
            return super().truncated(limit)
        few = int(np.searchsorted(np.cumsum(sizes), limit)) + 1
        values = self._scalars().values(places[:few])
        terms = zip(self._reading.annotations(gates[:few]), values, strict=True)
        shown = [simple_text(k, v, limit) for k, v in simple_tensors(terms, limit)]
        hidden = int(sizes.sum()) - len(shown)
        return join_terms([*shown, left_out(hidden)] if hidden else shown, None)


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
