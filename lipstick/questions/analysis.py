"""Questions to the annotations of an answer's rows: how likely, thanks to whom, what is needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from lipstick.errors import NeedsSparkError
from lipstick.questions.asking import BUDGET, Method, answer_rows, answered_here, question
from lipstick.questions.valuation import block_of_columns
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
from semiring.budget import call_within, remaining
from semiring.door import checked
from semiring.errors import ExactnessError, ValuationError
from semiring.expression import Expression, sum_of
from semiring.polynomial import Polynomial
from semiring.token import Token
from semiring.value import Value

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture
    from lipstick.engines.protocol import Row

Tokens = frozenset[Token]

Annotation: TypeAlias = Polynomial | Expression

Evidence: TypeAlias = "Annotation | Analyses | Iterable[Annotation | Analyses] | None"
"""The evidence to condition on: annotations that hold, and queries with at least one row."""

BlockColumns: TypeAlias = (
    "Mapping[str, str | Sequence[str] | Mapping[Any, Any]] | Callable[[Token], Any] | None"
)
"""Per relation what puts its tuples into blocks."""


@checked
class Analyses(ABC):
    """Questions about each row, shared by frames and captures; the first `limit` rows, None: all.

    Free functions over single annotations are in `semiring.analysis`. Exact answers may be
    exponential in the number of tuples a row is made of: a budget bounds them, which covers the
    annotations too; ``error`` and
    ``confidence`` are those of the samples that are drawn instead, and each answer says which it
    is.
    """

    @property
    @abstractmethod
    def _captured(self) -> Capture:
        """The capture that knows the annotations."""

    def _annotated(
        self, limit: int | None, *, potential: bool = False
    ) -> list[tuple[Row, Callable[[], Annotation]]]:
        """Return the first rows of the answer, each with a function that makes its annotation."""
        capture = self._captured
        if not potential:
            with suppress(NeedsSparkError):
                rows = capture.memory.deferred_annotations(limit)
                if rows:
                    left = remaining()
                    with suppress(ExactnessError):  # it says whether annotations need Spark
                        call_within(left and left / len(rows), rows[0][1])
                return rows
        annotated = capture.polynomials(limit, potential=potential)
        return [(row, _made(k)) for row, k in annotated]

    def annotations_within(self, limit: int, seconds: float) -> list[tuple[Row, Annotation | None]]:
        """Return the first rows of the answer, each with its annotation; None: not made in time.

        The time begins once the query is captured.
        """
        _ = self._captured

        def answered() -> list[tuple[Row, Annotation | None]]:
            return answer_rows(self._annotated(limit), "auto", _same, None, lambda: None)

        return call_within(seconds, answered)

    def _valued(self, column: str, limit: int | None) -> list[tuple[Row, Callable[[], Value]]]:
        """Return rows of the answer, each with a function that makes a column's formal value."""
        with answered_here(self._captured.engine):
            return [
                (row, partial(_here, self._captured, make))
                for row, make in self._captured.memory.deferred_values(column, limit)
            ]

    @question("computing probabilities")
    def probability(
        self,
        weights: Any,
        limit: int | None = 20,
        *,
        default: Any = None,
        method: Method = "auto",
        error: float = 0.01,
        confidence: float = 0.95,
        budget: float | None = BUDGET,
        potential: bool = False,
        given: Annotation | Analyses | Iterable[Annotation | Analyses] | None = None,
        blocks: Mapping[str, Any] | Callable[[Token], Any] | None = None,
    ) -> list[tuple[Row, Estimate]]:
        """Return the probability of each row, of independent input tuples: of all worlds in which
        it is in the answer, together.

        Parameters
        ----------
        weights
            The probability of each input tuple: one number for all, or per relation a number, or
            a valuation of :meth:`lipstick.Capture.evaluate`.
        default
            That of tuples which a mapping or table leaves out; 1 if None.
        method
            ``"exact"`` (an error where it is too hard), ``"sample"``, or ``"auto"``: exact where
            that is not too hard.
        budget
            Seconds for the questions about all rows, once their annotations are made; None: as
            many as they take. Where an exact answer takes more than half of them, or fewer worlds
            are drawn than the error asks for, the estimate says so by its own error.
        potential
            Also of rows that are in the answer of some world and not in this one; see
            :meth:`lipstick.Capture.polynomials`.
        given
            Evidence B of the conditional probability P(row | B): annotations that are known not to
            be 0, of rows of this query or another one of the session, and conditions such as
            ``compare(">", value, 3)``; or a query, of which some row is known to be there.
        blocks
            Per relation the columns whose values put its tuples in blocks: of a block at most one
            tuple is there, each with its own weight. Columns that are no key need Spark; instead of
            columns, a mapping from keys to blocks, or a function of the token.

        Raises
        ------
        CapabilityError
            Where only Spark knows a condition, and where the evidence has the probability 0.
        ExactnessError
            With ``"exact"``, when too many single tuples would have to be decided.
        ValuationError
            A weight that is no probability, and blocks whose weights add up to more than 1.
        """
        known = _Known(self._captured, weights, default, given, blocks)
        return answer_rows(
            self._annotated(limit, potential=potential),
            method,
            lambda k: probability(k, known.weights(k.tokens), **known.beforehand),
            lambda k: sampled_probability(
                k, known.weights(k.tokens), error, confidence, **known.beforehand
            ),
            lambda: Estimate(0.5, 0.5),
        )

    @question("computing a probability")
    def probability_of(
        self,
        condition: Annotation,
        weights: Any,
        *,
        default: Any = None,
        method: Method = "auto",
        error: float = 0.01,
        confidence: float = 0.95,
        budget: float | None = BUDGET,
        given: Annotation | Analyses | Iterable[Annotation | Analyses] | None = None,
        blocks: Mapping[str, Any] | Callable[[Token], Any] | None = None,
    ) -> Estimate:
        """Return the probability of a condition on rows and values of this query.

        Parameters
        ----------
        condition
            An annotation: of a row, a product or sum of such, or a comparison of formal values,
            ``compare(">", value, 3)`` of :mod:`semiring.expression`, where values are those of
            :meth:`lipstick.Capture.tensors`.

        Other parameters, and what is raised, as for :meth:`probability`.
        """
        known = _Known(self._captured, weights, default, given, blocks)
        ((_, estimate),) = answer_rows(
            [(None, lambda: condition)],
            method,
            lambda k: probability(k, known.weights(k.tokens), **known.beforehand),
            lambda k: sampled_probability(
                k, known.weights(k.tokens), error, confidence, **known.beforehand
            ),
        )
        return estimate

    @question("computing expected values")
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
        budget: float | None = BUDGET,
        given: Annotation | Analyses | Iterable[Annotation | Analyses] | None = None,
        blocks: Mapping[str, Any] | Callable[[Token], Any] | None = None,
    ) -> list[tuple[Row, Moments]]:
        """Return the expected value and variance of a column of numbers, of independent tuples.

        Parameters
        ----------
        column
            A SUM or COUNT (over no tuple 0), or a MIN, MAX or AVG (given that there is a value), or
            what is made of them by arithmetic, CASE and functions (given that there is a value).
        weights, default, method, given, blocks
            As for :meth:`probability`.
        error
            Of samples: as a share of the width of the range that the values may have.

        Raises
        ------
        CapabilityError
            Where a sum is multiplied with a condition and ``method`` is not ``"sample"``, where
            there is a value in no world, and for columns that have no numbers.
        ExactnessError
            With ``"exact"``, where a row is too hard: too many tuples decide about more than one
            value, or an average is over too many values.
        """
        known = _Known(self._captured, weights, default, given, blocks)
        return answer_rows(
            self._valued(column, limit),
            method,
            lambda value: moments(value, known.weights(value.tokens), **known.beforehand),
            lambda value: sampled_moments(
                value, known.weights(value.tokens), error, confidence, **known.beforehand
            ),
        )

    @question("computing Shapley values")
    def shapley(
        self,
        limit: int | None = 20,
        *,
        method: Method = "auto",
        error: float = 0.05,
        confidence: float = 0.95,
        budget: float | None = BUDGET,
    ) -> list[tuple[Row, dict[Token, Estimate]]]:
        """The Shapley value of every input tuple for each row's being there.

        ``method`` and ``budget`` as for :meth:`probability`.
        """
        return answer_rows(
            self._annotated(limit),
            method,
            shapley,
            lambda annotation: sampled_shapley(annotation, error, confidence),
        )

    @question("computing Banzhaf values")
    def banzhaf(
        self, limit: int | None = 20, *, budget: float | None = BUDGET
    ) -> list[tuple[Row, dict[Token, Estimate]]]:
        """The Banzhaf value of every input tuple for each row's being there.

        Raises
        ------
        ExactnessError
            Where a row is too hard.
        """
        return answer_rows(self._annotated(limit), "exact", banzhaf)

    @question("finding witnesses")
    def witnesses(
        self, limit: int | None = 20, *, budget: float | None = BUDGET
    ) -> list[tuple[Row, list[Tokens]]]:
        """The minimal sets of input tuples that suffice for each row.

        Raises
        ------
        CapabilityError
            Where the absence of tuples, or a comparison of aggregates, takes part.
        """
        return answer_rows(self._annotated(limit), "exact", witnesses)

    @question("finding repairs")
    def repairs(
        self, limit: int | None = 20, *, budget: float | None = BUDGET
    ) -> list[tuple[Row, list[Tokens]]]:
        """The smallest deletions of input tuples that remove each row.

        Raises
        ------
        ExactnessError
            Where too many sets would have to be tried, or the budget in seconds is spent.
        """
        return answer_rows(self._annotated(limit), "exact", repairs)

    @question("computing responsibility")
    def responsibility(
        self, limit: int | None = 20, *, budget: float | None = BUDGET
    ) -> list[tuple[Row, dict[Token, float]]]:
        """Return the responsibility of input tuples for each row: 1 if it depends on one alone.

        Raises
        ------
        ExactnessError
            Where too many sets would have to be tried, or the budget in seconds is spent.
        """
        return answer_rows(self._annotated(limit), "exact", responsibility)


def _made(annotation: Annotation) -> Callable[[], Annotation]:
    return lambda: annotation


def _same(annotation: Annotation) -> Annotation | None:
    return annotation


def _here(capture: Capture, make: Callable[[], Value]) -> Value:
    with answered_here(capture.engine):
        return make()


class _Known:
    """Prior knowledge about tuples: their probabilities, evidence, and blocks."""

    def __init__(
        self, capture: Capture, weights: Any, default: Any, given: Evidence, blocks: BlockColumns
    ) -> None:
        annotations = list(_annotations(given))
        self._tokens = frozenset[Token]().union(*(k.tokens for k in annotations))
        beside = {token.relation for token in self._tokens} - set(capture.manifest.relations)
        self._weights = _Weights(capture, weights, default, beside)
        self.beforehand: dict[str, Any] = {
            "given": annotations or None,
            "blocks": block_function(capture, blocks, beside),
        }

    def weights(self, tokens: Tokens) -> dict[Token, float]:
        """Return the probabilities of some tokens, and of the tokens of the evidence."""
        return self._weights(tokens | self._tokens)


def _annotations(given: Evidence) -> Iterator[Expression]:
    """The annotations of evidence; of a query, that one of its rows is there."""
    if given is None:
        return
    if isinstance(given, Polynomial | Expression):
        yield Expression.of(given)
    elif isinstance(given, Analyses):
        rows = given._captured.polynomials(None, potential=True)
        yield sum_of((Expression.of(k), 1) for _, k in rows).delta()
    elif isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        for part in given:
            yield from _annotations(part)
    else:
        raise ValuationError(
            f"Evidence is annotations, or queries, not {type(given).__name__}: take annotations "
            "from polynomials(), conditions from semiring.expression.compare()."
        )


class _Weights:
    """Probabilities of tokens, each looked up once.

    Parameters
    ----------
    beside
        Relations of the evidence which the query does not read.
    """

    def __init__(
        self, capture: Capture, weights: Any, default: Any, beside: Collection[str] = ()
    ) -> None:
        number = isinstance(weights, int | float)
        self._same = float(weights) if number else None
        self._known: dict[Token, float] = {}
        self._beside = frozenset(beside)
        self._others: Callable[[Token], float] | None = None
        if beside and not number:
            self._others = _plain_weights(weights, default)
            if isinstance(weights, Mapping):
                weights = {name: w for name, w in weights.items() if name not in self._beside}
        if isinstance(weights, Mapping):
            weights = {name: _function_of(of_relation) for name, of_relation in weights.items()}
        self._values = None if number else capture._token_weights(weights, default)

    def __call__(self, tokens: Tokens) -> dict[Token, float]:
        if self._values is None:
            assert self._same is not None
            return dict.fromkeys(tokens, self._same)
        new = sorted(token for token in tokens if token not in self._known)
        if self._others is not None:
            others = [token for token in new if token.relation in self._beside]
            self._known.update((token, self._others(token)) for token in others)
            new = [token for token in new if token.relation not in self._beside]
        self._known.update(zip(new, self._values(new), strict=True))
        return {token: self._known[token] for token in tokens}


def _function_of(weights: Any) -> Any:
    """One number for all tuples of a relation, as a function of the token."""
    return (lambda _: float(weights)) if isinstance(weights, int | float) else weights


def _plain_weights(weights: Any, default: Any) -> Callable[[Token], float]:
    """The weights of tuples of relations which the query does not read."""

    def weight(token: Token) -> float:
        of_relation = weights.get(token.relation, default) if isinstance(weights, Mapping) else None
        if callable(weights):
            return float(weights(token))
        if isinstance(of_relation, Mapping):
            key = token.key[0] if len(token.key) == 1 else token.key
            value = of_relation.get(key, of_relation.get(token.key, default))
            return 1.0 if value is None else float(value)
        if callable(of_relation):
            return float(of_relation(token))
        if isinstance(of_relation, int | float):
            return float(of_relation)
        raise ValuationError(
            f"The query does not read {token.relation}, of which there is evidence: give the "
            "weights of its tuples as a number, a mapping from keys to numbers, or a function of "
            "the token."
        )

    return weight


def block_function(
    capture: Capture, blocks: BlockColumns, beside: Collection[str] = ()
) -> Callable[[Token], Hashable] | None:
    """Return the block of each token, None of a token that is independent of all others.

    Raises
    ------
    ValuationError
        For relations that take no part, columns that they do not have, and columns other than keys
        where there is no Spark to look them up.
    """
    if blocks is None:
        return None
    if callable(blocks):
        return _block_by(blocks)
    if not isinstance(blocks, Mapping):
        raise ValuationError(
            "blocks are given per relation, {'cars': ['model']}, or as a function of the token, "
            f"not as {type(blocks).__name__}."
        )
    by_relation: dict[str, Callable[[Token], Hashable]] = {}
    for name, spec in blocks.items():
        record = capture.manifest.relations.get(name)
        if record is None and name not in beside:
            raise ValuationError(
                f"The query does not read {name!r}: give blocks of "
                f"{', '.join(sorted(capture.manifest.relations))}."
            )
        if isinstance(spec, Mapping):
            by_relation[name] = _block_of_key(spec)
        elif record is None:
            raise ValuationError(
                f"The query does not read {name}, of which there is evidence: give its blocks as a "
                "mapping from keys."
            )
        else:
            columns = [spec] if isinstance(spec, str) else spec
            if not isinstance(columns, Sequence) or not all(isinstance(c, str) for c in columns):
                raise ValuationError(
                    f"blocks of {name!r} are {spec!r}: give columns, ['model'], or a mapping from "
                    "keys to blocks."
                )
            by_relation[name] = block_of_columns(record, columns, capture.engine.spark)

    def block(token: Token) -> Hashable:
        of_relation = by_relation.get(token.relation)
        return None if of_relation is None else of_relation(token)

    return block


def _block_by(function: Callable[[Token], Hashable]) -> Callable[[Token], Hashable]:
    """Return a user's function of tokens whose errors name the token."""

    def block(token: Token) -> Hashable:
        try:
            found = function(token)
            hash(found)
        except Exception as error:
            raise ValuationError(f"blocks({token}) failed: {error!r}.") from error
        return found

    return block


def _block_of_key(blocks: Mapping[Any, Any]) -> Callable[[Token], Hashable]:
    def block(token: Token) -> Hashable:
        key = token.key[0] if len(token.key) == 1 else token.key
        found: Hashable = blocks.get(key)
        return found

    return block
