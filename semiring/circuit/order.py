"""The canonical order of expressions, computed on gates: ranks of many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring.arrays.exact import reduce_segments
from semiring.arrays.ranks import dense_ranks
from semiring.arrays.segments import ascending, bounds, owners_of
from semiring.base import Array
from semiring.circuit.gates import DELTA, MONUS, PRODUCT, SUM, TOKEN, Gates

SortKey = Callable[[int], Any]
"""From a gate to the sort key of its expression."""


@dataclass(frozen=True, eq=False)
class CanonicalOrder:
    """The order of the canonical expressions of gates.

    Parameters
    ----------
    sort_key
        The key of the few gates that are not ordered by their children.
    """

    gates: Gates
    sort_key: SortKey

    def _kinds(self, gates: Array) -> Array:
        """Return the kinds of gates, ordered as the kinds of expressions."""
        kinds: Array = self.gates.kind[gates].astype(np.int64)
        return kinds

    def ranks(self, gates: Array) -> Array:
        """Return integers that order canonical gates as their expressions, with equal ranks for
        equal ones.
        """
        distinct, places = np.unique(gates, return_inverse=True)
        classes = self._kinds(distinct)
        ranks = np.zeros(len(distinct), dtype=np.int64)
        start = 0
        for kind in ascending(classes).tolist():
            chosen = np.flatnonzero(classes == kind)
            inner = self._within(kind, distinct[chosen])
            ranks[chosen] = start + inner
            start += len(chosen)
        return ranks[places]

    def _within(self, kind: int, gates: Array) -> Array:
        """Return ranks of gates of one class, smaller than their number."""
        if len(gates) == 1:
            return np.zeros(1, dtype=np.int64)
        store = self.gates
        if kind == TOKEN:
            return np.argsort(np.argsort(gates))
        if kind == DELTA:
            return dense_ranks([self.ranks(store.child[store.offsets[gates]])])
        if kind == MONUS:
            edges, _ = store.edges_of(gates)
            sides = self.ranks(store.child[edges])
            return dense_ranks([sides[::2], sides[1::2]])
        if kind in (PRODUCT, SUM):
            edges, offsets = self.sorted_edges(gates)
            return self._lists(store.child[edges], store.label[edges], offsets)
        keys = [self.sort_key(gate) for gate in gates.tolist()]
        numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
        return np.array([numbers[key] for key in keys], dtype=np.int64)

    def sorted_edges(self, gates: Array) -> tuple[Array, Array]:
        """Return the edges of gates in the order of their ends, and the CSR offsets of the
        gates.
        """
        edges, offsets = self.gates.edges_of(gates)
        return self._sorted(edges, offsets), offsets

    def first_edges(self, gate: int, limit: int | None) -> Array:
        """Return at least the first `limit` edges of a gate, in the order of their ends."""
        edges, _ = self.gates.edges_of(np.array([gate]))
        if limit is not None and limit < len(edges):
            child = self.gates.child[edges]
            keys = self._kinds(child) << 32 | least_tokens(self.gates, child)
            edges = edges[keys <= np.partition(keys, limit)[limit]]
        return self._sorted(edges, np.array([0, len(edges)]))

    def _sorted(self, edges: Array, offsets: Array) -> Array:
        """Return the edges of CSR segments in the order of their ends."""
        owners, child = owners_of(offsets), self.gates.child[edges]
        classes = self._kinds(child)
        # Ends of another class than their siblings need no rank.
        keys = owners.astype(np.int64) * 16 + classes
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        alike = np.zeros(len(order), dtype=np.bool_)
        alike[1:] = keys[1:] == keys[:-1]
        alike[:-1] |= alike[1:].copy()
        ranks = np.zeros(len(order), dtype=np.int64)
        ranks[alike] = self.ranks(child[order][alike])
        ordered: Array = edges[order[np.lexsort((ranks, keys))]]
        return ordered

    def _lists(self, child: Array, label: Array, offsets: Array) -> Array:
        """Return lexicographic ranks of lists of pairs of a gate and a number."""

        def keys_at(edges: Array, groups: Array) -> Sequence[Array]:
            ends = child[edges]
            classes = self._kinds(ends)
            both = groups * 16 + classes
            order = np.argsort(both, kind="stable")
            alike = np.zeros(len(order), dtype=np.bool_)
            same = both[order][1:] == both[order][:-1]
            alike[1:] = same
            alike[:-1] |= same
            ranks = np.zeros(len(edges), dtype=np.int64)
            tied = order[alike]
            ranks[tied] = self.ranks(ends[tied])
            return classes, ranks, label[edges]

        return list_ranks(offsets, keys_at)


def list_ranks(offsets: Array, keys_at: Callable[[Array, Array], Sequence[Array]]) -> Array:
    """Return the lexicographic ranks of lists; a list comes after its prefixes.

    Parameters
    ----------
    offsets
        CSR offsets of the elements.
    keys_at
        The sort keys of some elements, foremost first, which are compared in groups alone.
    """
    count = len(offsets) - 1
    sizes = np.diff(offsets)
    ranks = np.zeros(count, dtype=np.int64)
    active = np.arange(count)
    place = 0
    while len(active) > 1:
        ended = sizes[active] <= place
        keys = [ranks[active]]
        going = np.flatnonzero(~ended)
        parts = keys_at(offsets[active[going]] + place, ranks[active[going]]) if len(going) else []
        for part in parts:
            key = np.zeros(len(active), dtype=np.int64)
            key[going] = part
            keys.append(key)
        keys.insert(1, (~ended).astype(np.int64))
        order = np.lexsort(keys[::-1])
        group_change = np.ones(len(order), dtype=np.bool_)
        change = np.ones(len(order), dtype=np.bool_)
        sorted_keys = [key[order] for key in keys]
        group_change[1:] = sorted_keys[0][1:] != sorted_keys[0][:-1]
        change[1:] = False
        for key in sorted_keys:
            change[1:] |= key[1:] != key[:-1]
        starts = np.flatnonzero(change)
        heads = np.flatnonzero(group_change)
        numbers = np.repeat(starts, np.diff(np.append(starts, len(order))))
        firsts = np.repeat(heads, np.diff(np.append(heads, len(order))))
        ranks[active[order]] = sorted_keys[0] + numbers - firsts
        sizes_of = np.diff(np.append(starts, len(order)))
        tied = np.repeat(sizes_of > 1, sizes_of) & ~ended[order]
        active = active[order[tied]]
        place += 1
    return ranks


def first_monomials(gates: Gates, edges: Array, limit: int | None) -> Array:
    """Return at least the first `limit` edges to monomials, in the order of `Polynomial`."""
    if limit is not None and limit < len(edges):
        least = least_tokens(gates, gates.child[edges])
        edges = edges[least <= np.partition(least, limit)[limit]]
    ordered: Array = edges[np.argsort(_monomial_ranks(gates, gates.child[edges]), kind="stable")]
    return ordered


def least_tokens(gates: Gates, annotations: Array) -> Array:
    """Return the gates of tokens, and of the least factors of products; 0 for other gates.

    If these are tokens, products are first ordered by them; other factors come after tokens.
    """
    least = np.where(gates.kind[annotations] == TOKEN, annotations, 0).astype(np.int64)
    products = np.flatnonzero(gates.kind[annotations] == PRODUCT)
    edges, offsets = gates.edges_of(annotations[products])
    ends = gates.child[edges].astype(np.int64)
    ends[gates.kind[ends] != TOKEN] = len(gates)
    least[products] = reduce_segments(np.minimum, ends, offsets, 0)
    return least


def _monomial_ranks(gates: Gates, monomials: Array) -> Array:
    """Return ranks that order monomials as `Polynomial` does: by tokens, higher powers first."""
    products = gates.kind[monomials] == PRODUCT
    sizes = np.where(products, gates.sizes(monomials), monomials >= 2)
    offsets = bounds(sizes)
    token, power = np.repeat(monomials, sizes), np.ones(int(offsets[-1]), dtype=np.int64)
    edges, _ = gates.edges_of(monomials[products])
    within = np.repeat(products, sizes)
    token[within], power[within] = gates.child[edges], gates.label[edges]
    return list_ranks(offsets, lambda places, _: (token[places], -power[places]))
