"""Questions to annotations themselves: their values, how likely, thanks to whom, what is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import pyarrow as pa

from lipstick.engines.route import evaluation, if_here
from lipstick.errors import NeedsSparkError
from lipstick.questions.asking import BUDGET, Method, answer_rows, check_limit, question
from lipstick.questions.prior import Annotation, PriorKnowledge
from semiring import analysis
from semiring.base import Semiring
from semiring.errors import ExactnessError
from semiring.support.budget import call_within, remaining
from semiring.support.door import checked
from semiring.token import Token
from semiring.value import Value

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture
    from lipstick.engines.memory.memory import Memory
    from lipstick.engines.protocol import Row
    from lipstick.questions.methods import Questions
    from lipstick.tables.origins import A

T = TypeVar("T")


def annotated_rows(
    capture: Capture, limit: int | None, *, potential: bool = False
) -> list[tuple[Row, Callable[[], Annotation]]]:
    """Return the first rows of an answer, each with a function that makes its annotation."""
    check_limit(limit)
    if not potential:
        deferred = if_here(partial(_deferred, capture.memory, limit), NeedsSparkError)
        if deferred is not None:
            return deferred
    annotated = capture.polynomials(limit, potential=potential)
    return [(row, partial(_same, k)) for row, k in annotated]


def expanded_rows(
    capture: Capture, rows: list[tuple[Row, A]], *, values: bool
) -> list[tuple[Row, A]]:
    """Return rows whose annotations, or values, have tokens of inputs instead of derived rows."""
    from lipstick.tables.origins import expanded

    formal = expanded(capture, [k for _, k in rows], values=values)
    return [(row, k) for (row, _), k in zip(rows, formal, strict=True)]


@checked
class Algebra(Generic[T]):
    """The annotations and formal values of an answer, and what is computed from them.

    Frames and captures have it as ``algebra``. Questions are about the first `limit` rows, None:
    all. Free functions over single annotations are in `semiring.analysis`. Exact answers may be
    exponential in the number of tuples a row is made of: a budget bounds them, which covers the
    annotations too. ``error`` and ``confidence`` are for the samples that are drawn instead; each
    answer shows whether it is exact.
    """

    def __init__(self, asked: Questions[T]) -> None:
        self._asked = asked

    @property
    def _captured(self) -> Capture:
        """The capture that knows the annotations, made when it is first needed."""
        return self._asked._captured

    @question("listing members")
    def members(self, limit: int | None = None) -> pa.Table:
        """One row per output tuple and member: the answer's columns, tokens, values."""
        check_limit(limit)
        return self._captured.memory.members(limit)

    def annotations_within(self, limit: int, seconds: float) -> list[tuple[Row, Annotation | None]]:
        """Return the first rows of the answer, each with its annotation; None: not made in time.

        The time begins once the query is captured.
        """
        _ = self._captured

        def answered() -> list[tuple[Row, Annotation | None]]:
            return answer_rows(
                annotated_rows(self._captured, limit), "auto", _same, None, lambda: None
            )

        return call_within(seconds, answered)

    @question("making formal values")
    def tensors(
        self,
        column: str,
        limit: int | None = 20,
        *,
        expand: bool = False,
        budget: float | None = None,
    ) -> list[tuple[Row, Value]]:
        """Return the first rows of the answer, each with the formal value of a column.

        An aggregate has a tensor; arithmetic, CASE and functions over aggregates, windows and
        subqueries have functions of tensors; a value that no deletion changes is 1⊗v. Under a
        valuation by 0 and 1, ``value.evaluate(...)`` is what the column has in that world.
        ``expand`` and ``budget`` as in :meth:`polynomials`.

        Raises
        ------
        CaptureError
            When the answer has no such column, or several.
        ExactnessError
            Where a value depends on too many rows, through an order, a window or changing keys.
        """
        check_limit(limit)
        capture = self._captured
        tensors = capture.memory.tensors(column, limit)
        return expanded_rows(capture, tensors, values=True) if expand else tensors

    @question("evaluating annotations")
    def evaluate(
        self,
        semiring: Semiring[Any],
        valuation: Any = None,
        default: Any = None,
        *,
        potential: bool = False,
        strict: bool = False,
        budget: float | None = None,
    ) -> T:
        """Return the answer's columns, then ``_value``: each row's annotation in a semiring.

        Parameters
        ----------
        semiring
            One of ``lipstick.semirings``.
        valuation
            None (the semiring's default), a function of a token, or per relation: a mapping from
            key to value, a function, an Arrow table or data frame (key columns, value), or, with
            Spark, an expression over the relation's columns or :func:`lipstick.of_row`.
        default
            The value of tokens that a mapping or table leaves out; the semiring's 1 if None.
        potential
            Also rows that are in the answer of some world and not in this one, computed in memory.
            Columns have the values of the world of the tuples that are not valued 0.
        strict
            Refuse keys of a mapping or table that name no row, in place of a warning.
        budget
            As for :meth:`polynomials`.

        Raises
        ------
        ValuationError
            A value outside the carrier.
        CapabilityError
            The semiring has no monus, and rows may appear by a deletion; or conditions are on
            tuples valued neither 0 nor 1. By tokens valued 0 and 1, annotations say in any
            semiring what is in the answer without the tuples valued 0.
        """
        capture = self._captured
        valuations = capture._valuations(semiring, valuation, default, strict=strict)
        if potential:
            shown = capture.engine.shown(capture.memory.evaluate_potential(semiring, valuations))
            return cast("T", shown)
        return cast("T", evaluation(capture, semiring, valuations))

    @question("evaluating annotations")
    def k_relation(
        self,
        semiring: Semiring[Any],
        valuation: Any = None,
        default: Any = None,
        *,
        strict: bool = False,
        budget: float | None = None,
    ) -> T:
        """Return the answer as a K-relation: distinct rows with the sums of their annotations.

        Rows that are not in the answer but would be annotated other than 0, as rows of an outer
        join or NOT EXISTS may be, are not shown: see :meth:`what_if`.

        Parameters and errors are as for :meth:`evaluate`; computed in memory. Source: Green,
        Karvounarakis, Tannen, *Provenance Semirings*, PODS 2007, section 3.
        """
        capture = self._captured
        valuations = capture._valuations(semiring, valuation, default, strict=strict)
        found = capture.memory.evaluate(semiring, valuations, merged=True)
        return cast("T", capture.engine.shown(found))

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
        given: Annotation | Questions[Any] | Iterable[Annotation | Questions[Any]] | None = None,
        blocks: Mapping[str, Any] | Callable[[Token], Any] | None = None,
    ) -> analysis.Estimate:
        """Return the probability of a condition on rows and values of this query.

        Parameters
        ----------
        condition
            An annotation: of a row, a product or sum of such, or a comparison of formal values,
            ``compare(">", value, 3)`` of :mod:`semiring.expression`, where values are those of
            :meth:`tensors`.

        Other parameters, and what is raised, as for :meth:`probability`.
        """
        known = PriorKnowledge(self._captured, weights, default, given, blocks)
        ((_, estimate),) = answer_rows(
            [(None, lambda: condition)],
            method,
            lambda k: analysis.probability(k, known.weights(k), **known.beforehand),
            together=lambda listed: analysis.sampled_probabilities(
                listed, known.weights(*listed), error, confidence, **known.beforehand
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
        given: Annotation | Questions[Any] | Iterable[Annotation | Questions[Any]] | None = None,
        blocks: Mapping[str, Any] | Callable[[Token], Any] | None = None,
    ) -> list[tuple[Row, analysis.Moments]]:
        """Return the expected value and variance of a column of numbers, of independent tuples.

        Parameters
        ----------
        column
            A SUM or COUNT (over no tuple 0), or a MIN, MAX or AVG (given that there is a value), or
            what is made of them by arithmetic, CASE and functions (given that there is a value).
        weights, default, method, given, blocks
            As for :meth:`probability`.
        error
            Of samples: as a share of the width of the range that the values may have. Quotients
            and other formal values have the range that a part of the sample shows; ``missed``
            bounds the probability of other values.

        Raises
        ------
        CapabilityError
            Where there is a value in no world, and for columns that have no numbers.
        ExactnessError
            With ``"exact"``, where a row is too hard: too many tuples decide about more than one
            value, a sum is multiplied with a condition, or an average is over too many values.
        """
        known = PriorKnowledge(self._captured, weights, default, given, blocks)
        return answer_rows(
            self._valued(column, limit),
            method,
            lambda value: analysis.moments(value, known.weights(value), **known.beforehand),
            together=lambda values: analysis.sampled_moments(
                values, known.weights(*values), error, confidence, **known.beforehand
            ),
        )

    def _valued(self, column: str, limit: int | None) -> list[tuple[Row, Callable[[], Value]]]:
        """Return rows of the answer, each with a function that makes a column's formal value."""
        check_limit(limit)
        return self._captured.memory.deferred_values(column, limit)

    @question("computing Shapley values")
    def shapley(
        self,
        limit: int | None = 20,
        *,
        method: Method = "auto",
        error: float = 0.05,
        confidence: float = 0.95,
        budget: float | None = BUDGET,
    ) -> list[tuple[Row, dict[Token, analysis.Estimate]]]:
        """The Shapley value of every input tuple for each row's being there.

        ``method`` and ``budget`` as for :meth:`probability`.
        """
        sampled = partial(analysis.sampled_shapley, error=error, confidence=confidence)
        return answer_rows(annotated_rows(self._captured, limit), method, analysis.shapley, sampled)

    @question("computing Banzhaf values")
    def banzhaf(
        self,
        limit: int | None = 20,
        *,
        method: Method = "auto",
        error: float = 0.05,
        confidence: float = 0.95,
        budget: float | None = BUDGET,
    ) -> list[tuple[Row, dict[Token, analysis.Estimate]]]:
        """The Banzhaf value of every input tuple for each row's being there.

        ``method`` and ``budget`` as for :meth:`probability`.
        """
        return answer_rows(
            annotated_rows(self._captured, limit),
            method,
            analysis.banzhaf,
            lambda annotation: analysis.sampled_banzhaf(annotation, error, confidence),
        )

    @question("finding witnesses")
    def witnesses(
        self, limit: int | None = 20, *, budget: float | None = BUDGET
    ) -> list[tuple[Row, analysis.MinimalWitnesses]]:
        """The minimal sets of input tuples that suffice for each row, whichever others of the
        tuples that the row depends on are there.

        ``complete`` of a row's list is False where the budget was spent before all were found.

        Raises
        ------
        CapabilityError
            Where more than twelve tuples may both bring the row and take it away.
        """
        return answer_rows(
            annotated_rows(self._captured, limit),
            "auto",
            analysis.witnesses,
            analysis.found_witnesses,
            lambda: analysis.MinimalWitnesses([], complete=False),
        )

    @question("summing over witnesses")
    def wsms(
        self, limit: int | None = 20, *, budget: float | None = BUDGET
    ) -> list[tuple[Row, dict[Token, float]]]:
        """The weighted sums of minimal witnesses: 1 / n for each of n tuples of each of them.

        Shares in a row that take polynomial time for unions of conjunctive queries; see
        :func:`semiring.analysis.wsms`.

        Raises
        ------
        CapabilityError
            As :meth:`witnesses`.
        """
        return answer_rows(annotated_rows(self._captured, limit), "exact", analysis.wsms)

    @question("finding repairs")
    def repairs(
        self, limit: int | None = 20, *, budget: float | None = BUDGET
    ) -> list[tuple[Row, analysis.Repairs]]:
        """The smallest deletions of input tuples that remove each row.

        They are found exactly where the annotation compiles: by the structure of joins, and as a
        knapsack below a condition on a COUNT or SUM. ``complete`` of a row's list shows whether all
        deletions of the least size are in it; where it does not compile within half of the budget,
        the list has the best deletion that a search finds in the rest, and ``at_least`` is a lower
        bound on the size of any.
        """
        return answer_rows(
            annotated_rows(self._captured, limit),
            "auto",
            analysis.repairs,
            analysis.found_repairs,
            lambda: analysis.Repairs([], complete=False, at_least=0),
        )

    @question("computing responsibility")
    def responsibility(
        self, limit: int | None = 20, *, budget: float | None = BUDGET
    ) -> list[tuple[Row, analysis.Responsibilities]]:
        """Return the responsibility of input tuples for each row: 1 if it depends on one alone.

        Where the budget is spent before, the shares of tuples that are in ``upper`` are lower
        bounds, and their upper bounds are there.
        """
        return answer_rows(
            annotated_rows(self._captured, limit),
            "auto",
            analysis.responsibility,
            analysis.bounded_responsibility,
        )


def _deferred(memory: Memory, limit: int | None) -> list[tuple[Row, Callable[[], Annotation]]]:
    """Return rows with functions that make their annotations; the first of these is called."""
    rows = memory.deferred_annotations(limit)
    if rows:
        left = remaining()
        with suppress(ExactnessError):  # it says whether annotations need Spark
            call_within(left and left / len(rows), rows[0][1])
    return rows


def _same(annotation: Annotation) -> Annotation:
    return annotation
