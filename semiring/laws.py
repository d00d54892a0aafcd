"""The axioms as executable checks: each law is a function of a semiring and some of its values.

A law returns nothing and raises `LawError` if it fails for the values given. Sources: Green et al.,
PODS 2007 (commutative semirings); Amsterdamer et al., PODS 2011 (δ, semimodules); Geerts, Poggi
2010 (monus).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from semiring.base import Semiring
from semiring.errors import LipstickError
from semiring.monoid import Monoid
from semiring.polynomial import Polynomial
from semiring.tensor import Tensor

Law: TypeAlias = Callable[[Semiring[Any], Any, Any, Any], None]


class LawError(LipstickError):
    """A violated law that a semiring claims, with the values that show it."""


def _same(semiring: Semiring[Any], law: str, left: Any, right: Any, *values: Any) -> None:
    if left != right:
        raise LawError(f"{semiring.name}: {law} fails for {values!r}: {left!r} is not {right!r}")


def plus_is_associative(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """(a + b) + c = a + (b + c)."""
    left, right = s.plus(s.plus(a, b), c), s.plus(a, s.plus(b, c))
    _same(s, "(a + b) + c = a + (b + c)", left, right, a, b, c)


def plus_is_commutative(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """a + b = b + a."""
    _same(s, "a + b = b + a", s.plus(a, b), s.plus(b, a), a, b)


def plus_has_neutral_zero(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """a + 0 = a."""
    _same(s, "a + 0 = a", s.plus(a, s.zero), a, a)


def times_is_associative(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """(a · b) · c = a · (b · c)."""
    left, right = s.times(s.times(a, b), c), s.times(a, s.times(b, c))
    _same(s, "(a · b) · c = a · (b · c)", left, right, a, b, c)


def times_is_commutative(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """a · b = b · a."""
    _same(s, "a · b = b · a", s.times(a, b), s.times(b, a), a, b)


def times_has_neutral_one(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """a · 1 = a."""
    _same(s, "a · 1 = a", s.times(a, s.one), a, a)


def zero_annihilates(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """a · 0 = 0."""
    _same(s, "a · 0 = 0", s.times(a, s.zero), s.zero, a)


def times_distributes(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """a · (b + c) = a · b + a · c."""
    left, right = s.times(a, s.plus(b, c)), s.plus(s.times(a, b), s.times(a, c))
    _same(s, "a · (b + c) = a · b + a · c", left, right, a, b, c)


def claimed_positivity(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """a + b = 0 iff a = b = 0, and a · b = 0 iff a = 0 or b = 0, where claimed."""
    if not s.positive:
        return
    no_a, no_b = s.is_zero(a), s.is_zero(b)
    _same(s, "a + b = 0 iff a = b = 0", s.is_zero(s.plus(a, b)), no_a and no_b, a, b)
    _same(s, "a · b = 0 iff a = 0 or b = 0", s.is_zero(s.times(a, b)), no_a or no_b, a, b)


def delta_axioms(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """δ(0) = 0, and δ(n·1) = 1 for n ≥ 1."""
    _same(s, "δ(0) = 0", s.delta(s.zero), s.zero)
    total = s.zero
    for n in range(1, 4):
        total = s.plus(total, s.one)
        _same(s, f"{n}·1 is the {n}-fold sum of 1", s.from_int(n), total)
        _same(s, f"δ({n}·1) = 1", s.delta(total), s.one)


def repeated_operations(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """n·a and aⁿ are the n-fold sum and product of a; `sum` and `product` agree with + and ·."""
    for n in range(4):
        _same(s, f"{n}·a", s.repeat(a, n), s.sum([a] * n), a)
        _same(s, f"a^{n}", s.power(a, n), s.product([a] * n), a)
    _same(s, "sum of three", s.sum([a, b, c]), s.plus(s.plus(a, b), c), a, b, c)
    _same(s, "product of three", s.product([a, b, c]), s.times(s.times(a, b), c), a, b, c)


def claimed_idempotence(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """a + a = a, where claimed."""
    if s.idempotent:
        _same(s, "a + a = a", s.plus(a, a), a, a)


def claimed_absorption(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """1 + a = 1, where claimed."""
    if s.absorptive:
        _same(s, "1 + a = 1", s.plus(s.one, a), s.one, a)


def claimed_monus(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """The laws of monus, where claimed.

    a + (b ⊖ a) = b + (a ⊖ b), (a ⊖ b) ⊖ c = a ⊖ (b + c), a ⊖ a = 0, 0 ⊖ a = 0.
    """
    if not s.has_monus:
        return
    left, right = s.plus(a, s.monus(b, a)), s.plus(b, s.monus(a, b))
    _same(s, "a + (b ⊖ a) = b + (a ⊖ b)", left, right, a, b)
    left, right = s.monus(s.monus(a, b), c), s.monus(a, s.plus(b, c))
    _same(s, "(a ⊖ b) ⊖ c = a ⊖ (b + c)", left, right, a, b, c)
    _same(s, "a ⊖ a = 0", s.monus(a, a), s.zero, a)
    _same(s, "0 ⊖ a = 0", s.monus(s.zero, a), s.zero, a)


def array_agreement(s: Semiring[Any], a: Any, b: Any, c: Any) -> None:
    """Every array operation agrees with the scalar one, including on empty segments."""
    left, right = s.array([a, b, c]), s.array([b, c, a])
    pairs = [(a, b), (b, c), (c, a)]
    _same(s, "array", s.unpack(left), [a, b, c])
    checks: list[tuple[str, Any, Callable[[Any, Any], Any]]] = [
        ("plus_array", s.plus_array, s.plus),
        ("times_array", s.times_array, s.times),
    ]
    if s.has_monus:
        checks.append(("monus_array", s.monus_array, s.monus))
    for name, arrays, scalars in checks:
        by_arrays = s.unpack(arrays(left, right))
        _same(s, name, by_arrays, [scalars(x, y) for x, y in pairs], a, b, c)
    offsets = np.array([0, 0, 2, 2, 3, 3], dtype=np.int64)
    sums = [s.zero, s.plus(a, b), s.zero, c, s.zero]
    _same(s, "sum_segments", s.unpack(s.sum_segments(left, offsets)), sums, a, b, c)
    none = np.array([0], dtype=np.int64)
    _same(s, "no segments", s.unpack(s.sum_segments(left[:0], none)), [])
    known = s.array([s.zero, s.one])
    _same(s, "delta_array", s.unpack(s.delta_array(known)), [s.zero, s.one])
    _same(s, "nonzero_array", s.nonzero_array(left).tolist(), [not s.is_zero(x) for x in (a, b, c)])
    counts = s.unpack(s.repeat_array(np.arange(3)))
    _same(s, "repeat_array", counts, [s.from_int(n) for n in range(3)])
    _same(s, "to_arrow has a value per annotation", len(s.to_arrow(known)), 2)


def semimodule_axioms(monoid: Monoid, k: Polynomial, m: Polynomial, values: Sequence[Any]) -> None:
    """The axioms of the semimodule N[X]⊗M on simple tensors, for at least two values.

    k·(s + t) = k·s + k·t, (k + m)·t = k·t + m·t, (k·m)·t = k·(m·t), 1·t = t, 0·t = 0, k·0 = 0.
    """
    s, t = (Tensor(monoid, [(Polynomial.one(), value)]) for value in values[:2])
    empty = Tensor(monoid)
    unit, zero = Polynomial.one(), Polynomial.zero()
    for law, left, right in (
        ("k·(s + t) = k·s + k·t", k * (s + t), k * s + k * t),
        ("(k + m)·t = k·t + m·t", (k + m) * t, k * t + m * t),
        ("(k·m)·t = k·(m·t)", (k * m) * t, k * (m * t)),
        ("1·t = t", unit * t, t),
        ("0·t = 0", zero * t, empty),
        ("k·0 = 0", k * empty, empty),
        ("s + t = t + s", s + t, t + s),
        ("t + 0 = t", t + empty, t),
    ):
        if left != right:
            raise LawError(f"{monoid}: {law} fails for {k}, {m}, {values!r}")


def tensor_specialisation(
    semiring: Semiring[Any], monoid: Monoid, a: Any, b: Any, values: Sequence[Any]
) -> None:
    """Evaluation respects (a + b)⊗v = a⊗v + b⊗v, where the semiring claims the monoid."""
    if monoid.name not in semiring.capabilities:
        return
    value = values[0]

    def weigh(terms: list[tuple[Any, Any]]) -> Any:
        if monoid.idempotent:
            return monoid.aggregate((int(not semiring.is_zero(k)), v) for k, v in terms)
        return monoid.aggregate((semiring.multiplicity(k), v) for k, v in terms)

    apart, merged = weigh([(a, value), (b, value)]), weigh([(semiring.plus(a, b), value)])
    _same(semiring, f"{monoid}: (a + b)⊗v = a⊗v + b⊗v", merged, apart, a, b, value)


LAWS: tuple[Law, ...] = (
    plus_is_associative,
    plus_is_commutative,
    plus_has_neutral_zero,
    times_is_associative,
    times_is_commutative,
    times_has_neutral_one,
    zero_annihilates,
    times_distributes,
    claimed_positivity,
    delta_axioms,
    repeated_operations,
    claimed_idempotence,
    claimed_absorption,
    claimed_monus,
    array_agreement,
)
"""Every law of a semiring and three of its values."""
