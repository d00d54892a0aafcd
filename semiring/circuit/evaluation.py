"""Circuits evaluated in a semiring: layer by layer, all gates of a kind at once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from semiring.base import Array, Semiring
from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.gates import (
    AGGREGATED,
    APPLIED,
    CHOICE,
    COMPARE,
    CONDITION,
    CONSTANT,
    DELTA,
    MONUS,
    PLAIN,
    PRODUCT,
    ROWS,
    SUM,
    TENSOR,
    TOKEN,
    WINDOWED,
)
from semiring.columns import Columns
from semiring.columns.arrays import ArrayColumns
from semiring.comparison import compare_values
from semiring.errors import CapabilityError
from semiring.exact import reduce_segments, sum_segments
from semiring.monoid import COUNT
from semiring.possible_worlds import objects
from semiring.segments import ascending, bounds
from semiring.semirings.counting import Counting
from semiring.token import normal_value
from semiring.values.windowed import comes_several_times

V = TypeVar("V")


class TokenValues(Protocol):
    """The values of a circuit's tokens in a semiring."""

    def columns(self, numbers: Array) -> tuple[Columns[Any], Any]:
        """Return the operations of the semiring, and the values of some tokens in their form."""

    def elements(self, numbers: Array) -> Array:
        """Return the values of some tokens as an array of elements."""


class ArrayValues:
    """Values of all tokens by number, as an array of elements of a semiring."""

    def __init__(self, semiring: Semiring[Any], values: Array) -> None:
        self._semiring = semiring
        self._values = values

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


def operand_values(circuit: AnnotationCircuit, operands: Array, tokens: TokenValues) -> list[Any]:
    """Return the plain values of gates of formal values, given how often tokens are there.

    Parameters
    ----------
    tokens
        Their values in Counting.

    Raises
    ------
    CapabilityError
        Only Spark computes a value.
    """
    evaluation = _Evaluation[Any](circuit, _COUNTING, operands, tokens)
    return list(evaluation.operands[operands])


class _Evaluation(Generic[V]):
    def __init__(
        self, circuit: AnnotationCircuit, semiring: Semiring[Any], gates: Array, tokens: TokenValues
    ) -> None:
        self._circuit = circuit
        self._semiring = semiring
        self._tokens = tokens
        store = circuit.gates
        # What conditions are about is counted, not valued, unless the semiring counts itself.
        self._counts = "COUNT" in semiring.capabilities
        below = store.reachable(gates, closed=self._is_counted)
        leaves = below[store.kind[below] == TOKEN]
        self.columns: Columns[V]
        self.columns, values = tokens.columns(store.payload[leaves])
        self._parts: list[V] = []
        # By gate: its part, and its place there.
        self._part = np.empty(len(store), dtype=np.int32)
        self._place = np.empty(len(store), dtype=np.int32)
        self._add(leaves, values)
        formal = below[store.kind[below] >= TENSOR]
        # By gate the plain value of an operand.
        self.operands: Array = np.empty(len(store) if len(formal) else 0, dtype=object)
        # Of tensors, which others are sums of: see `Monoid.summed`.
        self._sums: dict[int, tuple[int, Any]] = {}
        for kind, layer in store.layers(below):
            if kind >= TENSOR:
                self.operands[layer] = objects(self._operands(kind, layer))
            elif kind != TOKEN:
                self._add(layer, self._layer(kind, layer))

    def _is_counted(self, gates: Array) -> Array:
        """Return a Boolean array: the conditions that are evaluated in Counting by themselves."""
        store = self._circuit.gates
        kinds = store.kind[gates]
        conditions = (kinds == CONDITION) | (kinds == COMPARE)
        if self._semiring == _COUNTING:
            return np.zeros(len(gates), dtype=np.bool_)
        if self._counts:
            # A semiring that counts has values for tensors.
            conditions &= (kinds == CONDITION) | (store.sizes(gates) > 1)
        found: Array = conditions
        return found

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
        if kind in (CONDITION, COMPARE):
            counted = self._is_counted(layer)
            held = np.empty(len(layer), dtype=np.int64)
            held[counted] = self._held(layer[counted])
            held[~counted] = self._decided(kind, layer[~counted])
            return columns.repeat(held)
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

    def _held(self, layer: Array) -> Array:
        """Return conditions as 0 or 1 in Counting: how often tuples are there decides."""
        if not len(layer):
            return np.zeros(0, dtype=np.int64)
        store, semiring = self._circuit.gates, self._semiring
        used = store.reachable(layer)
        numbers = store.payload[used[store.kind[used] == TOKEN]]
        there = np.zeros(self._circuit.token_count, dtype=np.int64)
        elements = semiring.unpack(self._tokens.elements(numbers))
        there[numbers] = [semiring.copies(element) for element in elements]
        _, counts = evaluate(self._circuit, _COUNTING, layer, ArrayValues(_COUNTING, there))
        truths: Array = counts.astype(np.int64)
        return truths

    def _decided(self, kind: int, layer: Array) -> list[bool]:
        """Return conditions whose operands are known."""
        store, circuit = self._circuit.gates, self._circuit
        edges, offsets = store.edges_of(layer)
        sides = self.operands[store.child[edges]].tolist()
        if kind == CONDITION:
            return [side is True for side in sides]
        held = []
        pairs = zip(pairwise(offsets.tolist()), store.payload[layer].tolist(), strict=True)
        for (start, stop), number in pairs:
            op, value = circuit.comparisons[number]
            right = value if stop - start == 1 else normal_value(sides[start + 1])
            held.append(compare_values(op, sides[start], right))
        return held

    # -- formal values -----------------------------------------------------------------------

    def _operands(self, kind: int, layer: Array) -> list[Any]:
        """Return the plain values of operands of one kind; of rows a list, with None for rows that
        are not there."""
        store, circuit = self._circuit.gates, self._circuit
        payload = store.payload[layer]
        if kind == PLAIN:
            return [circuit.operands.plain_values[number] for number in payload.tolist()]
        if kind == TENSOR:
            return self._aggregates(layer)
        edges, offsets = store.edges_of(layer)
        child = store.child[edges]
        if kind == WINDOWED:
            rows = self.operands[child].tolist()
            return [values[place] for values, place in zip(rows, payload.tolist(), strict=True)]
        if kind == CHOICE:
            there = self._copies(child[0::2]) > 0
            first = reduce_segments(
                np.minimum, np.where(there, np.arange(len(there)), len(there)), offsets // 2, 0
            )
            values = np.append(self.operands[child[1::2]], objects([None]))
            return list(values[first])
        called = {APPLIED: self._applied, AGGREGATED: self._aggregated, ROWS: self._over_rows}[kind]
        results: list[Any] = [None] * len(layer)
        for number in ascending(payload).tolist():
            # A function is called once for all gates of a layer.
            places = np.flatnonzero(payload == number)
            edges, offsets = store.edges_of(layer[places])
            function = circuit.operands.functions[number]
            of_function = called(function, store.child[edges], offsets)
            for place, value in zip(places.tolist(), of_function, strict=True):
                results[place] = value
        return results

    def _applied(self, function: Any, child: Array, offsets: Array) -> list[Any]:
        values = self.operands[child].reshape(len(offsets) - 1, -1)
        cases = list(zip(*values.T, strict=True))
        results: list[Any] = function(cases)
        return results

    def _aggregated(self, function: Any, child: Array, offsets: Array) -> list[Any]:
        rows, copies, own = self._rows(child, offsets)
        results: list[Any] = function(
            [
                [row for place in range(start, stop) for row in [rows[place]] * copies[place]]
                for start, stop in pairwise(own)
            ]
        )
        return results

    def _over_rows(self, function: Any, child: Array, offsets: Array) -> list[Any]:
        rows, copies, own = self._rows(child, offsets)
        several = next((count for count in copies if count > 1), None)
        if several is not None:
            raise comes_several_times(function.label, several)
        segments = pairwise(own)
        relations = [[place for place in range(a, b) if copies[place]] for a, b in segments]
        of_rows = function([[rows[place] for place in places] for places in relations])
        values: list[Any] = [None] * len(rows)
        for places, found in zip(relations, of_rows, strict=True):
            for place, value in zip(places, found, strict=True):
                values[place] = value
        return [values[start:stop] for start, stop in pairwise(own)]

    def _rows(self, child: Array, offsets: Array) -> tuple[list[Any], list[int], list[int]]:
        """Return the operands of rows, how often each is there, and the offsets of segments."""
        annotations = np.flatnonzero(self._circuit.gates.kind[child] < TENSOR)
        if not len(annotations):
            return [], [], [0] * len(offsets)
        width = len(child) // len(annotations)
        values = self.operands[child].reshape(-1, width)[:, 1:]
        rows = list(zip(*values.T, strict=True)) if width > 1 else [()] * len(values)
        return rows, self._copies(child[annotations]).tolist(), (offsets // width).tolist()

    def _copies(self, annotations: Array) -> Array:
        """Return how often annotations of known values are there."""
        values: Any = self.values(annotations)
        return self._semiring.multiplicity_array(values)

    def _aggregates(self, tensors: Array) -> list[Any]:
        """Return the values of tensors under a semiring that counts."""
        store, circuit = self._circuit.gates, self._circuit
        edges, offsets = store.edges_of(tensors)
        child, labels, numbers = store.child[edges], store.label[edges], store.payload[tensors]
        own = [circuit.scalars[number] for number in numbers.tolist()]
        for number in ascending(np.sort(numbers)).tolist():
            self._semiring.require(circuit.scalars[number].monoid.name)
        inner = store.kind[child] == TENSOR
        if not inner.any() and all(scalars.monoid == COUNT for scalars in own):
            counts: list[Any] = sum_segments(self._copies(child), offsets).tolist()
            for gate, count in zip(tensors.tolist(), counts, strict=True):
                self._sums[gate] = (count, None)
            return counts
        copies = np.zeros(len(child), dtype=object)
        copies[~inner] = self._copies(child[~inner])
        values = []
        for gate, scalars, (start, stop) in zip(
            tensors.tolist(), own, pairwise(offsets.tolist()), strict=True
        ):
            if inner[start:stop].any():
                sums = [self._sums[part] for part in child[start:stop].tolist()]
                made = scalars.monoid.added(sums)
            else:
                terms = zip(copies[start:stop], scalars.values(labels[start:stop]), strict=True)
                made = scalars.monoid.summed(terms)
            self._sums[gate] = made
            values.append(scalars.monoid.finished(*made))
        return values


_COUNTING = Counting()
_FACTORS = 8
"""Products of fewer factors are made of one column for each of these."""
