"""Questions to a query's annotations, which frames and captures answer alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, cast

import pyarrow as pa

from lipstick.engines.memory.store import OPEN_WITH_SPARK
from lipstick.engines.route import answer
from lipstick.errors import NeedsSparkError
from lipstick.questions.algebra import Algebra, annotated_rows, expanded_rows
from lipstick.questions.asking import (
    BUDGET,
    Method,
    answer_rows,
    check_limit,
    evaluating,
    jobs_counted,
    question,
)
from lipstick.questions.keys import record_of
from lipstick.questions.prior import Annotation, PriorKnowledge
from lipstick.questions.scenarios import Given, resolve_scenarios
from semiring.analysis import Estimate, probability, sampled_probabilities
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.support.door import checked
from semiring.token import Token

if TYPE_CHECKING:
    from pyspark.sql import Column

    from lipstick.capture.capture import Capture
    from lipstick.engines.memory.scenarios import Scenarios, Updates
    from lipstick.engines.protocol import Row
    from lipstick.questions.diff.difference import AnswerDifference
    from lipstick.questions.what_if import WhatIf, WhatIfMany
    from lipstick.questions.where.origins import CellOrigins
    from lipstick.questions.why.answer import Explanation

T = TypeVar("T")

_SHARE = 0.8
"""The share of a budget after which what is not yet found is left unknown."""


_MOVED: Final = {
    **dict.fromkeys(("answer_over", "with_query"), "lipstick.Session.sql"),
    "column_lineage_facet": "lipstick.openlineage.lineage_facet(q)",
    **{
        name: f"q.{place}.{name}"
        for place, names in {
            "algebra": "annotations_within members tensors evaluate k_relation probability_of "
            "expected shapley banzhaf witnesses wsms repairs responsibility",
            "plan": "ancestry annotated annotation_type cost counterexample dropped explain "
            "is_captured jobs relations rewritten_sql root",
        }.items()
        for name in names.split()
    },
}
"""The places of names that frames and captures had."""


@checked
class Questions(ABC, Generic[T]):
    """Questions about all rows, shared by frames and captures, with answers of the type `T`.

    A frame answers from its capture, which is written when it is first asked.
    """

    @property
    @abstractmethod
    def _captured(self) -> Capture:
        """The capture that knows the annotations."""

    def _named_row(self, row: int | Mapping[str, Any] | None) -> int | Mapping[str, Any] | None:
        """Return a row as the capture knows it: by its place, or by values of its columns."""
        return row

    @property
    def algebra(self) -> Algebra[T]:
        """Formal values, evaluation in semirings, expected values, shares, witnesses, repairs."""
        return Algebra(self)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise the error for what has moved."""
            if name in _MOVED:
                raise AttributeError(f"{type(self).__name__}.{name} is now {_MOVED[name]}.")
            return object.__getattribute__(self, name)

    # -- annotations -----------------------------------------------------------------------

    @question("making annotations")
    def polynomials(
        self,
        limit: int | None = 20,
        *,
        expand: bool = False,
        potential: bool = False,
        budget: float | None = None,
    ) -> list[tuple[Row, Polynomial | Expression]]:
        """Return the first rows of the answer, each with its annotation in N[X].

        Annotations with δ, ⊖ or conditions are expressions: evaluated, never multiplied out. They
        are exact in every world, that is without any set of input tuples: how often the row is
        in the answer follows from the annotation alone.

        Parameters
        ----------
        expand
            Put the annotations of derived relations in the place of their tokens.
        potential
            Also rows that are in the answer of some world and not in this one, after the others.
            Their columns that differ from world to world are formal values.
        budget
            Seconds, after which the question ends in an error; None: as many as it takes.

        Raises
        ------
        NeedsSparkError
            Without Spark, where Spark alone computes what a deletion may change.
        CapabilityError
            Where Spark alone evaluates the conditions; with ``expand``, where a deletion above a
            derived relation may do more than the annotations would say.
        ExactnessError
            Where a row depends, through an order, a window or changing keys, on too many others.
        """
        check_limit(limit)
        capture = self._captured
        if potential:
            rows = capture.memory.potential_rows(limit)
            annotated = [
                (dict(zip(capture.manifest.names, r.shown, strict=True)), r.annotation)
                for r in rows
            ]
        else:
            here = partial(capture.memory.annotations, limit)
            annotated = answer(here, partial(capture.engine.annotations, limit))
        return expanded_rows(capture, annotated, values=False) if expand else annotated

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
        given: Annotation | Questions[Any] | Iterable[Annotation | Questions[Any]] | None = None,
        blocks: Mapping[str, Any] | Callable[[Token], Any] | None = None,
    ) -> list[tuple[Row, Estimate]]:
        """Return the probability of each row to be in the answer, of independent input tuples.

        Parameters
        ----------
        weights
            The probability of each input tuple: one number for all, or per relation a number, or
            a valuation of :meth:`Algebra.evaluate`.
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
            annotated_rows(self._captured, limit, potential=potential),
            method,
            lambda k: probability(k, known.weights(k), **known.beforehand),
            unknown=lambda: Estimate(0.5, 0.5),
            together=lambda listed: sampled_probabilities(
                listed, known.weights(*listed), error, confidence, **known.beforehand
            ),
        )

    @question("finding lineage")
    def lineage(
        self, where: str | Column | None = None, *, budget: float | None = None
    ) -> dict[str, T]:
        """Return the input rows that the selected rows of the answer were made from, per relation.

        They include the input rows that rows of derived relations were made from.

        Parameters
        ----------
        where
            A predicate over the answer's columns; None selects all. Without Spark, ``"y = 1995"``.
        budget
            As for :meth:`polynomials`.
        """
        return cast("dict[str, T]", dict(self._captured.engine.lineage(where)))

    # -- hypothetical answers --------------------------------------------------------------

    @question("evaluating scenarios")
    def what_if_many(
        self, scenarios: Given, *, strict: bool = False, budget: float | None = None
    ) -> WhatIfMany:
        """Return what the answer would be in each of many scenarios.

        Parameters
        ----------
        scenarios
            A sequence of deletions, each as :meth:`what_if` takes one; a mapping from the
            scenarios' names to deletions; per relation an Arrow table (with Spark, or a data
            frame) of its key columns and a column ``scenario``; or :func:`lipstick.each`.
        strict
            As for :meth:`what_if`.
        budget
            As for :meth:`polynomials`.

        Returns
        -------
        WhatIfMany
            ``changes`` and ``df`` are Arrow tables whose first column is ``scenario``. ``method``
            is ``annotations`` where all scenarios were computed together in memory, and
            ``repeated`` where Spark computes one after the other.

        Raises
        ------
        CaptureError
            Without Spark, when some scenario needs an expression that only Spark evaluates.

        In memory scenarios cost what they touch; a predicate costs a Spark job each, so list keys,
        or tabulate them, where there are many.
        """
        capture, resolved = self._captured, self._scenarios(scenarios, strict=strict)

        def by_spark(_: Exception) -> WhatIfMany:
            from lipstick.engines.spark.one_by_one import deletions_one_by_one

            return deletions_one_by_one(resolved, capture.what_if)

        here = partial(capture.memory.what_if_many, resolved)
        return answer(here, by_spark if capture.engine.spark is not None else None)

    @question("evaluating an update")
    def what_if_updated(
        self,
        update: Mapping[str, Any] | None = None,
        *,
        insert: Mapping[str, pa.Table] | None = None,
        strict: bool = False,
        budget: float | None = None,
    ) -> WhatIf[pa.Table]:
        """Return what the answer would be had some inputs had other values, or been there too.

        Where aggregates alone read the columns, it is computed in memory. With Spark other columns
        may change, and rows be inserted: blocks of the query that read a changed relation run
        again, the others are read as captured.

        Parameters
        ----------
        update
            Per relation an Arrow table of its key columns and of the columns that change, with
            their new values; or, with Spark, a mapping from columns to expressions over the
            relation's columns, in which a tuple is left as it was where the value is the same.
        insert
            Per relation an Arrow table of further rows, with all of its columns.
        strict
            As for :meth:`what_if`: of the keys of tables.
        budget
            As for :meth:`polynomials`.

        Returns
        -------
        WhatIf
            ``method`` is ``annotations`` where it was computed in memory, else ``blocks``. Sums of
            floats that are run again may differ from the captured ones in their last digits.

        Raises
        ------
        NeedsSparkError
            Without Spark, when a column decides which rows are joined, selected or grouped, when
            the query has several blocks, and for inserted rows.
        TrackingError
            For relations that the query does not read, expressions without Spark, and inserted
            keys that are there already.
        UnsupportedError
            Where the query must be run again and cannot be: chance or a recursion decides.
        """
        from lipstick.questions.updates import checked_update

        capture = self._captured
        updated = checked_update(update or {}, capture, strict=strict)
        inserted = {
            record_of(capture.manifest.relations, name).name: table
            for name, table in (insert or {}).items()
        }
        return self._changed(updated, inserted)

    @question("evaluating updates")
    def what_if_updated_many(
        self, scenarios: Given, *, strict: bool = False, budget: float | None = None
    ) -> WhatIfMany:
        """Return what the answer would be had inputs had other values, in each of many scenarios.

        Parameters
        ----------
        scenarios
            A sequence of updates, each as :meth:`what_if_updated` takes one; a mapping from the
            scenarios' names to updates; per relation an Arrow table (with Spark, or a data frame)
            of its key columns, a column ``scenario`` and new values; or :func:`lipstick.each` with
            ``update``.

        Raises
        ------
        CaptureError, TrackingError
            As :meth:`what_if_updated`. In memory all are computed together, and cost what they
            touch; where blocks must run again, Spark computes one after the other.
        """
        updates = self._updates(scenarios, strict=strict)
        capture = self._captured
        capture.ancestry.check_not_above({part.relation for part in updates.updated})

        def by_spark(_: Exception) -> WhatIfMany:
            from lipstick.engines.spark.one_by_one import joined_answers

            changed = map(updates.updated_in, range(len(updates.labels)))
            answers = [capture.cluster.what_if_changed(each, {}) for each in changed]
            return joined_answers(updates.labels, answers)

        here = partial(capture.memory.what_if_updated_many, updates)
        return answer(here, by_spark if capture.engine.spark is not None else None)

    def _changed(
        self, updated: Mapping[str, pa.Table], inserted: Mapping[str, pa.Table]
    ) -> WhatIf[pa.Table]:
        """Return the answer over changed relations: from memory, or from blocks run again."""
        capture = self._captured
        capture.ancestry.check_not_above({*updated, *inserted})

        def here() -> WhatIf[pa.Table]:
            if inserted:
                raise NeedsSparkError(OPEN_WITH_SPARK)
            return capture.memory.what_if_updated(updated)

        def by_spark(_: Exception) -> WhatIf[pa.Table]:
            from lipstick.questions.what_if import WhatIf

            found = capture.cluster.what_if_changed(updated, inserted)
            return WhatIf(found.method, found.df.toArrow, found.changes.toArrow)

        return answer(here, by_spark if capture.engine.spark is not None else None)

    # -- explanations ----------------------------------------------------------------------

    @jobs_counted("comparing inputs")
    def top(
        self,
        column: str,
        k: int = 10,
        where: Mapping[str, Any] | None = None,
        *,
        relation: str | None = None,
        cluster: bool | None = None,
    ) -> pa.Table:
        """Return the tuples of a relation whose deletion, each alone, moves a value most.

        ``_after`` and ``_effect``, NULL where the value is gone, follow all columns of a tuple. On
        the cluster (None: from 20 million captured rows) they follow its key, and are rounded.
        """
        from lipstick.questions.why.rows import top_tuples

        capture = self._captured
        with evaluating(capture.manifest, capture.engine.spark):
            named = self._relation_named(relation)
            return top_tuples(capture, column, k, where or {}, named, cluster)

    def _relation_named(self, name: str | None) -> str | None:
        """Return the relation that a name means; a session knows other names than a capture."""
        return name

    @question("leaving out inputs")
    def contributions(
        self,
        column: str,
        row: int | Mapping[str, Any] | None = None,
        *,
        by: str | None = None,
        budget: float | None = BUDGET,
        progress: Callable[[str], None] | None = None,
    ) -> pa.Table:
        """Return a value of the answer without each of its inputs, or without groups of them.

        Parameters
        ----------
        row
            The row of the value: its place in the answer, or values of its columns; None: the only
            one.
        by
            ``[RELATION.]COLUMN[:UNIT]``: group the inputs by a column of their relation, times by
            ``day``, ``month`` or ``year``, numbers by ``range``; ``RELATION``: by its rows; None:
            by the rows of the relation that has most of them.
        budget
            Seconds; what is not found then is unknown.
        progress
            Called with a line of text where it takes more than two seconds.

        Returns
        -------
        pa.Table
            The rows with their columns, or the values of the column; then ``_inputs``, the number
            of inputs; ``_after``, the value without them, and ``_effect``, its difference from the
            value now, exact for decimals; and ``_gone``: whether the row is not there then. Those
            that change the value most come first. ``_after`` is NULL where the row is gone, and
            where it is unknown: then ``_gone`` is NULL, too, as where only Spark computes it.

        Raises
        ------
        CaptureError
            When there is no such column or row, and for columns that no deletion changes.

        Cost: one pass for all groups, over what they touch; see :meth:`what_if_many`.

        """
        from lipstick.questions.contributions.question import contributions

        seconds = None if budget is None else _SHARE * budget
        row = self._named_row(row)
        return contributions(self._captured, column, row, by, seconds, progress)

    @jobs_counted("explaining a value")
    def why(
        self,
        column: str | None = None,
        where: Mapping[str, Any] | None = None,
        *,
        than: Mapping[str, Any] | float | None = None,
        too: Literal["high", "low"] | None = None,
        limit: int = 5,
        conditions: int = 3,
        columns: Mapping[str, Sequence[str]] | None = None,
        sources: Mapping[str, pa.Table] | None = None,
        budget: float | None = BUDGET,
        progress: Callable[[str], None] | None = None,
    ) -> Explanation:
        """Explain a value, a difference, or a failed check by predicates over the input.

        Parameters
        ----------
        column
            A column of numbers or moments, whose value is explained; one of truth values, a
            condition that should hold; None: the query is a check, whose rows must not be there,
            or whose one truth value must be true.
        where
            The values of columns that name the row of the value; of a check, the rows to be
            explained (None: all).
        than
            The number that is wanted; or the values of columns that name another row, to whose
            value the difference is explained.
        too
            The side on which the value is wrong, ``"high"`` or ``"low"``; None: any move counts.
        limit, conditions
            The number of predicates, and of the conditions in one of them, at most.
        columns
            Per relation the columns that conditions may be on; of relations that are left out all,
            except columns that are aggregated, compared with constants by WHERE, or keys of the
            value's grouping: conditions on these would repeat the query.
        sources
            Rows of relations, with their keys, that are used in place of their sources.
        budget
            Seconds; when they are spent, the best predicates found until then are returned.
        progress
            Called with a line of text as the search goes on.

        Returns
        -------
        Explanation
            ``causes`` are conjunctions of conditions on the columns of an input relation, scored by
            the effect of deleting the tuples that satisfy them, for how many these are. Each effect
            is exact: of a what-if. A cause is returned only where chance hardly has its effect, for
            the length of its description. ``top`` has single tuples, ``fan_out`` the rows that a
            join adds several times, and ``lost`` the rows that the query loses where the number is
            too low.

        Raises
        ------
        CaptureError
            For columns that are not there or have no numbers, for rows that are not there or are
            several, and where only Spark computes the answer after a deletion.
        SourceChangedError, CapabilityError
            When a source is not what it was; for captures that do not fit in memory.

        Columns are read from local Parquet files, or by Spark; without either keys alone have
        conditions. Of more than 50,000 rows a sample is searched, in which rows that move the
        value most are likely; all numbers that are shown are over all rows.
        """
        from lipstick.questions.why.pipeline import check_memory, explain, measured, question_of

        capture = self._captured
        check_memory(capture.manifest.row_count)
        with evaluating(capture.manifest, capture.engine.spark):
            found = measured(capture.memory, column, where or {}, than, too)
            asked = question_of(capture, found, columns or {}, sources or {})
            return explain(asked, limit, conditions, budget, progress)

    # -- differences and cells -------------------------------------------------------------

    @jobs_counted("comparing answers")
    def diff(
        self,
        other: Questions[Any],
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

    # -- what is supposed, by tokens -------------------------------------------------------

    def _scenarios(self, scenarios: Given, *, strict: bool) -> Scenarios:
        return resolve_scenarios(scenarios, self._captured, strict=strict)

    def _updates(self, scenarios: Given, *, strict: bool) -> Updates:
        from lipstick.questions.updates import checked_updates

        return checked_updates(scenarios, self._captured, strict=strict)
