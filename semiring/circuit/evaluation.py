"""Circuits evaluated in a semiring: layer by layer, all gates of a kind at once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

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
from semiring.semirings.counting import Counting
from semiring.token import Token

K = TypeVar("K")


def evaluate(
    circuit: AnnotationCircuit,
    semiring: Semiring[K],
    tokens: Array,
    gates: Array,
    value: Callable[[Token], K],
) -> Array:
    """Return the values of some gates, as an array of annotations.

    Parameters
    ----------
    semiring
        One whose elements are no annotations themselves.
    tokens
        The values of all tokens, by number.
    value
        The value of a token, for conditions that are kept as expressions.

    Raises
    ------
    CapabilityError
        The semiring lacks a monus, or a value for a condition, that occurs.

    Cost: one pass of the semiring's array operations over the edges below the gates.
    """
    return _Evaluation(circuit, semiring, tokens, value).run(gates)


class _Evaluation:
    def __init__(
        self,
        circuit: AnnotationCircuit,
        semiring: Semiring[Any],
        tokens: Array,
        value: Callable[[Token], Any],
    ) -> None:
        self._circuit = circuit
        self._semiring = semiring
        self._tokens = tokens
        self._value = value

    def run(self, gates: Array) -> Array:
        store, semiring = self._circuit.gates, self._semiring
        # What comparisons are about is counted, not valued, unless the semiring counts itself.
        counts = "COUNT" in semiring.capabilities
        closed = None if counts else lambda some: store.kind[some] == COMPARE
        below = store.reachable(gates, closed=closed)
        self._gates, self._values = below, semiring.zeros(len(below))
        for kind, layer in store.layers(below):
            if kind == TENSOR:
                continue
            places = np.searchsorted(below, layer)
            made = self._layer(kind, layer, counts)
            if made.dtype == np.dtype(object) != self._values.dtype:
                self._values = self._values.astype(object)
            self._values[places] = made
        return self._at(gates)

    def _at(self, gates: Array) -> Array:
        values: Array = self._values[np.searchsorted(self._gates, gates)]
        return values

    def _layer(self, kind: int, layer: Array, counts: bool) -> Array:
        store, semiring = self._circuit.gates, self._semiring
        if kind == CONSTANT:
            return semiring.repeat_array(store.payload[layer].astype(np.int64))
        if kind == TOKEN:
            found: Array = self._tokens[store.payload[layer]]
            return found
        if kind == OBJECT:
            objects = (self._circuit.objects[number] for number in store.payload[layer].tolist())
            return semiring.pack([o._evaluate(semiring, self._value) for o in objects])
        if kind == COMPARE:
            return self._compared(layer) if counts else self._counted(layer)
        edges, offsets = store.edges_of(layer)
        inner, label = self._at(store.child[edges]), store.label[edges]
        if kind == DELTA:
            return semiring.delta_array(inner)
        if kind == MONUS:
            return semiring.monus_array(inner[::2], inner[1::2])
        if kind == SUM:
            several = np.flatnonzero(label > 1)
            if len(several) and not semiring.idempotent:
                # n-fold sums are products with n·1.
                repeated = semiring.repeat_array(label[several])
                more = semiring.times_array(inner[several], repeated)
                if more.dtype == np.dtype(object) != inner.dtype:
                    inner = inner.astype(object)
                inner[several] = more
            return semiring.sum_segments(inner, offsets)
        assert kind == PRODUCT
        return self._products(inner, label, offsets)

    def _products(self, inner: Array, power: Array, offsets: Array) -> Array:
        semiring = self._semiring
        sizes = np.diff(offsets)
        result = semiring.ones(len(sizes))
        place = 0
        while place < int(sizes.max()):
            rows = np.flatnonzero(sizes > place)
            edges = offsets[rows] + place
            factors, left = inner[edges], power[edges]
            while len(rows):
                made = semiring.times_array(result[rows], factors)
                if made.dtype == np.dtype(object) != result.dtype:
                    result = result.astype(object)
                result[rows] = made
                left = left - 1
                more = left > 0
                rows, factors, left = rows[more], factors[more], left[more]
            place += 1
        return result

    def _counted(self, layer: Array) -> Array:
        """Comparisons under a semiring that does not count: which tuples are there decides."""
        store, semiring = self._circuit.gates, self._semiring
        used = store.reachable(layer)
        numbers = store.payload[used[store.kind[used] == TOKEN]]
        there = np.zeros(len(self._tokens), dtype=np.int64)
        values = semiring.unpack(self._tokens[numbers])
        there[numbers] = [semiring.copies(value) for value in values]
        counting = Counting()

        def count(token: Token) -> int:
            return semiring.copies(self._value(token))

        held = evaluate(self._circuit, counting, there, layer, count)
        return semiring.repeat_array(held.astype(np.int64))

    def _compared(self, layer: Array) -> Array:
        store, circuit, semiring = self._circuit.gates, self._circuit, self._semiring
        tensors = store.child[store.offsets[layer]]
        distinct, which = np.unique(tensors, return_inverse=True)
        edges, offsets = store.edges_of(distinct)
        copies = semiring.multiplicity_array(self._at(store.child[edges])).tolist()
        labels, numbers = store.label[edges], store.payload[distinct].tolist()
        aggregates = []
        for (start, stop), number in zip(pairwise(offsets.tolist()), numbers, strict=True):
            scalars = circuit.scalars[number]
            semiring.require(scalars.monoid.name)
            values = scalars.values(labels[start:stop])
            aggregates.append(
                scalars.monoid.aggregate(zip(copies[start:stop], values, strict=True))
            )
        held = []
        for tensor, number in zip(which.tolist(), store.payload[layer].tolist(), strict=True):
            op, constant = circuit.comparisons[number]
            held.append(semiring.compare(op, aggregates[tensor], constant))
        return semiring.pack(held)
