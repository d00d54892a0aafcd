"""A streaming query over tracked streams, before and while it runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from lipstick.errors import UnsupportedError
from lipstick.frame import AnnotatedFrame
from lipstick.pipeline import PreparedQuery
from lipstick.stages.spark_errors import analysed
from lipstick.systems.errors import StreamError
from lipstick.systems.hooks import StreamTracker, StreamTracking
from lipstick.systems.streaming.kept import keep, read_kept
from lipstick.systems.streaming.leaves import check_apart
from lipstick.systems.streaming.periods import record_start
from lipstick.systems.streaming.recorded import of_stream, streamed, track_stream
from lipstick.systems.streaming.runs import StreamRun
from lipstick.systems.streaming.source import StreamSource, stream_source
from lipstick.systems.streaming.starts import settings_of
from lipstick.tracking.states import local_folder
from lipstick.tracking.tracker import Tracked
from rewriter import dialect
from rewriter.algebra import Aggregate, FirstRows, Join, Scan, walk
from rewriter.algebra.rendering import render
from rewriter.streaming import Emission, OutputMode, Reading, Streamed, as_recorded
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.sessions import Session


_CHECKPOINT = "checkpointlocation"
_ROOT = "spark.sql.streaming.checkpointLocation"
"""The setting with the checkpoint folder of named queries."""


class StreamWriter:
    """Spark's ``DataStreamWriter`` of a query, with all of its methods.

    ``start`` and ``toTable`` return a :class:`StreamRun`: Spark's ``StreamingQuery``, with the
    results so far and their provenance.
    """

    def __init__(self, stream: AnnotatedStream) -> None:
        self._stream = stream
        self._writer: Any = stream.df.writeStream
        self._mode = OutputMode.APPEND
        self._checkpoint: str | None = None
        self._name: str | None = None

    def queryName(self, queryName: str) -> StreamWriter:  # noqa: N802, N803 - as Spark has it
        """Set the name of the query, which also names its checkpoint unless a location is set."""
        self._writer = self._writer.queryName(queryName)
        self._name = queryName
        return self

    def outputMode(self, outputMode: str) -> StreamWriter:  # noqa: N802, N803 - as Spark has it
        """Set the output mode of the sink: ``append``, ``update`` or ``complete``."""
        self._writer = self._writer.outputMode(outputMode)
        self._mode = OutputMode(outputMode.lower())
        return self

    def option(self, key: str, value: Any) -> StreamWriter:
        """Set an option of the sink, or ``checkpointLocation``."""
        self._note({key: value})
        self._writer = self._writer.option(key, value)
        return self

    def options(self, **options: Any) -> StreamWriter:
        """Set several options."""
        self._note(options)
        self._writer = self._writer.options(**options)
        return self

    def start(
        self,
        path: str | None = None,
        format: str | None = None,
        outputMode: str | None = None,  # noqa: N803 - as Spark has it
        *arguments: Any,
        **options: Any,
    ) -> StreamRun:
        """Start the query.

        Raises
        ------
        UnsupportedError
            When it is not followed in its output mode: nothing was started.
        StreamError
            When it has no checkpoint of its own.
        InvalidQueryError
            When Spark does not run it as a stream.
        """
        if outputMode is not None:
            self._mode = OutputMode(outputMode.lower())
        self._note(options)
        named = arguments[1] if len(arguments) > 1 else options.get("queryName")
        self._name = named or self._name
        return self._started(
            lambda: self._writer.start(path, format, outputMode, *arguments, **options)
        )

    def toTable(self, tableName: str, *arguments: Any, **options: Any) -> StreamRun:  # noqa: N802, N803
        """Start the query into a table; see :meth:`start`."""
        self._note(options)
        return self._started(lambda: self._writer.toTable(tableName, *arguments, **options))

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of Spark's writer; methods that return that writer return this
        one.
        """
        attribute = getattr(self._writer, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any, **named: Any) -> Any:
            result = attribute(*arguments, **named)
            if type(result).__name__ != DataStreamWriter.__name__:
                return result
            self._writer = result
            return self

        return call

    def _note(self, options: dict[str, Any]) -> None:
        for key, value in options.items():
            if key.lower() == _CHECKPOINT:
                self._checkpoint = str(value)

    def _started(self, start: Any) -> StreamRun:
        self._stream.reading(self._mode, Emission(0))
        folder = local_folder(self._location())
        keep(folder, set(read_kept(folder).offsets))
        number, begun = record_start(self._stream, self._mode, folder)
        with analysed(self._stream.query, ()):
            run = start()
        return StreamRun(self._stream, folder, self._mode, run, (number, begun))

    def _location(self) -> str:
        """Return the location of the checkpoint: its own option, or a folder by the query's
        name.
        """
        if self._checkpoint is not None:
            return self._checkpoint
        root = self._stream.session.spark.conf.get(_ROOT, None)
        if root and self._name:
            return f"{root.rstrip('/')}/{self._name}"
        raise StreamError(
            "The query has no checkpoint, which records the inputs of micro-batches.\n"
            "Give it one: .option('checkpointLocation', folder)"
            + (f", or a queryName, by which it is called in {root}." if root else ".")
        )


_SEVERAL = "spark.sql.streaming.statefulOperator.allowMultiple"


def check_followed(spark: SparkSession, expression: dialect.Query, sql: str) -> None:
    """Refuse a streaming query whose results are not determined by its streams' rows.

    Raises
    ------
    UnsupportedError
        It asks for the moment, or a setting gives late rows another meaning.
    """
    volatile = dialect.volatile_calls(expression)
    if volatile:
        raise UnsupportedError(
            f"{min(volatile)}() has a new value in each micro-batch, and is not followed",
            "Use the time of the events.",
            sql,
        )
    if str(spark.conf.get(_SEVERAL, "true")).lower() != "true":
        raise UnsupportedError(
            f"streaming queries are not followed where {_SEVERAL} is not true",
            "Set it to true, by which rows are late by the watermark of the batch before.",
            sql,
        )


def check_joined(relations: Mapping[str, Tracked], sql: str) -> None:
    """Refuse joins of a stream with versioned tables: Spark may read a later version.

    Raises
    ------
    UnsupportedError
    """
    for name, tracked in relations.items():
        if tracked.source.versions:
            raise UnsupportedError(
                f"{name!r} is a version of a table, and each micro-batch may read a later version",
                "Copy its rows (materialize=True) and name the copy in the query.",
                sql,
            )


@checked
class AnnotatedStream(AnnotatedFrame):
    """A streaming query over tracked streams: :meth:`lipstick.Session.sql` and ``annotate``.

    It is started as ever, with any sink and trigger::

        query = stream.writeStream.outputMode("append").format("parquet") \\
            .option("checkpointLocation", folder).start(path)

    Only the bounds of its micro-batches are recorded beside it. Its results answer questions:
    ``query.results()``, or ``stream.recorded(folder)`` for a query that has ended or that another
    process runs.
    """

    def __init__(self, session: Session, prepared: PreparedQuery) -> None:
        super().__init__(session, prepared)
        check_followed(session.spark, prepared.written, prepared.sql)
        check_joined(self.still, prepared.sql)
        check_apart(prepared.shown, self.sources)
        # Made now: names may stand for other relations later.
        plain = session.plain(prepared)
        assert plain is not None
        self._frame = plain
        self._plan = prepared.bound.root
        self.settings = settings_of(session.spark)
        """The settings under which its expressions were read."""
        self.converted = prepared.converted
        """The common types of both sides of comparisons, by the comparison's position."""

    @property
    def session(self) -> Session:
        """The session of the query."""
        return self._session

    @property
    def df(self) -> DataFrame:
        """The plain query as a streaming data frame."""
        return self._frame

    @property
    def prepared(self) -> PreparedQuery:
        """The query after the preparation stages."""
        return self._prepared

    @cached_property
    def streams(self) -> Mapping[str, Streamed]:
        """The streams that the query reads."""
        return {
            name: streamed(tracked)
            for name, tracked in self.plan.relations.items()
            if tracked.stream is not None
        }

    @cached_property
    def sources(self) -> Mapping[str, StreamSource]:
        """The sources of the streams."""
        return {name: of_stream(self.plan.relations[name]) for name in self.streams}

    @cached_property
    def still(self) -> Mapping[str, Tracked]:
        """The relations, other than streams, that the query reads."""
        return {name: t for name, t in self.plan.relations.items() if t.stream is None}

    @cached_property
    def canonical(self) -> str:
        """The plan in a canonical form that does not depend on where the query is read."""
        return render(self._plan)

    @cached_property
    def state_operators(self) -> frozenset[str]:
        """The kinds of the query's stateful operators."""
        of_streams: set[int] = set()
        kinds: set[str] = set()
        if any(stream.distinct for stream in self.streams.values()):
            kinds.add("dropped duplicates")
        for operator in walk(self._plan):
            below = [child for child in operator.inputs if id(child) in of_streams]
            if below or (isinstance(operator, Scan) and operator.relation in self.streams):
                of_streams.add(id(operator))
            if isinstance(operator, Aggregate) and below:
                kinds.add("grouping")
            elif isinstance(operator, FirstRows) and below:
                kinds.add("dropped duplicates")
            elif isinstance(operator, Join) and len(below) > 1:
                kinds.add("join")
        return frozenset(kinds)

    def reading(self, mode: OutputMode, emission: Emission) -> Reading:
        """Return the query over the recorded rows of its streams.

        Raises
        ------
        UnsupportedError
            It is not followed in this output mode.
        """
        return as_recorded(self._plan, self.streams, mode, emission, self.query)

    @property
    def writeStream(self) -> StreamWriter:  # noqa: N802 - as Spark calls it
        """Starts the query as ``df.writeStream`` does, and records its micro-batches."""

        return StreamWriter(self)

    def recorded(
        self, checkpoint: str | os.PathLike[str], output_mode: str = "append"
    ) -> StreamRun:
        """Return the results of a run of the query, from its checkpoint.

        Parameters
        ----------
        checkpoint
            The folder of its option ``checkpointLocation``, a path or a ``file:`` URI. The query
            may run on meanwhile.
        output_mode
            The output mode of the run, which no checkpoint records.

        Raises
        ------
        UnsupportedError
            When the query is not followed in this output mode.
        StreamError
            When another query wrote the checkpoint, or in another output mode.
        """
        from lipstick.systems.streaming.periods import check_checkpoint

        mode = OutputMode(output_mode.lower())
        run = StreamRun(self, local_folder(checkpoint), mode)
        check_checkpoint(self, mode, run.checkpoint)
        return run

    # -- what only results answer ----------------------------------------------------------

    def _check_sources(self) -> NoReturn:
        raise StreamError(
            "A streaming query has no rows of its own; its results do.\n"
            "Start it by writeStream and ask results(), or recorded(checkpoint).results()."
        )

    def what_if(self, *arguments: Any, **named: Any) -> Any:
        """Not available for a streaming query: see :meth:`recorded`."""
        self._check_sources()

    @property
    def write(self) -> Any:
        """Not available for a streaming query: see :attr:`writeStream`."""
        self._check_sources()


class _Tracker:
    """The tracker of streaming frames, by which sessions follow queries over them."""

    def track(self, name: str, frame: DataFrame, key: str | Sequence[str] | None) -> StreamTracking:
        return track_stream(name, frame, key, stream_source(name, frame))

    def follow(self, session: Session, prepared: PreparedQuery) -> AnnotatedFrame:
        return AnnotatedStream(session, prepared)


TRACKER: StreamTracker = _Tracker()
