"""Annotations as gates of one circuit, built by whole columns under the laws of expressions.

The laws are the laws of :class:`semiring.expression.Expression`, which hold in every commutative
δ-semiring with monus: 0 annihilates, units are dropped, sums and products are flattened and merged,
δ(δ(x)) = δ(x), δ(x·c) = δ(x)·c and c·c = c where c is 0 or 1, x ⊖ x = 0, x ⊖ 0 = x, 0 ⊖ x = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.arrays.arrow import decoded, normal
from semiring.arrays.decimals import decimal_to_integers
from semiring.arrays.exact import reduce_segments
from semiring.arrays.ranks import ranked
from semiring.arrays.segments import bounds, mask_of, owners_of
from semiring.base import Array
from semiring.circuit.gates import (
    CANONICAL,
    COMPARE,
    CONSTANT,
    DELTA,
    MONUS,
    ONE,
    OPEN,
    POLYNOMIAL,
    PRODUCT,
    SUM,
    TENSOR,
    TOKEN,
    TRUTH,
    ZERO,
    Gates,
)
from semiring.circuit.operands import OperandGates
from semiring.circuit.scalars import Scalars, is_simple
from semiring.errors import ExactnessError
from semiring.monoid import Monoid
from semiring.token import normal_value, order_key

_MOST_GATES = 2**31 - 1


class AnnotationCircuit:
    """Annotations over numbered tokens.

    Methods take and return int32 arrays of gate numbers. ``0`` and ``1`` are the gates of the
    constants, and the gate of a token is its number plus 2.

    Parameters
    ----------
    tokens
        The number of tokens. Their numbers are in the order of tokens.
    """

    def __init__(self, tokens: int) -> None:
        self.gates = Gates()
        self.token_count = tokens
        self.scalars: list[Scalars] = []
        self.comparisons: list[tuple[str, object]] = []
        self._comparison_numbers: dict[tuple[str, object], int] = {}
        self._scalar_numbers: dict[tuple[str, ...], int] = {}
        self.operands = OperandGates(self)
        constant = POLYNOMIAL | CANONICAL
        self.leaves(CONSTANT, np.arange(2), constant)
        self.gates.add_leaves(TOKEN, np.arange(tokens), constant | OPEN)

    # -- leaves ------------------------------------------------------------------------------

    def zeros(self, length: int) -> Array:
        """Return 0 in every row."""
        return np.full(length, ZERO, dtype=np.int32)

    def ones(self, length: int) -> Array:
        """Return 1 in every row."""
        return np.full(length, ONE, dtype=np.int32)

    def tokens(self, numbers: Array) -> Array:
        """Return the gates of tokens by number; 1 for negative numbers."""
        return np.where(numbers < 0, ONE, numbers + 2).astype(np.int32)

    def constants(self, counts: Array) -> Array:
        """Return the n-fold sums of 1."""
        if len(counts) and int(counts.max()) >= 2**31:
            raise ExactnessError("a constant of an annotation is above 2^31")
        return self.leaves(CONSTANT, counts, POLYNOMIAL | CANONICAL)

    def leaves(self, kind: int, payload: Array, flags: int) -> Array:
        """Return new or equal gates of a kind without edges."""
        count = len(payload)
        none = np.zeros(0, dtype=np.int64)
        every = np.full(count, flags, dtype=np.uint8)
        return self.add(kind, payload, np.zeros(count + 1, dtype=np.int64), none, none, every)

    def add(
        self, kind: int, payload: Array, offsets: Array, child: Array, label: Array, flags: Array
    ) -> Array:
        """Return gates as :meth:`Gates.add` does."""
        if len(self.gates) + len(payload) > _MOST_GATES:
            raise ExactnessError("the annotations have more than two thousand million gates")
        return self.gates.add(kind, payload, offsets, child, label, flags.astype(np.uint8))

    # -- operations --------------------------------------------------------------------------

    def times(self, a: Array, b: Array) -> Array:
        """Return the elementwise products a·b."""
        if not len(a):
            return self.zeros(0)
        if bool(((a <= ONE) | (b <= ONE)).all()):
            return np.where(a == ONE, b, np.where(b == ONE, a, ZERO)).astype(np.int32)
        return self.product((a, b), len(a))

    def product(self, factors: Sequence[Array], length: int) -> Array:
        """Return the elementwise product of columns; ones if there are none."""
        if not factors:
            return self.ones(length)
        stacked = np.stack(factors, axis=1)
        return self.products(stacked.ravel(), np.arange(length + 1) * len(factors))

    def operation(self, kind: int, child: Array, offsets: Array, label: Array) -> Array:
        """Return gates of an operation over segments of children, with their labels as stored."""
        if kind == SUM:
            return self.sum(child, offsets, label)
        if kind == DELTA:
            return self.delta(child)
        if kind == MONUS:
            return self.monus(child[::2], child[1::2])
        sizes = reduce_segments(np.add, label, offsets, 0)
        return self.products(np.repeat(child, label), bounds(sizes))

    def products(self, gates: Array, offsets: Array) -> Array:
        """Return the products of CSR segments of gates."""
        owners, result = owners_of(offsets), self.ones(len(offsets) - 1)
        result[owners[gates == ZERO]] = ZERO
        used = np.flatnonzero((gates != ONE) & (result[owners] != ZERO))
        sizes = np.bincount(owners[used], minlength=len(result))
        several = sizes > 1
        single = used[sizes[owners[used]] == 1]
        result[owners[single]] = gates[single]
        if several.any():
            result[several] = self._products(gates[used[several[owners[used]]]], sizes[several])
        return result

    def _products(self, gates: Array, sizes: Array) -> Array:
        """Return the products of segments of gates that are neither 0 nor 1."""
        owners = np.repeat(np.arange(len(sizes)), sizes)
        owners, child, exponent = self._flattened(owners, gates, PRODUCT)
        owners, child, exponent = _merged(owners, child, exponent)
        exponent = np.where(self.gates.has(child, TRUTH), 1, exponent)
        result, chosen, offsets = self._split(owners, child, exponent, len(sizes))
        if not len(chosen):
            return result
        if len(chosen) < len(sizes):
            rows = _among(owners, chosen, len(sizes))
            child, exponent = child[rows], exponent[rows]
        flags = self.common_flags(child, offsets)
        kinds = self.gates.kind[child]
        polynomial = self.gates.has(child, POLYNOMIAL)
        # A sum among factors keeps its place where it is not a polynomial without integer content.
        proper = (kinds != SUM) | (~polynomial & (self._contents(child, kinds) == 1))
        proper &= kinds != CONSTANT
        canonical = reduce_segments(np.logical_and, proper, offsets, True)
        flags = np.where(canonical, flags, flags & ~np.uint8(CANONICAL))
        none = np.zeros(len(chosen), dtype=np.int64)
        result[chosen] = self.add(PRODUCT, none, offsets, child, exponent, flags)
        return result

    def _contents(self, child: Array, kinds: Array) -> Array:
        """Return the least multiplicity in each sum; 1 for other gates."""
        contents = np.ones(len(child), dtype=np.int64)
        sums = np.flatnonzero(kinds == SUM)
        if len(sums):
            edges, offsets = self.gates.edges_of(child[sums])
            contents[sums] = reduce_segments(np.minimum, self.gates.label[edges], offsets, 1)
        return contents

    def sum(self, gates: Array, offsets: Array, repeated: Array | None = None) -> Array:
        """Return the sums of CSR segments of gates.

        Parameters
        ----------
        repeated
            The multiplicity of each gate; None: 1.
        """
        count = len(offsets) - 1
        owners = owners_of(offsets)
        there = gates != ZERO
        if repeated is not None:
            sizes = np.where(self.gates.kind[gates] == SUM, self.gates.sizes(gates), 1)[there]
        owners, child, times = self._flattened(owners[there], gates[there], SUM)
        if repeated is not None:
            times = times * np.repeat(repeated[there], sizes)
        constant = np.flatnonzero((self.gates.kind[child] == CONSTANT) & (child != ONE))
        if len(constant):
            times[constant] *= self.gates.payload[child[constant]]
            child[constant] = ONE
        owners, child, times = _merged(owners, child, times)
        result, chosen, own = self._split(owners, child, times, count)
        if not len(chosen):
            return result
        if len(own) - 1 < count:
            rows = _among(owners, chosen, count)
            child, times = child[rows], times[rows]
        numbers = np.flatnonzero((np.diff(own) == 1) & (child[own[:-1]] == ONE))
        if len(numbers):
            result[chosen[numbers]] = self.constants(times[own[numbers]])
            rest = ~mask_of(numbers, len(chosen))
            edges = np.repeat(rest, np.diff(own))
            chosen, own = chosen[rest], bounds(np.diff(own)[rest])
            child, times = child[edges], times[edges]
        none = np.zeros(len(chosen), dtype=np.int64)
        flags = self.common_flags(child, own)
        result[chosen] = self.add(SUM, none, own, child, times, flags)
        return result

    def plus(self, a: Array, b: Array) -> Array:
        """Return the elementwise sums a + b."""
        both = np.stack([a, b], axis=1).ravel()
        return self.sum(both, np.arange(0, len(both) + 1, 2))

    def delta(self, gates: Array) -> Array:
        """Return the elementwise δ."""
        store = self.gates
        result = gates.astype(np.int32, copy=True)
        kinds = store.kind[gates]
        result[kinds == CONSTANT] = np.minimum(store.payload[gates[kinds == CONSTANT]], 1)
        open_ones = (kinds != CONSTANT) & (kinds != DELTA) & ~store.has(gates, TRUTH)
        products = np.flatnonzero(open_ones & (kinds == PRODUCT))
        if len(products):
            edges, offsets = store.edges_of(gates[products])
            true = store.has(store.child[edges], TRUTH)
            held = products[reduce_segments(np.logical_or, true, offsets, False)]
            if len(held):
                result[held] = self._delta_of_products(gates[held])
                open_ones[held] = False
        rest = np.flatnonzero(open_ones)
        if len(rest):
            inner = gates[rest]
            flags = store.flags[inner] & np.uint8(CANONICAL | OPEN)
            none = np.zeros(len(rest), dtype=np.int64)
            result[rest] = self.add(DELTA, none, np.arange(len(rest) + 1), inner, none + 1, flags)
        return result

    def _delta_of_products(self, gates: Array) -> Array:
        """Return δ of products with factors c that are 0 or 1: δ(x·c) = δ(x)·c."""
        edges, offsets = self.gates.edges_of(gates)
        owners, child, exponent = (
            owners_of(offsets),
            self.gates.child[edges],
            self.gates.label[edges],
        )
        true = self.gates.has(child, TRUTH)
        rest = self._powers(owners[~true], child[~true], exponent[~true], len(gates))
        held = self._powers(owners[true], child[true], exponent[true], len(gates))
        return self.times(self.delta(rest), held)

    def _powers(self, owners: Array, child: Array, exponent: Array, count: int) -> Array:
        """Return the products of merged factors by owner."""
        result, chosen, _ = self._split(owners, child, exponent, count)
        result[np.bincount(owners, minlength=count) == 0] = ONE
        if len(chosen):
            rows = _among(owners, chosen, count)
            counts = np.repeat(child[rows], exponent[rows])
            sizes = np.bincount(
                np.searchsorted(chosen, owners[rows]), exponent[rows], len(chosen)
            ).astype(np.int64)
            result[chosen] = self._products(counts, sizes)
        return result

    def monus(self, a: Array, b: Array) -> Array:
        """Return the elementwise a ⊖ b."""
        store = self.gates
        result = a.astype(np.int32, copy=True)
        numbers = (store.kind[a] == CONSTANT) & (store.kind[b] == CONSTANT)
        less = numbers & (store.payload[a] <= store.payload[b])
        result[(a == b) | less] = ZERO
        rest = np.flatnonzero((a != b) & (a != ZERO) & (b != ZERO) & ~less)
        if len(rest):
            child = np.stack([a[rest], b[rest]], axis=1).ravel()
            offsets = np.arange(0, len(child) + 1, 2)
            sides = np.tile([0, 1], len(rest))
            none = np.zeros(len(rest), dtype=np.int64)
            flags = self.common_flags(child, offsets) & ~np.uint8(POLYNOMIAL)
            result[rest] = self.add(MONUS, none, offsets, child, sides, flags)
        return result

    def absent(self, gates: Array) -> Array:
        """Return the elementwise 1 ⊖ δ(x)."""
        return self.monus(self.ones(len(gates)), self.delta(gates))

    def matched_or_not(self, gates: Array) -> Array:
        """Return u + (1 ⊖ δ(u)) elementwise: a row of a LEFT JOIN, matched or not."""
        either = self.plus(gates, self.absent(gates))
        return np.where(self.gates.has(gates, TRUTH), ONE, either).astype(np.int32)

    def any_of(self, columns: Sequence[Array], length: int) -> Array:
        """Return δ of the sum of each row's distinct annotations; 1 if one of them is 1."""
        stacked = np.sort(np.stack(columns, axis=1), axis=1)
        stacked[:, 1:][stacked[:, 1:] == stacked[:, :-1]] = ZERO
        width = stacked.shape[1]
        sums = self.sum(stacked.ravel(), np.arange(0, length * width + 1, width))
        sums[(stacked == ONE).any(axis=1)] = ONE
        return self.delta(sums)

    # -- tensors and comparisons -------------------------------------------------------------

    def tensors(
        self,
        monoid: Monoid,
        gates: Array,
        values: pa.Array | Sequence[Any],
        offsets: Array,
        distinct: bool = False,
    ) -> Array:
        """Return the tensors Σ kᵢ⊗vᵢ of CSR segments.

        Equal values are merged, and NULL is left out.

        Parameters
        ----------
        distinct
            Whether every value counts once, annotated with δ of the sum of its annotations.
        """
        known: Array
        if isinstance(values, pa.Array) and is_simple((plain := normal(decoded(values))).type):
            values, known = plain, plain.is_valid().to_numpy(zero_copy_only=False)
        else:
            listed = values.to_pylist() if isinstance(values, pa.Array) else values
            values = list(map(normal_value, listed))
            known = np.array([value is not None for value in values], dtype=np.bool_)
        there = (gates != ZERO) & known
        places = np.flatnonzero(there)
        owners, gates = owners_of(offsets)[places], gates[places]
        number, labels = self._labels(monoid, values, places)
        order = np.lexsort((labels, owners))
        owners, labels, gates = owners[order], labels[order], gates[order]
        heads = np.ones(len(order), dtype=np.bool_)
        heads[1:] = (owners[1:] != owners[:-1]) | (labels[1:] != labels[:-1])
        first = np.flatnonzero(heads)
        totals = self.sum(gates, np.append(first, len(gates)))
        if distinct:
            totals = self.delta(totals)
        own = bounds(np.bincount(owners[first], minlength=len(offsets) - 1))
        payload = np.full(len(offsets) - 1, number)
        flags = self.common_flags(totals, own) & ~np.uint8(POLYNOMIAL)
        if self.scalars[number].sample is not None:
            # Equal values of other tensors have other labels.
            flags &= ~np.uint8(CANONICAL)
        return self.add(TENSOR, payload, own, totals, labels[first], flags)

    def _labels(
        self, monoid: Monoid, values: pa.Array | list[Any], places: Array
    ) -> tuple[int, Array]:
        """Return the number of the scalars with some values, and the values' labels."""
        if isinstance(values, list):
            # These are only ordered in Python.
            keys = [order_key(values[place]) for place in places.tolist()]
            samples = dict(zip(keys, (values[place] for place in places.tolist()), strict=True))
            numbers = {key: number for number, key in enumerate(sorted(samples))}
            self.scalars.append(Scalars(monoid, None, [samples[key] for key in numbers]))
            return len(self.scalars) - 1, np.array([numbers[key] for key in keys], dtype=np.int64)
        kind = values.type
        codes = ranked(values)[places]
        wide = pa.types.is_decimal128(kind) and decimal_to_integers(values).dtype != np.int64
        if not (wide or pa.types.is_string(kind) or pa.types.is_binary(kind)):
            return self.scalars_number(Scalars(monoid, kind, None)), codes
        _, first, labels = np.unique(codes, return_index=True, return_inverse=True)
        self.scalars.append(Scalars(monoid, kind, values.take(pa.array(places[first]))))
        return len(self.scalars) - 1, labels

    def scalars_number(self, scalars: Scalars) -> int:
        """Return the number, in this circuit, of the scalars of another circuit."""
        if scalars.sample is not None:
            self.scalars.append(scalars)
            return len(self.scalars) - 1
        key = (scalars.monoid.name, repr(scalars.monoid.finisher), str(scalars.kind))
        number = self._scalar_numbers.setdefault(key, len(self.scalars))
        if number == len(self.scalars):
            self.scalars.append(scalars)
        return number

    def compare(self, op: str, tensors: Array, values: Sequence[object]) -> Array:
        """Return [tensor op value] elementwise; values are plain and not NULL, one value for all
        rows.
        """
        plain = np.broadcast_to(self.operands.plain(values), len(tensors))
        return self.operands.compared(op, tensors, plain)

    def compare_open(self, tensors: Array, comparisons: Array) -> Array:
        """Return comparisons, given by number, of tensors in which tokens occur."""
        flags = (self.gates.flags[tensors] & np.uint8(CANONICAL | OPEN)) | np.uint8(TRUTH)
        ones = np.ones(len(tensors), dtype=np.int64)
        return self.add(COMPARE, comparisons, np.arange(len(ones) + 1), tensors, ones, flags)

    def comparison(self, op: str, value: object = None) -> int:
        """Return the number of a comparison: with a plain value, or with another operand."""
        key = (op, order_key(value))
        number = self._comparison_numbers.setdefault(key, len(self.comparisons))
        if number == len(self.comparisons):
            self.comparisons.append((op, value))
        return number

    # -- readings ----------------------------------------------------------------------------

    def most(self, gates: Array) -> Array:
        """Return upper bounds of counts, and of COUNTs, over all worlds, as doubles."""
        store = self.gates
        below = store.reachable(gates)
        most = np.ones(len(below))
        for kind, layer in store.layers(below):
            at = np.searchsorted(below, layer)
            if kind == CONSTANT:
                most[at] = store.payload[layer]
            if kind not in (SUM, PRODUCT, MONUS, TENSOR):
                continue
            edges, offsets = store.edges_of(layer)
            inner, label = most[np.searchsorted(below, store.child[edges])], store.label[edges]
            with np.errstate(over="ignore"):
                if kind == TENSOR:
                    most[at] = reduce_segments(np.add, inner, offsets, 0.0)
                elif kind == SUM:
                    most[at] = reduce_segments(np.add, inner * label, offsets, 0.0)
                elif kind == PRODUCT:
                    most[at] = reduce_segments(np.multiply, inner**label, offsets, 1.0)
                else:
                    most[at] = inner[offsets[:-1]]
        found: Array = most[np.searchsorted(below, gates)]
        return found

    # -- edges -------------------------------------------------------------------------------

    def _flattened(self, owners: Array, gates: Array, kind: int) -> tuple[Array, Array, Array]:
        """Return owners, ends and labels of edges, replacing gates of a kind by their edges."""
        store = self.gates
        inner = store.kind[gates] == kind
        if not inner.any():
            return owners, gates.astype(np.int32, copy=True), np.ones(len(gates), dtype=np.int64)
        edges, _ = store.edges_of(gates[inner])
        sizes = np.ones(len(gates), dtype=np.int64)
        sizes[inner] = store.sizes(gates[inner])
        child, label = np.repeat(gates, sizes), np.ones(int(sizes.sum()), dtype=np.int64)
        within = np.repeat(inner, sizes)
        child[within], label[within] = store.child[edges], store.label[edges]
        return np.repeat(owners, sizes), child.astype(np.int32), label

    def _split(
        self, owners: Array, child: Array, label: Array, count: int
    ) -> tuple[Array, Array, Array]:
        """Return the gates of owners with at most one edge, the other owners, and their CSR
        offsets.
        """
        sizes = np.bincount(owners, minlength=count)
        starts = bounds(sizes)[:-1]
        result = self.zeros(count)
        single = np.flatnonzero(sizes == 1)
        single = single[label[starts[single]] == 1]
        result[single] = child[starts[single]]
        several = sizes > 0
        several[single] = False
        chosen = np.flatnonzero(several)
        return result, chosen, bounds(sizes[chosen])

    def common_flags(self, child: Array, offsets: Array) -> Array:
        """Return the flags of gates that follow from the flags of their edges' ends."""
        flags = self.gates.flags[child]
        every = reduce_segments(np.bitwise_and, flags, offsets, np.uint8(255))
        some = reduce_segments(np.bitwise_or, flags, offsets, np.uint8(0))
        common: Array = (every & np.uint8(POLYNOMIAL | CANONICAL)) | (some & np.uint8(OPEN))
        return common


def _merged(owners: Array, child: Array, label: Array) -> tuple[Array, Array, Array]:
    """Return edges, ascending by owner and end, with parallel ones merged and labels added."""
    keys = owners.astype(np.int64) << 32 | child
    if bool((keys[1:] > keys[:-1]).all()):
        return owners, child, label
    order = np.argsort(keys, kind="stable")
    keys, label = keys[order], label[order]
    heads = np.flatnonzero(np.diff(keys, prepend=-1))
    if len(heads) < len(keys):
        _check(label)
        label = np.add.reduceat(label, heads)
    keys = keys[heads]
    return keys >> 32, (keys & 0xFFFFFFFF).astype(np.int32), label


def _among(owners: Array, chosen: Array, count: int) -> Array:
    """Return a Boolean array of the chosen ones among owners below a count."""
    wanted = mask_of(chosen, count)
    among: Array = wanted[owners]
    return among


def _check(label: Array) -> None:
    if float(label.sum(dtype=np.float64)) >= 2**62:
        raise ExactnessError("the multiplicities of an annotation are above 2^62")
