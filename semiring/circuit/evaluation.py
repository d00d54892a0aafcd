"""Circuits evaluated in a semiring: layer by layer, all gates of a kind at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, repeat
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from semiring.arrays.comparison import UFUNCS
from semiring.arrays.exact import reduce_segments
from semiring.arrays.segments import ascending, bounds, index_of
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
from semiring.circuit.sums import TensorSums, objects
from semiring.columns import Columns
from semiring.columns.arrays import ArrayColumns
from semiring.comparison import compare_values
from semiring.errors import CapabilityError
from semiring.semirings.counting import Counting
from semiring.token import normal_value

V = TypeVar("V")


class TokenValues(Protocol):
    """The values of a circuit's tokens in a semiring."""

    def columns(self, numbers: Array) -> tuple[Columns[Any], Any]:
        """Return the operations of the semiring on columns, and the values of some tokens as
        one.
        """

    def elements(self, numbers: Array) -> Array:
        """Return the values of some tokens as an array of elements."""


@dataclass(frozen=True, eq=False)
class ArrayValues:
    """The values of all tokens by number, as an array of elements of a semiring."""

    semiring: Semiring[Any]
    values: Array

    def columns(self, numbers: Array) -> tuple[Columns[Array], Array]:
        """See :class:`TokenValues`."""
        return ArrayColumns(self.semiring, {}), self.values[numbers]

    def elements(self, numbers: Array) -> Array:
        """See :class:`TokenValues`."""
        found: Array = self.values[numbers]
        return found


@dataclass(frozen=True, eq=False)
class WorldValues:
    """Worlds, by the multiplicity of every token: a row per token, a column per world.

    Counts are Booleans, int64, or Python integers beyond int64.
    """

    there: Array

    def columns(self, numbers: Array) -> tuple[Columns[Array], Array]:
        """See :class:`TokenValues`."""
        there = self.there[numbers]
        if there.dtype == np.bool_:
            there = there.astype(np.int64)
        return _WorldColumns(self.there.shape[1]), there

    def elements(self, numbers: Array) -> Array:
        """See :class:`TokenValues`."""
        raise NotImplementedError


class _WorldColumns(ArrayColumns):
    """The operations of Counting on rows with a count for each world."""

    def __init__(self, worlds: int) -> None:
        super().__init__(COUNTING, {})
        self.worlds = worlds

    def zeros(self, length: int) -> Array:
        return np.zeros((length, self.worlds), dtype=np.int64)

    def repeat(self, counts: Array) -> Array:
        rows = counts if counts.ndim == 2 else counts[:, None]
        return np.broadcast_to(rows, (len(rows), self.worlds))


def evaluate(
    circuit: AnnotationCircuit, semiring: Semiring[Any], gates: Array, tokens: TokenValues
) -> tuple[Columns[Any], Any]:
    """Return the values of gates as a column of annotations, and the operations on such columns.

    Parameters
    ----------
    semiring
        One whose elements are not annotations themselves.

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
    """Return the plain values of gates of formal values, from the multiplicities of tokens.

    Parameters
    ----------
    tokens
        The tokens' values in Counting.

    Raises
    ------
    CapabilityError
        Only Spark computes a value.
    """
    return list(operand_columns(circuit, operands, tokens)[:, 0])


def operand_columns(circuit: AnnotationCircuit, operands: Array, tokens: TokenValues) -> Array:
    """Return the plain values of gates of formal values, world by world, as Python objects.

    Parameters and errors as of `operand_values`.
    """
    return _Evaluation[Any](circuit, COUNTING, operands, tokens).operands(operands)


class _Evaluation(Generic[V]):
    def __init__(
        self, circuit: AnnotationCircuit, semiring: Semiring[Any], gates: Array, tokens: TokenValues
    ) -> None:
        self._circuit = circuit
        self._semiring = semiring
        self._tokens = tokens
        store = circuit.gates
        # Operands of conditions are counted rather than valued, unless the semiring counts itself.
        self._counts = "COUNT" in semiring.capabilities
        below = store.reachable(gates, closed=self._is_counted)
        leaves = below[store.kind[below] == TOKEN]
        self.columns: Columns[V]
        self.columns, values = tokens.columns(store.payload[leaves])
        self._worlds = self.columns.worlds if isinstance(self.columns, _WorldColumns) else 1
        self._parts: list[V] = []
        # By gate: its part, and its place there.
        self._part = np.empty(len(store), dtype=np.int32)
        self._place = np.empty(len(store), dtype=np.int32)
        self._add(leaves, values)
        self._formal = below[store.kind[below] >= TENSOR]
        # Plain values of operands, by world.
        shape = len(self._formal), self._worlds
        self._plain: Array = np.empty(shape, dtype=object)
        self._ready = store.kind[self._formal] != TENSOR
        self._sums = TensorSums(*shape)
        for kind, layer in store.layers(below):
            if kind == TENSOR:
                self._add_up(layer)
            elif kind > TENSOR:
                self._plain[self._rows_of(layer)] = self._operands(kind, layer)
            elif kind != TOKEN:
                self._add(layer, self._layer(kind, layer))

    def _rows_of(self, operands: Array) -> Array:
        return np.searchsorted(self._formal, operands)

    def operands(self, gates: Array) -> Array:
        """Return the known plain values of operands, by world."""
        rows = self._rows_of(gates)
        new = ascending(rows[~self._ready[rows]])
        numbers = self._circuit.gates.payload[self._formal[new]]
        for number in ascending(numbers).tolist():
            chosen = new[numbers == number]
            self._plain[chosen] = self._sums.finished(self._circuit.scalars[number], chosen)
        self._ready[new] = True
        values: Array = self._plain[rows]
        return values

    def _is_counted(self, gates: Array) -> Array:
        """Return a Boolean array: the conditions that are evaluated in Counting on their own."""
        store = self._circuit.gates
        kinds = store.kind[gates]
        conditions = (kinds == CONDITION) | (kinds == COMPARE)
        if self._semiring == COUNTING:
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
        """Return the known values of gates."""
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
        back = index_of(order, len(order))
        return self.columns.take(self.columns.concatenate(taken), back)

    def _layer(self, kind: int, layer: Array) -> V:
        store, columns = self._circuit.gates, self.columns
        if kind == CONSTANT:
            return columns.repeat(store.payload[layer].astype(np.int64))
        if kind in (CONDITION, COMPARE):
            counted = self._is_counted(layer)
            held = np.empty((len(layer), self._worlds), dtype=np.int64)
            held[counted, 0] = self._held(layer[counted])
            held[~counted] = self._decided(kind, layer[~counted])
            return columns.repeat(held if self._worlds > 1 else held[:, 0])
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
        """Return the products of non-empty segments of values."""
        columns = self.columns
        while (most := int(sizes.max())) > 1:
            starts = bounds(sizes)[:-1]
            if most == int(sizes.min()) and most < _FACTORS:
                factors = [columns.take(values, starts + place) for place in range(most)]
                return columns.product(factors, len(sizes))
            # Neighbours are multiplied, which halves the number of factors.
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
        """Return conditions as 0 or 1, evaluated in Counting on the tokens' multiplicities."""
        if not len(layer):
            return np.zeros(0, dtype=np.int64)
        store, semiring = self._circuit.gates, self._semiring
        used = store.reachable(layer)
        numbers = store.payload[used[store.kind[used] == TOKEN]]
        there = np.zeros(self._circuit.token_count, dtype=np.int64)
        elements = semiring.unpack(self._tokens.elements(numbers))
        there[numbers] = [semiring.copies(element) for element in elements]
        _, counts = evaluate(self._circuit, COUNTING, layer, ArrayValues(COUNTING, there))
        truths: Array = counts.astype(np.int64)
        return truths

    def _decided(self, kind: int, layer: Array) -> Array:
        """Return the truth of conditions with known operands, as a Boolean array by world."""
        store, shape = self._circuit.gates, (len(layer), self._worlds)
        edges, offsets = store.edges_of(layer)
        child = store.child[edges]
        if kind == CONDITION:
            return np.array([v is True for v in self.operands(child).flat], np.bool_).reshape(shape)
        held = np.zeros(shape, dtype=np.bool_)
        sizes, numbers = np.diff(offsets), store.payload[layer]
        for number in ascending(numbers).tolist():
            op, value = self._circuit.comparisons[number]
            for size in (1, 2):
                places = np.flatnonzero((numbers == number) & (sizes == size))
                first = offsets[:-1][places]
                rights = None if size == 1 else child[first + 1]
                held[places] = self._compared(op, child[first], value, rights)
        return held

    def _compared(self, op: str, lefts: Array, value: Any, rights: Array | None) -> Array:
        """Return comparisons of operands with a plain value, or with other operands."""
        totals = None if rights is not None else self._compared_totals(op, lefts, value)
        if totals is not None:
            return totals
        sides = self.operands(lefts)
        others: Iterable[Any] = repeat(value)
        if rights is not None:
            others = map(normal_value, self.operands(rights).flat)
        pairs = zip(sides.flat, others, strict=False)
        held = np.array([compare_values(op, left, right) for left, right in pairs], np.bool_)
        return held.reshape(sides.shape)

    def _compared_totals(self, op: str, tensors: Array, value: Any) -> Array | None:
        """Return comparisons of exact counts, sums and extremes with an exact number; None for
        others.
        """
        store = self._circuit.gates
        finite = type(value) is int or (isinstance(value, Decimal) and value.is_finite())
        if op not in UFUNCS or not finite or (store.kind[tensors] != TENSOR).any():
            return None
        held = np.zeros((len(tensors), self._worlds), dtype=np.bool_)
        numbers, rows = store.payload[tensors], self._rows_of(tensors)
        for number in ascending(numbers).tolist():
            chosen = numbers == number
            true = self._sums.compared(self._circuit.scalars[number], rows[chosen], op, value)
            if true is None:
                return None
            held[chosen] = true
        return held

    # -- formal values -----------------------------------------------------------------------

    def _operands(self, kind: int, layer: Array) -> Array:
        """Return the plain values of operands of one kind, by world.

        For rows of windows they are lists, with None for absent rows.
        """
        store, circuit = self._circuit.gates, self._circuit
        payload = store.payload[layer]
        results: Array = np.empty((len(layer), self._worlds), dtype=object)
        if kind == PLAIN:
            known = circuit.operands.plain_values
            numbers = np.repeat(payload, self._worlds).tolist()
            return objects([known[number] for number in numbers], results.shape)
        edges, offsets = store.edges_of(layer)
        child = store.child[edges]
        if kind == WINDOWED:
            of_rows, places = self.operands(child), np.repeat(payload, self._worlds)
            pairs = zip(of_rows.flat, places.tolist(), strict=True)
            return objects([values[place] for values, place in pairs], results.shape)
        if kind == CHOICE:
            there = self._copies(child[0::2]) > 0
            rows = np.where(there, np.arange(len(there))[:, None], len(there))
            first = reduce_segments(np.minimum, rows, offsets // 2, 0)
            nothing = np.full((1, self._worlds), None, dtype=object)
            alternatives = np.concatenate([self.operands(child[1::2]), nothing])
            chosen: Array = alternatives[first, np.arange(self._worlds)]
            return chosen
        called = {APPLIED: self._applied, AGGREGATED: self._aggregated, ROWS: self._over_rows}[kind]
        for number in ascending(payload).tolist():
            # A function is called once for all gates of a layer, and all worlds.
            places = np.flatnonzero(payload == number)
            edges, offsets = store.edges_of(layer[places])
            function = circuit.operands.functions[number]
            values = called(function, store.child[edges], offsets)
            results[places] = objects(values, (len(places), self._worlds))
        return results

    def _applied(self, function: Any, child: Array, offsets: Array) -> list[Any]:
        width = len(child) // (len(offsets) - 1)

        def column(place: int) -> Array:
            return self.operands(child[place::width]).ravel()

        if of_columns := getattr(function, "of_operands", None):
            results: list[Any] = of_columns(column)
        else:
            results = function(list(zip(*map(column, range(width)), strict=True)))
        return results

    def _aggregated(self, function: Any, child: Array, offsets: Array) -> list[Any]:
        results: list[Any] = function(
            [
                [row for row, count in zip(rows, copies, strict=True) for _ in range(count)]
                for rows, copies in self._bags(child, offsets)
            ]
        )
        return results

    def _over_rows(self, function: Any, child: Array, offsets: Array) -> list[Any]:
        bags = self._bags(child, offsets)
        several = next((n for _, copies in bags for n in copies if n > 1), None)
        if several is not None:
            raise CapabilityError(
                f"{function.label} has no value where a row comes {several} times: value tokens by "
                "0 or 1."
            )
        of_rows = function(
            [
                [row for row, count in zip(rows, copies, strict=True) if count]
                for rows, copies in bags
            ]
        )
        values = []
        for (_, copies), found in zip(bags, of_rows, strict=True):
            there = iter(found)
            values.append([next(there) if count else None for count in copies])
        return values

    def _bags(self, child: Array, offsets: Array) -> list[tuple[list[Any], list[int]]]:
        """Return the rows of segments with the copies of each, by world."""
        annotations = np.flatnonzero(self._circuit.gates.kind[child] < TENSOR)
        if not len(annotations):
            return [([], [])] * ((len(offsets) - 1) * self._worlds)
        width = len(child) // len(annotations)
        copies = self._copies(child[annotations])
        columns = [self.operands(child[place::width]) for place in range(1, width)]
        bags = []
        for start, stop in pairwise((offsets // width).tolist()):
            for world in range(self._worlds):
                parts = [column[start:stop, world] for column in columns]
                rows = list(zip(*parts, strict=True)) if parts else [()] * (stop - start)
                bags.append((rows, copies[start:stop, world].tolist()))
        return bags

    def _copies(self, annotations: Array) -> Array:
        """Return the multiplicities of annotations with known values, by world."""
        values: Any = self.values(annotations)
        return self._semiring.multiplicity_array(values).reshape(len(annotations), self._worlds)

    # -- tensors -----------------------------------------------------------------------------

    def _add_up(self, layer: Array) -> None:
        """Add up tensors under a counting semiring: from terms, or from other tensors."""
        store = self._circuit.gates
        payload = store.payload[layer]
        edges, offsets = store.edges_of(layer)
        inner = store.kind[store.child[edges]] == TENSOR
        nested = reduce_segments(np.logical_or, inner, offsets, False)
        for number in ascending(payload).tolist():
            scalars = self._circuit.scalars[number]
            self._semiring.require(scalars.monoid.name)
            for of_sums in (False, True):
                tensors = layer[(payload == number) & (nested == of_sums)]
                edges, offsets = store.edges_of(tensors)
                if of_sums:
                    copies, totals = self._sums.of(self._rows_of(store.child[edges]))
                else:
                    copies = self._copies(store.child[edges])
                    totals = store.label[edges][:, None]
                rows = self._rows_of(tensors)
                self._sums.add(scalars, rows, copies, totals, offsets, of_sums)


COUNTING = Counting()
_FACTORS = 8
"""Number of factors below which products multiply a column for each factor."""
