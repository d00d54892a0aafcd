"""Provenance polynomials: the free commutative semiring N[X] over tokens.

Source: Green, Karvounarakis, Tannen, *Provenance Semirings*, PODS 2007, section 4. Every valuation
of the tokens in a commutative semiring K extends to one homomorphism N[X] → K: `evaluate`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from semiring.base import Semiring, TokenValuation, token_values
from semiring.errors import AnnotationError
from semiring.monomials import (
    Monomial,
    monomial_key,
    monomial_text,
    multiply,
    term_latex,
    term_text,
)
from semiring.support.render import (
    PRINTED_TERMS,
    REPR_TERMS,
    html_code,
    join_terms,
    left_out,
)
from semiring.token import Token

K = TypeVar("K")


_ONE: Monomial = ()


class Polynomial:
    """A polynomial with coefficients in N and tokens as indeterminates; immutable and canonical.

    Two polynomials are equal iff they are equal in N[X]. Integers take part in the arithmetic.
    Construct with `zero`, `one`, `constant`, `token` and arithmetic.

    >>> x, y = Polynomial.token(Token("r", "a")), Polynomial.token(Token("r", "b"))
    >>> str((x + y) ** 2)
    'r:a² + 2·r:a·r:b + r:b²'
    """

    __slots__ = ("_terms",)

    _terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, terms: Mapping[Monomial, int] | None = None) -> None:
        """A polynomial from monomials in canonical form to coefficients.

        Raises
        ------
        AnnotationError
            If a coefficient is not a non-negative integer.
        """
        items = dict(terms or {})
        for monomial, coefficient in items.items():
            if not isinstance(coefficient, int) or coefficient < 0:
                raise AnnotationError(
                    f"coefficients of N[X] are non-negative integers; {coefficient!r} is not"
                    f" (monomial {monomial_text(monomial)})"
                )
        kept = [(monomial, int(n)) for monomial, n in items.items() if n]
        if len(kept) > 1:
            kept.sort(key=lambda item: monomial_key(item[0]))
        object.__setattr__(self, "_terms", tuple(kept))

    @classmethod
    def _of_monomial(cls, monomial: Monomial) -> Polynomial:
        """Return a monomial in canonical form as a polynomial."""
        polynomial = cls.__new__(cls)
        object.__setattr__(polynomial, "_terms", ((monomial, 1),))
        return polynomial

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Polynomial is immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Polynomial, (dict(self._terms),))

    @classmethod
    def zero(cls) -> Polynomial:
        """Return 0: the annotation of an absent tuple."""
        return cls()

    @classmethod
    def one(cls) -> Polynomial:
        """Return 1: the annotation of a tuple that needs no evidence."""
        return cls({_ONE: 1})

    @classmethod
    def constant(cls, n: int) -> Polynomial:
        """Return the polynomial n, for n ≥ 0."""
        return cls({_ONE: n})

    @classmethod
    def token(cls, token: Token) -> Polynomial:
        """Return the polynomial of a single indeterminate."""
        return cls._of_monomial(((token, 1),))

    @classmethod
    def sum(cls, polynomials: Iterable[Polynomial]) -> Polynomial:
        """Return the sum of many polynomials, in one pass."""
        terms: defaultdict[Monomial, int] = defaultdict(int)
        for polynomial in polynomials:
            for monomial, coefficient in polynomial._terms:
                terms[monomial] += coefficient
        return cls(terms)

    @property
    def terms(self) -> tuple[tuple[Monomial, int], ...]:
        """Monomials with their positive coefficients, in canonical order."""
        return self._terms

    @property
    def size(self) -> int:
        """The number of monomials."""
        return len(self._terms)

    def _first(self, limit: int | None) -> Sequence[tuple[Monomial, int]]:
        """Return the first monomials, in canonical order, with their coefficients."""
        return self._terms[:limit]

    def summands_apart(self, limit: int | None = None) -> list[Polynomial]:
        """Return the first monomials with coefficients, each as a polynomial; None: all."""
        return [Polynomial({monomial: n}) for monomial, n in self._first(limit)]

    @property
    def tokens(self) -> frozenset[Token]:
        """The tokens that occur."""
        return frozenset(self._inner)

    @property
    def _inner(self) -> Iterable[Token]:
        """The tokens by occurrence."""
        return [token for monomial, _ in self._terms for token, _ in monomial]

    @property
    def degree(self) -> int:
        """The largest number of factors in a monomial; 0 for constants."""
        return max((sum(n for _, n in monomial) for monomial, _ in self._terms), default=0)

    @property
    def is_zero(self) -> bool:
        """True if this is 0."""
        return not self._terms

    @property
    def is_one(self) -> bool:
        """True if this is 1."""
        return len(self._terms) == 1 and self._terms[0] == (_ONE, 1)

    @property
    def is_polynomial(self) -> bool:
        """True; see `Expression.is_polynomial`."""
        return True

    def to_polynomial(self) -> Polynomial:
        """This polynomial; see `Expression.to_polynomial`."""
        return self

    def constant_value(self) -> int | None:
        """n if this is the constant n, else None."""
        if not self._terms:
            return 0
        (monomial, coefficient), *rest = self._terms
        return coefficient if not rest and monomial == _ONE else None

    def __add__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            other = Polynomial.constant(other)
        if not isinstance(other, Polynomial):
            return NotImplemented
        return Polynomial.sum((self, other))

    __radd__ = __add__

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            other = Polynomial.constant(other)
        if not isinstance(other, Polynomial):
            return NotImplemented
        if len(self._terms) == len(other._terms) == 1:
            ((left, m),), ((right, n),) = self._terms, other._terms
            product = multiply(left, right)
            return self._of_monomial(product) if m == n == 1 else Polynomial({product: m * n})
        terms: defaultdict[Monomial, int] = defaultdict(int)
        for left, m in self._terms:
            for right, n in other._terms:
                terms[multiply(left, right)] += m * n
        return Polynomial(terms)

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> Polynomial:
        if not isinstance(exponent, int):
            return NotImplemented
        if exponent < 0:
            raise AnnotationError(f"N[X] has no negative powers: {exponent}")
        if len(self._terms) == 1:
            ((monomial, coefficient),) = self._terms
            raised = tuple((token, n * exponent) for token, n in monomial) if exponent else _ONE
            return Polynomial({raised: coefficient**exponent})
        result, base = Polynomial.one(), self
        while exponent:
            if exponent & 1:
                result = result * base
            exponent >>= 1
            if exponent:
                base = base * base
        return result

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Polynomial):
            return self._terms == other._terms
        if isinstance(other, int):
            return self.constant_value() == other
        return NotImplemented

    def __hash__(self) -> int:
        constant = self.constant_value()
        return hash(self._terms) if constant is None else hash(constant)

    def __bool__(self) -> bool:
        return bool(self._terms)

    def evaluate(self, semiring: Semiring[K], valuation: TokenValuation[K] = None) -> K:
        """Return the image under the homomorphism N[X] → K that extends `valuation`.

        Parameters
        ----------
        semiring
            The semiring K.
        valuation
            A function or mapping from tokens to K; None takes ``semiring.default`` of each token.

        Raises
        ------
        ValuationError
            A token has no value, or one outside the carrier.

        Examples
        --------
        >>> from semiring.semirings import Counting, Tropical
        >>> a, b = Token("r", "a"), Token("r", "b")
        >>> twice_or_both = 2 * Polynomial.token(a) + Polynomial.token(a) * Polynomial.token(b)
        >>> twice_or_both.evaluate(Counting())
        3
        >>> twice_or_both.evaluate(Tropical(), {a: 5.0, b: 1.5})
        5.0
        """
        value = token_values(semiring, valuation)
        return semiring.sum(
            semiring.repeat(
                semiring.product(semiring.power(value(token), n) for token, n in monomial),
                coefficient,
            )
            for monomial, coefficient in self._terms
        )

    def delete(self, tokens: Collection[Token]) -> Polynomial:
        """Return the image under the homomorphism that sends `tokens` to 0 and fixes the others.

        Examples
        --------
        >>> a, b = Token("r", "a"), Token("r", "b")
        >>> str((Polynomial.token(a) + Polynomial.token(b)).delete({a}))
        'r:b'
        """
        return Polynomial(
            {
                monomial: coefficient
                for monomial, coefficient in self._terms
                if not any(token in tokens for token, _ in monomial)
            }
        )

    def to_sympy(self) -> Any:
        """Return this polynomial in sympy, with tokens as symbols named by their texts.

        Raises
        ------
        AnnotationError
            If two tokens have the same text.
        """
        import sympy

        symbols = {token: sympy.Symbol(name) for name, token in name_tokens(self.tokens).items()}
        return sympy.Add(
            *(
                sympy.Mul(
                    sympy.Integer(coefficient),
                    *(sympy.Pow(symbols[token], n) for token, n in monomial),
                )
                for monomial, coefficient in self._terms
            )
        )

    @classmethod
    def from_sympy(cls, expression: Any, tokens: Iterable[Token]) -> Polynomial:
        """Return the polynomial of a sympy expression over symbols named by the texts of `tokens`.

        Raises
        ------
        AnnotationError
            If the expression is not a polynomial with coefficients in N over those symbols.
        """
        import sympy

        named = name_tokens(tokens)
        terms: defaultdict[Monomial, int] = defaultdict(int)
        for term in sympy.Add.make_args(sympy.expand(sympy.sympify(expression))):
            coefficient, factors = term.as_coeff_mul()
            if not coefficient.is_Integer:
                raise AnnotationError(f"coefficient {coefficient} of {term} is not an integer")
            monomial = _ONE
            for factor in factors:
                base, exponent = factor.as_base_exp()
                if not (base.is_Symbol and exponent.is_Integer and exponent > 0):
                    raise AnnotationError(f"{factor} is not a power of a token's symbol")
                if base.name not in named:
                    raise AnnotationError(f"no token has the symbol {base.name}")
                monomial = multiply(monomial, ((named[base.name], int(exponent)),))
            terms[monomial] += int(coefficient)
        return cls(terms)

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        """Return the text of the first `limit` terms and the number of omitted ones; None: all."""
        shown = [term_text(monomial, n) for monomial, n in self._first(limit)]
        hidden = self.size - len(shown)
        return join_terms([*shown, left_out(hidden)] if hidden else shown, None)

    def __str__(self) -> str:
        return self.truncated(PRINTED_TERMS)

    def __repr__(self) -> str:
        return f"Polynomial({self.truncated()})"

    def _repr_html_(self) -> str:
        return html_code(self.truncated())

    def _repr_latex_(self) -> str:
        shown = [term_latex(monomial, n) for monomial, n in self._first(REPR_TERMS)]
        hidden = self.size - len(shown)
        if hidden:
            shown.append(r"\ldots\ (" + str(hidden) + r"\ \text{more})")
        return "$" + (" + ".join(shown) or "0") + "$"


def name_tokens(tokens: Iterable[Token]) -> dict[str, Token]:
    """Return tokens by text; raise AnnotationError if two share one."""
    named: dict[str, Token] = {}
    for token in sorted(set(tokens)):
        if str(token) in named:
            raise AnnotationError(
                f"{named[str(token)]!r} and {token!r} are both written {token};"
                " a relation's keys must have fixed types"
            )
        named[str(token)] = token
    return named
