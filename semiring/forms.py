"""Other forms of annotations: factored, as LaTeX, from sympy, and equality up to laws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import gcd, prod
from typing import Any, TypeAlias

from semiring.base import Semiring
from semiring.errors import AnnotationError
from semiring.expression import (
    Atom,
    Constant,
    Expression,
    product_of,
    simplify,
    sum_of,
)
from semiring.monomials import Monomial
from semiring.polynomial import Polynomial, name_tokens
from semiring.semirings.polynomials import Polynomials
from semiring.support.render import LATEX
from semiring.token import Token

Annotation: TypeAlias = Polynomial | Expression


def factored(polynomial: Polynomial) -> Expression:
    """Return a polynomial with common factors taken out; the expression multiplies out to it.

    First the content and the tokens that all terms share; then, if the rest is a product of
    polynomials over disjoint tokens, these; else the token that most terms share, as in Horner's
    scheme. Read-once polynomials with coefficients 1 become products and sums in which every token
    occurs once.

    Source: Golumbic, Mintz, Rotics, *Factoring and Recognition of Read-Once Functions*, 2006.

    Cost: O(terms · tokens) for each level of factors.

    >>> x, y, z = (Polynomial.token(Token("r", name)) for name in "xyz")
    >>> str(factored(x * z + y * z))
    'r:z·(r:x + r:y)'
    """
    if len(polynomial.terms) < 2:
        return Expression.of(polynomial)
    content, shared = _content(polynomial)
    rest = _divided(polynomial, content, shared)
    taken: list[tuple[Expression, int]] = [(Atom(token), n) for token, n in shared]
    taken.append((Constant(content), 1))
    parts = _factors(rest)
    if len(parts) > 1:
        return product_of([*taken, *((factored(part), 1) for part in parts)])
    return product_of([*taken, (_horner(rest), 1)])


def _content(polynomial: Polynomial) -> tuple[int, Monomial]:
    """Return the greatest common divisor of all terms: an integer and a monomial."""
    terms = polynomial.terms
    least = dict(terms[0][0])
    for monomial, _ in terms[1:]:
        exponents = dict(monomial)
        least = {t: min(n, exponents[t]) for t, n in least.items() if t in exponents}
    return gcd(*(n for _, n in terms)), tuple(least.items())


def _divided(polynomial: Polynomial, content: int, shared: Monomial) -> Polynomial:
    return Polynomial(
        {_without(monomial, dict(shared)): n // content for monomial, n in polynomial.terms}
    )


def _without(monomial: Monomial, less: dict[Token, int]) -> Monomial:
    left = ((token, n - less.get(token, 0)) for token, n in monomial)
    return tuple((token, n) for token, n in left if n)


def _factors(polynomial: Polynomial) -> list[Polynomial]:
    """Return polynomials over disjoint tokens with this product; the polynomial alone if it has
    none.
    """
    if any(n != 1 for _, n in polynomial.terms):
        return [polynomial]
    factors = []
    for group in _apart(polynomial):
        projected = {
            tuple((token, n) for token, n in monomial if token in group)
            for monomial, _ in polynomial.terms
        }
        factors.append(Polynomial(dict.fromkeys(projected, 1)))
    if prod(len(part.terms) for part in factors) != len(polynomial.terms):
        return [polynomial]
    return factors if prod(factors, start=Polynomial.one()) == polynomial else [polynomial]


def _apart(polynomial: Polynomial) -> list[set[Token]]:
    """Return tokens in groups; tokens that never occur together share a group."""
    together: dict[Token, set[Token]] = {token: set() for token in polynomial.tokens}
    for monomial, _ in polynomial.terms:
        tokens = [token for token, _ in monomial]
        for token in tokens:
            together[token].update(tokens)
    left, groups = set(together), []
    while left:
        waiting, group = [left.pop()], set[Token]()
        while waiting:
            token = waiting.pop()
            group.add(token)
            never = left - together[token]
            left -= never
            waiting += never
        groups.append(group)
    return groups


def _horner(polynomial: Polynomial) -> Expression:
    """Return x·a + b for the token x that most terms share."""
    counts = Counter(token for monomial, _ in polynomial.terms for token, _ in monomial)
    token, most = max(counts.items(), key=lambda item: (item[1], item[0].sort_key))
    if most < 2:
        return Expression.of(polynomial)
    inside: dict[Monomial, int] = {}
    outside: dict[Monomial, int] = {}
    for monomial, n in polynomial.terms:
        (inside if token in dict(monomial) else outside)[monomial] = n
    return sum_of([(factored(Polynomial(inside)), 1), (factored(Polynomial(outside)), 1)])


def latex(annotation: Annotation, limit: int | None = None) -> str:
    """Return an annotation as LaTeX for a formula, without the dollar signs.

    Parameters
    ----------
    limit
        Limit on the terms of every sum; the number of omitted ones is shown. None: all.
    """
    return Expression.of(annotation)._text(LATEX, limit)


def from_sympy(expression: Any, tokens: Iterable[Token]) -> Annotation:
    """Return the annotation of a sympy expression: the inverse of ``to_sympy``.

    Parameters
    ----------
    tokens
        The tokens whose texts are the expression's symbols.

    Raises
    ------
    AnnotationError
        For symbols that are not a token's text, negative or fractional numbers, and functions other
        than ``delta`` and ``monus``. Comparisons are symbols in sympy, and are not read back.
    """
    import sympy

    return simplify(_read(sympy.sympify(expression), name_tokens(tokens)))


def _read(expression: Any, named: dict[str, Token]) -> Expression:
    import sympy

    if expression.is_Integer and expression >= 0:
        return Constant(int(expression))
    if expression.is_Symbol and expression.name in named:
        return Atom(named[expression.name])
    if isinstance(expression, sympy.Add):
        return sum_of((_read(part, named), 1) for part in expression.args)
    if isinstance(expression, sympy.Mul):
        return product_of((_read(part, named), 1) for part in expression.args)
    if isinstance(expression, sympy.Pow) and expression.exp.is_Integer and expression.exp >= 0:
        return _read(expression.base, named) ** int(expression.exp)
    name = getattr(expression.func, "__name__", "")
    if name == "delta" and len(expression.args) == 1:
        return _read(expression.args[0], named).delta()
    if name == "monus" and len(expression.args) == 2:
        left, right = (_read(part, named) for part in expression.args)
        return left.monus(right)
    raise AnnotationError(
        f"{expression} is not an annotation over the tokens given: it has sums, products and powers"
        " of their symbols and natural numbers, delta and monus."
    )


def equivalent(a: Annotation, b: Annotation, semiring: Semiring[Any] | None = None) -> bool:
    """Return True if annotations are equal up to the laws of a semiring that is free for them.

    Parameters
    ----------
    semiring
        `Polynomials` (every commutative semiring; the default), `BooleanPolynomials` (also a + a =
        a), `Trio` (a · a = a), `Why` (both), `Sorp` (a + a·b = a), `PosBool` (all of them). In
        others: True if they agree under the default values of tokens.

    Raises
    ------
    CapabilityError
        The semiring lacks a δ or ⊖ of an annotation.

    Examples
    --------
    >>> from semiring.semirings import PosBool
    >>> x, y = (Polynomial.token(Token("r", name)) for name in "xy")
    >>> equivalent(x * (x + y), x * x + x * y), equivalent(x * (x + y), x)
    (True, False)
    >>> equivalent(x * (x + y), x, PosBool())
    True
    """
    kind = semiring or Polynomials()
    return bool(a.evaluate(kind) == b.evaluate(kind))
