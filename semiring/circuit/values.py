"""Gates read as formal values, whose parts are built lazily."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np

from semiring.base import Array, Semiring, TokenValuation, token_values
from semiring.circuit.gates import (
    AGGREGATED,
    APPLIED,
    CANONICAL,
    CHOICE,
    OPEN,
    ROWS,
    SUM,
    TENSOR,
    WINDOWED,
)
from semiring.circuit.ranges import flat_tensor
from semiring.expression import Expression
from semiring.monoid import Monoid
from semiring.polynomial import Polynomial
from semiring.support.render import REPR_TERMS, TEXT, join_terms, left_out
from semiring.tensor import Tensor, simple_tensors, simple_text
from semiring.token import Token
from semiring.value import Operand, Substitution, Value, called, digest

if TYPE_CHECKING:
    from semiring.circuit.reading import CircuitReading

Annotation: TypeAlias = Polynomial | Expression
K = TypeVar("K")


SMALL = 16
"""Number of terms up to which sums are built at once."""
_NAMED = 5
"""Limit on the rows of a window that a text names."""


class InCircuit:
    """The common base of annotations and formal values that are gates of a circuit."""

    __slots__ = ()
    _made: Any
    reading: CircuitReading
    gate: int

    def _hold(self, reading: CircuitReading, gate: int) -> None:
        object.__setattr__(self, "reading", reading)
        object.__setattr__(self, "gate", gate)
        object.__setattr__(self, "_made", None)

    @property
    def tokens(self) -> frozenset[Token]:
        """The tokens that occur."""
        return self.reading.tokens(np.array([self.gate]))

    @property
    def has_tokens(self) -> bool:
        """True if some token occurs."""
        return bool(self.reading.circuit.gates.flags[self.gate] & OPEN)

    def _first(self, limit: int | None) -> Any:
        """Return the first parts."""
        raise NotImplementedError

    def _all(self) -> tuple[Any, ...]:
        if self._made is None:
            object.__setattr__(self, "_made", tuple(self._first(None)))
        made: tuple[Any, ...] = self._made
        return made


class FormalValue(InCircuit, Value):
    """A value, neither plain nor a tensor, whose edges are annotations and operands."""

    __slots__ = ()
    _key: tuple[Any, ...]
    _label = ""
    """The name of the class in sort keys."""

    def __init__(self, reading: CircuitReading, gate: int) -> None:
        self._hold(reading, gate)

    def _children(self) -> Array:
        store = self.reading.circuit.gates
        children: Array = store.child[store.offsets[self.gate] : store.offsets[self.gate + 1]]
        return children

    def _first(self, limit: int | None) -> Any:
        """Return the first rows: annotations with tuples of operands."""
        children, width = self._children(), self._width()
        few = children if limit is None else children[: limit * width]
        parts = [
            self.reading.annotations(few[0::width]),
            *(self.reading.operands(few[place::width]) for place in range(1, width)),
        ]
        return [(row[0], row[1:]) for row in zip(*parts, strict=True)]

    def _width(self) -> int:
        """Return the number of edges of a row: one to its annotation, others to operands."""
        children = self._children()
        annotations = int((self.reading.circuit.gates.kind[children] < TENSOR).sum())
        return len(children) // max(annotations, 1) or 1

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self._children()) // self._width()

    @property
    def function(self) -> Any:
        """The function that has this value."""
        circuit = self.reading.circuit
        return circuit.operands.functions[int(circuit.gates.payload[self.gate])]

    def _digested(self) -> Iterable[Any]:
        """Return the texts, annotations and operands that determine equality."""
        rows = ((k, len(row), *row) for k, row in self._all())
        return (self.function.name, *(part for row in rows for part in row))

    @property
    def sort_key(self) -> tuple[Any, ...]:
        try:
            return self._key
        except AttributeError:
            object.__setattr__(self, "_key", (f"~{self._label}", digest(*self._digested())))
            return self._key

    def evaluate(self, semiring: Semiring[K], valuation: TokenValuation[K] = None) -> Any:
        value = token_values(semiring, valuation)
        if semiring.symbolic:
            return self.substituted(value)  # type: ignore[arg-type]
        return self.reading.value_of(self.gate, lambda token: semiring.copies(value(token)))

    def substituted(self, of: Substitution) -> Operand:
        from semiring.circuit.writing import substituted

        return substituted(self, of)

    def __reduce__(self) -> tuple[Any, ...]:
        from semiring.circuit.writing import CircuitWriting, read

        writing = CircuitWriting(self.tokens)
        return (read, (writing.tokens, writing.circuit, writing.gate(self)))


class CircuitApplied(FormalValue):
    """A function of operands."""

    __slots__ = ("_key", "_made", "gate", "reading")
    _label = "Applied"

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands, some of them formal."""
        return self._all()

    def _first(self, limit: int | None) -> Any:
        return self.reading.operands(self._children()[:limit])

    def outcomes(self, values: Sequence[Any]) -> list[Any]:
        """Return the values of the one-operand function for some operand values."""
        return self.reading.circuit.operands.outcomes(self.gate, values)

    def _digested(self) -> Iterable[Any]:
        return (self.function.name, *self.operands)

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        return str(self.function.text([called(operand, limit) for operand in self.operands]))


class CircuitAggregated(FormalValue):
    """An aggregate of annotated rows, whose arguments may be formal values."""

    __slots__ = ("_key", "_made", "gate", "reading")
    _label = "Aggregated"

    @property
    def terms(self) -> tuple[tuple[Annotation, tuple[Operand, ...]], ...]:
        """Pairs of a row's annotation and its arguments."""
        return self._all()

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        shown = [_term_text(k, row, limit) for k, row in self._first(limit)]
        hidden = self.size - len(shown)
        inside = " + ".join([*shown, *([left_out(hidden)] if hidden else [])]) or "0"
        return f"{self.function.label}({inside})"


def _term_text(annotation: Annotation, row: tuple[Operand, ...], limit: int | None) -> str:
    text = Expression.of(annotation)._factor_text(TEXT, limit)
    values = [called(operand, limit) for operand in row]
    if not values:
        return f"{text}⊗1"
    return f"{text}⊗{values[0]}" if len(values) == 1 else f"{text}⊗({', '.join(values)})"


class CircuitChoice(FormalValue):
    """The value of the first alternative whose annotation is not 0, else NULL.

    No world has two alternatives, except for a subquery with several rows, which Spark refuses.
    """

    __slots__ = ("_key", "_made", "gate", "reading")
    _label = "Choice"

    @property
    def alternatives(self) -> tuple[tuple[Annotation, Operand], ...]:
        """Pairs of an annotation and an operand."""
        return self._all()

    def _first(self, limit: int | None) -> Any:
        children = self._children()[: None if limit is None else 2 * limit]
        operands = self.reading.operands(children[1::2])
        return zip(self.reading.annotations(children[0::2]), operands, strict=True)

    @property
    def annotations(self) -> Array:
        """The gates of the annotations of the alternatives."""
        return self._children()[0::2]

    def _digested(self) -> Iterable[Any]:
        return ("", *(part for pair in self.alternatives for part in pair))

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        shown = [f"{called(v, limit)} if {k.truncated(limit)}" for k, v in self._first(limit)]
        hidden = self.size - len(shown)
        return "{" + "; ".join([*shown, *([f"… ({hidden} more)"] if hidden else [])]) + "}"


class CircuitRows(FormalValue):
    """The annotated rows of a window function, shared by the values of all of them.

    The operands of a row are its partition keys, sort keys and arguments.
    """

    __slots__ = ("_key", "_made", "gate", "reading")

    @property
    def rows(self) -> tuple[tuple[Annotation, tuple[Operand, ...]], ...]:
        """Pairs of an annotation and the row's operands."""
        return self._all()

    def annotation(self, place: int) -> Annotation:
        """Return the annotation of a row."""
        return self.reading.annotation(int(self._children()[place * self._width()]))

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        shown = [k.truncated(limit) for k, _ in self._first(limit)]
        hidden = self.size - len(shown)
        return "; ".join([*shown, *([left_out(hidden)] if hidden else [])])


class CircuitWindowed(FormalValue):
    """The value of a window function for one of its rows; NULL in a world without the row."""

    __slots__ = ("_key", "_made", "gate", "reading")

    @property
    def among(self) -> CircuitRows:
        """All rows of the window function."""
        return self.reading.rows(int(self._children()[0]))

    @property
    def place(self) -> int:
        """The number of its row among the rows."""
        return int(self.reading.circuit.gates.payload[self.gate])

    @property
    def sort_key(self) -> tuple[Any, ...]:
        return ("~windowed", self.among.sort_key[1], self.place)

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        among, few = self.among, limit if limit is None else min(limit, _NAMED)
        own_annotation = among.annotation(self.place).truncated(limit)
        return f"{among.function.label} of {own_annotation} among ({among.truncated(few)})"


class CircuitTensor(InCircuit, Tensor):
    """A tensor in a circuit, whose terms are built lazily."""

    __slots__ = ("_made", "gate", "reading")

    def __init__(self, reading: CircuitReading, gate: int) -> None:
        self._hold(reading, gate)

    def _scalars(self) -> Any:
        circuit = self.reading.circuit
        return circuit.scalars[int(circuit.gates.payload[self.gate])]

    @property
    def _monoid(self) -> Any:  # type: ignore[override]
        return self._scalars().monoid

    @property
    def monoid(self) -> Monoid:
        return cast(Monoid, self._monoid)

    def _edges(self) -> tuple[Array, Array]:
        """The annotations and the labels of their values, in the order of values."""
        store = self.reading.circuit.gates
        edges, _ = store.edges_of(np.array([flat_tensor(self.reading.circuit, self.gate)]))
        return store.child[edges], store.label[edges]

    def values(self) -> list[Any]:
        return cast(list[Any], self._scalars().values(self._edges()[1]))

    @property
    def has_numbers(self) -> bool:
        return bool(self._scalars().are_numbers) or super().has_numbers

    @property
    def _terms(self) -> Any:  # type: ignore[override]
        if self._made is None:
            gates, places = self._edges()
            values = self._scalars().values(places)
            terms = zip(self.reading.annotations(gates), values, strict=True)
            object.__setattr__(self, "_made", tuple((k, v) for k, v in terms if not k.is_zero))
        return self._made

    @property
    def is_zero(self) -> bool:
        return not len(self._edges()[0])

    @property
    def size(self) -> int:
        gates, _ = self._edges()
        store = self.reading.circuit.gates
        if not store.has(gates, CANONICAL).all():
            return len(self.simple_tensors)
        return int(np.where(store.kind[gates] == SUM, store.sizes(gates), 1).sum())

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        gates, places = self._edges()
        store = self.reading.circuit.gates
        # How many simple tensors there are follows from the sizes of sums.
        sizes = np.where(store.kind[gates] == SUM, store.sizes(gates), 1)
        small = sizes.sum() <= SMALL
        if limit is None or small or not store.has(gates, CANONICAL).all():
            return super().truncated(limit)
        few = int(np.searchsorted(np.cumsum(sizes), limit)) + 1
        values = self._scalars().values(places[:few])
        terms = zip(self.reading.annotations(gates[:few]), values, strict=True)
        shown = [simple_text(k, v, limit) for k, v in simple_tensors(terms, limit)]
        hidden = int(sizes.sum()) - len(shown)
        return join_terms([*shown, left_out(hidden)] if hidden else shown, None)


_CLASSES: dict[int, Any] = {
    APPLIED: CircuitApplied,
    AGGREGATED: CircuitAggregated,
    CHOICE: CircuitChoice,
    ROWS: CircuitRows,
    WINDOWED: CircuitWindowed,
}


def formal_value(reading: CircuitReading, gate: int) -> Value:
    """Return a gate that is neither a tensor nor a plain value as a formal value."""
    made: Value = _CLASSES[int(reading.circuit.gates.kind[gate])](reading, gate)
    return made
