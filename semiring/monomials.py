"""Monomials: tokens with their exponents, in one order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

from semiring.support.render import latex_text, superscript
from semiring.token import Token

T = TypeVar("T")

Monomial: TypeAlias = tuple[tuple[Token, int], ...]
"""Tokens with positive exponents, in the order of tokens; () is the monomial 1."""


def monomial_key(monomial: Monomial) -> tuple[Any, ...]:
    """Return the sort key of a monomial: its tokens, higher powers first."""
    return tuple((token.sort_key, -exponent) for token, exponent in monomial)


def multiply(a: Monomial, b: Monomial) -> Monomial:
    """Return the product of two monomials."""
    if not a or not b:
        return a or b
    if a[-1][0] < b[0][0]:
        return a + b
    if b[-1][0] < a[0][0]:
        return b + a
    exponents = dict(a)
    for token, exponent in b:
        exponents[token] = exponents.get(token, 0) + exponent
    return tuple(sorted(exponents.items(), key=lambda item: item[0].sort_key))


def monomial_text(monomial: Monomial) -> str:
    """Return the text of a monomial: ``x²·y``."""
    return "·".join(f"{token}{superscript(n)}" for token, n in monomial) or "1"


def term_text(monomial: Monomial, coefficient: int) -> str:
    """Return the text of a term: ``3·x²·y``."""
    if not monomial:
        return str(coefficient)
    text = monomial_text(monomial)
    return text if coefficient == 1 else f"{coefficient}·{text}"


def term_latex(monomial: Monomial, coefficient: int) -> str:
    """Return a term as LaTeX."""
    if not monomial:
        return str(coefficient)
    factors = [latex_text(str(token)) + ("" if n == 1 else f"^{{{n}}}") for token, n in monomial]
    return r" \cdot ".join(([] if coefficient == 1 else [str(coefficient)]) + factors)


def minimal(
    items: Iterable[T], divides: Callable[[T, T], bool], size: Callable[[T], int]
) -> set[T]:
    """Return the items that no other item divides.

    Parameters
    ----------
    size
        Increases along divisibility, so that items of equal size do not divide each other.

    Cost: linear for items of one size, else each is compared with all smaller minimal ones.
    """
    by_size: dict[int, list[T]] = {}
    for item in set(items):
        by_size.setdefault(size(item), []).append(item)
    kept: list[T] = []
    for _, same in sorted(by_size.items()):
        kept += [item for item in same if not any(divides(smaller, item) for smaller in kept)]
    return set(kept)
