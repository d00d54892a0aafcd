"""Annotations and formal values written as gates, from objects and from other circuits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.arrays.exact import reduce_segments
from semiring.arrays.segments import ascending, bounds
from semiring.base import Array
from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.gates import (
    AGGREGATED,
    APPLIED,
    CANONICAL,
    CHOICE,
    COMPARE,
    CONDITION,
    CONSTANT,
    OPERATIONS,
    PLAIN,
    POLYNOMIAL,
    ROWS,
    TENSOR,
    TOKEN,
    WINDOWED,
    ZERO,
)
from semiring.circuit.reading import CircuitReading
from semiring.circuit.values import FormalValue, InCircuit
from semiring.expression import (
    Atom,
    Compare,
    Condition,
    Constant,
    Delta,
    Expression,
    Monus,
    Product,
    Sum,
)
from semiring.polynomial import Polynomial
from semiring.tensor import Tensor
from semiring.token import Token
from semiring.value import Operand, Substitution

_LARGE = 2**30
"""Constants above this are sums and products of smaller ones."""


class CircuitWriting:
    """A circuit over some tokens, in which annotations and formal values are written.

    Parameters
    ----------
    tokens
        All tokens that occur.
    """

    def __init__(self, tokens: Iterable[Token]) -> None:
        self.tokens = sorted(frozenset(tokens), key=attrgetter("sort_key"))
        self._numbers = {token: number for number, token in enumerate(self.tokens)}
        self.circuit = AnnotationCircuit(len(self.tokens))
        self.reading = CircuitReading(self.circuit, self._named)
        # By identity: the objects, which live as long as this, and their gates.
        self._written: dict[int, tuple[Any, int]] = {}
        self._copies: dict[int, _Copies] = {}

    def _named(self, numbers: Array) -> list[Token]:
        return [self.tokens[number] for number in numbers.tolist()]

    def token(self, token: Token) -> int:
        """Return the gate of a token."""
        return self._numbers[token] + 2

    def gate(self, part: Any) -> int:
        """Return the gate of an annotation, of a formal value or of a plain value."""
        return int(self.gates([part])[0])

    def gates(self, parts: Iterable[Any]) -> Array:
        """Return the gates of annotations, of formal values and of plain values."""
        listed = list(parts)
        new = {id(part): part for part in listed if id(part) not in self._written}
        if new:
            # Parts at one distance from those asked for are written together.
            self.gates(
                inner
                for part in new.values()
                if not isinstance(part, InCircuit)
                for inner in getattr(part, "_inner", ())
            )
            groups: dict[Any, list[Any]] = {}
            for number, part in new.items():
                if number not in self._written:
                    groups.setdefault(_group(part), []).append(part)
            for group in groups.values():
                pairs = zip(group, self._write(group).tolist(), strict=True)
                self._written.update((id(part), (part, gate)) for part, gate in pairs)
        return np.array([self._written[id(part)][1] for part in listed], dtype=np.int32)

    def _write(self, parts: list[Any]) -> Array:
        """Return the gates of one group of parts, whose own parts are written already."""
        circuit = self.circuit
        match parts[0]:
            case InCircuit(reading=reading):
                new = _Copies(reading, circuit, self.token)
                copies = self._copies.setdefault(id(reading), new)
                return copies.gates(np.array([part.gate for part in parts]))
            case Polynomial():
                return self._polynomials(parts)
            case Constant():
                return np.concatenate([self._constant(part.n) for part in parts])
            case Token():
                return np.array([self.token(token) for token in parts])
            case Atom():
                return self.gates(part.of_token for part in parts)
            case Product():
                gates, powers, offsets = self._edges([part.factors for part in parts])
                sizes = reduce_segments(np.add, np.array(powers), offsets, 0)
                return circuit.products(np.repeat(gates, powers), bounds(sizes))
            case Sum():
                return self._sums(*self._edges([part.summands for part in parts]))
            case Delta():
                return circuit.delta(self.gates(part.operand for part in parts))
            case Monus():
                return circuit.monus(*self._sides(parts))
            case Compare(op=op):
                return circuit.operands.compared(op, *self._sides(parts))
            case Condition():
                return circuit.operands.conditions(self.gates(part.value for part in parts))
            case Tensor():
                return self._tensors(parts)
        return circuit.operands.plain(parts)

    def _sides(self, parts: list[Any]) -> tuple[Array, Array]:
        """Return the gates of the left and of the right sides of differences or comparisons."""
        return self.gates(part.left for part in parts), self.gates(part.right for part in parts)

    def _edges(self, listed: Sequence[Sequence[tuple[Any, int]]]) -> tuple[Array, list[int], Array]:
        """Return segments of pairs of a part and a number as gates, numbers and CSR offsets."""
        pairs = [pair for segment in listed for pair in segment]
        offsets = bounds(np.array([*map(len, listed)], dtype=np.int64))
        return self.gates(part for part, _ in pairs), [n for _, n in pairs], offsets

    def _polynomials(self, polynomials: list[Polynomial]) -> Array:
        terms = [term for polynomial in polynomials for term in polynomial.terms]
        factors = [factor for monomial, _ in terms for factor in monomial]
        tokens = self.gates(token for token, _ in factors)
        degrees = np.array([sum(n for _, n in monomial) for monomial, _ in terms], dtype=np.int64)
        powers = np.array([n for _, n in factors], dtype=np.int64)
        products = self.circuit.products(np.repeat(tokens, powers), bounds(degrees))
        offsets = bounds(np.array([len(polynomial.terms) for polynomial in polynomials]))
        return self._sums(products, [n for _, n in terms], offsets)

    def _sums(self, gates: Array, times: Sequence[int], offsets: Array) -> Array:
        """Return the sums of segments of gates with multiplicities."""
        for place, number in enumerate(times):
            if number >= _LARGE:
                gates[place] = self.circuit.times(self._constant(number), gates[[place]])[0]
        few = np.array([number if number < _LARGE else 1 for number in times], dtype=np.int64)
        return self.circuit.sum(gates, offsets, few)

    def _constant(self, number: int) -> Array:
        if number < _LARGE:
            return self.circuit.constants(np.array([number]))
        high, low = divmod(number, _LARGE)
        parts = self.circuit.constants(np.array([_LARGE, low]))
        return self.circuit.plus(self.circuit.times(parts[:1], self._constant(high)), parts[1:])

    def _tensors(self, tensors: list[Tensor]) -> Array:
        terms = [term for tensor in tensors for term in tensor.terms]
        gates = self.gates(annotation for annotation, _ in terms)
        values: Any = [value for _, value in terms]
        if all(type(value) is int and abs(value) < 2**63 for value in values):
            values = pa.array(values, pa.int64())
        offsets = bounds(np.array([len(tensor.terms) for tensor in tensors]))
        return self.circuit.tensors(tensors[0].monoid, gates, values, offsets)


def _group(part: Any) -> Hashable:
    """Return a key by which parts are grouped to be written together."""
    match part:
        case InCircuit():
            return id(part.reading)
        case Compare():
            return Compare, part.op
        case Tensor():
            return Tensor, part.monoid.name, repr(part.monoid.finisher)
        case Polynomial() | Expression() | Token():
            return str(type(part))
    return None


class _Copies:
    """Copies gates of one circuit into another, with tokens replaced by gates."""

    def __init__(
        self, source: CircuitReading, target: AnnotationCircuit, token: Callable[[Token], int]
    ) -> None:
        self._source = source
        self._target = target
        self._token = token
        self._below: Array = np.zeros(0, dtype=np.int64)
        self._made: Array = np.zeros(0, dtype=np.int32)
        # By gate of rows, the values of a window function.
        self._windows: dict[int, Array] = {}
        self._scalars: dict[int, int] = {}

    def gates(self, gates: Array) -> Array:
        """Return the copies of gates; operands without tokens become plain values."""
        store = self._source.circuit.gates
        self._below = store.reachable(gates)
        self._made = np.zeros(len(self._below), dtype=np.int32)
        for kind, layer in store.layers(self._below):
            self._made[np.searchsorted(self._below, layer)] = self._layer(kind, layer)
        copies = self._copied(gates)
        values = store.kind[gates] >= TENSOR
        copies[values] = self._target.operands.known(copies[values])
        return copies

    def _copied(self, gates: Array) -> Array:
        copies: Array = self._made[np.searchsorted(self._below, gates)]
        return copies

    def _layer(self, kind: int, layer: Array) -> Array:
        store, target = self._source.circuit.gates, self._target
        payload = store.payload[layer]
        if kind == CONSTANT:
            return target.constants(payload.astype(np.int64))
        if kind == TOKEN:
            return np.array([self._token(token) for token in self._source.named(layer)])
        if kind == PLAIN:
            known = self._source.circuit.operands.plain_values
            return target.operands.plain([known[number] for number in payload.tolist()])
        edges, offsets = store.edges_of(layer)
        if kind == WINDOWED:
            pairs = zip(store.child[edges].tolist(), payload.tolist(), strict=True)
            return np.array([self._windows[rows][place] for rows, place in pairs])
        child, label = self._copied(store.child[edges]), store.label[edges]
        if kind in OPERATIONS:
            return target.operation(kind, child, offsets, label)
        if kind == CHOICE:
            return target.operands.choices(child[::2], child[1::2], offsets // 2)
        if kind == CONDITION:
            return target.operands.conditions(child)
        made = np.zeros(len(layer), dtype=np.int32)
        for number in ascending(payload).tolist():
            places = np.flatnonzero(payload == number)
            made[places] = self._of_number(kind, number, layer[places])
        return made

    def _of_number(self, kind: int, number: int, layer: Array) -> Array:
        """Return copies of gates of one kind and payload, such as one function."""
        store, operands = self._source.circuit.gates, self._target.operands
        edges, offsets = store.edges_of(layer)
        child = self._copied(store.child[edges])
        if kind == TENSOR:
            return self._tensors(number, layer, child, offsets)
        if kind == COMPARE:
            return self._compared(number, layer, child, offsets)
        function = self._source.circuit.operands.functions[number]
        if kind == APPLIED:
            width = len(child) // len(layer)
            return operands.applied(function, [child[place::width] for place in range(width)])
        annotations = int((store.kind[store.child[edges]] < TENSOR).sum())
        width = len(child) // max(annotations, 1) or 1
        columns = [child[place::width] for place in range(width)]
        if kind == AGGREGATED:
            return operands.aggregated(function, columns[0], columns[1:], offsets // width)
        assert kind == ROWS
        for gate, start, stop in zip(
            layer.tolist(), offsets[:-1] // width, offsets[1:] // width, strict=True
        ):
            there = start + np.flatnonzero(columns[0][start:stop] != ZERO)
            values = np.repeat(operands.plain([None]), stop - start)
            rows = [column[there] for column in columns]
            values[there - start] = operands.windowed(function, rows[0], rows[1:])
            self._windows[gate] = operands.known(values)
        return np.zeros(len(layer), dtype=np.int32)

    def _compared(self, number: int, layer: Array, child: Array, offsets: Array) -> Array:
        op, value = self._source.circuit.comparisons[number]
        made, operands = np.zeros(len(layer), dtype=np.int32), self._target.operands
        for size in (1, 2):
            places = np.flatnonzero(np.diff(offsets) == size)
            first = offsets[:-1][places]
            plain = np.repeat(operands.plain([value]), len(places))
            rights = plain if size == 1 else child[first + 1]
            made[places] = operands.compared(op, child[first], rights)
        return made

    def _tensors(self, number: int, layer: Array, child: Array, offsets: Array) -> Array:
        store, target = self._source.circuit.gates, self._target
        if number not in self._scalars:
            scalars = self._source.circuit.scalars[number]
            self._scalars[number] = target.scalars_number(scalars)
        edges, _ = store.edges_of(layer)
        there = child != ZERO
        own = bounds(reduce_segments(np.add, there.astype(np.int64), offsets, 0))
        child, label = child[there], store.label[edges][there]
        flags = target.common_flags(child, own) & ~np.uint8(POLYNOMIAL)
        flags &= store.flags[layer] | ~np.uint8(CANONICAL)
        payload = np.full(len(layer), self._scalars[number])
        return target.add(TENSOR, payload, own, child, label, flags)


def substituted(value: FormalValue, of: Substitution) -> Operand:
    """Return a formal value with its tokens replaced; a plain value once known."""
    instead = {token: of(token) for token in sorted(value.tokens)}
    writing = CircuitWriting(token for k in instead.values() for token in k.tokens)
    copies = _Copies(value.reading, writing.circuit, lambda token: writing.gate(instead[token]))
    return writing.reading.operand(int(copies.gates(np.array([value.gate]))[0]))


def read(tokens: Sequence[Token], circuit: AnnotationCircuit, gate: int) -> Operand:
    """Return the formal value of a gate."""
    named = list(tokens)
    return CircuitReading(circuit, lambda numbers: [named[n] for n in numbers.tolist()]).operand(
        gate
    )
