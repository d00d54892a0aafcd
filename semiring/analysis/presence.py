"""Presence in many worlds at once: as bits of words, or as the times at which a result appears."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from semiring.base import Array
from semiring.boolean.events import Annotation, BooleanFunctions

WORD = 64


class Presence:
    """The presence of a tuple in whole arrays of worlds.

    Attributes
    ----------
    tokens
        The tokens of the annotation, in their order.
    """

    def __init__(self, annotation: Annotation) -> None:
        # A session loads the analyses, and circuits when one is asked for.
        from semiring.circuit.writing import CircuitWriting

        self._annotation = annotation
        self._writing = CircuitWriting(annotation.tokens)
        self._root = self._writing.gates([annotation])
        self.tokens = self._writing.tokens

    @cached_property
    def _below(self) -> Array:
        """The gates of the annotation's circuit."""
        below: Array = self._writing.circuit.gates.reachable(self._root)
        return below

    @cached_property
    def occurrences(self) -> Array:
        """The number of gates that each tuple is an operand of, in the order of `tokens`."""
        store = self._writing.circuit.gates
        edges, _ = store.edges_of(self._below)
        counts = np.bincount(store.child[edges], minlength=len(store))
        of_tokens: Array = counts[2 : 2 + len(self.tokens)]
        return of_tokens

    @cached_property
    def _events(self) -> tuple[BooleanFunctions, list[int]]:
        """The annotation as events, and the numbers of the events below it, parts first."""
        events = BooleanFunctions()
        root = events.of(self._annotation)
        wanted = [root]
        reached: set[int] = set()
        while wanted:
            event = wanted.pop()
            if event not in reached:
                reached.add(event)
                wanted += _parts(events, event)
        return events, sorted(reached)

    @cached_property
    def monotone(self) -> bool:
        """True if the gates are monotone, so that no tuple's presence removes the result."""
        from semiring.circuit.gates import CONDITION, MONUS

        kinds = self._writing.circuit.gates.kind[self._below]
        if ((kinds == MONUS) | (kinds == CONDITION)).any():
            return False
        events, reached = self._events
        return all(
            events.parts[event].monotone
            if events.kinds[event] == "sum"
            else events.kinds[event] not in ("not", "leaf")
            for event in reached
        )

    @property
    def needed(self) -> Array:
        """The positions of tokens that are factors of the annotation: without them it is 0."""
        from semiring.circuit.gates import PRODUCT, TOKEN

        store = self._writing.circuit.gates
        if store.kind[self._root[0]] != PRODUCT:
            return np.zeros(0, dtype=np.int64)
        edges, _ = store.edges_of(self._root)
        factors = store.child[edges]
        places: Array = store.payload[factors[store.kind[factors] == TOKEN]].astype(np.int64)
        return places

    @property
    def size(self) -> int:
        """The number of gates and tokens, which is the number of values held per world."""
        return len(self._below) + len(self.tokens)

    def holds(self, there: Array) -> Array:
        """Return the worlds with the tuple, as a Boolean array.

        Parameters
        ----------
        there
            Booleans: a row for each of `tokens`, a column for each world.
        """
        from semiring.circuit.evaluation import COUNTING, WorldValues, evaluate

        worlds = WorldValues(there)
        counts = evaluate(self._writing.circuit, COUNTING, self._root, worlds)[1]
        present: Array = (counts[0] != 0).astype(np.bool_)
        return present


def _parts(events: BooleanFunctions, event: int) -> list[int]:
    kind, part = events.kinds[event], events.parts[event]
    if kind in ("and", "or"):
        return sorted(part)
    if kind == "sum":
        return sorted(member for member, _ in part.items)
    return [part] if kind == "not" else []


def unpacked(words: Array) -> Array:
    """Return rows of words as rows of Booleans, one per bit."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    bits: Array = np.unpackbits(octets, axis=-1, bitorder="little").view(np.bool_)
    return bits
