"""AnnotatedFrame: a query's plan, and its answer with annotations, captured when asked for.

Its plain answer acts like any data frame, and the optimiser estimates what a capture would cost.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql.types import StructType

from lipstick import display, pipeline
from lipstick.capture.capture import Capture
from lipstick.capture.cost import Cost, estimate_cost
from lipstick.capture.manifest import KeptValues, Manifest
from lipstick.capture.writer import MemberTypes, Progress, copy_capture, link_capture
from lipstick.dataframes.arrow import arrow_rows
from lipstick.display.explorer import explore
from lipstick.errors import TrackingError, UnsupportedError
from lipstick.pipeline import PreparedQuery
from lipstick.questions.asking import BUDGET, QuestionCost, question, question_cost
from lipstick.questions.deletion import check_unasked, resolve_deletion
from lipstick.questions.jobs import JobLog, QuestionJobs
from lipstick.questions.keys import Cascade
from lipstick.questions.methods import Questions
from lipstick.questions.what_if import WhatIf
from lipstick.stages.explain import explain, explain_passes, explain_stages
from lipstick.stages.reading import own_sql
from lipstick.tables.ancestry import Ancestry, copy_upstream
from lipstick.tables.comparison import compared_answers, with_names
from lipstick.tables.hypothesis import Hypothesis, rerun_problem
from lipstick.tables.writer import AnnotatedWriter
from lipstick.tracking.states import local_folder
from lipstick.tracking.tracker import Tracked
from lipstick.tracking.unknown_keys import check_deletion, report
from rewriter.analysis.annotation_type import annotation_type
from rewriter.blocks import Block, core_relations, decided_once, topological
from rewriter.emit.statements import plain_sql, rewritten_sql
from semiring.errors import ArgumentError
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.questions.diff.counterexample import Counterexample
    from lipstick.questions.missing.answer import MissingRow
    from lipstick.questions.missing.losses import DroppedRows
    from lipstick.sessions import Session


Rerunning: TypeAlias = Literal["auto", "annotations", "rerun"]
"""The route of what-if answers: annotations, a rerun, or whichever is possible."""


@checked
class QueryPlan:
    """The plan of an annotated query: its blocks, the SQL that runs, and what a capture costs."""

    def __init__(self, frame: AnnotatedFrame) -> None:
        self._frame = frame

    @property
    def _captured(self) -> Capture:
        return self._frame._captured

    @property
    def root(self) -> Block:
        """The block that yields the answer."""
        return self._frame._prepared.root

    @cached_property
    def relations(self) -> Mapping[str, Tracked]:
        """The tracked relations that the query reads."""
        names = {
            scan.relation
            for block in topological(self.root)
            if block.core is not None
            for scan in core_relations(block.core)
        }
        return {name: self._frame._known[name] for name in sorted(names)}

    @property
    def ancestry(self) -> Ancestry:
        """The relations that the query reads, and what the derived ones were made of."""
        return Ancestry({name: tracked.record for name, tracked in self.relations.items()})

    @property
    def annotation_type(self) -> str:
        """The type of the annotations: their operators."""
        return annotation_type(self.root)

    @property
    def rewritten_sql(self) -> str:
        """The rewritten query: Spark SQL whose last column, ``_prov``, is the annotation."""
        return rewritten_sql(self.root)

    @property
    def annotated(self) -> DataFrame:
        """The answer's columns, then ``_prov``."""
        if self._frame._decided_once:
            return self._frame.capture.annotated()
        self._frame._check_sources()
        rows = own_sql(self._frame._session.spark, self.rewritten_sql)
        return with_names(rows, [*self._frame.schema.names, "_prov"])

    @property
    def is_captured(self) -> bool:
        """True if questions are answered without running the query."""
        return self._frame._capture is not None

    @overload
    def cost(self, question: None = None, limit: int | None = 20) -> Cost: ...

    @overload
    def cost(self, question: str, limit: int | None = 20) -> QuestionCost: ...

    def cost(self, question: str | None = None, limit: int | None = 20) -> Cost | QuestionCost:
        """Estimate the members, bytes and jobs of a capture, or what a question takes.

        Parameters
        ----------
        question
            The name of a question about rows, ``"shapley"``; None: the capture alone.
        limit
            The question is about so many rows.

        Nothing runs. Of a query that is not captured yet, all members count for a question.
        """
        self._frame._check_sources()
        capture = self._frame._capture
        if question is not None and capture is not None:
            return question_cost(question, capture.memory.count_members(limit))
        cost = estimate_cost(self._frame._session.spark, self.root)
        return cost if question is None else question_cost(question, cost.members)

    def explain(self, *, passes: bool = False, stages: bool = False) -> str:
        """Return a readable account of the query's blocks and how they are captured.

        Parameters
        ----------
        passes
            Add what each pass of the rewriter made of the query, and of the plan of its capture:
            lines that went are marked by ``-``, lines that came by ``+``. The blocks follow.
        stages
            Add a line for each stage that the query passed, with the time that it took and a
            summary of what it yielded.
        """
        parts = [explain(self.root, self.relations)]
        if passes:
            alike = MemberTypes(self._frame._session.spark).alike
            parts.append(explain_passes(self._frame._prepared.steps, self.root, alike))
        if stages:
            done = self._frame._capture
            parts.append(
                explain_stages(
                    self._frame._prepared.trace,
                    {
                        "capture": "at the first question" if done is None else str(done.directory),
                        "ask": "not yet" if done is None else type(done.engine).__name__,
                    },
                )
            )
        return "\n".join(parts)

    @question("counting the rows that operators lose", captured=False)
    def dropped(self, *, budget: float | None = None) -> DroppedRows:
        """Return how many rows each operator of the query loses.

        Parameters
        ----------
        budget
            Seconds for the question; None: as many as it takes.

        Conditions of WHERE and of inner joins are counted where they first can decide: those of
        one relation on its rows, others at the join that needs them. One statement counts them all.

        Raises
        ------
        ExactnessError
            When the budget is spent.
        UnsupportedError
            For queries with samples, random values, recursion or streams.
        SourceChangedError
            When a source is not what it was when it was tracked.
        """
        from lipstick.questions.missing.pipeline import dropped_rows

        self._frame._check_sources()
        return dropped_rows(self._frame._prepared)

    def jobs(self) -> QuestionJobs | None:
        """Return the Spark jobs of the last question to the query, its capture included.

        None before the first question, and over Spark Connect, which does not say.
        """
        return None if self._job_log is None else self._job_log.last()

    @property
    def _job_log(self) -> JobLog | None:
        return self._frame._job_log

    def counterexample(
        self, other: AnnotatedFrame, *, budget: float | None = BUDGET
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
            For queries over other data.
        """
        from lipstick.questions.diff.pipeline import found_counterexample

        return found_counterexample(self._frame, other, budget)


@checked
class AnnotatedFrame(Questions[DataFrame]):
    """The answer of a query over tracked relations, every tuple with its annotation.

    Nothing runs before it is asked for: ``df`` is the plain query, ``annotated`` the rewritten
    one, and the questions (``polynomials``, ``what_if``, ``lineage``, ...) capture the query's
    annotations once, into the session's store.
    """

    def __init__(self, session: Session, prepared: PreparedQuery) -> None:
        self._session = session
        self._prepared = prepared
        self._capture: Capture | None = None
        self._capturing = threading.RLock()

    # -- what it is ------------------------------------------------------------------------

    @property
    def query(self) -> str:
        """The user's text."""
        return self._prepared.shown

    @cached_property
    def plan(self) -> QueryPlan:
        """The plan of the query: its blocks, the SQL that runs, and what a capture costs."""
        return QueryPlan(self)

    @property
    def schema(self) -> StructType:
        """The answer's schema, as Spark gives it."""
        return self._prepared.schema

    @cached_property
    def _job_log(self) -> JobLog | None:
        spark = self._session.spark
        return JobLog(spark) if hasattr(spark, "_jsparkSession") else None

    @property
    def _known(self) -> Mapping[str, Tracked]:
        """The relations that the query may read, by name."""
        return self._session.tracked

    @cached_property
    def _decided_once(self) -> bool:
        """True if only a capture can answer, since another run may draw or choose other rows."""
        return decided_once(self.plan.root)

    # -- frames ----------------------------------------------------------------------------

    @property
    def df(self) -> DataFrame:
        """The plain answer.

        With LIMIT, and with window functions and aggregates that depend on the order among rows
        that tie, ties are broken by the keys of the rows, so that it is a function of the data.
        Where chance decides something, by a sample or ``rand()``, it is the answer of
        :attr:`capture`.
        """
        if self._decided_once:
            answer: DataFrame = self.capture.df
            return answer
        self._check_sources()
        breaks_ties = any(block.breaks_ties for block in topological(self.plan.root))
        # By the name of such a table Spark reads the version, or the relation, of the moment.
        moves = any(
            tracked.source.version or not self._session.is_current(tracked)
            for tracked in self.plan.relations.values()
        )
        if not (breaks_ties or moves):
            plain = self._session.plain(self._prepared)
            if plain is not None:
                return plain
        return self._named(own_sql(self._session.spark, plain_sql(self.plan.root)))

    def _named(self, frame: DataFrame) -> DataFrame:
        return with_names(frame, self.schema.names)

    @property
    def columns(self) -> list[str]:
        """The names of the answer's columns."""
        return list(self.df.columns)

    def show(self, n: int = 20, truncate: bool | int = True, vertical: bool = False) -> None:
        """Print the first rows of the answer; see ``DataFrame.show``."""
        self.df.show(n, truncate, vertical)

    def collect(self) -> list[Row]:
        """Return the rows of the answer."""
        return self.df.collect()

    def count(self) -> int:
        """Return how many rows the answer has."""
        return self.df.count()

    def toArrow(self) -> pa.Table:  # noqa: N802 - as Spark has it
        """Return the answer as an Arrow table."""
        return arrow_rows(self.df)

    def toPandas(self) -> Any:  # noqa: N802 - as Spark has it
        """Return the answer as a frame of pandas."""
        return self.df.toPandas()

    def filter(self, condition: str) -> AnnotatedFrame:
        """Return the rows of the answer that a condition selects, as a query of its own.

        Its capture has the members of these rows alone: a condition on grouping keys is one on the
        rows of the sources, and is pushed to them. To ask about few rows of a query that is not
        captured is therefore as cheap as to run it for them.

        Parameters
        ----------
        condition
            Over the answer's columns, as in WHERE.

        Raises
        ------
        UnsupportedError
            Where chance decides something: another query would draw other rows.
        InvalidQueryError
            For a condition that Spark does not accept.
        """
        if self._decided_once:
            raise UnsupportedError(
                "filter() of a query in which chance decides something is not supported",
                "Ask its own capture: lineage(where=...).",
                self.query,
            )
        for tracked in self.plan.relations.values():
            if not (self._session.is_current(tracked) or tracked.source.version):
                raise TrackingError(
                    f"{tracked.name!r} is not tracked any more as it was when the query was "
                    "annotated.\nAnnotate the query again, ls.sql(...), or ask this one lineage()."
                )
        return self._session.filtered(self._prepared, condition)

    # -- captures --------------------------------------------------------------------------

    def save(
        self,
        path: str | os.PathLike[str],
        values: KeptValues = "copy",
        progress: Progress | None = None,
        *,
        bundle: bool = False,
    ) -> Capture:
        """Capture the query's annotations into a directory that does not exist yet.

        Parameters
        ----------
        path
            A directory that the Spark driver and this process both see, or its ``file:`` URI.
        values
            ``"copy"``: aggregated values beside the tokens; the capture needs nothing later.
            ``"reference"``: tokens alone; values are looked up in the unchanged sources, by Spark.
        bundle
            Also copy the provenance of the written tables that the query reads, and all that is
            upstream of it: the folder answers wherever it is copied to. Otherwise it refers to
            them, by their path from the capture and in the file system.

        A query is captured once: questions about the frame are answered from the files of a saved
        capture, and a frame that was asked before saves the capture that it has.

        Raises
        ------
        UnsupportedError
            Values by reference where chance decides something: they could not be looked up.
        """
        path = local_folder(path).absolute()
        with self._capturing:
            # The capture of a written table's rows refers to others by their place.
            shared = values == "copy" and not any(r.derived for r in self.plan.relations.values())
            if self._decided_once or (shared and self.plan.is_captured):
                return self._copy_of_capture(path, values, bundle=bundle)
            with display.progress(after=2.0) as line:
                saved = self._write(path, values, progress or line, bundle=bundle)
            if shared:
                self._share(saved)
            return saved

    def _share(self, saved: Capture) -> None:
        """Answer questions from links to the files of a saved capture, where there can be some.

        The saved folder may go, and the frame's own capture stays.
        """
        own = self._own_folder()
        if link_capture(saved.directory, own):
            self._capture = pipeline.ask(self._prepared, self._known, saved.manifest, own)

    def _write(
        self,
        path: Path,
        values: KeptValues,
        progress: Progress | None = None,
        *,
        bundle: bool = False,
    ) -> Capture:
        self._check_sources()
        shown = progress or (lambda _: None)

        def finish(written: Manifest, folder: Path) -> None:
            if bundle:
                copy_upstream(Ancestry(written.relations, folder), folder)

        manifest = self._manifest(values)
        done = pipeline.capture(self._prepared, self.plan.relations, manifest, path, shown, finish)
        self._check_sources()
        return pipeline.ask(self._prepared, self._known, done, path)

    def _copy_of_capture(self, path: Path, values: KeptValues, *, bundle: bool) -> Capture:
        if values != "copy":
            raise UnsupportedError(
                "values by reference are not supported where chance decides something",
                'Save copies of them: values="copy".',
                self.query,
            )
        ancestry = self.capture.ancestry

        def finish(folder: Path) -> None:
            if bundle:
                copy_upstream(ancestry, folder)

        copy_capture(self.capture.directory, path, finish)
        return pipeline.ask(self._prepared, self._known, self.capture.manifest, path)

    def _check_sources(self) -> None:
        self._session.check_sources(self.plan.relations.values())

    def _manifest(self, values: KeptValues) -> Manifest:
        """Return what a capture of this query would say of itself, before it is written.

        ``values`` is ``"copy"`` or ``"reference"``.
        """
        return Manifest(
            query=self.query,
            names=tuple(self.schema.names),
            schema=self.schema.json(),
            values=values,
            root=self.plan.root,
            relations={name: tracked.record for name, tracked in self.plan.relations.items()},
            recursive=bool(self._prepared.bound.recursions),
            time_zone=self._session.spark.conf.get("spark.sql.session.timeZone"),
        )

    @property
    def capture(self) -> Capture:
        """The frame's capture in the session's store, written when first asked for.

        Raises
        ------
        SourceChangedError
            When a source is not what it was when it was tracked.
        """
        self._check_sources()
        with self._capturing:
            if self._capture is None:
                path = self._own_folder()
                with display.progress(after=2.0) as progress:
                    self._capture = self._write(path, "copy", progress)
            return self._capture

    def _own_folder(self) -> Path:
        return self._session.store / "captures" / uuid.uuid4().hex

    @property
    def _captured(self) -> Capture:
        return self.capture

    def _named_row(self, row: int | Mapping[str, Any] | None) -> int | Mapping[str, Any] | None:
        """Return the values of a row in place of its place: a capture may have another order."""
        if not isinstance(row, int) or row < 0 or len(rows := self.df.take(row + 1)) <= row:
            return row
        # The last digits of sums of doubles depend on the order, too.
        return {
            n: v for n, v in rows[row].asDict(recursive=True).items() if not isinstance(v, float)
        }

    def _relation_named(self, name: str | None) -> str | None:
        return None if name is None else next(iter(self._session.by_relation({name: None})))

    @property
    def write(self) -> AnnotatedWriter:
        """Writes the answer as ``df.write`` does; what is written is tracked, and keeps its
        provenance."""
        return AnnotatedWriter(self._session, self)

    # -- questions -------------------------------------------------------------------------

    @question("evaluating a deletion")
    def what_if(
        self,
        delete: Mapping[str, Any] | None = None,
        cascade: Cascade | None = None,
        *,
        method: Rerunning = "auto",
        strict: bool = False,
        undo: Sequence[str] = (),
        replace: Mapping[str, str] | None = None,
        budget: float | None = None,
    ) -> WhatIf[DataFrame]:
        """Return what the answer would be had some inputs not been there.

        Parameters
        ----------
        delete, cascade, strict, budget
            See :meth:`lipstick.Capture.what_if`. Relations that the session tracks and the query
            does not read may be named; they change nothing: a warning names them, and ``strict``
            refuses them.
        method
            ``"auto"``: from the captured annotations, which answer every deletion exactly.
            ``"rerun"``: run the query on the reduced sources instead, after the queries of the
            derived relations that it reads.
        undo, replace
            Names of statements that do not run, and other texts by the names of the statements to
            replace, of the history of the query's tables; :meth:`lipstick.TableHistory.what_if`.
        """
        if delete is None:
            if not (undo or replace):
                raise ArgumentError(
                    "AnnotatedFrame.what_if: delete is None.\nIt should be: Mapping, unless "
                    "statements are undone or replaced."
                )
            delete = {}
        delete = self._session.by_relation(delete)
        history = self._session._history_of(self.plan.relations)
        for name in sorted(delete.keys() - self._concerning(delete).keys()):
            if history is None or not history._concerns([name]):
                read = ", ".join(sorted(self.plan.relations)) or "none"
                report(f"The query does not read {name!r}", f" It reads {read}.", strict=strict)
        if history is not None and (undo or replace or history._concerns(delete)):
            return history._what_if_of(self, delete, cascade, undo, replace or {}, strict=strict)
        check_unasked(undo, replace)
        delete = self._concerning(delete)
        if method == "rerun":
            return self._rerun(delete, cascade, strict=strict)
        return self.capture.cluster.what_if(delete, cascade, strict=strict)

    def _concerning(self, delete: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a deletion without the tracked relations that the query does not read."""
        other_relations = {
            name.lower() for name in self._session.tracked
        } - self.plan.ancestry.names
        return {name: what for name, what in delete.items() if name.lower() not in other_relations}

    def _rerun(
        self, delete: Mapping[str, Any], cascade: Cascade | None, *, strict: bool
    ) -> WhatIf[DataFrame]:
        if (problem := rerun_problem(self.plan.root)) is not None:
            advice = 'Ask its annotations: method="annotations".'
            raise UnsupportedError(problem, advice, self.query)
        self._check_sources()
        spark = self._session.spark
        capture = Capture(self._session.store, self._manifest("copy"), spark, self._known)
        capture.ancestry.check_unambiguous(delete)
        deletion = resolve_deletion(spark, capture.cluster.readable, delete, cascade)
        check_deletion(capture, delete, deletion.tokens, strict=strict)
        hypothesis = Hypothesis(spark, deletion, rerun=True)
        new = hypothesis.rows(capture, hypothesis.reduced(capture))
        old = own_sql(spark, plain_sql(self.plan.root, identity=True))
        return compared_answers(capture.manifest, new, old, "rerun")

    @question("following rows through the query", captured=False)
    def why_not(
        self,
        where: Mapping[str, Any] | None = None,
        *,
        condition: str | None = None,
        examples: int = 3,
        budget: float | None = None,
        **columns: Any,
    ) -> MissingRow:
        """Explain why no row of the answer has these values.

        The pattern is followed down to the relations: their rows that satisfy it are the rows that
        the missing one would have come from. One query follows them up again, with the conditions
        of all operators as columns in place of filters.

        Parameters
        ----------
        where, columns
            Values by column of the answer: ``why_not(order_id=7)``. None: the column is NULL.
        condition
            A condition on the answer's columns, as Spark SQL: ``"total > 100"``.
        examples
            The number of rows that are shown of each reason.
        budget
            Seconds for the question; None: as many as it takes.

        Returns
        -------
        MissingRow
            For each relation, the first operator that leaves nothing of these rows (none of their
            successors can still match the pattern), the condition that fails and its values; for
            joins why the partners are not there, or which come nearest.

        Raises
        ------
        QueryError
            For columns that the answer does not have, and conditions that cannot be read.
        ExactnessError
            When the budget is spent.
        UnsupportedError
            For queries with samples, random values, recursion or streams.
        SourceChangedError
            When a source is not what it was when it was tracked.

        References
        ----------
        A. Chapman, H. V. Jagadish: Why not? SIGMOD 2009. N. Bidoit, M. Herschel, K. Tzompanaki:
        Query-based why-not provenance with NedExplain. EDBT 2014. R. Diestelkämper, S. Lee,
        M. Herschel, B. Glavic: To not miss the forest for the trees. SIGMOD 2021 (Breadcrumb).
        """
        from lipstick.questions.missing.pipeline import why_not

        self._check_sources()
        return why_not(self._prepared, {**(where or {}), **columns}, condition, examples)

    # -- how it looks ----------------------------------------------------------------------

    def __repr__(self) -> str:
        return display.frame_text(self)

    def _repr_html_(self) -> str:
        return display.frame_html(self)

    def _ipython_display_(self) -> None:
        display.show_frame(self)

    @question("preparing the explorer")
    def explore(self, to: str | os.PathLike[str] | None = None, *, browser: bool = True) -> Any:
        """Open it in a browser or a notebook; see :func:`lipstick.explore`."""
        return explore(self, to, browser=browser)
