"""Starting an annotated streaming query as Spark starts a plain one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

from lipstick.systems.streaming.checkpoint import checkpoint_folder
from lipstick.systems.streaming.errors import StreamError
from lipstick.systems.streaming.kept import keep, read_kept
from lipstick.systems.streaming.periods import record_start
from lipstick.systems.streaming.runs import StreamRun
from rewriter.streaming import Emission, OutputMode

if TYPE_CHECKING:
    from lipstick.systems.streaming.definition import AnnotatedStream

_CHECKPOINT = "checkpointlocation"
_ROOT = "spark.sql.streaming.checkpointLocation"
"""The setting with the folder of checkpoints of queries with a name."""


class StreamWriter:
    """Spark's ``DataStreamWriter`` of a query, with all of its methods.

    What ``start`` and ``toTable`` return is a :class:`StreamRun`: Spark's ``StreamingQuery``, and
    the results so far with their provenance.
    """

    def __init__(self, stream: AnnotatedStream) -> None:
        self._stream = stream
        self._writer: Any = stream.df.writeStream
        self._mode = OutputMode.APPEND
        self._checkpoint: str | None = None
        self._name: str | None = None

    def queryName(self, queryName: str) -> StreamWriter:  # noqa: N802, N803 - as Spark has it
        """Set the name of the query, by which its checkpoint is called where it has no other."""
        self._writer = self._writer.queryName(queryName)
        self._name = queryName
        return self

    def outputMode(self, outputMode: str) -> StreamWriter:  # noqa: N802, N803 - as Spark has it
        """Set what is handed to the sink of a batch: ``append``, ``update`` or ``complete``."""
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
        """Return what Spark's writer has by this name; what it returns of itself is this writer."""
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
        folder = checkpoint_folder(self._location())
        keep(folder, set(read_kept(folder).offsets))
        number, begun = record_start(self._stream, self._mode, folder)
        run = start()
        return StreamRun(self._stream, folder, self._mode, run, (number, begun))

    def _location(self) -> str:
        """Return where the checkpoint is: its own place, or one by the name of the query."""
        if self._checkpoint is not None:
            return self._checkpoint
        root = self._stream.session.spark.conf.get(_ROOT, None)
        if root and self._name:
            return f"{root.rstrip('/')}/{self._name}"
        raise StreamError(
            "The query has no checkpoint, which tells what its micro-batches read.\n"
            "Give it one: .option('checkpointLocation', folder)"
            + (f", or a queryName, by which it is called in {root}." if root else ".")
        )
