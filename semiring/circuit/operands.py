"""Formal values as gates: plain values, functions, choices, aggregates, and rows of windows.

Together with tensors they are the operands of comparisons and conditions. A gate without tokens is
replaced by its plain value when another gate is built from it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from semiring.arrays.segments import ascending, bounds, mask_of, owners_of, places_of
from semiring.base import Array
from semiring.circuit.gates import (
    AGGREGATED,
    APPLIED,
    CANONICAL,
    CHOICE,
    COMPARE,
    CONDITION,
    ONE,
    OPEN,
    PLAIN,
    POLYNOMIAL,
    ROWS,
    TENSOR,
    TRUTH,
    WINDOWED,
    ZERO,
)
from semiring.circuit.scalars import is_simple
from semiring.comparison import FLIPPED, compare_values
from semiring.token import exact_key, normal_value

if TYPE_CHECKING:
    from semiring.circuit.circuit import AnnotationCircuit


class Function(Protocol):
    """A deterministic function of plain values.

    If it has a method ``of_operands``, this is called with a function from positions to columns of
    operands, instead of with cases.
    """

    @property
    def name(self) -> str:
        """The identity of the function: functions with one name have the same values."""

    def text(self, operands: Sequence[str]) -> str:
        """The call, with texts in the place of the operands."""

    def __call__(self, cases: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return the values for some cases, each a tuple of the operands' values.

        None if the value is NULL, or if Spark would fail.

        Raises
        ------
        CapabilityError
            When only Spark can compute it.
        """


class AggregateFunction(Protocol):
    """A function of bags of rows.

    Attributes
    ----------
    name
        The identity of the function: functions with one name have the same values.
    label
        The name of the function in texts.
    """

    name: str
    label: str

    def __call__(self, bags: Sequence[Sequence[tuple[Any, ...]]]) -> list[Any]:
        """Return the values for some bags of rows; a row has the values of the arguments.

        Raises
        ------
        CapabilityError
            When only Spark can compute it.
        """


class WindowFunction(Protocol):
    """A function of a row among rows; attributes and errors as of :class:`AggregateFunction`."""

    name: str
    label: str

    def __call__(self, relations: Sequence[Sequence[tuple[Any, ...]]]) -> list[list[Any]]:
        """Return the value of every row, relation by relation."""


class OperandGates:
    """The formal values of a circuit, with its tables of plain values and of functions.

    Methods take and return int32 arrays of gate numbers; operands are gates of values.
    """

    def __init__(self, circuit: AnnotationCircuit) -> None:
        self._circuit = circuit
        self.plain_values: list[Any] = []
        self.functions: list[Any] = []
        self._plain_numbers: dict[Hashable, int] = {}
        self._function_numbers: dict[tuple[int, str], int] = {}
        self._outcomes: dict[int, dict[Hashable, Any]] = {}

    def plain(self, values: Sequence[Any] | pa.Array) -> Array:
        """Return the gates of plain values; None is NULL."""
        if isinstance(values, pa.Array):
            if is_simple(values.type) and not pa.types.is_floating(values.type):
                each = values.dictionary_encode(null_encoding="encode")
                gates: Array = self.plain(each.dictionary.to_pylist())[each.indices.to_numpy()]
                return gates
            values = values.to_pylist()
        numbers = np.empty(len(values), dtype=np.int64)
        for place, value in enumerate(values):
            number = self._plain_numbers.setdefault(exact_key(value), len(self.plain_values))
            if number == len(self.plain_values):
                self.plain_values.append(value)
            numbers[place] = number
        return self._circuit.leaves(PLAIN, numbers, CANONICAL)

    def listed(self, plain: Array) -> list[Any]:
        """Return the plain values of gates of plain values."""
        return [self.plain_values[number] for number in self._circuit.gates.payload[plain].tolist()]

    def known(self, operands: Array) -> Array:
        """Return operands, with plain values for those in which no token occurs."""
        gates = self._circuit.gates
        closed = np.flatnonzero(~gates.has(operands, OPEN) & (gates.kind[operands] != PLAIN))
        if not len(closed):
            return operands
        known = operands.astype(np.int32, copy=True)
        known[closed] = self.plain(self._values(operands[closed]))
        return known

    def _values(self, operands: Array) -> list[Any]:
        """Return the values of operands without tokens."""
        from semiring.circuit.evaluation import ArrayValues, operand_values
        from semiring.semirings.counting import Counting

        nothing = ArrayValues(Counting(), np.zeros(0, dtype=np.int64))
        return operand_values(self._circuit, operands, nothing)

    def _function(self, kind: int, function: Any) -> int:
        key = (kind, function.name)
        number = self._function_numbers.setdefault(key, len(self.functions))
        if number == len(self.functions):
            self.functions.append(function)
        return number

    def _add(self, kind: int, payload: Array, offsets: Array, child: Array) -> Array:
        circuit = self._circuit
        flags = circuit.common_flags(child, offsets) & ~np.uint8(POLYNOMIAL)
        return circuit.add(kind, payload, offsets, child, places_of(offsets), flags)

    # -- values ------------------------------------------------------------------------------

    def applied(self, function: Function, columns: Sequence[Array]) -> Array:
        """Return a function of operands, row by row; plain operands are evaluated at once."""
        rows = np.stack([self.known(column) for column in columns], axis=1)
        gates, result = self._circuit.gates, np.empty(len(rows), dtype=np.int32)
        is_plain = (gates.kind[rows] == PLAIN).all(axis=1)
        if is_plain.any():
            known = map(self.listed, rows[is_plain].T)
            result[is_plain] = self.plain(function(list(zip(*known, strict=True))))
        if not is_plain.all():
            rest = rows[~is_plain]
            payload = np.full(len(rest), self._function(APPLIED, function))
            offsets = np.arange(len(rest) + 1) * len(columns)
            result[~is_plain] = self.known(self._add(APPLIED, payload, offsets, rest.ravel()))
        return result

    def outcomes(self, applied: int, values: Sequence[Any]) -> list[Any]:
        """Return the values of a one-operand gate's function for some operand values.

        They are computed together with those for all terms of any MIN or MAX that the function is
        applied to in the circuit, so that Spark evaluates a function once.

        Raises
        ------
        CapabilityError
            When only Spark can compute it.
        """
        gates, number = self._circuit.gates, int(self._circuit.gates.payload[applied])
        known, keys = self._outcomes.setdefault(number, {}), list(map(exact_key, values))
        if not all(key in known for key in keys):
            wanted = dict(zip(keys, values, strict=True))
            alike = np.flatnonzero((gates.kind == APPLIED) & (gates.payload == number))
            edges, _ = gates.edges_of(alike)
            tensors = gates.child[edges][gates.kind[gates.child[edges]] == TENSOR]
            for place in ascending(gates.payload[tensors]).tolist():
                scalars = self._circuit.scalars[place]
                if scalars.monoid.idempotent:
                    terms, _ = gates.edges_of(tensors[gates.payload[tensors] == place])
                    some = scalars.values(ascending(gates.label[terms]))
                    wanted.update((exact_key(value), value) for value in some)
            new = {key: value for key, value in wanted.items() if key not in known}
            results = self.functions[number]([(value,) for value in new.values()])
            known.update(zip(new, results, strict=True))
        return [known[key] for key in keys]

    def choices(self, annotations: Array, operands: Array, offsets: Array) -> Array:
        """Return the value of the first present alternative of each CSR segment; NULL if none
        is.
        """
        gates = self._circuit.gates
        owners, places = owners_of(offsets), np.flatnonzero(annotations != ZERO)
        # Alternatives after one that is there in every world are left out.
        certain = np.flatnonzero(~gates.has(annotations, OPEN) & (annotations != ZERO))
        last = offsets[1:].copy()
        np.minimum.at(last, owners[certain], certain + 1)
        places = places[places < last[owners[places]]]
        sizes = np.bincount(owners[places], minlength=len(last))
        own = bounds(sizes)
        result = np.repeat(self.plain([None]), len(last))
        operands = self.known(operands[places])
        sole = np.flatnonzero(sizes > 0)
        first = own[:-1][sole]
        held = ~gates.has(annotations[places[first]], OPEN)
        result[sole[held]] = operands[first[held]]
        rest = mask_of(sole[~held], len(last))
        chosen = np.repeat(rest, sizes)
        child = np.stack([annotations[places[chosen]], operands[chosen]], axis=1).ravel()
        none = np.zeros(int(rest.sum()), dtype=np.int64)
        result[rest] = self._add(CHOICE, none, bounds(2 * sizes[rest]), child)
        return result

    def aggregated(
        self,
        function: AggregateFunction,
        annotations: Array,
        arguments: Sequence[Array],
        offsets: Array,
    ) -> Array:
        """Return a function of CSR segments of rows, each an annotation and arguments."""
        child, own = self._rows(annotations, arguments, offsets)
        payload = np.full(len(own) - 1, self._function(AGGREGATED, function))
        return self._add(AGGREGATED, payload, own, child)

    def windowed(
        self, function: WindowFunction, annotations: Array, operands: Sequence[Array]
    ) -> Array:
        """Return a window function's values, a gate for each row.

        The annotations are not 0.
        """
        count = len(annotations)
        child, own = self._rows(annotations, operands, np.array([0, count]))
        number = np.array([self._function(ROWS, function)])
        rows = self._add(ROWS, number, own, child)
        return self._add(WINDOWED, np.arange(count), np.arange(count + 1), np.repeat(rows, count))

    def _rows(
        self, annotations: Array, operands: Sequence[Array], offsets: Array
    ) -> tuple[Array, Array]:
        """Return the edges of rows with annotations other than 0, and the offsets of their
        segments.
        """
        there = annotations != ZERO
        sizes = np.bincount(owners_of(offsets)[there], minlength=len(offsets) - 1)
        columns = [annotations[there], *(self.known(column[there]) for column in operands)]
        return np.stack(columns, axis=1).ravel(), bounds(sizes * len(columns))

    # -- conditions --------------------------------------------------------------------------

    def conditions(self, operands: Array) -> Array:
        """Return [φ] for formal truth values φ."""
        operands = self.known(operands)
        gates, count = self._circuit.gates, len(operands)
        result = self._circuit.zeros(count)
        plain = np.flatnonzero(gates.kind[operands] == PLAIN)
        truths = [value is True for value in self.listed(operands[plain])]
        result[plain[np.array(truths, dtype=np.bool_)]] = ONE
        rest = np.flatnonzero(gates.kind[operands] != PLAIN)
        none = np.zeros(len(rest), dtype=np.int64)
        result[rest] = self._conditional(CONDITION, none, operands[rest][:, None])
        return result

    def compared(self, op: str, lefts: Array, rights: Array) -> Array:
        """Return [left op right] elementwise."""
        lefts, rights = self.known(lefts), self.known(rights)
        gates = self._circuit.gates
        result = self._circuit.zeros(len(lefts))
        flipped = (gates.kind[lefts] == PLAIN) & (gates.kind[rights] != PLAIN)
        for operator, sides, chosen in (
            (op, (lefts, rights), ~flipped),
            (FLIPPED[op], (rights, lefts), flipped),
        ):
            places = np.flatnonzero(chosen)
            if len(places):
                result[places] = self._compared(operator, *(side[places] for side in sides))
        return result

    def _compared(self, op: str, lefts: Array, rights: Array) -> Array:
        """Return comparisons with a formal left side, or with two plain sides."""
        circuit, gates = self._circuit, self._circuit.gates
        result = circuit.zeros(len(lefts))
        known, plain = gates.kind[lefts] == PLAIN, gates.kind[rights] == PLAIN
        if known.any():
            pairs, of_pair = np.unique([lefts[known], rights[known]], axis=1, return_inverse=True)
            sides = (map(normal_value, self.listed(side)) for side in pairs)
            held = [compare_values(op, *pair) for pair in zip(*sides, strict=True)]
            result[known] = np.array(held, dtype=np.int32)[of_pair.ravel()]
        numbers, which = np.unique(gates.payload[rights[plain]], return_inverse=True)
        values = [normal_value(self.plain_values[number]) for number in numbers]
        null = np.zeros(len(lefts), dtype=np.bool_)
        null[plain] = np.array([value is None for value in values], dtype=np.bool_)[which]
        # Compared with NULL nothing is true, and COUNT is NULL in no world.
        false, tensors = null & ~known, gates.kind[lefts] == TENSOR
        if op == "<=>":
            counts = [scalars.monoid.over_empty is not None for scalars in circuit.scalars]
            false &= tensors
            false[tensors] &= np.array(counts, dtype=np.bool_)[gates.payload[lefts[tensors]]]
        simple = plain & tensors & ~null
        comparisons = np.zeros(len(lefts), dtype=np.int64)
        comparisons[plain] = np.array([circuit.comparison(op, v) for v in values], np.int64)[which]
        result[simple] = circuit.compare_open(lefts[simple], comparisons[simple])
        rest = np.flatnonzero(~known & ~false & ~simple)
        if len(rest):
            number = np.full(len(rest), circuit.comparison(op))
            operands = np.stack([lefts[rest], rights[rest]], axis=1)
            result[rest] = self._conditional(COMPARE, number, operands)
        return result

    def _conditional(self, kind: int, payload: Array, operands: Array) -> Array:
        """Return the gates of conditions on rows of operands."""
        count, width = operands.shape
        child, offsets = operands.ravel(), np.arange(count + 1) * width
        flags = self._circuit.common_flags(child, offsets) & ~np.uint8(POLYNOMIAL)
        labels = np.tile(np.arange(width), count)
        return self._circuit.add(kind, payload, offsets, child, labels, flags | np.uint8(TRUTH))
