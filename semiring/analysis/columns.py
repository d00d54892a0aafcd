"""An annotation's gates in columns, whether it is in a circuit already or made of objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from semiring.analysis.events import Annotation
from semiring.base import Array
from semiring.budget import check_budget
from semiring.circuit.gates import (
    COMPARE,
    CONDITION,
    CONSTANT,
    DELTA,
    MONUS,
    PRODUCT,
    SUM,
    TENSOR,
    TOKEN,
    TRUTH,
    Gates,
)
from semiring.circuit.reading import (
    CircuitPolynomial,
    CircuitReading,
    CircuitSum,
)
from semiring.circuit.values import CircuitTensor
from semiring.expression import (
    Atom,
    Compare,
    Constant,
    Delta,
    Expression,
    Monus,
    Product,
    Sum,
)
from semiring.polynomial import Polynomial
from semiring.segments import ascending, bounds, owners_of
from semiring.tensor import Tensor
from semiring.token import Token, order_key
from semiring.value import Value


@dataclass(frozen=True, slots=True)
class GateColumns:
    """The gates of an annotation, of the kinds of :mod:`semiring.circuit.gates`.

    Attributes
    ----------
    root
        The gate of the annotation.
    kind, truth, depth
        Per gate: its kind, True if it is 0 or 1 in every world, and a number larger than the
        numbers of its children. The children of conditions are the tokens in these.
    payload
        Of a token its place in `tokens`; of a constant its number; of comparisons, tensors and
        objects a number that is the same where they are the same but for their children.
    offsets, child, label
        The children of every gate as CSR, with their multiplicities, exponents or values. Labels of
        a COUNT are 0: its values do not matter.
    tokens
        The tokens that occur.
    """

    root: int
    kind: Array
    truth: Array
    depth: Array
    payload: Array
    offsets: Array
    child: Array
    label: Array
    tokens: list[Token]
    _origin: Callable[[int], Annotation]

    def edges_of(self, gates: Array) -> tuple[Array, Array]:
        """Return the edges of gates, one gate after the other, and the CSR offsets of the gates."""
        own = bounds(self.offsets[gates + 1] - self.offsets[gates])
        edges = np.arange(own[-1]) + np.repeat(self.offsets[gates] - own[:-1], np.diff(own))
        return edges, own

    def _below(self, literals: Array) -> tuple[Array, Array]:
        """Return pairs of a place among distinct literals' gates, and a token below it."""
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
        """Return pairs of an owner of literals and a token that one of these depends on."""
        gates = ascending(np.sort(literal // 2))
        place, token = self._below(2 * gates)
        offsets = bounds(np.bincount(place, minlength=len(gates)))
        which = np.searchsorted(gates, literal // 2)
        sizes = np.diff(offsets)[which]
        own = bounds(sizes)
        entries = np.arange(own[-1]) + np.repeat(offsets[which] - own[:-1], sizes)
        return np.repeat(owner, sizes), token[entries]

    def components(self, owner: Array, literal: Array, count: int) -> Array:
        """Return a number for every owner, the same where they are connected by tokens."""
        owners, tokens = self.token_pairs(owner, literal)
        distinct, token = np.unique(tokens, return_inverse=True)
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
        if self.kind[gate] == TOKEN:
            return Polynomial.token(self.tokens[int(self.payload[gate])])
        return self._origin(gate)


def gate_columns(annotation: Annotation | Tensor) -> GateColumns:
    """Return the gates of an annotation or tensor: sums of circuits are copied as they are."""
    build = _Build()
    build.collect(annotation)
    build.copy()
    return build.columns(build.number(annotation))


def _is_simple(comparison: Compare) -> bool:
    """Return True for a comparison of an aggregate with a constant."""
    return isinstance(comparison.left, Tensor) and not isinstance(comparison.right, Value)


def _is_opaque(store: Gates, gates: Array) -> Array:
    """Return a Boolean array: the conditions on other values than one aggregate."""
    kinds = store.kind[gates]
    opaque: Array = (kinds == CONDITION) | ((kinds == COMPARE) & (store.sizes(gates) > 1))
    return opaque


@dataclass(slots=True)
class _Build:
    copies: dict[int, tuple[CircuitReading, list[int]]] = field(default_factory=dict)
    places: dict[tuple[int, int], int] = field(default_factory=dict)
    parts: list[tuple[Array, ...]] = field(default_factory=list)
    copied: list[tuple[int, CircuitReading, Array]] = field(default_factory=list)
    count: int = 0
    tokens: dict[Token, int] = field(default_factory=dict)
    numbers: dict[Any, int] = field(default_factory=dict)
    objects: dict[int, Annotation] = field(default_factory=dict)
    known: dict[Any, int] = field(default_factory=dict)
    rows: list[tuple[int, bool, int, list[int], list[int]]] = field(default_factory=list)

    # -- circuits ----------------------------------------------------------------------------

    def collect(self, part: Any) -> None:
        """Note the gates of circuits that an annotation is made of."""
        if isinstance(part, (CircuitPolynomial, CircuitSum, CircuitTensor)):
            self._wanted(part.reading, part.gate)
        elif isinstance(part, Compare):
            if _is_simple(part):
                self.collect(part.left)
        elif isinstance(part, Tensor):
            for annotation, _ in part.terms:
                self.collect(annotation)
        elif isinstance(part, Expression):
            for child in part.children:
                self.collect(child)

    def _wanted(self, reading: CircuitReading, gate: int) -> None:
        self.copies.setdefault(id(reading), (reading, []))[1].append(gate)

    def copy(self) -> None:
        """Copy the gates of circuits."""
        for reading, gates in self.copies.values():
            circuit = reading.circuit
            store = circuit.gates
            below = store.reachable(np.array(gates), closed=partial(_is_opaque, store))
            opaque = _is_opaque(store, below)
            kind = np.where(opaque, CONDITION, store.kind[below]).astype(np.uint8)
            edges, offsets = store.edges_of(below[~opaque])
            sizes = np.zeros(len(below), dtype=np.int64)
            sizes[~opaque] = np.diff(offsets)
            offsets = bounds(sizes)
            payload = store.payload[below].astype(np.int64)
            label = store.label[edges].copy()
            child = np.searchsorted(below, store.child[edges])
            depth = store.depth[below].astype(np.int64) + 1
            tokens = np.flatnonzero(kind == TOKEN)
            depth[tokens] = 0
            payload[tokens] = [self._token(t) for t in reading.named(below[tokens])]
            for place in np.flatnonzero(kind == COMPARE).tolist():
                op, value = circuit.comparisons[int(payload[place])]
                payload[place] = self._number((op, order_key(value)))
            tensors = np.flatnonzero(kind == TENSOR)
            numbers, is_count = self._scalars(reading)
            counts = np.zeros(len(below), dtype=np.bool_)
            counts[tensors] = is_count[payload[tensors]]
            payload[tensors] = numbers[payload[tensors]]
            label[counts[owners_of(offsets)]] = 0
            extra: list[tuple[int, list[Token]]] = []
            for place in np.flatnonzero(opaque).tolist():
                formal = reading.expression(int(below[place]))
                payload[place] = self._number(("object", formal))
                extra.append((place, sorted(formal.tokens)))
            start = self.count
            self.copied.append((start, reading, below))
            self.places.update(
                ((id(reading), gate), start + int(np.searchsorted(below, gate))) for gate in gates
            )
            truth = (store.flags[below] & TRUTH) != 0
            self._append(kind, truth, depth, payload, offsets, child + start, label)
            if extra:
                self._held(start, extra)

    def _scalars(self, reading: CircuitReading) -> tuple[Array, Array]:
        """Return a number per entry of a circuit's scalars, and True for entries of COUNTs."""
        numbers = []
        for place, scalars in enumerate(reading.circuit.scalars):
            key: tuple[Any, ...] = ("tensor", scalars.monoid.name)
            if scalars.monoid.name != "COUNT":
                # Labels mean the same where they are the values themselves.
                own = () if scalars.sample is None else (id(reading), place)
                key = (*key, repr(scalars.monoid.finisher), str(scalars.kind), own)
            numbers.append(self._number(key))
        counts = [scalars.monoid.name == "COUNT" for scalars in reading.circuit.scalars]
        return np.array(numbers, dtype=np.int64), np.array(counts, dtype=np.bool_)

    def _held(self, start: int, extra: list[tuple[int, list[Token]]]) -> None:
        """Add the tokens of objects, which have no gates in their circuit, as their children."""
        kind, truth, depth, payload, offsets, child, label = self.parts.pop()
        self.count = start
        mine = [self._token(token) for token in dict.fromkeys(t for _, own in extra for t in own)]
        gate_of = {number: start + len(kind) + place for place, number in enumerate(mine)}
        sizes = np.diff(offsets)
        children, labels = np.split(child, offsets[1:-1]), np.split(label, offsets[1:-1])
        for place, tokens in extra:
            children[place] = np.array([gate_of[self._token(t)] for t in tokens], dtype=np.int64)
            labels[place] = np.arange(len(tokens))
            sizes[place] = len(tokens)
        none = np.zeros(len(mine), dtype=np.int64)
        self._append(
            np.append(kind, np.full(len(mine), TOKEN, dtype=kind.dtype)),
            np.append(truth, none > 0),
            np.append(depth, none),
            np.append(payload, np.array(mine, dtype=np.int64)),
            np.append(bounds(sizes), np.full(len(mine), sizes.sum())),
            np.concatenate(children).astype(np.int64),
            np.concatenate(labels).astype(np.int64),
        )

    def _append(self, *columns: Array) -> None:
        self.parts.append(columns)
        self.count += len(columns[0])

    # -- objects -----------------------------------------------------------------------------

    def _token(self, token: Token) -> int:
        return self.tokens.setdefault(token, len(self.tokens))

    def _number(self, key: Any) -> int:
        return self.numbers.setdefault(key, len(self.numbers))

    def number(self, part: Any) -> int:
        """Return the gate of an object, which is added with what it is made of."""
        if isinstance(part, (CircuitPolynomial, CircuitSum, CircuitTensor)):
            return self.places[id(part.reading), part.gate]
        key = (type(part).__name__, id(part)) if not isinstance(part, (Token, Atom)) else part
        if isinstance(part, Atom):
            key = part.of_token
        if key not in self.known:
            self.known[key] = self._made(part)
            if not isinstance(part, (Token, Tensor)):
                self.objects[self.known[key]] = part
        return self.known[key]

    def _made(self, part: Any) -> int:
        if isinstance(part, (Token, Atom)):
            token = part if isinstance(part, Token) else part.of_token
            return self._row(TOKEN, payload=self._token(token))
        if isinstance(part, Polynomial):
            monomials = [self._monomial(monomial) for monomial, _ in part.terms]
            return self._row(SUM, monomials, [n for _, n in part.terms])
        if isinstance(part, Constant):
            return self._row(CONSTANT, payload=part.n)
        if isinstance(part, (Product, Sum)):
            kind, parts = (
                (PRODUCT, part.factors) if isinstance(part, Product) else (SUM, part.summands)
            )
            truth = part.is_truth_value
            return self._row(kind, [self.number(k) for k, _ in parts], [n for _, n in parts], truth)
        if isinstance(part, Delta):
            return self._row(DELTA, [self.number(part.operand)], [1], True)
        if isinstance(part, Monus):
            sides = [self.number(part.left), self.number(part.right)]
            return self._row(MONUS, sides, [0, 1], part.is_truth_value)
        if isinstance(part, Tensor):
            counts = part.monoid.name == "COUNT"
            monoid = (part.monoid.name, repr(part.monoid.finisher))
            labels = [0 if counts else self._number(("value", order_key(v))) for _, v in part.terms]
            number = self._number(("terms", *(monoid[:1] if counts else monoid)))
            return self._row(TENSOR, [self.number(k) for k, _ in part.terms], labels, False, number)
        if isinstance(part, Compare) and _is_simple(part):
            number = self._number((part.op, order_key(part.right)))
            return self._row(COMPARE, [self.number(part.left)], [1], True, number)
        tokens = sorted(part.tokens)
        children = [self.number(token) for token in tokens]
        number = self._number(("object", part))
        return self._row(
            CONDITION, children, list(range(len(children))), part.is_truth_value, number
        )

    def _monomial(self, monomial: Any) -> int:
        if len(monomial) == 1 and monomial[0][1] == 1:
            return self.number(monomial[0][0])
        key = ("monomial", monomial)
        if key not in self.known:
            parts = [self.number(token) for token, _ in monomial]
            made = self._row(PRODUCT, parts, [n for _, n in monomial])
            self.known[key] = made
            self.objects[made] = Polynomial({monomial: 1})
        return self.known[key]

    def _row(
        self,
        kind: int,
        children: list[int] | None = None,
        labels: list[int] | None = None,
        truth: bool = False,
        payload: int = 0,
    ) -> int:
        self.rows.append((kind, truth, payload, children or [], labels or []))
        return self.count + len(self.rows) - 1

    def columns(self, root: int) -> GateColumns:
        """Return all gates; each token is one of them."""
        parts = list(self.parts)
        if self.rows:
            kinds, truths, payloads, children, labels = zip(*self.rows, strict=True)
            none = np.zeros(len(kinds), dtype=np.int64)
            depth = np.concatenate([*(part[2] for part in parts), none])
            for place, below in enumerate(children):
                if below:
                    depth[self.count + place] = depth[np.array(below)].max() + 1
            parts.append(
                (
                    np.array(kinds, dtype=np.uint8),
                    np.array(truths, dtype=np.bool_),
                    depth[self.count :],
                    np.array(payloads, dtype=np.int64),
                    bounds(np.array([len(below) for below in children])),
                    np.array([c for below in children for c in below], dtype=np.int64),
                    np.array([n for own in labels for n in own], dtype=np.int64),
                )
            )
        columns = [np.concatenate([part[n] for part in parts]) for n in (0, 1, 2, 3, 5, 6)]
        sizes = np.concatenate([np.diff(part[4]) for part in parts])
        kind, truth, depth, payload, child, label = columns
        gates = np.flatnonzero(kind == TOKEN)
        first = np.empty(len(self.tokens), dtype=np.int64)
        first[payload[gates]] = gates
        one = np.arange(len(kind))
        one[gates] = first[payload[gates]]
        return GateColumns(
            root=int(one[root]),
            kind=kind,
            truth=truth,
            depth=depth,
            payload=payload,
            offsets=bounds(sizes),
            child=one[child],
            label=label,
            tokens=list(self.tokens),
            _origin=self._made_of,
        )

    def _made_of(self, gate: int) -> Annotation:
        if gate in self.objects:
            return self.objects[gate]
        for start, reading, below in self.copied:
            if start <= gate < start + len(below):
                return reading.annotation(int(below[gate - start]))
        raise IndexError(gate)
