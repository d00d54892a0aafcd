"""Circuits evaluated in a semiring: layer by layer, all gates of a kind at once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from semiring.base import Array, Semiring
from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.gates import (
    COMPARE,
    CONSTANT,
    DELTA,
    MONUS,
    OBJECT,
    PRODUCT,
    SUM,
    TENSOR,
    TOKEN,
)
from semiring.columns import Columns
from semiring.columns.arrays import ArrayColumns
from semiring.comparison import compare_values
from semiring.errors import CapabilityError
from semiring.exact import sum_segments
from semiring.monoid import COUNT
from semiring.segments import bounds
from semiring.semirings.counting import Counting
from semiring.token import Token

V = TypeVar("V")


class TokenValues(Protocol):
    """The values of a circuit's tokens in a semiring."""

    def columns(self, numbers: Array) -> tuple[Columns[Any], Any]:
        """Return the operations of the semiring, and the values of some tokens in their form."""

    def elements(self, numbers: Array) -> Array:
        """Return the values of some tokens as an array of elements."""

    @property
    def of(self) -> Callable[[Token], Any]:
        """The value of a token."""


class ArrayValues:
    """Values of all tokens by number, as an array of elements of a semiring.

    Parameters
    ----------
    of
        From a token to its value.
    """

    def __init__(self, semiring: Semiring[Any], values: Array, of: Callable[[Token], Any]) -> None:
        self._semiring = semiring
        self._values = values
        self.of = of

    def columns(self, numbers: Array) -> tuple[Columns[Array], Array]:
        """See :class:`TokenValues`."""
        return ArrayColumns(self._semiring, {}), self._values[numbers]

    def elements(self, numbers: Array) -> Array:
        """See :class:`TokenValues`."""
        found: Array = self._values[numbers]
        return found


def evaluate(
    circuit: AnnotationCircuit, semiring: Semiring[Any], gates: Array, tokens: TokenValues
) -> tuple[Columns[Any], Any]:
    """Return the values of gates as a column of annotations, and the operations on such columns.

    Parameters
    ----------
    semiring
        One whose elements are no annotations themselves.

    Raises
    ------
    CapabilityError
        The semiring lacks a monus, or a value for a condition, that occurs.

    Cost: one pass of the operations on columns over the edges below the gates.
    """
    try:
        evaluation = _Evaluation[Any](circuit, semiring, gates, tokens)
        return evaluation.columns, evaluation.values(gates)
    except CapabilityError as error:
        refusal = error
    if len(gates) > 1:
        # The refusal is that of the first gate that has one.
        for half in np.array_split(gates, 2):
            evaluate(circuit, semiring, half, tokens)
    raise refusal


class _Evaluation(Generic[V]):
    def __init__(
        self, circuit: AnnotationCircuit, semiring: Semiring[Any], gates: Array, tokens: TokenValues
    ) -> None:
        self._circuit = circuit
        self._semiring = semiring
        self._tokens = tokens
        store = circuit.gates
        # What comparisons are about is counted, not valued, unless the semiring counts itself.
        self._counts = "COUNT" in semiring.capabilities
        closed = None if self._counts else lambda some: store.kind[some] == COMPARE
        below = store.reachable(gates, closed=closed)
        leaves = below[store.kind[below] == TOKEN]
        self.columns: Columns[V]
        self.columns, values = tokens.columns(store.payload[leaves])
        self._parts: list[V] = []
        # By gate: its part, and its place there.
        self._part = np.empty(len(store), dtype=np.int32)
        self._place = np.empty(len(store), dtype=np.int32)
        self._add(leaves, values)
        for kind, layer in store.layers(below):
            if kind not in (TENSOR, TOKEN):
                self._add(layer, self._layer(kind, layer))

    def _add(self, gates: Array, values: V) -> None:
        self._part[gates] = len(self._parts)
        self._place[gates] = np.arange(len(gates))
        self._parts.append(values)

    def values(self, gates: Array) -> V:
        """Return the values of gates that are known."""
        part, place = self._part[gates], self._place[gates]
        counts = np.bincount(part, minlength=1)
        numbers = np.flatnonzero(counts).tolist()
        if len(numbers) < 2:
            return self.columns.take(self._parts[numbers[0] if numbers else 0], place)
        order = np.argsort(part, kind="stable")
        taken, start = [], 0
        for number in numbers:
            stop = start + int(counts[number])
            taken.append(self.columns.take(self._parts[number], place[order[start:stop]]))
            start = stop
        back = np.empty(len(order), dtype=np.int64)
        back[order] = np.arange(len(order))
        return self.columns.take(self.columns.concatenate(taken), back)

    def _layer(self, kind: int, layer: Array) -> V:
        store, columns = self._circuit.gates, self.columns
        if kind == CONSTANT:
            return columns.repeat(store.payload[layer].astype(np.int64))
        if kind == OBJECT or (kind == COMPARE and not self._counts):
            return columns.repeat(self._held(kind, layer))
        if kind == COMPARE:
            return columns.repeat(self._compared(layer))
        edges, offsets = store.edges_of(layer)
        ends, label = store.child[edges], store.label[edges]
        if kind == DELTA:
            return columns.delta(self.values(ends))
        if kind == MONUS:
            return columns.monus(self.values(ends[::2]), self.values(ends[1::2]))
        if kind == SUM:
            return columns.fold(self._repeated(self.values(ends), label), offsets)
        assert kind == PRODUCT
        # Powers are factors that occur several times.
        sizes = np.add.reduceat(label, offsets[:-1])
        return self._products(self.values(np.repeat(ends, label)), sizes)

    def _repeated(self, values: V, times: Array) -> V:
        """Return n-fold sums, as products with n·1."""
        several = np.flatnonzero(times > 1)
        if not len(several) or self._semiring.idempotent:
            return values
        columns = self.columns
        factors = [columns.take(values, several), columns.repeat(times[several])]
        more = columns.product(factors, len(several))
        return columns.put(values, len(times), several, more)

    def _products(self, values: V, sizes: Array) -> V:
        """Return the products of segments of values, none of them empty."""
        columns = self.columns
        while (most := int(sizes.max())) > 1:
            starts = bounds(sizes)[:-1]
            if most == int(sizes.min()) and most < _FACTORS:
                factors = [columns.take(values, starts + place) for place in range(most)]
                return columns.product(factors, len(sizes))
            # Neighbours are multiplied: half as many factors are left.
            halves = (sizes + 1) // 2
            places = bounds(halves)
            owners = np.repeat(np.arange(len(sizes)), halves)
            left = starts[owners] + 2 * (np.arange(len(owners)) - places[owners])
            paired = left + 1 < (starts + sizes)[owners]
            pairs = np.flatnonzero(paired)
            both = [columns.take(values, left[pairs]), columns.take(values, left[pairs] + 1)]
            made = columns.product(both, len(pairs))
            values = columns.put(columns.take(values, left), len(left), pairs, made)
            sizes = halves
        return values

    # -- conditions --------------------------------------------------------------------------

    def _held(self, kind: int, layer: Array) -> Array:
        """Return conditions as 0 or 1: which tuples are there decides, or how often they are."""
        store, semiring = self._circuit.gates, self._semiring
        if kind == OBJECT:
            objects = (self._circuit.objects[number] for number in store.payload[layer].tolist())
            held = (not semiring.is_zero(o._evaluate(semiring, self._tokens.of)) for o in objects)
            return np.fromiter(held, np.int64, len(layer))
        used = store.reachable(layer)
        numbers = store.payload[used[store.kind[used] == TOKEN]]
        there = np.zeros(self._circuit.token_count, dtype=np.int64)
        elements = semiring.unpack(self._tokens.elements(numbers))
        there[numbers] = [semiring.copies(element) for element in elements]
        copies = ArrayValues(
            _COUNTING, there, lambda token: semiring.copies(self._tokens.of(token))
        )
        _, counts = evaluate(self._circuit, _COUNTING, layer, copies)
        truths: Array = counts.astype(np.int64)
        return truths

    def _compared(self, layer: Array) -> Array:
        """Return comparisons of aggregates under a semiring that counts, as 0 or 1."""
        store, circuit, semiring = self._circuit.gates, self._circuit, self._semiring
        tensors = store.child[store.offsets[layer]]
        distinct, which = np.unique(tensors, return_inverse=True)
        edges, offsets = store.edges_of(distinct)
        elements: Any = self.values(store.child[edges])
        copies = semiring.multiplicity_array(elements)
        labels, numbers = store.label[edges], store.payload[distinct].tolist()
        counted = all(circuit.scalars[number].monoid == COUNT for number in set(numbers))
        aggregates = sum_segments(copies, offsets).tolist() if counted else []
        copies = copies.tolist()
        for (start, stop), number in zip(pairwise(offsets.tolist()), numbers, strict=True):
            scalars = circuit.scalars[number]
            semiring.require(scalars.monoid.name)
            if not counted:
                values = scalars.values(labels[start:stop])
                terms = zip(copies[start:stop], values, strict=True)
                aggregates.append(scalars.monoid.aggregate(terms))
        held = []
        for tensor, number in zip(which.tolist(), store.payload[layer].tolist(), strict=True):
            op, constant = circuit.comparisons[number]
            held.append(compare_values(op, aggregates[tensor], constant))
        return np.array(held, dtype=np.int64)


_COUNTING = Counting()
_FACTORS = 8
"""Products of fewer factors are made of one column for each of these."""
