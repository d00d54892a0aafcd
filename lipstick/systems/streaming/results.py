"""Results of a streaming query, with their provenance."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame

from lipstick.capture.capture import Capture
from lipstick.engines.spark.one_by_one import deletions_one_by_one, joined_answers
from lipstick.errors import UnsupportedError
from lipstick.frame import AnnotatedFrame, Rerunning
from lipstick.questions.asking import question
from lipstick.questions.deletion import Deletion, check_unasked, resolve_deletion, without
from lipstick.questions.keys import Cascade
from lipstick.questions.scenarios import Given
from lipstick.questions.updates import updated_rows
from lipstick.questions.what_if import WhatIf
from lipstick.stages.reading import own_sql
from lipstick.systems.streaming.checkpoint import MicroBatch
from lipstick.systems.streaming.leaves import numbers_of_sources
from lipstick.systems.streaming.periods import check_computed_alike
from lipstick.systems.streaming.recorded import check_read, recorded
from lipstick.systems.streaming.reruns import Reruns
from lipstick.systems.streaming.starts import History
from lipstick.tables.comparison import compared_answers
from lipstick.tables.hypothesis import Hypothesis, Reduced
from lipstick.tracking.tracker import Tracked, verify_key
from lipstick.tracking.unknown_keys import check_deletion
from lipstick.tracking.views import drop_once_read
from rewriter import Block, lower_query
from rewriter.algebra import Relation
from rewriter.emit.statements import plain_sql
from rewriter.scalars.aggregates import name_of
from rewriter.streaming import Emission, OutputMode
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.systems.streaming.definition import AnnotatedStream


Emitted = Callable[[Sequence[MicroBatch]], Emission]


@checked
class StreamResults(AnnotatedFrame):
    """The rows of a streaming query up to a micro-batch; see :class:`StreamRun`.

    It answers the same questions as the answer of an ordinary query. Annotations and analyses are
    about the stream with its watermarks as they were. A deletion may move a watermark, so that a
    row is no longer late or a window not complete: ``what_if`` answers what the stream, run again
    without the events in the same micro-batches, would have emitted.
    """

    def __init__(
        self,
        stream: AnnotatedStream,
        mode: OutputMode,
        batches: Sequence[MicroBatch],
        emitted: Emitted,
        history: History,
    ) -> None:
        self._stream = stream
        self._mode = mode
        self._batches = batches
        self._emitted = emitted
        self._history = history
        emission = emitted(batches)
        self._reading = stream.reading(mode, emission)
        only = emission.batch if self._reading.stateless else None
        self._read_of = [batch for batch in batches if only in (None, batch.number)]
        check_computed_alike(stream, mode, history, self._read_of)
        self._recorded = _recorded(stream, batches, only)
        for late in self._reading.sessions:
            _check_sessions(stream, late, self._recorded)
        for undecided in self._reading.undecided:
            _check_order(stream, undecided, self._recorded)
        self._check_ties({})
        root = _lowered(stream, self._reading.root, self._recorded)
        prepared = stream.prepared
        bound = replace(prepared.bound, root=self._reading.root, recursions={})
        super().__init__(stream.session, replace(prepared, bound=bound, root=root, steps=()))

    @property
    def _known(self) -> Mapping[str, Tracked]:
        return {**self._stream.plan.relations, **self._recorded}

    def _check_sources(self) -> None:
        """Refuse if inputs of the batches have changed, or batches would be computed
        differently.
        """
        for name in self._recorded:
            if self._stream.sources[name].replayed is None:
                check_read(self._stream.plan.relations[name], self._read_of)
        check_computed_alike(self._stream, self._mode, self._history, self._read_of)
        super()._check_sources()

    @property
    def df(self) -> DataFrame:
        """The plain rows."""
        self._check_sources()
        return self._named(own_sql(self._session.spark, plain_sql(self.plan.root)))

    # -- what if ---------------------------------------------------------------------------

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
        """Return the output of the stream if some events had not occurred.

        See :meth:`lipstick.AnnotatedFrame.what_if`. If the deletion moves no watermark, the
        captured annotations answer; else the query is run over the remaining rows, with the
        watermarks that follow from them.

        Raises
        ------
        UnsupportedError
            When the watermarks over the rows that are left are not known.
        """
        check_unasked(undo, replace)
        delete = delete or {}
        self._check_ties_without(delete, cascade)
        batches = self._moved(delete, cascade)
        if batches is None:
            return super().what_if(delete, cascade, method=method, strict=strict)
        return self._run_again(delete, cascade, batches, strict=strict)

    @question("evaluating scenarios")
    def what_if_many(
        self, scenarios: Given, *, strict: bool = False, budget: float | None = None
    ) -> Any:
        """Return the output of the stream in each of many scenarios.

        See :meth:`lipstick.Capture.what_if_many`. If the query depends on watermarks, each scenario
        is answered separately, as by :meth:`what_if`, with Spark jobs for each.
        """
        if not self._reading.by_time and not self._reading.ties:
            return super().what_if_many(scenarios, strict=strict)
        return deletions_one_by_one(self._scenarios(scenarios, strict=strict), self.what_if)

    def _changed(self, updated: Mapping[str, pa.Table], inserted: Mapping[str, pa.Table]) -> Any:
        """See :meth:`lipstick.Capture.what_if_updated`.

        Where the query depends on watermarks, which a new time may move, it is run again.
        """
        if not self._reading.by_time:
            return super()._changed(updated, inserted)
        if inserted:
            raise UnsupportedError(
                "events are not inserted where watermarks decide: the batch that each came in is "
                "not known",
                "Ask with other values of events that came, or without some of them.",
                self._stream.query,
            )
        return self._updated(updated)

    @question("evaluating updates")
    def what_if_updated_many(
        self, scenarios: Given, *, strict: bool = False, budget: float | None = None
    ) -> Any:
        """See :meth:`lipstick.Capture.what_if_updated_many`; as :meth:`what_if_updated`."""
        if not self._reading.by_time:
            return super().what_if_updated_many(scenarios, strict=strict)
        updates = self._updates(scenarios, strict=strict)
        numbers = range(len(updates.labels))
        answers = [self._updated(updates.updated_in(number)) for number in numbers]
        return joined_answers(updates.labels, answers)

    @cached_property
    def _reruns(self) -> Reruns:
        return Reruns(self._stream, self._batches, self._recorded)

    def _moved(self, delete: Mapping[str, Any], cascade: Cascade | None) -> list[MicroBatch] | None:
        """Return the batches with the watermarks of the remaining rows, or None if none moves."""
        if not self._reading.by_time or not delete:
            return None
        with self._left(delete, cascade, self._recorded) as left:
            return self._reruns.moved(left)

    @contextmanager
    def _left(
        self,
        delete: Mapping[str, Any],
        cascade: Cascade | None,
        relations: Mapping[str, Tracked],
    ) -> Iterator[dict[str, str]]:
        """Create temporary views of the rows that a deletion leaves, and yield them by relation."""
        spark = self._session.spark
        deletion = self._deletion(self._hypothetical(self.plan.root), delete, cascade)
        gone = deletion.views(spark)
        left = {
            name: without(spark, tracked.view, *gone[name])
            for name, tracked in relations.items()
            if name in gone
        }
        try:
            yield left
        finally:
            for view in (*left.values(), *(view for view, _ in gone.values())):
                spark.catalog.dropTempView(view)

    def _check_ties_without(self, delete: Mapping[str, Any], cascade: Cascade | None) -> None:
        """Refuse a deletion that leaves tied rows, since Spark might have taken any of them."""
        if self._reading.ties and delete:
            with self._left(delete, cascade, self._known) as left:
                self._check_ties({self._known[name].view: view for name, view in left.items()})

    def _check_ties(self, replaced: Mapping[str, str]) -> None:
        """Refuse groups in which Spark does not define the row that an aggregate takes.

        ``replaced`` maps views to replacements.
        """
        for groups, call in self._reading.ties:
            root = _lowered(self._stream, groups, self._recorded)
            group = own_sql(self._stream.session.spark, plain_sql(root, replaced)).head()
            if group is not None:
                shown = ", ".join(map(str, group[:-1]))
                raise UnsupportedError(
                    f"which of {group[-1]} values {name_of(call)} takes in the group ({shown}) was "
                    "open to Spark, since their rows tie: it is not followed",
                    "Compare rows by more, so that none tie: max_by(v, struct(ts, id)).",
                    self._stream.query,
                )

    def _hypothetical(self, root: Block) -> Capture:
        """Return an unwritten capture of a query over these rows."""
        manifest = replace(self._manifest("copy"), root=root)
        return Capture(self._session.store, manifest, self._session.spark, self._known)

    def _deletion(
        self, capture: Capture, delete: Mapping[str, Any], cascade: Cascade | None
    ) -> Deletion:
        """Return the tokens to delete from the query's relations, and from their origins."""
        delete = self._concerning(delete)
        capture.ancestry.check_unambiguous(delete)
        return resolve_deletion(self._session.spark, capture.cluster.readable, delete, cascade)

    def _run_again(
        self,
        delete: Mapping[str, Any],
        cascade: Cascade | None,
        batches: Sequence[MicroBatch],
        *,
        strict: bool,
    ) -> WhatIf[DataFrame]:
        """Run the query over the remaining rows, with different watermarks."""
        capture = self._with_watermarks(batches)
        spark = self._session.spark
        deletion = self._deletion(capture, delete, cascade)
        check_deletion(capture, self._concerning(delete), deletion.tokens, strict=strict)
        hypothesis = Hypothesis(spark, deletion, rerun=True)
        reduced = hypothesis.reduced(capture)
        streams = self._reruns.with_late(batches, {})
        replaced = {**reduced.replaced, **streams}
        new = hypothesis.rows(capture, Reduced(reduced.deletion, replaced))
        drop_once_read(new, streams.values())
        return self._compared(new)

    def _updated(self, update: Mapping[str, pa.Table]) -> WhatIf[DataFrame]:
        """Run the query over rows with new values, with the watermarks that follow from them."""
        spark = self._session.spark
        known = {name.lower(): tracked for name, tracked in self._known.items()}
        views = {}
        for name, table in update.items():
            tracked = known[name.lower()]
            views[name] = f"_lipstick_updated_{uuid.uuid4().hex[:8]}"
            rows = updated_rows(spark.table(tracked.view), tracked.record, table)
            rows.createOrReplaceTempView(views[name])
        batches = self._reruns.moved(views) or self._batches
        capture = self._with_watermarks(batches)
        streams = self._reruns.with_late(batches, views)
        replaced = {self._known[name].view: view for name, view in {**views, **streams}.items()}
        new = own_sql(spark, plain_sql(capture.manifest.root, replaced, identity=True))
        drop_once_read(new, {**views, **streams}.values())
        return self._compared(new)

    def _with_watermarks(self, batches: Sequence[MicroBatch]) -> Capture:
        """Return a capture of the query with these watermarks for the batches."""
        self._check_sources()
        reading = self._stream.reading(self._mode, self._emitted(batches))
        return self._hypothetical(_lowered(self._stream, reading.root, self._recorded))

    def _compared(self, new: DataFrame) -> WhatIf[DataFrame]:
        spark = self._session.spark
        old = own_sql(spark, plain_sql(self.plan.root, identity=True))
        return compared_answers(self._manifest("copy"), new, old, "rerun")


def _some(tokens: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {name: table for name, table in tokens.items() if table.num_rows}


def _recorded(
    stream: AnnotatedStream, batches: Sequence[MicroBatch], only: int | None
) -> dict[str, Tracked]:
    """Return the rows that batches, or one of them, read of a query's streams, by name."""
    session = stream.session
    sources = numbers_of_sources(stream.df, stream.sources, batches)
    result = {}
    for name in stream.streams:
        tracked = stream.plan.relations[name]
        result[name] = recorded(session, tracked, batches, sources.get(name, ()), only)
        if tracked.unique:
            verify_key(name, session.spark.table(result[name].view), tracked.token)
    return result


def _check_sessions(
    stream: AnnotatedStream, late: Relation, relations: Mapping[str, Tracked]
) -> None:
    """Refuse session windows that Spark may have emitted before another of their rows arrived."""
    split = own_sql(stream.session.spark, plain_sql(_lowered(stream, late, relations))).head()
    if split is not None:
        raise UnsupportedError(
            f"a row came after the watermark had passed its time ({split[0]}), so that a session "
            "may have been emitted in two parts, which is not followed",
            "Give the watermark a delay that no event exceeds.",
            stream.query,
        )


def _check_order(
    stream: AnnotatedStream, undecided: Relation, relations: Mapping[str, Tracked]
) -> None:
    """Refuse deduplicated rows if only Spark knows which row of a batch came first."""
    groups = own_sql(stream.session.spark, plain_sql(_lowered(stream, undecided, relations)))
    group = groups.head()
    if group is not None:
        raise UnsupportedError(
            f"different rows of micro-batch {group[-3]} are duplicates of each other ("
            f"{', '.join(map(str, group[:-3]))}), in an order that only Spark knows: which came "
            "first is not followed",
            "Drop them by all columns that are read; or by others of a stream of Parquet files "
            "without a key, one file a micro-batch, and before joins.",
            stream.query,
        )


def _lowered(stream: AnnotatedStream, root: Relation, relations: Mapping[str, Tracked]) -> Block:
    tokens = {name: tracked.token_source for name, tracked in stream.plan.relations.items()}
    tokens |= {name: tracked.token_source for name, tracked in relations.items()}
    return lower_query(root, tokens, stream.query, stream.converted)
