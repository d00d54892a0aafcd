"""Questions to the annotations of an answer's rows: how likely, thanks to whom, what is needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from semiring.analysis import (
    Estimate,
    Moments,
    banzhaf,
    moments,
    probability,
    repairs,
    responsibility,
    sampled_moments,
    sampled_probability,
    sampled_shapley,
    shapley,
    witnesses,
)
from semiring.door import checked
from semiring.errors import ExactnessError
from semiring.token import Token

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture, Row

T = TypeVar("T")

Tokens = frozenset[Token]

Method: TypeAlias = Literal["auto", "exact", "sample"]
"""How hard questions are answered: exactly, from samples, or exactly where that is not too hard."""


@checked
class Analyses(ABC):
    """What frames and captures answer about each row; the first `limit` rows, None: all.

    Free functions over single annotations are in `semiring.analysis`. Exact answers may be
    exponential in the number of tuples a row is made of, and are bounded; ``error`` and
    ``confidence`` are those of the samples that are drawn instead, and each answer says which it
    is.
    """

    @property
    @abstractmethod
    def _captured(self) -> Capture:
        """The capture that knows the annotations."""

    def probability(
        self,
        weights: Any,
        limit: int | None = 20,
        *,
        default: Any = None,
        method: Method = "auto",
        error: float = 0.01,
        confidence: float = 0.95,
        potential: bool = False,
    ) -> list[tuple[Row, Estimate]]:
        """The probability of each row, of independent input tuples: of all worlds in which it is
        in the answer, together.

        Parameters
        ----------
        weights
            The probability of each input tuple: one number for all, or as a valuation of
            :meth:`lipstick.Capture.evaluate`.
        default
            That of tuples which a mapping or table leaves out; 1 if None.
        method
            ``"exact"`` (an error where it is too hard), ``"sample"``, or ``"auto"``: exact where
            that is not too hard.
        potential
            Also of rows that are in the answer of some world and not in this one; see
            :meth:`lipstick.Capture.polynomials`.

        Raises
        ------
        CapabilityError
            Where only Spark knows a condition.
        ExactnessError
            With ``"exact"``, when too many single tuples would have to be decided.
        ValuationError
            A weight that is no probability.
        """
        known = _Weights(self._captured, weights, default)
        return _answered(
            self._captured.polynomials(limit, potential=potential),
            method,
            lambda annotation: probability(annotation, known(annotation.tokens)),
            lambda annotation: sampled_probability(
                annotation, known(annotation.tokens), error, confidence
            ),
        )

    def expected(
        self,
        column: str,
        weights: Any,
        limit: int | None = 20,
        *,
        default: Any = None,
        method: Method = "auto",
        error: float = 0.01,
        confidence: float = 0.95,
    ) -> list[tuple[Row, Moments]]:
        """Expected value and variance of an aggregated column, of independent input tuples.

        Parameters
        ----------
        column
            A SUM or COUNT (over no tuple 0), or a MIN, MAX or AVG (given that there is a value).
        weights, default, method
            As for :meth:`probability`.
        error
            Of samples: as a share of the width of the range that the values may have.

        Raises
        ------
        CapabilityError
            Where a sum is multiplied with a condition and ``method`` is not ``"sample"``, and where
            there is a value in no world.
        ExactnessError
            With ``"exact"``, where a row is too hard: too many tuples decide about more than one
            value, or an average is over too many values.
        """
        known = _Weights(self._captured, weights, default)
        return _answered(
            self._captured.tensors(column, limit),
            method,
            lambda tensor: moments(tensor, known(tensor.tokens)),
            lambda tensor: sampled_moments(tensor, known(tensor.tokens), error, confidence),
        )

    def shapley(
        self,
        limit: int | None = 20,
        *,
        method: Method = "auto",
        error: float = 0.05,
        confidence: float = 0.95,
    ) -> list[tuple[Row, dict[Token, Estimate]]]:
        """The Shapley value of every input tuple for each row's being there.

        ``method`` as for :meth:`probability`.
        """
        return _answered(
            self._captured.polynomials(limit),
            method,
            shapley,
            lambda annotation: sampled_shapley(annotation, error, confidence),
        )

    def banzhaf(self, limit: int | None = 20) -> list[tuple[Row, dict[Token, Estimate]]]:
        """The Banzhaf value of every input tuple for each row's being there.

        Raises
        ------
        ExactnessError
            Where a row is too hard.
        """
        return [(row, banzhaf(annotation)) for row, annotation in self._captured.polynomials(limit)]

    def witnesses(self, limit: int | None = 20) -> list[tuple[Row, list[Tokens]]]:
        """The minimal sets of input tuples that suffice for each row.

        Raises
        ------
        CapabilityError
            Where the absence of tuples, or a comparison of aggregates, takes part.
        """
        return [
            (row, witnesses(annotation)) for row, annotation in self._captured.polynomials(limit)
        ]

    def repairs(self, limit: int | None = 20) -> list[tuple[Row, list[Tokens]]]:
        """The smallest deletions of input tuples that remove each row.

        Raises
        ------
        ExactnessError
            Where too many sets would have to be tried.
        """
        return [(row, repairs(annotation)) for row, annotation in self._captured.polynomials(limit)]

    def responsibility(self, limit: int | None = 20) -> list[tuple[Row, dict[Token, float]]]:
        """How responsible every input tuple is for each row: 1 where the row depends on it alone.

        Raises
        ------
        ExactnessError
            Where too many sets would have to be tried.
        """
        return [
            (row, responsibility(annotation))
            for row, annotation in self._captured.polynomials(limit)
        ]


def _answered(
    rows: list[tuple[Row, Any]],
    method: Method,
    exact: Callable[[Any], T],
    sampled: Callable[[Any], T],
) -> list[tuple[Row, T]]:
    def answer(annotation: Any) -> T:
        if method != "sample":
            try:
                return exact(annotation)
            except ExactnessError:
                if method == "exact":
                    raise
        return sampled(annotation)

    return [(row, answer(annotation)) for row, annotation in rows]


class _Weights:
    """Probabilities of tokens, each looked up once."""

    def __init__(self, capture: Capture, weights: Any, default: Any) -> None:
        number = isinstance(weights, int | float)
        self._same = float(weights) if number else None
        self._values = None if number else capture.token_weights(weights, default)
        self._known: dict[Token, float] = {}

    def __call__(self, tokens: Tokens) -> dict[Token, float]:
        if self._values is None:
            assert self._same is not None
            return dict.fromkeys(tokens, self._same)
        new = sorted(token for token in tokens if token not in self._known)
        self._known.update(zip(new, self._values(new), strict=True))
        return {token: self._known[token] for token in tokens}
