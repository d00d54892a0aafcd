"""Gates in columns: kind, payload, and children as CSR; equal gates are stored once.

An edge takes 12 bytes, a gate 22. Gates are numbered in topological order: children come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from semiring.arrays.exact import reduce_segments
from semiring.arrays.segments import ascending, places_in
from semiring.base import Array

CONSTANT, TOKEN, PRODUCT, SUM, DELTA, MONUS, COMPARE, CONDITION = range(8)
"""The kinds of gates that are annotations, in the canonical order of expressions."""

OPERATIONS = (PRODUCT, SUM, DELTA, MONUS)
"""The kinds of gates whose children are annotations, and which compute an annotation."""

TENSOR, PLAIN, APPLIED, CHOICE, AGGREGATED, ROWS, WINDOWED = range(8, 15)
"""The kinds of gates that are formal values: their edges come in the order of their labels."""

ZERO, ONE = 0, 1
"""The gates of the constants 0 and 1."""

POLYNOMIAL = 1
"""Flag of a gate: neither δ nor ⊖ nor a condition occurs."""
CANONICAL = 2
"""Flag of a gate: its structure is that of the canonical expression, gates of its kind are equal
only where their expressions are."""
OPEN = 4
"""Flag of a gate: some token occurs."""
TRUTH = 8
"""Flag of a gate: it is 0 or 1 in every semiring."""

SEEDS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))


class Gates:
    """Append-only columns of gates, with an index of equal gates."""

    def __init__(self) -> None:
        self._kind = _Column(np.uint8)
        self._flags = _Column(np.uint8)
        self._payload = _Column(np.int32)
        self._depth = _Column(np.int32)
        self._offsets = _Column(np.int64)
        self._offsets.extend(np.zeros(1, dtype=np.int64))
        self._child = _Column(np.int32)
        self._label = _Column(np.int64)
        self._index = _Index()

    def __len__(self) -> int:
        return len(self._kind)

    @property
    def edges(self) -> int:
        """The number of edges."""
        return len(self._child)

    @property
    def kind(self) -> Array:
        """The kind of every gate."""
        return self._kind.values

    @property
    def flags(self) -> Array:
        """The flags of every gate."""
        return self._flags.values

    @property
    def payload(self) -> Array:
        """The payload of every gate: the number of its token, its constant, or its side-table
        entry.
        """
        return self._payload.values

    @property
    def depth(self) -> Array:
        """The longest path from every gate to a leaf."""
        return self._depth.values

    @property
    def offsets(self) -> Array:
        """The CSR offsets of the edges of every gate."""
        return self._offsets.values

    @property
    def child(self) -> Array:
        """The gate at the end of every edge."""
        return self._child.values

    @property
    def label(self) -> Array:
        """The label of every edge: a multiplicity, an exponent, a side, or the label of a value."""
        return self._label.values

    def sizes(self, gates: Array) -> Array:
        """Return the numbers of edges of gates."""
        sizes: Array = self.offsets[gates + 1] - self.offsets[gates]
        return sizes

    def edges_of(self, gates: Array) -> tuple[Array, Array]:
        """Return the edges of gates, one gate after the other, and the CSR offsets of the gates."""
        return places_in(self.offsets, gates)

    def has(self, gates: Array, flag: int) -> Array:
        """Return a Boolean array: the gates with a flag."""
        there: Array = (self.flags[gates] & flag) != 0
        return there

    def add(
        self,
        kind: int,
        payload: Array,
        offsets: Array,
        child: Array,
        label: Array,
        flags: Array,
    ) -> Array:
        """Return gates of a kind with payloads, edges and flags, reusing equal gates.

        Equality is that of 128-bit digests.
        """
        count = len(payload)
        if not count:
            return np.zeros(0, dtype=np.int32)
        first, second = _digests(kind, payload, offsets, child, label)
        found = self._index.find(first, second)
        new = np.flatnonzero(found < 0)
        if not len(new):
            return found
        # Sorting by one digest is several times faster, and mostly does.
        order = new[np.argsort(first[new])]
        a, b = first[order], second[order]
        same = a[1:] == a[:-1]
        if bool((same & (b[1:] != b[:-1])).any()):
            order = new[np.lexsort((second[new], first[new]))]
            a, b = first[order], second[order]
            same = (a[1:] == a[:-1]) & (b[1:] == b[:-1])
        heads = np.append(True, ~same)
        chosen = np.minimum.reduceat(order, np.flatnonzero(heads))
        # New gates are numbered in the order in which they come.
        by_place = np.argsort(chosen)
        numbers = np.empty(len(chosen), dtype=np.int32)
        numbers[by_place] = len(self) + np.arange(len(chosen), dtype=np.int32)
        found[order] = numbers[np.cumsum(heads) - 1]
        self._index.insert(a[heads], b[heads], numbers)
        chosen = chosen[by_place]
        edges, own = places_in(offsets, chosen)
        self._append(kind, payload[chosen], own, child[edges], label[edges], flags[chosen])
        return found

    def add_leaves(self, kind: int, payload: Array, flags: int) -> None:
        """Add gates without edges that are known to be new, without a look-up."""
        none = np.zeros(0, dtype=np.int64)
        count = len(payload)
        every = np.full(count, flags, dtype=np.uint8)
        offsets = np.zeros(count + 1, dtype=np.int64)
        self._append(kind, payload, offsets, none, none, every)

    def _append(
        self,
        kind: int,
        payload: Array,
        offsets: Array,
        child: Array,
        label: Array,
        flags: Array,
    ) -> None:
        deepest = reduce_segments(np.maximum, self.depth[child], offsets, -1)
        self._kind.extend(np.full(len(payload), kind, dtype=np.uint8))
        self._flags.extend(flags)
        self._payload.extend(payload)
        self._depth.extend(deepest + 1)
        self._offsets.extend(offsets[1:] + self.edges)
        self._child.extend(child)
        self._label.extend(label)

    def reachable(self, gates: Array, *, closed: Callable[[Array], Array] | None = None) -> Array:
        """Return the gates below some gates, including these, in ascending order.

        Parameters
        ----------
        closed
            Returns a Boolean array of the gates below which the search does not go.
        """
        frontier = ascending(gates)
        parts = [frontier]
        while len(frontier):
            if closed is not None:
                frontier = frontier[~closed(frontier)]
            edges, _ = self.edges_of(frontier)
            frontier = ascending(self.child[edges])
            parts.append(frontier)
        return ascending(np.concatenate(parts))

    def layers(self, below: Array) -> Iterator[tuple[int, Array]]:
        """Yield some gates by depth and kind, lowest depth first."""
        if not len(below):
            return
        keys = self.depth[below].astype(np.int64) * 16 + self.kind[below]
        order = np.argsort(keys, kind="stable")
        below, keys = below[order], keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(below)], strict=True):
            yield int(keys[start] % 16), below[start:stop]


class _Column:
    """An array that grows at its end."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._array: Array = np.empty(64, dtype=dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> Array:
        values: Array = self._array[: self._length]
        return values

    def extend(self, values: Array) -> None:
        length = self._length + len(values)
        if length > len(self._array):
            grown = np.empty(max(length, 2 * len(self._array)), dtype=self._array.dtype)
            grown[: self._length] = self.values
            self._array = grown
        self._array[self._length : length] = values
        self._length = length


class _Index:
    """An index of gates by digest: a few sorted arrays, merged when similar in size."""

    def __init__(self) -> None:
        self._levels: list[tuple[Array, Array, Array]] = []

    def find(self, first: Array, second: Array) -> Array:
        """Return the gate of every digest, or -1."""
        found = np.full(len(first), -1, dtype=np.int32)
        for keys, others, gates in self._levels:
            places = np.minimum(np.searchsorted(keys, first), len(keys) - 1)
            same = (keys[places] == first) & (others[places] == second)
            found[same] = gates[places[same]]
        return found

    def insert(self, first: Array, second: Array, gates: Array) -> None:
        """Add gates with new digests, in the order of the digests."""
        level = (first, second, gates)
        while self._levels and len(self._levels[-1][0]) < 2 * len(level[0]):
            below = self._levels.pop()
            merged = [np.concatenate(pair) for pair in zip(below, level, strict=True)]
            order = np.argsort(merged[0], kind="stable")
            level = (merged[0][order], merged[1][order], merged[2][order])
        self._levels.append(level)


def _digests(
    kind: int, payload: Array, offsets: Array, child: Array, label: Array
) -> tuple[Array, Array]:
    """Return two digests of every gate; the edges of a gate are a bag."""
    head = payload.astype(np.int64).view(np.uint64) * np.uint64(16) + np.uint64(kind)
    ends = child.astype(np.int64).view(np.uint64)
    labels = label.astype(np.int64).view(np.uint64)
    digests = []
    for seed in SEEDS:
        edges = mixed(mixed(ends + seed) ^ (labels * seed))
        digests.append(
            mixed(mixed(head ^ seed) + reduce_segments(np.add, edges, offsets, np.uint64(0)))
        )
    return digests[0], digests[1]


def mixed(values: Array) -> Array:
    """Return integers scrambled by the finaliser of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = values ^ (values >> np.uint64(31))
    return mixed
