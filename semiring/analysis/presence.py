"""Presence in many worlds at once: bits of words, or the times at which a result arrives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce

import numpy as np

from semiring.analysis.events import FALSE, TRUE, Annotation, Events, WeightedSum
from semiring.base import Array
from semiring.possible_worlds import PossibleWorlds
from semiring.token import Token

WORD = 64

_HELD = 1 << 22
"""So many numbers are held at a time: the values of every gate."""


class Presence:
    """The presence of a tuple, as gates that are evaluated over whole arrays of worlds.

    Parameters
    ----------
    annotation
    Its gates are made by `Events`; parts that are no Boolean functions are counted.
    """

    def __init__(self, annotation: Annotation) -> None:
        self._events = Events()
        self._root = self._events.of(annotation)
        self._gates = self._reached()
        self.tokens = sorted(annotation.tokens)

    def _reached(self) -> list[int]:
        """The events that the root is made of; parts have smaller numbers than what they make."""
        wanted = [self._root]
        reached: set[int] = set()
        while wanted:
            event = wanted.pop()
            if event not in reached:
                reached.add(event)
                wanted += self._parts(event)
        return sorted(reached)

    def _parts(self, event: int) -> list[int]:
        kind, part = self._events.kinds[event], self._events.parts[event]
        if kind in ("and", "or"):
            return sorted(part)
        if kind == "sum":
            return sorted(member for member, _ in part.items)
        return [part] if kind == "not" else []

    @property
    def occurrences(self) -> dict[Token, int]:
        """The number of gates that each tuple is an operand of."""
        events, counts = self._events, dict.fromkeys(self.tokens, 0)
        for event in self._gates:
            for part in self._parts(event):
                if events.kinds[part] == "token":
                    counts[events.parts[part]] += 1
        return counts

    @property
    def monotone(self) -> bool:
        """True if the gates are monotone, so that no tuple's presence takes the result away."""
        return all(
            self._events.parts[event].monotone
            if self._events.kinds[event] == "sum"
            else self._events.kinds[event] not in ("not", "leaf")
            for event in self._gates
        )

    def batches(self, size: int, each: int = 1) -> Iterator[int]:
        """Numbers that add up to `size`: how many words are to be evaluated at a time.

        Parameters
        ----------
        each
            How many numbers a word takes.
        """
        most = max(1, _HELD // (each * max(len(self._gates), len(self.tokens), 1)))
        while size > 0:
            yield min(size, most)
            size -= most

    def words(self, there: Mapping[Token, Array], length: int) -> Array:
        """Return the worlds in which the tuple is there, as bits of uint64 words.

        Parameters
        ----------
        there
            Per token, uint64 words whose bits are the worlds.
        length
            The number of words.
        """
        values = {FALSE: np.zeros(length, np.uint64), TRUE: ~np.zeros(length, np.uint64)}
        leaves = [event for event in self._gates if self._events.kinds[event] == "leaf"]
        tokens = frozenset().union(*(self._events.tokens[event] for event in leaves))
        worlds = PossibleWorlds({token: unpacked(there[token]) for token in tokens}, length * WORD)
        for event in self._gates:
            kind, part = self._events.kinds[event], self._events.parts[event]
            if kind == "token":
                values[event] = there[part]
            elif kind == "not":
                values[event] = ~values[part]
            elif kind == "leaf":
                values[event] = packed(worlds.holds(part))
            elif kind == "sum":
                values[event] = packed(_in_relation(part, values, length))
            elif kind in ("and", "or"):
                join = np.bitwise_and if kind == "and" else np.bitwise_or
                values[event] = reduce(join, (values[part] for part in self._parts(event)))
        return values[self._root]

    def arrivals(self, times: Mapping[Token, Array], length: int) -> Array:
        """When the tuple comes to be there, where it is monotone in tuples that come one by one.

        A conjunction is there once its last part is, a disjunction once its first is: evaluation in
        the semiring of minimum and maximum.

        Parameters
        ----------
        times
            Per token the times at which it arrives, as doubles.

        Returns
        -------
        Array
            Infinite: never; minus infinite: without any tuple.
        """
        values = {FALSE: np.full(length, np.inf), TRUE: np.full(length, -np.inf)}
        for event in self._gates:
            kind, part = self._events.kinds[event], self._events.parts[event]
            if kind == "token":
                values[event] = times[part]
            elif kind == "sum":
                values[event] = _reached(part, values)
            elif kind in ("and", "or"):
                join = np.maximum if kind == "and" else np.minimum
                values[event] = reduce(join, (values[part] for part in self._parts(event)))
        return values[self._root]


def _in_relation(condition: WeightedSum, values: Mapping[int, Array], length: int) -> Array:
    """Return the worlds in which a weighted sum is in a relation."""
    total = np.zeros(length * WORD, dtype=np.int64)
    some = np.zeros(length * WORD, dtype=np.bool_)
    for member, weight in condition.items:
        holds = unpacked(values[member])
        total += weight * holds
        some |= holds
    least, largest = int(total.min()), int(total.max())
    holds_at = np.array([condition.holds(n) for n in range(least, largest + 1)], dtype=np.bool_)
    related: Array = holds_at[total - least]
    return related & some if condition.some else related


def _reached(condition: WeightedSum, values: Mapping[int, Array]) -> Array:
    """Return when a sum of weights that arrive one by one comes into a monotone relation."""
    items = sorted(condition.items)
    times = np.stack([values[member] for member, _ in items])
    order = np.argsort(times, axis=0)
    total = np.cumsum(np.array([weight for _, weight in items])[order], axis=0)
    needed = next(n for n in range(sum(weight for _, weight in items) + 1) if condition.holds(n))
    first = (total < needed).sum(axis=0)
    reached: Array = np.take_along_axis(
        np.take_along_axis(times, order, axis=0), first[None, :], axis=0
    )[0]
    return reached


def unpacked(words: Array) -> Array:
    """Words as Booleans, one per bit."""
    bits: Array = np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)
    return bits


def packed(bits: Array) -> Array:
    """Booleans, as many as whole words have bits, as words; rows of them as rows."""
    words: Array = np.packbits(bits, axis=-1, bitorder="little").view(np.uint64)
    return words
