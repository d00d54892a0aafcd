"""An annotation's gates in columns, numbered among themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semiring.arrays.segments import (
    ascending,
    bounds,
    others,
    outside,
    owners_of,
    places_in,
    renumbered,
)
from semiring.base import Array
from semiring.boolean.events import Annotation
from semiring.circuit.extremes import without_extremes
from semiring.circuit.gates import TENSOR, TOKEN, TRUTH
from semiring.circuit.reading import CircuitReading, NamedGates
from semiring.circuit.values import InCircuit
from semiring.circuit.writing import CircuitWriting
from semiring.monoid import COUNT
from semiring.support.budget import check_budget
from semiring.tensor import Tensor
from semiring.value import Value


@dataclass(frozen=True, slots=True)
class GateColumns:
    """The gates of an annotation as columns, of the kinds of :mod:`semiring.circuit.gates`.

    Attributes
    ----------
    root
        The gate of the annotation.
    kind, truth, depth
        Per gate: its kind, True if it is 0 or 1 in every world, and a number larger than the
        numbers of its children.
    payload
        Of a token its place in `tokens`; of a constant its number; of others a number that is the
        same where they are the same but for their children.
    offsets, child, label
        The children of every gate as CSR, with their multiplicities, exponents or values. Labels of
        a COUNT are 0: its values do not matter.
    tokens
        The tokens that occur; at the end, tokens that decide nothing.
    """

    root: int
    kind: Array
    truth: Array
    depth: Array
    payload: Array
    offsets: Array
    child: Array
    label: Array
    tokens: NamedGates
    _reading: CircuitReading
    _gates: Array

    def edges_of(self, gates: Array) -> tuple[Array, Array]:
        """Return the edges of gates, one gate after the other, and the CSR offsets of the gates."""
        return places_in(self.offsets, gates)

    def doubles(self, tensor: int) -> Array:
        """Return the values of the terms of a numeric tensor as doubles."""
        edges, _ = self.edges_of(np.array([tensor]))
        scalars = self._reading.circuit.scalars[int(self.payload[tensor])]
        return scalars.doubles(self.label[edges])

    def _below(self, literals: Array) -> tuple[Array, Array]:
        """Return pairs of a literal's position and a token that occurs below it."""
        owner, gate = np.arange(len(literals)), literals // 2
        found: list[Array] = []
        keys = owner << 32 | gate
        while len(keys):
            gate = keys & 0xFFFFFFFF
            tokens = self.kind[gate] == TOKEN
            found.append((keys[tokens] >> 32 << 32) | self.payload[gate[tokens]])
            keys = keys[~tokens]
            edges, own = self.edges_of(keys & 0xFFFFFFFF)
            keys = ascending((np.repeat(keys >> 32, np.diff(own)) << 32) | self.child[edges])
        pairs = ascending(np.concatenate([keys, *found]))
        return pairs >> 32, pairs & 0xFFFFFFFF

    def token_pairs(self, owner: Array, literal: Array) -> tuple[Array, Array]:
        """Return pairs of an owner of literals and a token that one of its literals depends on."""
        gates, at = renumbered(literal // 2, len(self.kind))
        if (self.kind[gates] == TOKEN).all():
            return owner, self.payload[literal // 2]
        place, token = self._below(2 * gates)
        offsets = bounds(np.bincount(place, minlength=len(gates)))
        entries, own = places_in(offsets, at)
        return np.repeat(owner, np.diff(own)), token[entries]

    def components(self, owner: Array, literal: Array, count: int) -> Array:
        """Return the component of every owner; owners that share tokens are connected."""
        owners, tokens = self.token_pairs(owner, literal)
        distinct, token = renumbered(tokens, len(self.tokens))
        parent = np.arange(count + len(distinct))
        token = token + count
        while True:
            check_budget()
            a, b = parent[owners], parent[token]
            if (a == b).all():
                return parent[:count]
            np.minimum.at(parent, np.maximum(a, b), np.minimum(a, b))
            while True:
                shorter = parent[parent]
                if (shorter == parent).all():
                    break
                parent = shorter

    def annotation(self, gate: int) -> Annotation:
        """Return a gate as a polynomial or expression."""
        return self._reading.annotation(int(self._gates[gate]))


def _made(annotation: Annotation | Value) -> tuple[CircuitReading, int] | None:
    """Return the circuit and the gate that an annotation was read from, or None."""
    if isinstance(annotation, InCircuit):
        return annotation.reading, annotation.gate
    return getattr(annotation, "origin", None)


def token_count(of: Annotation | Value) -> int:
    """Return the number of tokens that occur."""
    if made := _made(of):
        reading, gate = made
        return len(reading.token_gates([gate]))
    return len(of.tokens)


def gate_columns(annotation: Annotation | Tensor) -> GateColumns:
    """Return the gates of an annotation or tensor."""
    if made := _made(annotation):
        reading, whole = made
    else:
        writing = CircuitWriting(annotation.tokens)
        reading, whole = writing.reading, writing.gate(annotation)
    circuit = reading.circuit
    root = without_extremes(circuit, whole)
    store = circuit.gates
    gates = store.reachable(np.array([root]))
    number = np.zeros(len(store), dtype=np.int64)
    number[gates] = np.arange(len(gates))
    kind, payload = store.kind[gates], store.payload[gates].astype(np.int64)
    edges, offsets = store.edges_of(gates)
    label = store.label[edges].copy()
    tokens = np.flatnonzero(kind == TOKEN)
    payload[tokens] = np.arange(len(tokens))
    named = gates[tokens]
    if not made:
        named = np.append(named, others(2 + len(writing.tokens), np.append([0, 1], named)))
    elif root != whole:
        named = np.append(named, outside(reading.token_gates([whole]), named))
    of_counts = [n for n, scalars in enumerate(circuit.scalars) if scalars.monoid == COUNT]
    counts = (kind == TENSOR) & np.isin(payload, of_counts)
    payload[counts] = of_counts[0] if of_counts else 0
    label[counts[owners_of(offsets)]] = 0
    return GateColumns(
        root=int(number[root]),
        kind=kind,
        truth=(store.flags[gates] & TRUTH) != 0,
        depth=store.depth[gates],
        payload=payload,
        offsets=offsets,
        child=number[store.child[edges]],
        label=label,
        tokens=NamedGates(reading, named),
        _reading=reading,
        _gates=gates,
    )
