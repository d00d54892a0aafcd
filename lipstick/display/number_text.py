"""Numbers as people write them, in every sentence: with separators, and no powers of ten."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

_DIGITS = 6
"""Significant digits of a double below 1,000."""

_EXACT = 10**9
"""Fractions of so many parts are decimals."""


def spelled(number: Any) -> str:
    """Return a number for people: whole ones and decimals exactly, doubles rounded.

    Doubles from 1,000 have two decimals, smaller ones six digits.

    Examples
    --------
    >>> spelled(Decimal("91541639.430000")), spelled(91541639.43), spelled(1 / 3), spelled(2.0)
    ('91,541,639.43', '91,541,639.43', '0.333333', '2')
    """
    if number is None:
        return "NULL"
    least = 2
    if isinstance(number, Fraction):
        exact = _EXACT % number.denominator == 0
        number = Decimal(int(number * _EXACT)).scaleb(-9) if exact else float(number)
        least = 0
    if isinstance(number, Decimal):
        return _trimmed(f"{number:,f}", least) if number.is_finite() else str(number)
    if not isinstance(number, float):
        return f"{int(number):,}"
    if not math.isfinite(number):
        return str(number)
    if number.is_integer():
        return f"{int(number):,}"
    if abs(number) >= 1000:
        return f"{number:,.2f}"
    decimals = _DIGITS - 1 - math.floor(math.log10(abs(number)))
    return _trimmed(f"{number:,.{decimals}f}", 0)


def signed(number: Any) -> str:
    """Return a difference for people, with its sign."""
    text = spelled(number)
    return text if text.startswith("-") or not number else f"+{text}"


def percent(share: float) -> str:
    """Return a share of a whole for people."""
    return f"{100 * share:.1f} %" if abs(share) >= 0.01 else f"{spelled(100 * share)} %"


def _trimmed(text: str, least: int) -> str:
    """Return digits without the zeros at their end that come after the first decimals, if any."""
    whole, point, decimals = text.partition(".")
    kept = decimals[:least] + decimals[least:].rstrip("0")
    return whole + point + kept if kept.strip("0") else whole
