"""Circuits: Boolean functions in a form for counting and optimising in one pass.

Gates that look alike are evaluated once. If all tuples have one weight, as for Shapley values, most
gates do: orders of a customer, customers with as many orders. A gate of a circuit can stand for
many such functions, whose tokens are in its slots: a child that a gate has n times stands for n
functions of each of the gate's own, in their order. Sources: Darwiche, *Decomposable
Negation Normal Form*, JACM 2001; Ré, Suciu, *The Trichotomy of HAVING Queries on a Probabilistic
Database*, VLDB Journal 18, 2009 (distributions of sums).
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from semiring.base import Array
from semiring.boolean.chances import EqualChances
from semiring.support.budget import check_budget
from semiring.token import Token

if TYPE_CHECKING:
    from semiring.circuit.reading import NamedGates

T = TypeVar("T")

_COUNTED = frozenset(("and", "or", "convolution"))
"""The kinds of gates whose children have no order."""

_HELD = 1 << 24
"""Number of values held at a time: of gates at points of an integral."""

_FEW = 8
"""Number of parts up to which distributions are convolved directly."""

Shape: TypeAlias = "tuple[tuple[int, int], ...]"
"""The children of a gate as classes with multiplicities."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate of a circuit.

    Attributes
    ----------
    kind
        Of functions: ``constant``, ``token``, ``not``, ``and`` and ``or`` of gates that share no
        token, ``decision``: the first child if the token is there, else the second; and
        ``compare``: the sum that the first child is the distribution of is one of those in
        `sums`, and, if there is a second child, this holds too.

        Of distributions of sums: ``point``, a sum without chance; ``step``, a weight that counts
        where the child holds; ``convolution``, of children that share no token; ``mixture``, the
        first child if the token is there, else the second.
    times
        How often the gate has each of its children; (): once.
    slot
        Of a token or a decision, the slot of its token.
    value
        Of a constant.
    sums
        Of a comparison, for each sum from 0 on whether it is in the relation.
    at, complement
        Of a point its sum; of a step the weight, and whether it counts where the child does not
        hold.
    cap
        Of distributions, the largest sum that is distinguished: larger ones are counted as it.
    """

    kind: str
    children: tuple[int, ...] = ()
    times: tuple[int, ...] = ()
    slot: int | None = None
    value: float = 0.0
    sums: tuple[bool, ...] = ()
    at: int = 0
    complement: bool = False
    cap: int = 0


@dataclass(frozen=True, slots=True)
class Circuit:
    """A compiled function: gates, children before parents, the last one the output.

    Attributes
    ----------
    tokens
        The tokens, by number.
    decisions
        The number of decisions about single tuples.
    slots
        Of each slot, the numbers of the tokens that its gates stand for; None: its own number.
    """

    gates: tuple[Gate, ...]
    tokens: tuple[Token, ...] | NamedGates
    decisions: int
    slots: Sequence[Array] | None = None

    def probability(self, weights: Mapping[Token, Any]) -> Any:
        """Return the probability of the function, of independent tokens.

        Parameters
        ----------
        weights
            By token, its probability: a number, or an array to evaluate many at once.

        Cost: one pass over the gates.
        """
        classes = _Classes(self, weights)
        return classes.forward()[classes.of_gate[-1]]

    def influences(self, weights: Mapping[Token, Any]) -> dict[Token, Any]:
        """Return, for each token, the probability with it less the probability without it.

        These are the derivatives of the probability, found in one backward pass over the gates.
        """
        return self.of_tokens(_Classes(self, weights).influences(lambda slope: slope), 0.0)

    def integrals(self, points: Array, shares: Array) -> dict[Token, float]:
        """Return, for each token, an integral of its influence.

        Parameters
        ----------
        points, shares
            The weights that all tokens have, and the shares of these in the integral.
        """
        together = max(256, _HELD // (4 * len(self.gates)))
        found = [0.0] * self.slot_count
        for start in range(0, len(points), together):
            check_budget()
            at, share = points[start : start + together], shares[start : start + together]
            classes = _Classes(self, EqualChances((), at))
            more = classes.influences(partial(_integral, share))
            found = list(map(operator.add, found, more))
        return self.of_tokens(found, 0.0)

    def alike(self) -> Circuit:
        """Return the circuit in which tuples that look alike share a gate."""
        return self

    def of_tokens(self, by_slot: Sequence[T], other: T) -> dict[Token, T]:
        """Return the values of slots by token; tokens without a slot have another value."""
        if self.slots is None:
            return dict(zip(self.tokens, by_slot, strict=True))
        values = [other] * len(self.tokens)
        for value, numbers in zip(by_slot, self.slots, strict=True):
            for number in numbers.tolist():
                values[number] = value
        return dict(zip(self.tokens, values, strict=True))

    @property
    def slot_count(self) -> int:
        """The number of slots."""
        return len(self.tokens if self.slots is None else self.slots)

    def named(self, slot: int, places: slice = slice(1)) -> list[Token]:
        """Return the tokens at some places of a slot."""
        if isinstance(self.tokens, tuple):
            return [self.tokens[slot]]
        assert self.slots is not None
        return self.tokens.at(self.slots[slot][places])


def _integral(shares: Array, influence: Any) -> float:
    return float((shares * influence).sum())


class _Classes:
    """The gates of a circuit in classes: gates that look alike under some weights are one."""

    def __init__(self, circuit: Circuit, weights: Mapping[Token, Any]) -> None:
        self._circuit = circuit
        self.of_gate: list[int] = []
        self._gates: list[Gate] = []
        self._shapes: list[Shape] = []
        self._weights: list[Any] = []
        equal = weights.chance if isinstance(weights, EqualChances) else None
        numbers: dict[Hashable, int] = {}
        for gate in circuit.gates:
            children = [self.of_gate[child] for child in gate.children]
            weight = None
            if gate.slot is not None:
                weight = weights[circuit.named(gate.slot)[0]] if equal is None else equal
            shape: Shape
            if gate.kind in _COUNTED:
                counts = Counter(children)
                if gate.times:
                    counts = Counter()
                    for child, n in zip(children, gate.times, strict=True):
                        counts[child] += n
                shape = tuple(sorted(counts.items()))
            else:
                shape = tuple((child, 1) for child in children)
            known = weight if isinstance(weight, (int, float)) else id(weight)
            data = (gate.value, gate.sums, gate.at, gate.complement, gate.cap)
            key = (gate.kind, shape, known, data)
            number = numbers.setdefault(key, len(numbers))
            if number == len(self._gates):
                self._gates.append(gate)
                self._shapes.append(shape)
                self._weights.append(weight)
            self.of_gate.append(number)

    def forward(self) -> list[Any]:
        """Return the value of each class: a probability, or a distribution along the first axis."""
        values: list[Any] = []
        for gate, shape, weight in zip(self._gates, self._shapes, self._weights, strict=True):
            inner = [(values[child], n) for child, n in shape]
            values.append(_value(gate, inner, weight))
        return values

    def influences(self, fold: Callable[[Any], Any]) -> list[Any]:
        """Return a linear function of the influences, by slot; see :meth:`Circuit.influences`."""
        values = self.forward()
        gates, of_gate = self._circuit.gates, self.of_gate
        # The slope of a gate follows from its class and its relation to its parents.
        received: list[list[tuple[int, int]]] = [[] for _ in gates]
        contexts: dict[Hashable, int] = {}
        slopes: list[Any] = []
        passed: dict[tuple[int, int, int], Any] = {}
        owners: list[int] = []
        folded: dict[int, Any] = {}
        influences: list[Any] = [0.0] * self._circuit.slot_count
        for number in range(len(gates) - 1, -1, -1):
            gate, own = gates[number], of_gate[number]
            root = number == len(gates) - 1
            if not root and not received[number]:
                continue
            key = (own, root, tuple(sorted(received[number])))
            context = contexts.setdefault(key, len(contexts))
            if context == len(slopes):
                slope: Any = 1.0 if root else None
                for above, role in received[number]:
                    step = (above, role, own)
                    if step not in passed:
                        passed.update(
                            self._slopes(owners[above], above, slopes[above], own, values)
                        )
                    slope = passed[step] if slope is None else _plus(slope, passed[step])
                slopes.append(slope)
                owners.append(own)
            if gate.slot is not None:
                if context not in folded:
                    folded[context] = fold(self._influence(own, slopes[context], values))
                influences[gate.slot] = influences[gate.slot] + folded[context]
            ordered = gate.kind not in _COUNTED
            for place, child in enumerate(gate.children):
                received[child].append((context, place if ordered else 0))
        return influences

    def _influence(self, own: int, slope: Any, values: Sequence[Any]) -> Any:
        """Return the influence of a gate's own token, from the gate's slope."""
        kind = self._gates[own].kind
        if kind == "token":
            return slope
        (high, _), (low, _) = self._shapes[own]
        if kind == "decision":
            return slope * (values[high] - values[low])
        difference = _plus(values[high], -1.0 * values[low])
        slope, difference = _aligned(slope[: len(difference)], difference)
        return (slope * difference).sum(axis=0)

    def _slopes(
        self, own: int, context: int, slope: Any, child: int, values: Sequence[Any]
    ) -> dict[tuple[int, int, int], Any]:
        """Return the slopes that a class passes to a child, or to all children if they count."""
        gate, shape = self._gates[own], self._shapes[own]
        if gate.kind in _COUNTED:
            parts = [(values[c], n) for c, n in shape]
            if gate.kind == "convolution":
                slopes = _slopes_of_parts(slope, parts, gate.cap)
            else:
                factors = [(v if gate.kind == "and" else 1 - v, n) for v, n in parts]
                slopes = [slope * product for product in _products_of_others(factors)]
            return {(context, 0, c): s for (c, _), s in zip(shape, slopes, strict=True)}
        roles = {role for role, (c, _) in enumerate(shape) if c == child}
        return {
            (context, role, child): self._slope(own, slope, role, child, values) for role in roles
        }

    def _slope(self, own: int, slope: Any, role: int, child: int, values: Sequence[Any]) -> Any:
        """Return the slope that a class passes to one of its children."""
        gate = self._gates[own]
        if gate.kind == "not":
            return -slope
        if gate.kind in ("decision", "mixture"):
            weight = self._weights[own]
            passed = slope * (weight if role == 0 else 1 - weight)
            return passed[: len(values[child])] if gate.kind == "mixture" else passed
        if gate.kind == "compare":
            if role == 1:
                return slope
            like = max(slope, values[child][0], key=np.ndim)
            return _column(gate.sums[: len(values[child])], like) * slope
        assert gate.kind == "step"
        there, absent = slope[gate.at], slope[0]
        return absent - there if gate.complement else there - absent


def _value(gate: Gate, inner: Sequence[tuple[Any, int]], weight: Any) -> Any:
    if gate.kind == "constant":
        return gate.value
    if gate.kind == "token":
        return weight
    if gate.kind == "not":
        return 1 - inner[0][0]
    if gate.kind in ("and", "or"):
        return _joined(gate.kind, inner)
    if gate.kind == "decision":
        return weight * inner[0][0] + (1 - weight) * inner[1][0]
    if gate.kind == "compare":
        sums = inner[0][0]
        chance = (_column(gate.sums[: len(sums)], sums[0]) * sums).sum(axis=0)
        # Under a condition, the empty sum satisfies the comparison.
        return chance - (1 - inner[1][0]) if len(inner) > 1 else chance
    if gate.kind == "point":
        point = np.zeros(gate.at + 1)
        point[gate.at] = 1.0
        return point
    if gate.kind == "step":
        chance = inner[0][0]
        sums = np.zeros((gate.at + 1, *np.shape(chance)))
        sums[0] += chance if gate.complement else 1 - chance
        sums[gate.at] += 1 - chance if gate.complement else chance
        return sums
    if gate.kind == "mixture":
        high, low = (_like(value, weight) for value, _ in inner)
        return _plus(weight * high, (1 - weight) * low)
    return _convolved(inner, gate.cap)


def _joined(kind: str, inner: Sequence[tuple[Any, int]]) -> Any:
    product: Any = 1.0
    for value, n in inner:
        product = product * (value if kind == "and" else 1 - value) ** n
    return product if kind == "and" else 1 - product


def _products_of_others(factors: Sequence[tuple[Any, int]]) -> Iterator[Any]:
    """Yield for each of some powers the product of all factors but one of its own."""
    powers = [factor**n if n > 1 else factor for factor, n in factors]
    after = list(accumulate(powers[:0:-1], operator.mul))
    before: Any = None
    for (factor, n), power in zip(factors, powers, strict=True):
        others = after.pop() if after else None
        if before is not None:
            others = before if others is None else before * others
        if n > 1:
            rest = factor ** (n - 1)
            others = rest if others is None else others * rest
        yield 1.0 if others is None else others
        before = power if before is None else before * power


# -- distributions of sums -----------------------------------------------------------------------


def _column(numbers: Iterable[Any], like: Any) -> Array:
    """Return numbers along the first axis, broadcastable against values of another shape."""
    column = np.array(list(numbers), dtype=np.float64)
    return column.reshape(column.shape + (1,) * np.ndim(like))


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two distributions with the same number of axes."""
    if np.ndim(a) == np.ndim(b) or np.ndim(a) == 0 or np.ndim(b) == 0:
        return a, b
    if np.ndim(a) < np.ndim(b):
        return _column(a, b[0]), b
    return a, _column(b, a[0])


def _like(sums: Array, weight: Any) -> Array:
    """Return a distribution with the axes of a weight."""
    return sums if np.ndim(sums) > np.ndim(weight) else _column(sums, weight)


def _plus(a: Any, b: Any) -> Any:
    """Return the sum of two distributions, which may differ in length."""
    a, b = _aligned(a, b)
    if np.ndim(a) == 0 or np.ndim(b) == 0 or len(a) == len(b):
        return a + b
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    total = np.zeros((len(longer), *np.broadcast_shapes(a.shape[1:], b.shape[1:])))
    total += longer
    total[: len(shorter)] += shorter
    return total


def _convolved(parts: Sequence[tuple[Array, int]], cap: int) -> Array:
    """Return the distribution of the sum of independent variables, each with its multiplicity."""
    if any(np.ndim(sums) > 1 for sums, _ in parts) and sum(n for _, n in parts) > _FEW:
        length = sum(n * (len(sums) - 1) for sums, n in parts) + 1
        spectra = _spectra(parts, length)
        whole = prod(spectrum**n for spectrum, (_, n) in zip(spectra, parts, strict=True))
        return _capped(np.maximum(np.fft.irfft(whole, length, axis=0), 0.0), cap)
    powers = [_power(sums, n, cap) for sums, n in parts]
    while len(powers) > 1:
        powers.sort(key=len, reverse=True)
        powers.append(_convolve(powers.pop(), powers.pop(), cap))
    return powers[0]


def _spectra(parts: Sequence[tuple[Array, int]], length: int) -> list[Array]:
    """Return the Fourier transforms of distributions with equally many axes."""
    axes = max(np.ndim(sums) for sums, _ in parts)
    spectra = [np.fft.rfft(sums, length, axis=0) for sums, _ in parts]
    return [s.reshape(s.shape + (1,) * (axes - s.ndim)) for s in spectra]


def _slopes_of_parts(slope: Array, parts: Sequence[tuple[Array, int]], cap: int) -> list[Array]:
    """Return the slope of each part of a convolution from the slope of the whole.

    The slope is correlated with the distribution of all other parts, by Fourier transforms.
    """
    length = sum(n * (len(sums) - 1) for sums, n in parts) + 1
    spectra = _spectra(parts, length)
    reached = slope[np.minimum(np.arange(length), min(cap, len(slope) - 1))]
    axes = max(spectra[0].ndim, reached.ndim)
    whole, *spectra = (
        s.reshape(s.shape + (1,) * (axes - s.ndim))
        for s in (np.fft.rfft(reached, axis=0), *spectra)
    )
    others = _products_of_others([(s, n) for s, (_, n) in zip(spectra, parts, strict=True)])
    return [
        _first(whole * np.conj(rest), length, len(sums))
        for rest, (sums, _) in zip(others, parts, strict=True)
    ]


def _first(spectrum: Array, length: int, count: int) -> Array:
    """Return the first `count` numbers of an inverse Fourier transform of real numbers."""
    if count > _FEW:
        return np.fft.irfft(spectrum, length, axis=0)[:count]
    frequencies = np.arange(len(spectrum))
    twice = np.where((frequencies == 0) | (2 * frequencies == length), 1.0, 2.0) / length
    angles = 2j * np.pi * np.outer(np.arange(count), frequencies) / length
    return np.real(np.tensordot(np.exp(angles) * twice, spectrum, axes=1))


def _power(sums: Array, n: int, cap: int) -> Array:
    power: Array | None = None
    while True:
        if n & 1:
            power = sums if power is None else _convolve(power, sums, cap)
        n >>= 1
        if not n:
            assert power is not None
            return power
        sums = _convolve(sums, sums, cap)


def _convolve(a: Array, b: Array, cap: int) -> Array:
    """Return the distribution of the sum of two variables; sums above the cap count as the cap."""
    a, b = _aligned(a, b)
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    shape = np.broadcast_shapes(a.shape[1:], b.shape[1:])
    length = len(a) + len(b) - 1
    total = np.zeros((length, *shape))
    if shape:
        for place in np.flatnonzero(shorter.reshape(len(shorter), -1).any(axis=1)).tolist():
            total[place : place + len(longer)] += longer * shorter[place]
    else:
        total[:] = np.convolve(longer, shorter)
    return _capped(total, cap)


def _capped(sums: Array, cap: int) -> Array:
    if len(sums) <= cap + 1:
        return sums
    capped = np.array(sums[: cap + 1])
    capped[cap] += sums[cap + 1 :].sum(axis=0)
    return capped


# -- integrals -------------------------------------------------------------------------------------


def quadrature(degree: int) -> tuple[Array, Array]:
    """Return points and weights that integrate polynomials of a degree from 0 to 1 exactly.

    Fejér's first rule, with the points of Chebyshev. Source: Waldvogel, *Fast Construction
    of the Fejér and Clenshaw-Curtis Quadrature Rules*, BIT 46, 2006. Cost: O(n log n).
    """
    count = degree + 1
    angles = (np.arange(count) + 0.5) * np.pi / count
    half = count - count // 2
    orders = np.arange(half)
    series = np.zeros(count + 1, dtype=np.complex128)
    series[:half] = 2 * np.exp(1j * np.pi * orders / count) / (1 - 4 * orders**2)
    weights = np.real(np.fft.ifft(series[:-1] + np.conj(series[:0:-1])))
    return (1 + np.cos(angles)) / 2, weights / 2
