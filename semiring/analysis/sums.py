"""Mean and variance of sums of many products of independent events, by whole columns.

With aᵢ = vᵢ·P(i) for a product i of events with the chances p, and S over the sets of events that
occur together in a product,

    Var = Σ over S not empty of (Π over S of (1 - p) / p) · (Σ of the aᵢ whose product has S)²

since P(i ∧ j) = P(i)·P(j) / Π of the p that both have, and 1 / p = 1 + (1 - p) / p is multiplied
out. No term is negative. Source: Jayram, Kale, Vee, *Efficient Aggregation Algorithms for
Probabilistic Data*, SODA 2007 (linearity of expectation).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from semiring.analysis.columns import GateColumns, gate_columns
from semiring.base import Array
from semiring.budget import check_budget
from semiring.circuit.gates import CONSTANT, DELTA, MONUS, PRODUCT, SUM, TOKEN
from semiring.circuit.reading import CircuitTensor
from semiring.exact import reduce_segments
from semiring.segments import ascending, bounds, owners_of
from semiring.tensor import Tensor
from semiring.token import Token

_FACTORS: Final = 7
"""Products of more events are left to pairwise covariances."""


def values_of(tensor: Tensor) -> list[object]:
    """Return the values of a tensor's terms; annotations are not made for them."""
    if isinstance(tensor, CircuitTensor):
        return tensor.values()
    return [value for _, value in tensor.terms]


def sum_moments(tensor: Tensor, chances: Mapping[Token, float]) -> tuple[float, float] | None:
    """Return mean and variance of a SUM or COUNT; None where its terms are not such products.

    Events are tuples, and functions that are 0 or 1 of tuples that nothing else depends on.

    Cost: O(n log n) for n products, times the number of sets of events of a product.
    """
    columns = gate_columns(tensor)
    terms = _Products(columns)
    weights = np.ones(terms.count)
    if tensor.monoid.name == "SUM":
        weights = np.array([float(value) for value in values_of(tensor)])  # type: ignore[arg-type]
    of_tokens = np.array([chances[token] for token in columns.tokens], dtype=np.float64)
    made = terms.products(of_tokens)
    if made is None:
        return None
    term, times, offsets, factors, chance_of = made
    chance = reduce_segments(np.multiply, chance_of[factors], offsets, 1.0)
    amounts = weights[term] * times * chance
    variance, sizes = 0.0, np.diff(offsets)
    kept = np.flatnonzero((chance > 0) & (sizes > 0))
    # Sets of events by size: each is one of fewer events, known by its number, and a last one.
    row, numbers = kept, np.zeros(len(kept), dtype=np.int64)
    place, ratio = np.full(len(kept), -1), np.ones(len(kept))
    while len(row):
        check_budget()
        more = sizes[row] - place - 1
        own = bounds(more)
        owner = owners_of(own)
        place = np.arange(own[-1]) - np.repeat(own[:-1] - place - 1, more)
        row, numbers, ratio = row[owner], numbers[owner], ratio[owner]
        factor = factors[offsets[row] + place]
        ratio = ratio * (1 - chance_of[factor]) / chance_of[factor]
        _, first, numbers = np.unique(
            numbers << 32 | factor, return_index=True, return_inverse=True
        )
        totals = np.bincount(numbers, amounts[row])
        variance += float((ratio[first] * totals * totals).sum())
    return float(amounts.sum()), variance


class _Products:
    """The products of events in the terms of a tensor."""

    def __init__(self, columns: GateColumns) -> None:
        self._columns = columns
        self._edges, _ = columns.edges_of(np.array([columns.root]))
        self.count = len(self._edges)

    def products(self, of_tokens: Array) -> tuple[Array, Array, Array, Array, Array] | None:
        """Return products: terms, multiplicities, CSR offsets, events, and chances by gate."""
        columns = self._columns
        term, gate = np.arange(self.count), columns.child[self._edges]
        times = np.ones(self.count)
        while (sums := columns.kind[gate] == SUM).any():
            edges, own = columns.edges_of(gate[sums])
            inner = np.repeat(np.flatnonzero(sums), np.diff(own))
            term = np.concatenate([term[~sums], term[inner]])
            times = np.concatenate([times[~sums], times[inner] * columns.label[edges]])
            gate = np.concatenate([gate[~sums], columns.child[edges]])
        constant = columns.kind[gate] == CONSTANT
        times[constant] *= columns.payload[gate[constant]]
        product = columns.kind[gate] == PRODUCT
        edges, own = columns.edges_of(gate[product])
        alone = np.flatnonzero(~product & ~constant)
        row = np.concatenate([np.repeat(np.flatnonzero(product), np.diff(own)), alone])
        factor = np.concatenate([columns.child[edges], gate[alone]])
        keys = ascending(np.sort(row << 32 | factor))
        row, factor = keys >> 32, keys & 0xFFFFFFFF
        offsets = bounds(np.bincount(row, minlength=len(gate)))
        chance_of = self._chances(ascending(np.sort(factor)), of_tokens)
        if chance_of is None or int(np.diff(offsets).max(initial=0)) > _FACTORS:
            return None
        return term, times, offsets, factor, chance_of

    def _chances(self, events: Array, of_tokens: Array) -> Array | None:
        """Return chances by gate; None where the events are not independent, or not read-once."""
        columns = self._columns
        kind, first = columns.kind, columns.offsets[:-1]
        one_less = kind == MONUS
        left = columns.child[first[one_less]]
        one_less[one_less] = (kind[left] == CONSTANT) & (columns.payload[left] == 1)
        if not ((kind[events] == TOKEN) | (kind[events] == DELTA) | one_less[events]).all():
            return None
        used = np.zeros(len(kind), dtype=np.int64)
        used[events] += 1
        layers, frontier = [events], events
        while len(frontier):
            edges, _ = columns.edges_of(frontier)
            ends = columns.child[edges]
            ends = ends[kind[ends] != CONSTANT]
            np.add.at(used, ends, 1)
            if (used[ends] > 1).any():
                return None
            layers.append(ends)
            frontier = ends
        below = np.concatenate(layers)
        if not np.isin(kind[below], (TOKEN, DELTA, SUM, PRODUCT, MONUS)).all():
            return None
        if not one_less[below[kind[below] == MONUS]].all():
            return None
        chance = np.zeros(len(kind))
        chance[kind == CONSTANT] = (columns.payload[kind == CONSTANT] > 0).astype(np.float64)
        order = below[np.argsort(columns.depth[below], kind="stable")]
        for layer in np.split(order, np.flatnonzero(np.diff(columns.depth[order])) + 1):
            edges, own = columns.edges_of(layer)
            inner, of_kind = chance[columns.child[edges]], kind[layer]
            every = reduce_segments(np.multiply, inner, own, 1.0)
            none = reduce_segments(np.multiply, 1 - inner, own, 1.0)
            made = np.where(of_kind == PRODUCT, every, 1 - none)
            monus = np.flatnonzero(of_kind == MONUS)
            made[monus] = 1 - inner[own[monus] + 1]
            tokens = np.flatnonzero(of_kind == TOKEN)
            made[tokens] = of_tokens[columns.payload[layer[tokens]]]
            chance[layer] = made
        return chance
