"""Commutative monoids of aggregation: SUM, COUNT, MIN, MAX and AVG.

Source: Amsterdamer, Deutch, Tannen, *Provenance for Aggregate Queries*, PODS 2011, section 2.
Arithmetic is exact on int and Decimal; nothing passes through float that was not one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Context, Decimal, Inexact
from typing import Any

from semiring.comparison import compare_values
from semiring.errors import AnnotationError

_EXACT = Context(prec=200, traps=[Inexact])

NAMES = ("SUM", "COUNT", "MIN", "MAX", "AVG")


@dataclass(frozen=True, slots=True)
class Monoid:
    """A commutative monoid (M, +, 0) of aggregated values, and the SQL results of its elements.

    Parameters
    ----------
    name
        One of SUM, COUNT, MIN, MAX, AVG.
    finisher
        For AVG: turns (sum, count), count ≥ 1, into the result as Spark would for the column's
        type. Default: float division for int and float, for Decimal four more fractional digits,
        rounded half up.
    """

    name: str
    finisher: Callable[[Any, int], Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise AnnotationError(f"unknown monoid {self.name!r}; use one of {NAMES}")

    @property
    def idempotent(self) -> bool:
        """True if v + v = v, as for MIN and MAX."""
        return self.name in ("MIN", "MAX")

    @property
    def over_empty(self) -> int | None:
        """The SQL value of an aggregate over no non-NULL value: 0 for COUNT, else NULL."""
        return 0 if self.name == "COUNT" else None

    def finishing(self, finisher: Callable[[Any, int], Any]) -> Monoid:
        """Return this monoid with another finisher."""
        return replace(self, finisher=finisher)

    def aggregate(self, copies: Iterable[tuple[int, Any]]) -> Any:
        """Return the SQL value of an aggregate over `n` copies of each value.

        Parameters
        ----------
        copies
            Pairs (n, v); None values and n = 0 are ignored. n is negative for removed copies.
        """
        return self.finished(*self.summed(copies))

    def summed(self, copies: Iterable[tuple[int, Any]]) -> tuple[int, Any]:
        """Return the element of M for `n` copies of each value: their number, and their sum or
        extreme.

        The second part is None without values, and for COUNT.
        """
        present = [(n, v) for n, v in copies if n and v is not None]
        count = sum(n for n, _ in present)
        if self.name == "COUNT" or not present:
            return count, None
        if self.idempotent:
            return count, self._extreme([v for _, v in present])
        return count, exact_sum(exact_scale(n, v) for n, v in present)

    def added(self, sums: Iterable[tuple[int, Any]]) -> tuple[int, Any]:
        """Return the sum of elements of M as `summed` has them."""
        counts, totals = zip(*sums, strict=True)
        known = [total for total in totals if total is not None]
        if not known:
            return sum(counts), None
        return sum(counts), self._extreme(known) if self.idempotent else exact_sum(known)

    def finished(self, count: int, total: Any) -> Any:
        """Return the SQL value of an element of M as `summed` has it."""
        if self.name == "COUNT":
            return count
        if self.idempotent:
            return total
        if count == 0:
            return None
        return total if self.name == "SUM" else (self.finisher or average)(total, count)

    def _extreme(self, values: list[Any]) -> Any:
        op = "<" if self.name == "MIN" else ">"
        best = values[0]
        for value in values[1:]:
            if compare_values(op, value, best):
                best = value
        return best

    def __str__(self) -> str:
        return self.name


SUM = Monoid("SUM")
COUNT = Monoid("COUNT")
MIN = Monoid("MIN")
MAX = Monoid("MAX")
AVG = Monoid("AVG")


def exact_scale(n: int, value: Any) -> Any:
    """Return ``n·value``, exact for int and Decimal."""
    if isinstance(value, Decimal):
        return value if n == 1 else _EXACT.multiply(Decimal(n), value)
    return n * value


def exact_sum(values: Iterable[Any]) -> Any:
    """Return the sum of at least one value, exact for int and Decimal."""
    iterator = iter(values)
    total = next(iterator)
    for value in iterator:
        if isinstance(total, Decimal) or isinstance(value, Decimal):
            total = _EXACT.add(total, value)
        else:
            total = total + value
    return total


def average(total: Any, count: int) -> Any:
    """Return (sum, count) as Spark's avg: double for int and double, scale + 4 digits for
    Decimal.
    """
    if isinstance(total, Decimal):
        exponent = total.as_tuple().exponent
        scale = -exponent if isinstance(exponent, int) else 0
        return divide_decimal(total, count, min(max(scale, 0) + 4, 38))
    return total / count


def divide_decimal(total: Decimal, count: int, scale: int) -> Decimal:
    """Return ``total / count`` with `scale` fractional digits, rounded half up exactly once."""
    sign, digits, exponent = total.as_tuple()
    if not isinstance(exponent, int):
        return total
    unscaled = int("".join(map(str, digits)) or "0")
    shift = scale + exponent
    numerator = unscaled * 10**shift if shift >= 0 else unscaled
    denominator = count if shift >= 0 else count * 10**-shift
    quotient = (2 * numerator + denominator) // (2 * denominator)
    result = Decimal(-quotient if sign else quotient)
    return result.scaleb(-scale, Context(prec=200, rounding=ROUND_HALF_UP))
