"""Questions to the annotations of an answer's rows: how likely, thanks to whom, what is needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lipstick.engines.route import if_here
from lipstick.errors import NeedsSparkError
from lipstick.outer import outer
from lipstick.questions.asking import (
    BUDGET,
    Method,
    answer_rows,
    check_limit,
    evaluating,
    question,
)
from lipstick.questions.prior import Annotation, PriorKnowledge
from semiring.analysis import (
    Estimate,
    MinimalWitnesses,
    Moments,
    Repairs,
    Responsibilities,
    banzhaf,
    bounded_responsibility,
    found_repairs,
    found_witnesses,
    moments,
    probability,
    repairs,
    responsibility,
    sampled_banzhaf,
    sampled_moments_of,
    sampled_probabilities,
    sampled_shapley,
    shapley,
    witnesses,
    wsms,
)
from semiring.errors import ExactnessError
from semiring.support.budget import call_within, remaining
from semiring.support.door import checked
from semiring.token import Token
from semiring.value import Value

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture
    from lipstick.engines.memory.memory import Memory
    from lipstick.engines.protocol import Row
    from lipstick.questions.diff.counterexample import Counterexample
    from lipstick.questions.diff.difference import AnswerDifference
    from lipstick.questions.where.origins import CellOrigins


@checked
class Analyses(ABC):
    """Questions about each row, shared by frames and captures; the first `limit` rows, None: all.

    Free functions over single annotations are in `semiring.analysis`. Exact answers may be
    exponential in the number of tuples a row is made of: a budget bounds them, which covers the
    annotations too. ``error`` and ``confidence`` are for the samples that are drawn instead; each
    answer shows whether it is exact.
    """

    @property
    @abstractmethod
    def _captured(self) -> Capture:
        """The capture that knows the annotations."""

    def _annotated(
        self, limit: int | None, *, potential: bool = False
    ) -> list[tuple[Row, Callable[[], Annotation]]]:
        """Return the first rows of the answer, each with a function that makes its annotation."""
        check_limit(limit)
        capture = self._captured
        if not potential:
            deferred = if_here(partial(_deferred, capture.memory, limit), NeedsSparkError)
            if deferred is not None:
                return deferred
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
        check_limit(limit)
        return self._captured.memory.deferred_values(column, limit)

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
        """Return the probability of each row to be in the answer, of independent input tuples.

        Parameters
        ----------
        weights
            The probability of each input tuple: one number for all, or per relation a number, or
            a valuation of :meth:`lipstick.Capture.evaluate`.
        default
            That of tuples which a mapping or table leaves out; 1 if None.
        method
            ``"exact"`` (an error if too hard), ``"sample"``, or ``"auto"``: exact if not too hard.
        budget
            Seconds for the questions about all rows, once their annotations are made; None: no
            limit. Where an exact answer takes more than half of them, or fewer worlds are drawn
            than the error asks for, the estimate states its own larger error.
        potential
            Also of rows that are in the answer of some world and not in this one; see
            :meth:`lipstick.Capture.polynomials`.
        given
            Evidence B of the conditional probability P(row | B): annotations that are known not to
            be 0, of rows of this query or another one of the session, and conditions such as
            ``compare(">", value, 3)``; or a query, of which some row is known to be there.
        blocks
            Per relation the columns whose values put its tuples in blocks: of a block at most one
            tuple is there, each with its own weight. Columns that are not a key need Spark. Instead
            of columns, a mapping from keys to blocks, or a function of the token.

        Raises
        ------
        CapabilityError
            Where only Spark knows a condition, and where the evidence has the probability 0.
        ExactnessError
            With ``"exact"``, when too many single tuples would have to be decided.
        ValuationError
            A weight that is not a probability, and blocks whose weights add up to more than 1.
        """
        known = PriorKnowledge(self._captured, weights, default, given, blocks)
        return answer_rows(
            self._annotated(limit, potential=potential),
            method,
            lambda k: probability(k, known.weights(k), **known.beforehand),
            unknown=lambda: Estimate(0.5, 0.5),
            together=lambda listed: sampled_probabilities(
                listed, known.weights(*listed), error, confidence, **known.beforehand
            ),
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
        known = PriorKnowledge(self._captured, weights, default, given, blocks)
        ((_, estimate),) = answer_rows(
            [(None, lambda: condition)],
            method,
            lambda k: probability(k, known.weights(k), **known.beforehand),
            together=lambda listed: sampled_probabilities(
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
            lambda value: moments(value, known.weights(value), **known.beforehand),
            together=lambda values: sampled_moments_of(
                values, known.weights(*values), error, confidence, **known.beforehand
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
        self,
        limit: int | None = 20,
        *,
        method: Method = "auto",
        error: float = 0.05,
        confidence: float = 0.95,
        budget: float | None = BUDGET,
    ) -> list[tuple[Row, dict[Token, Estimate]]]:
        """The Banzhaf value of every input tuple for each row's being there.

        ``method`` and ``budget`` as for :meth:`probability`.
        """
        return answer_rows(
            self._annotated(limit),
            method,
            banzhaf,
            lambda annotation: sampled_banzhaf(annotation, error, confidence),
        )

    @question("finding witnesses")
    def witnesses(
        self, limit: int | None = 20, *, budget: float | None = BUDGET
    ) -> list[tuple[Row, MinimalWitnesses]]:
        """The minimal sets of input tuples that suffice for each row, whichever others of the
        tuples that the row depends on are there.

        ``complete`` of a row's list is False where the budget was spent before all were found.

        Raises
        ------
        CapabilityError
            Where more than twelve tuples may both bring the row and take it away.
        """
        return answer_rows(
            self._annotated(limit),
            "auto",
            witnesses,
            found_witnesses,
            lambda: MinimalWitnesses([], complete=False),
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
        return answer_rows(self._annotated(limit), "exact", wsms)

    @question("finding repairs")
    def repairs(
        self, limit: int | None = 20, *, budget: float | None = BUDGET
    ) -> list[tuple[Row, Repairs]]:
        """The smallest deletions of input tuples that remove each row.

        They are found exactly where the annotation compiles: by the structure of joins, and as a
        knapsack below a condition on a COUNT or SUM. ``complete`` of a row's list shows whether all
        deletions of the least size are in it; where it does not compile within half of the budget,
        the list has the best deletion that a search finds in the rest, and ``at_least`` is a lower
        bound on the size of any.
        """
        return answer_rows(
            self._annotated(limit),
            "auto",
            repairs,
            found_repairs,
            lambda: Repairs([], complete=False, at_least=0),
        )

    @question("computing responsibility")
    def responsibility(
        self, limit: int | None = 20, *, budget: float | None = BUDGET
    ) -> list[tuple[Row, Responsibilities]]:
        """Return the responsibility of input tuples for each row: 1 if it depends on one alone.

        Where the budget is spent before, the shares of tuples that are in ``upper`` are lower
        bounds, and their upper bounds are there.
        """
        return answer_rows(self._annotated(limit), "auto", responsibility, bounded_responsibility)

    # -- differences and cells ---------------------------------------------------------------

    def diff(
        self,
        other: Analyses,
        key: Sequence[str] | None = None,
        *,
        sources: tuple[Mapping[str, pa.Table], Mapping[str, pa.Table]] | None = None,
    ) -> AnswerDifference:
        """Compare the answer with that of another run: other data, another text, or both.

        Parameters
        ----------
        other
            The later run: a frame, of this session or of one that tracks the later data, or a
            capture. Where text and data both differ it is a frame, whose session runs this text.
        key
            The columns that identify a row in both answers; None: the GROUP BY columns where both
            queries show theirs, else rows are compared as they are.
        sources
            Rows of relations, before and after, that are used in place of their sources.

        Returns
        -------
        AnswerDifference
            ``rows()`` are the rows added, removed and changed; ``parts(column, where)`` divides
            the difference of a number among code and changed rows, exactly.

        Raises
        ------
        CaptureError
            For columns of the key that an answer does not have.
        ArgumentError
            When text and data differ, and the other run is a capture.

        The rules by which parts add up stand in :mod:`lipstick.questions.diff`.
        """
        from lipstick.questions.diff.pipeline import compared_runs

        return compared_runs(self, other, key, sources or ({}, {}))

    def counterexample(
        self, other: Analyses, *, budget: float | None = BUDGET
    ) -> Counterexample | None:
        """Return a small database on which this query and another one differ.

        Parameters
        ----------
        other
            Another text, of the same session, or one whose relations have the same rows.
        budget
            Seconds for leaving out rows; when they are spent, more than necessary remain.

        Returns
        -------
        Counterexample or None
            Rows of the relations, over which both queries were run; None: there is no difference
            on this data, which does not mean that the queries are equal.

        Raises
        ------
        CaptureError
            For answers with different numbers of columns, and where only Spark computes what they
            would be without some rows.
        ArgumentError
            For captures, which cannot be run, and for queries over other data.
        """
        from lipstick.questions.diff.pipeline import found_counterexample

        return found_counterexample(self, other, budget)

    def where(
        self,
        column: str,
        where: Mapping[str, Any] | None = None,
        *,
        sources: Mapping[str, pa.Table] | None = None,
        **values: Any,
    ) -> CellOrigins:
        """Return the cells of the relations that a cell of the answer comes from.

        Parameters
        ----------
        column
            The column of the cell.
        where, values
            The values of columns that name its row; not needed where the answer has one row.
        sources
            Rows of relations that are used in place of their sources.

        Raises
        ------
        CaptureError
            For columns that are not there, and where no row or several have these values.
        CapabilityError
            For rows of recursions and values in FROM, and where the capture does not distinguish
            the rows that a generator makes.

        Cells of tables that annotated queries wrote come with the cells behind them. The definition
        stands in :mod:`lipstick.questions.where`.
        """
        from lipstick.questions.where.origins import cell_origins

        capture = self._captured
        named = {**(where or {}), **values}
        spark = capture.engine.spark
        with evaluating(capture.manifest, spark):
            return cell_origins(capture.memory, spark, column, named, sources or {}, capture)

    def column_lineage(self) -> pa.Table:
        """Return the columns of relations behind each column of the answer.

        Returns
        -------
        pa.Table
            column, relation, source (a column of the relation), kind and subtype as OpenLineage
            has them: DIRECT with IDENTITY, TRANSFORMATION or AGGREGATION; INDIRECT with
            CONDITIONAL, JOIN, FILTER, GROUP_BY, SORT or WINDOW.
        """
        from lipstick.questions.where.origins import lineage_of_columns

        return lineage_of_columns(self._captured.memory)

    def column_lineage_facet(self, namespace: str = "lipstick") -> dict[str, Any]:
        """Return :meth:`column_lineage` as the facet `columnLineage` of OpenLineage, 1-2-0."""
        lineage_facet = outer("lipstick.openlineage:lineage_facet")
        facet: dict[str, Any] = lineage_facet(self._captured.memory, namespace)
        return facet


def _deferred(memory: Memory, limit: int | None) -> list[tuple[Row, Callable[[], Annotation]]]:
    """Return rows with functions that make their annotations; the first of these is called."""
    rows = memory.deferred_annotations(limit)
    if rows:
        left = remaining()
        with suppress(ExactnessError):  # it says whether annotations need Spark
            call_within(left and left / len(rows), rows[0][1])
    return rows


def _made(annotation: Annotation) -> Callable[[], Annotation]:
    return lambda: annotation


def _same(annotation: Annotation) -> Annotation | None:
    return annotation
