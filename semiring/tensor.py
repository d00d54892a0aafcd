"""Tensors: aggregated values in the semimodule K⊗M.

Source: Amsterdamer, Deutch, Tannen, *Provenance for Aggregate Queries*, PODS 2011, section 2.3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from semiring.base import SemimoduleElement, Semiring, TokenValuation, token_values
from semiring.errors import AnnotationError
from semiring.monoid import Monoid
from semiring.polynomial import Polynomial
from semiring.support.render import REPR_TERMS, html_code, join_terms, left_out
from semiring.token import Token, format_value, normal_value, order_key, tokens_of
from semiring.value import Substitution, Value

if TYPE_CHECKING:
    from semiring.expression.terms import Expression

    Annotation: TypeAlias = Polynomial | Expression

K = TypeVar("K")


class Tensor(Value, SemimoduleElement):
    """A formal sum Σ kᵢ⊗vᵢ of annotations k and values v of a monoid; immutable and canonical.

    Equal values are merged, k₁⊗v + k₂⊗v = (k₁ + k₂)⊗v, and 0⊗v is dropped. A NULL value, here None,
    is ignored by SQL's aggregates and left out.

    Parameters
    ----------
    monoid
        SUM, COUNT, MIN, MAX or AVG.
    terms
        Pairs (annotation, value). The value is the aggregate's argument; 1 for ``count(*)``.

    >>> from semiring.monoid import COUNT
    >>> c2, c3 = (Polynomial.token(Token("cars", c)) for c in ("C2", "C3"))
    >>> str(Tensor(COUNT, [(c2, 1), (c3, 1)]))
    'cars:C2⊗1 + cars:C3⊗1'
    """

    __slots__ = ("_monoid", "_terms")

    _monoid: Monoid
    _terms: tuple[tuple[Annotation, Any], ...]

    def __init__(self, monoid: Monoid, terms: Iterable[tuple[Annotation, Any]] = ()) -> None:
        merged: dict[tuple[Any, ...], tuple[list[Annotation], Any]] = {}
        for annotation, raw in terms:
            if raw is None:
                continue
            value = normal_value(raw)
            merged.setdefault(order_key(value), ([], value))[0].append(annotation)
        kept = [
            (key, _total(annotations), value)
            for key, (annotations, value) in sorted(merged.items(), key=lambda item: item[0])
        ]
        kept = [item for item in kept if not item[1].is_zero]
        object.__setattr__(self, "_monoid", monoid)
        object.__setattr__(self, "_terms", tuple((k, v) for _, k, v in kept))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Tensor, (self._monoid, self._terms))

    @property
    def monoid(self) -> Monoid:
        """The monoid M of the values."""
        return self._monoid

    @property
    def terms(self) -> tuple[tuple[Annotation, Any], ...]:
        """Pairs (annotation, value), one per distinct value, in the order of values."""
        return self._terms

    def values(self) -> list[Any]:
        """Return the values of the terms, in their order, without building their annotations."""
        return [value for _, value in self._terms]

    @property
    def has_numbers(self) -> bool:
        """True if all values are numbers."""
        return all(isinstance(value, Number) for value in self.values())

    @property
    def simple_tensors(self) -> tuple[tuple[Annotation, Any], ...]:
        """The terms with the summands of their annotations apart: k⊗v with k not a sum."""
        return tuple(simple_tensors(self._terms, None))

    @property
    def size(self) -> int:
        """The number of simple tensors."""
        return len(self.simple_tensors)

    @property
    def tokens(self) -> frozenset[Token]:
        """The tokens that occur."""
        return tokens_of(self._inner)

    @property
    def _inner(self) -> Iterable[Any]:
        """The annotations of the terms."""
        return [annotation for annotation, _ in self._terms]

    @property
    def is_zero(self) -> bool:
        """True if this is the empty tensor."""
        return not self._terms

    def __add__(self, other: Tensor) -> Tensor:
        if not isinstance(other, Tensor):
            return NotImplemented
        if self._monoid != other._monoid:
            raise AnnotationError(
                f"tensors over {self._monoid} and {other._monoid} cannot be added"
            )
        return Tensor(self._monoid, (*self._terms, *other._terms))

    def __rmul__(self, annotation: Annotation) -> Tensor:
        """The action of K: k·(k'⊗v) = (k·k')⊗v."""
        return Tensor(self._monoid, ((annotation * k, v) for k, v in self._terms))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tensor):
            return NotImplemented
        return self._monoid == other._monoid and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self._monoid, self._key()))

    def _key(self) -> tuple[Any, ...]:
        return tuple((order_key(value), k) for k, value in self._terms)

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """A key for a deterministic order of tensors."""
        terms = ((k.truncated(None), order_key(v)) for k, v in self._terms)
        return (self._monoid.name, tuple(terms))

    def evaluate(self, semiring: Semiring[K], valuation: TokenValuation[K] = None) -> Any:
        """Return the aggregated value under a valuation; None is NULL.

        SUM, COUNT and AVG have a value in Counting only; MIN and MAX also in every positive
        semiring with idempotent +, over the values whose annotation is not 0. In a symbolic
        semiring the result is a tensor.

        Raises
        ------
        CapabilityError
            The semiring gives tensors over this monoid no value.
        ValuationError
            A token has no value, or one outside the carrier.

        Examples
        --------
        >>> from semiring.monoid import SUM
        >>> from semiring.semirings import Counting
        >>> c2, c3 = Token("cars", "C2"), Token("cars", "C3")
        >>> total = Tensor(SUM, [(Polynomial.token(c2), 20), (Polynomial.token(c3), 22)])
        >>> total.evaluate(Counting())
        42
        >>> total.evaluate(Counting(), {c2: 0, c3: 1})
        22
        """
        value = token_values(semiring, valuation)
        terms = [(k.evaluate(semiring, value), v) for k, v in self._terms]
        if semiring.symbolic:
            return Tensor(self._monoid, terms)  # type: ignore[arg-type]
        semiring.require(self._monoid.name)
        if self._monoid.idempotent:
            return self._monoid.aggregate((0 if semiring.is_zero(k) else 1, v) for k, v in terms)
        return self._monoid.aggregate((semiring.multiplicity(k), v) for k, v in terms)

    def substituted(self, of: Substitution) -> Tensor:
        from semiring.semirings.expressions import replaced

        return Tensor(self._monoid, ((replaced(k, of), v) for k, v in self._terms))

    def delete(self, tokens: Collection[Token]) -> Tensor:
        """Return the image under the homomorphism that sends `tokens` to 0 and fixes the others."""
        return Tensor(self._monoid, ((k.delete(tokens), v) for k, v in self._terms))

    def called(self, limit: int | None = REPR_TERMS) -> str:
        """Return the text of the aggregate: its name, and the tensor in parentheses."""
        return f"{self._monoid}({self.truncated(limit)})"

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        """Return the text of the first `limit` simple tensors and the number of omitted ones;
        None: all.
        """
        simple = self.simple_tensors
        shown = [simple_text(k, v, limit) for k, v in simple[:limit]]
        hidden = len(simple) - len(shown)
        return join_terms([*shown, left_out(hidden)] if hidden else shown, None)

    def __repr__(self) -> str:
        return f"Tensor({self._monoid}: {self.truncated()})"

    def _repr_html_(self) -> str:
        return html_code(f"{self._monoid}: {self.truncated()}")


def _total(annotations: list[Annotation]) -> Annotation:
    if all(isinstance(k, Polynomial) for k in annotations):
        return Polynomial.sum(k for k in annotations if isinstance(k, Polynomial))
    if len(annotations) == 1:
        return annotations[0]
    from semiring.expression.terms import Expression, sum_of

    return sum_of((Expression.of(annotation), 1) for annotation in annotations)


def simple_tensors(
    terms: Iterable[tuple[Annotation, Any]], limit: int | None
) -> list[tuple[Annotation, Any]]:
    """Return the first terms with the summands of their annotations apart; None: all."""
    simple: list[tuple[Annotation, Any]] = []
    for annotation, value in terms:
        left = None if limit is None else limit - len(simple)
        if left is not None and left <= 0:
            break
        simple += ((summand, value) for summand in annotation.summands_apart(left))
    return simple


def simple_text(annotation: Annotation, value: Any, limit: int | None) -> str:
    """Return the text of a simple tensor."""
    text = annotation.truncated(limit)
    if " + " in text or "⊖" in text:
        bare = annotation if isinstance(annotation, Polynomial) else annotation.is_factor
        text = text if bare else f"({text})"
    return f"{text}⊗{format_value(value)}"
