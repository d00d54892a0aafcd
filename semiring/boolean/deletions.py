"""The least deletions that make a compiled function false.

On a circuit whose parts share no tuple this is one pass in the (min, +) semiring, with a knapsack
for a condition on a sum. Sources: Darwiche, *Decomposable Negation Normal Form*, JACM 2001 (minimal
models); Kimelfeld, Ré, *Deletion Propagation* (PODS 2012), here in the case of one answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from semiring.base import Array
from semiring.boolean.circuit import Circuit, Gate
from semiring.errors import ExactnessError
from semiring.support.budget import check_budget
from semiring.token import Token

Deleted = frozenset[Token]

NEVER = 1 << 40
"""A number of deletions larger than any number of tuples: impossible."""

_CELLS = 1 << 27
"""Limit on the partial sums of a knapsack."""


class Deletions:
    """The least number of deletions that give each gate each of its values.

    A place numbers the functions that share a gate.

    Attributes
    ----------
    false, true
        By gate; unused for distributions.
    sums
        By gate of a distribution: the least number of deletions for each sum.
    """

    def __init__(self, circuit: Circuit) -> None:
        self._circuit = circuit
        self._limit = 1
        self.false: list[int] = []
        self.true: list[int] = []
        self.sums: list[Array | None] = []
        for gate in circuit.gates:
            self._add(gate)

    @property
    def least(self) -> int | None:
        """The least number of deletions that make the function false; None if there are none."""
        return None if self.false[-1] >= NEVER else self.false[-1]

    def smallest(self, limit: int) -> list[Deleted]:
        """Return the smallest sets of deletions, up to one more than the limit."""
        return [] if self.least is None else self.sets(limit, holds=False)

    def sets(self, limit: int, *, holds: bool) -> list[Deleted]:
        """Return smallest sets of deletions that give the function a value; see `smallest`."""
        self._limit = limit
        return self._some(self._sets(len(self._circuit.gates) - 1, 0, holds=holds))

    def _some(self, sets: Iterable[Deleted]) -> list[Deleted]:
        return list(dict.fromkeys(islice(sets, self._limit + 1)))

    # -- sizes -------------------------------------------------------------------------------

    def _add(self, gate: Gate) -> None:
        check_budget()
        false, true, sums = NEVER, NEVER, None
        inner = gate.children
        if gate.kind == "constant":
            false, true = (NEVER, 0) if gate.value else (0, NEVER)
        elif gate.kind == "token":
            false, true = 1, 0
        elif gate.kind == "not":
            false, true = self.true[inner[0]], self.false[inner[0]]
        elif gate.kind == "and":
            false, true = min(self.false[c] for c in inner), _total(self.true, gate)
        elif gate.kind == "or":
            false, true = _total(self.false, gate), min(self.true[c] for c in inner)
        elif gate.kind == "decision":
            high, low = inner
            false = min(self.false[high], 1 + self.false[low])
            true = min(self.true[high], 1 + self.true[low])
        elif gate.kind == "compare":
            false, true = self._compared(gate)
        else:
            sums = self._distribution(gate)
        self.false.append(min(false, NEVER))
        self.true.append(min(true, NEVER))
        self.sums.append(sums)

    def _compared(self, gate: Gate) -> tuple[int, int]:
        sums = self._of(gate.children[0])
        related = np.array(gate.sums[: len(sums)], dtype=np.bool_)
        false = int(sums[~related].min(initial=NEVER))
        true = int(sums[related].min(initial=NEVER))
        if len(gate.children) > 1:
            false = min(false, self.false[gate.children[1]])
            if true or self.true[gate.children[1]]:
                raise ExactnessError("Deletions by which a sum comes to hold are not searched for.")
        return false, true

    def _of(self, gate: int) -> Array:
        sums = self.sums[gate]
        assert sums is not None
        return sums

    def _distribution(self, gate: Gate) -> Array:
        inner = gate.children
        if gate.kind == "point":
            return _at({gate.at: 0}, gate.at + 1)
        if gate.kind == "step":
            false, true = self.false[inner[0]], self.true[inner[0]]
            if gate.complement:
                false, true = true, false
            if not gate.at:  # all sums are the same
                return _at({0: min(false, true)}, 1)
            return _at({0: false, gate.at: true}, gate.at + 1)
        if gate.kind == "mixture":
            high, low = self._of(inner[0]), self._of(inner[1])
            least = np.full(max(len(high), len(low)), NEVER, dtype=np.int64)
            least[: len(high)] = high
            least[: len(low)] = np.minimum(least[: len(low)], low + 1)
            return least
        return least_sums([self._of(child) for child in inner], gate.cap)

    # -- sets --------------------------------------------------------------------------------

    def _sets(self, number: int, place: int, *, holds: bool) -> Iterator[Deleted]:
        """Yield smallest sets that give a gate a value."""
        check_budget()
        gate = self._circuit.gates[number]
        inner = gate.children
        if gate.kind == "constant":
            yield frozenset()
        elif gate.kind == "token":
            yield frozenset() if holds else self._tokens(gate, place)
        elif gate.kind == "not":
            yield from self._sets(inner[0], place, holds=not holds)
        elif gate.kind in ("and", "or"):
            below = [(child, range(place * n, (place + 1) * n)) for child, n in with_times(gate)]
            if holds == (gate.kind == "and"):
                yield from unions(
                    [s for c, places in below for s in self._of_all(c, places, holds)]
                )
                return
            sizes = self.true if holds else self.false
            least = min(sizes[child] for child in inner)
            for child, places in below:
                for at in places if sizes[child] == least else ():
                    yield from self._sets(child, at, holds=holds)
        elif gate.kind == "decision":
            sizes = self.true if holds else self.false
            high, low = inner
            if sizes[high] == sizes[number]:
                yield from self._sets(high, place, holds=holds)
            if sizes[low] + 1 == sizes[number]:
                yield from map(self._tokens(gate, place).union, self._sets(low, place, holds=holds))
        else:
            yield from self._comparing(number, place, holds=holds)

    def _tokens(self, gate: Gate, place: int, count: int = 1) -> Deleted:
        assert gate.slot is not None
        return frozenset(self._circuit.named(gate.slot, slice(place, place + count)))

    def _of_all(self, number: int, places: range, holds: bool) -> Iterator[list[Deleted]]:
        """Yield, for each of the functions, smallest sets that give it a value."""
        gate = self._circuit.gates[number]
        if gate.kind == "token":
            none = frozenset[Token]()
            yield [none if holds else self._tokens(gate, places.start, len(places))]
            return
        for place in places:
            yield self._some(self._sets(number, place, holds=holds))

    def _comparing(self, number: int, place: int, *, holds: bool) -> Iterator[Deleted]:
        gate = self._circuit.gates[number]
        least = self.true[number] if holds else self.false[number]
        sums = self._of(gate.children[0])
        for total in np.flatnonzero(sums == least).tolist():
            if gate.sums[total] == holds:
                yield from self._summing(gate.children[0], place, total)
        if len(gate.children) > 1 and not holds and self.false[gate.children[1]] == least:
            yield from self._sets(gate.children[1], place, holds=False)

    def _summing(self, number: int, place: int, total: int) -> Iterator[Deleted]:
        """Yield smallest sets that give a sum a value."""
        check_budget()
        gate = self._circuit.gates[number]
        inner = gate.children
        if gate.kind == "point":
            yield frozenset()
        elif gate.kind == "step":
            least = int(self._of(number)[total])
            for holds in (True, False):
                size = self.true[inner[0]] if holds else self.false[inner[0]]
                if size == least and (not gate.at or (total > 0) == (holds != gate.complement)):
                    yield from self._sets(inner[0], place, holds=holds)
        elif gate.kind == "mixture":
            high, low = self._of(inner[0]), self._of(inner[1])
            least = int(self._of(number)[total])
            if total < len(high) and high[total] == least:
                yield from self._summing(inner[0], place, total)
            if total < len(low) and low[total] + 1 == least:
                yield from map(
                    self._tokens(gate, place).union, self._summing(inner[1], place, total)
                )
        else:
            prefixes = self._prefixes(gate)
            for ways in self._ways(gate, prefixes, total):
                parts = zip(inner, ways, strict=True)
                yield from unions([self._some(self._summing(c, place, n)) for c, n in parts])

    def _prefixes(self, gate: Gate) -> list[Array]:
        """Return, for each prefix of the children, the least deletions by their sum."""
        if len(gate.children) * (gate.cap + 1) > _CELLS:
            raise ExactnessError("A sum has too many values for its least deletions to be listed.")
        prefixes = [self._of(gate.children[0])]
        for child in gate.children[1:]:
            prefixes.append(_combined(prefixes[-1], self._of(child), gate.cap))
        return prefixes

    def _ways(self, gate: Gate, prefixes: Sequence[Array], total: int) -> Iterator[list[int]]:
        """Yield the contributions of a convolution's children to a sum, for least total
        deletions.
        """
        stack: list[tuple[int, int, tuple[int, Any] | None]] = [
            (len(gate.children) - 1, total, None)
        ]
        while stack:
            check_budget()
            place, left, after = stack.pop()
            if place == 0:
                found, link = [left], after
                while link is not None:
                    found.append(link[0])
                    link = link[1]
                yield found
                continue
            own, before = self._of(gate.children[place]), prefixes[place - 1]
            least = prefixes[place][left]
            for at in np.flatnonzero(own < NEVER).tolist():
                if left == gate.cap:
                    rests = np.arange(max(left - at, 0), len(before))
                elif 0 <= left - at < len(before):
                    rests = np.array([left - at])
                else:
                    continue
                found = rests[before[rests] + own[at] == least].tolist()
                stack.extend((place - 1, rest, (at, after)) for rest in found)


def with_times(gate: Gate) -> Iterable[tuple[int, int]]:
    """Return the children of a gate, and how often it has each."""
    return zip(gate.children, gate.times or (1,) * len(gate.children), strict=True)


def _total(sizes: Sequence[int], gate: Gate) -> int:
    return sum(n * sizes[child] for child, n in with_times(gate))


def unions(lists: Sequence[Sequence[Deleted]]) -> Iterator[Deleted]:
    """Yield unions of one set from each list, starting with the first sets."""
    if not all(lists):
        return
    several = [sets for sets in lists if len(sets) > 1]
    fixed = frozenset[Token]().union(*(sets[0] for sets in lists if len(sets) == 1))
    places = [0] * len(several)
    while True:
        yield fixed.union(*(sets[at] for sets, at in zip(several, places, strict=True)))
        for number, sets in enumerate(several):
            places[number] += 1
            if places[number] < len(sets):
                break
            places[number] = 0
        else:
            return


def _at(sizes: dict[int, int], length: int) -> Array:
    least = np.full(length, NEVER, dtype=np.int64)
    for place, size in sizes.items():
        least[place] = min(size, least[place])
    return least


def least_sums(parts: Sequence[Array], cap: int) -> Array:
    """Return the least deletions for each sum of several parts."""
    total = _at({0: 0}, 1)
    for part in parts:
        check_budget()
        total = _combined(total, part, cap)
    return total


def _combined(a: Array, b: Array, cap: int) -> Array:
    """Return the least deletions for each sum of two parts."""
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    least = np.full(len(a) + len(b) - 1, NEVER, dtype=np.int64)
    for place in np.flatnonzero(shorter < NEVER).tolist():
        reached = least[place : place + len(longer)]
        np.minimum(reached, longer + shorter[place], out=reached)
    if len(least) > cap + 1:
        least[cap] = least[cap:].min()
        least = least[: cap + 1]
    return least
