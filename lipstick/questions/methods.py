"""Questions to a query's annotations, which frames and captures answer alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

import pyarrow as pa

from lipstick.engines.memory.store import OPEN_WITH_SPARK
from lipstick.engines.route import answer, evaluation
from lipstick.errors import NeedsSparkError
from lipstick.questions.analysis import Analyses
from lipstick.questions.asking import BUDGET, check_limit, evaluating, question
from lipstick.questions.keys import record_of
from lipstick.questions.scenarios import Given, resolve_scenarios
from semiring.base import Semiring
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.support.door import checked
from semiring.value import Value

if TYPE_CHECKING:
    from pyspark.sql import Column

    from lipstick.capture.capture import Capture
    from lipstick.engines.memory.scenarios import Scenarios, Updates
    from lipstick.engines.protocol import Row
    from lipstick.questions.what_if import WhatIf, WhatIfMany
    from lipstick.questions.why.answer import Explanation
    from lipstick.tables.origins import A

T = TypeVar("T")

_SHARE = 0.8
"""The share of a budget after which what is not yet found is left unknown."""


@checked
class Questions(Analyses, Generic[T]):
    """Questions about all rows, shared by frames and captures, with answers of the type `T`.

    A frame answers from its capture, which is written when it is first asked.
    """

    # -- the answer ------------------------------------------------------------------------

    @question("listing members")
    def members(self, limit: int | None = None) -> pa.Table:
        """One row per output tuple and member: the answer's columns, tokens, values."""
        check_limit(limit)
        return self._captured.memory.members(limit)

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
        return _expanded(capture, annotated, values=False) if expand else annotated

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
        return _expanded(capture, tensors, values=True) if expand else tensors

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
        capture = self._captured
        spark = capture.engine.spark
        return contributions(capture.memory, spark, column, row, by, seconds, progress)

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
        from lipstick.questions.why.pipeline import explain

        capture = self._captured
        with evaluating(capture.manifest, capture.engine.spark):
            return explain(
                capture.memory,
                capture.engine.spark,
                capture.what_if,
                capture.what_if_updated,
                column,
                where,
                than=than,
                too=too,
                limit=limit,
                conditions=conditions,
                columns=columns,
                sources=sources,
                budget=budget,
                progress=progress,
            )

    # -- what is supposed, by tokens -------------------------------------------------------

    def _scenarios(self, scenarios: Given, *, strict: bool) -> Scenarios:
        return resolve_scenarios(scenarios, self._captured, strict=strict)

    def _updates(self, scenarios: Given, *, strict: bool) -> Updates:
        from lipstick.questions.updates import checked_updates

        return checked_updates(scenarios, self._captured, strict=strict)


def _expanded(capture: Capture, rows: list[tuple[Row, A]], *, values: bool) -> list[tuple[Row, A]]:
    from lipstick.tables.origins import expanded

    formal = expanded(capture, [k for _, k in rows], values=values)
    return [(row, k) for (row, _), k in zip(rows, formal, strict=True)]
