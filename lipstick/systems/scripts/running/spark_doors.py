"""Doors of Spark: the reads, writes, collects and given rows of a script, and written files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lipstick.engines.spark.local_session import unlogged_errors
from lipstick.errors import LipstickError, first_line
from lipstick.systems.scripts.running.record import (
    Event,
    FileVersion,
    local_path,
    version_of,
    versions_of,
)
from lipstick.systems.scripts.running.recorder import RunRecorder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

    from lipstick.capture.capture import Capture
    from lipstick.sessions import Session
    from lipstick.systems.scripts.running.pandas_doors import PandasDoors
    from lipstick.tracking.tracker import Tracked


_READERS = ("load", "parquet", "csv", "json", "orc", "text", "table", "xml", "jdbc")
_WRITERS = ("save", "parquet", "csv", "json", "orc", "text", "xml", "saveAsTable", "insertInto")
_COLLECTORS = ("collect", "toPandas", "toArrow", "head", "take", "first", "tail", "toLocalIterator")
_COUNTERS = ("count", "isEmpty", "approxQuantile", "corr", "cov", "freqItems")
_WHOLE = ("collect", "toPandas", "toArrow", "toLocalIterator")


class SparkDoors:
    """The doors between Spark and files, tables and Python."""

    def __init__(self, recorder: RunRecorder, pandas: PandasDoors) -> None:
        self._recorder = recorder
        self._pandas = pandas
        self._annotating = Annotating(recorder)
        self._stopped: list[Callable[[], None]] = []
        self._was_there = False

    def open(self) -> None:
        """Watch what is read and written until the recorder takes its doors away."""
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
        from pyspark.sql.classic.dataframe import DataFrame
        from pyspark.sql.readwriter import DataFrameReader, DataFrameWriter

        recorder = self._recorder
        self._was_there = SparkSession.getActiveSession() is not None
        for name in _READERS:
            if hasattr(DataFrameReader, name):
                recorder.replace(DataFrameReader, name, self._reader)
        recorder.replace(SparkSession, "table", self._reader)
        recorder.replace(SparkSession, "createDataFrame", self._maker)
        recorder.replace(DataFrame, "write", self._writing)
        for name in _WRITERS:
            if hasattr(DataFrameWriter, name):
                recorder.replace(DataFrameWriter, name, self._writer)
        for name in _COLLECTORS:
            if hasattr(DataFrame, name):
                recorder.replace(DataFrame, name, self._collector)
        for name in _COUNTERS:
            if hasattr(DataFrame, name):
                recorder.replace(DataFrame, name, self._counter)
        for owner in (SparkSession, SparkContext):
            recorder.replace(owner, "stop", self._stopping)

    def close(self) -> None:
        """Forget what was tracked; stop Spark if the script has, and had started it."""
        self._annotating.close()
        if self._stopped and not self._was_there:
            self._stopped[-1]()

    # -- doors -----------------------------------------------------------------------------------

    def _reader(self, before: Callable[..., Any]) -> Callable[..., Any]:
        recorder = self._recorder

        @wraps(before)
        def read(owner: Any, *arguments: Any, **named: Any) -> Any:
            if recorder.busy:
                return before(owner, *arguments, **named)
            with recorder.at_work():
                frame = before(owner, *arguments, **named)
                event = recorder.add(
                    "read", "spark", _name(arguments, named),
                    files=_input_files(frame), columns=tuple(frame.columns),
                )  # fmt: skip
                self._annotating.add(event, frame)
            return frame

        return read

    def _maker(self, before: Callable[..., Any]) -> Callable[..., Any]:
        recorder = self._recorder

        @wraps(before)
        def create(owner: Any, *arguments: Any, **named: Any) -> Any:
            if recorder.busy:
                return before(owner, *arguments, **named)
            with recorder.at_work():
                frame = before(owner, *arguments, **named)
                data: Any = arguments[0] if arguments else named.get("data")
                event = recorder.add(
                    "create", "spark", "createDataFrame", columns=tuple(frame.columns),
                    rows=len(data) if hasattr(data, "__len__") else None,
                )  # fmt: skip
                links = self._pandas.linked(event, data)
                why = "rows made by Python code are not followed" if links else None
                recorder.change(event, links=links, inferred=why)
                self._annotating.add(event, frame)
            return frame

        return create

    def _writing(self, before: Any) -> property:
        recorder = self._recorder

        def write(frame: DataFrame) -> Any:
            if recorder.busy:
                return before.__get__(frame)
            with recorder.at_work():
                seen, comparison = observed(frame)
                writer = before.__get__(seen)
                writer._lipstick = frame, comparison
            return writer

        return property(write)

    def _writer(self, before: Callable[..., Any]) -> Callable[..., Any]:
        recorder = self._recorder

        @wraps(before)
        def write(writer: Any, *arguments: Any, **named: Any) -> Any:
            known = getattr(writer, "_lipstick", None)
            if recorder.busy or known is None:
                return before(writer, *arguments, **named)
            frame, comparison = known
            writer._lipstick = frame, None  # a second write is not observed
            with recorder.at_work():
                name = _name(arguments, named)
                event = recorder.add("write", "spark", name, columns=tuple(frame.columns))
                capture = self._annotating.capture(event, frame)
                result = before(writer, *arguments, **named)
                files = versions_of(local_path(name)) if Path(local_path(name)).exists() else ()
                event = recorder.change(event, files=files)
                if capture is not None:
                    self._compared(event, comparison, capture)
            return result

        return write

    def _compared(self, event: Any, comparison: ComparedRows | None, capture: Any) -> None:
        if comparison is None:
            twice = "a writer was used twice, and only what it wrote first was looked at"
            self._recorder.change(event, inferred=twice)
            return
        rows, why = comparison.with_rows(capture.df)
        self._recorder.change(event, rows=rows, inferred=why)

    def _collector(self, before: Callable[..., Any]) -> Callable[..., Any]:
        recorder = self._recorder
        whole = before.__name__ in _WHOLE

        @wraps(before)
        def collect(frame: Any, *arguments: Any, **named: Any) -> Any:
            if recorder.busy or not recorder.places():
                return before(frame, *arguments, **named)
            with recorder.at_work():
                event = recorder.add(
                    "collect", "spark", before.__name__, columns=tuple(frame.columns)
                )
                capture = self._annotating.capture(event, frame)
                result = before(frame, *arguments, **named)
                if whole and hasattr(result, "__len__"):
                    recorder.change(event, rows=len(result))
                    if capture is not None and capture.df.count() != len(result):
                        why = "another run of the frame has another number of rows"
                        recorder.change(event, inferred=why)
                self._pandas.source(event, result)
                self._keep(event, result)
            return result

        return collect

    def _counter(self, before: Callable[..., Any]) -> Callable[..., Any]:
        recorder = self._recorder

        @wraps(before)
        def count(frame: Any, *arguments: Any, **named: Any) -> Any:
            if recorder.busy or not recorder.places():
                return before(frame, *arguments, **named)
            with recorder.at_work():
                recorder.add(
                    "collect", "spark", before.__name__, columns=tuple(frame.columns),
                    inferred="one value of all rows",
                )  # fmt: skip
                return before(frame, *arguments, **named)

        return count

    def _keep(self, event: Any, result: Any) -> None:
        """Keep the rows of a pandas frame in their order, which the capture may not have."""
        if not hasattr(result, "memory_usage"):
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            table = pa.Table.from_pandas(result, preserve_index=False)
        except (pa.ArrowException, TypeError):  # objects that are not Arrow values
            self._pandas.sources[event.number] = None
            return
        folder = self._recorder.directory / "frames"
        folder.mkdir(exist_ok=True)
        pq.write_table(table, folder / f"{event.number}.parquet")

    def _stopping(self, before: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(before)
        def stop(owner: Any) -> None:
            self._stopped.append(lambda: before(owner))

        return stop


def _name(arguments: tuple[Any, ...], named: dict[str, Any]) -> str:
    """The path or table that is named: the first argument, whatever Spark calls it."""
    given = arguments[0] if arguments else next(iter(named.values()), "?")
    if isinstance(given, list | tuple):
        return ", ".join(map(str, given))
    return str(given)


def _input_files(frame: DataFrame) -> tuple[FileVersion, ...]:
    return tuple(version_of(local_path(uri)) for uri in sorted(frame.inputFiles()))


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """The count and checksum of the rows of a frame, observed while Spark writes them."""

    observation: Observation

    def with_rows(self, rows: DataFrame) -> tuple[int | None, str | None]:
        """Return the number of rows written, and why they are other rows than these, or None."""
        from lipstick.tracking.row_checksum import RowChecksum

        if not self.observation.get:
            return None, "Spark did not say what it has written"
        seen, again = RowChecksum.read(self.observation.get), RowChecksum.of(rows, rounded=True)
        if seen.rows != again.rows:
            return seen.rows, f"{seen.rows} rows were written, and another run has {again.rows}"
        if seen != again:
            return seen.rows, "another run of the frame has other rows"
        return seen.rows, None


def observed(frame: DataFrame) -> tuple[DataFrame, ComparedRows | None]:
    """The same frame, and what will be seen of its rows; None where Spark cannot observe it."""
    from pyspark.errors import PySparkException
    from pyspark.sql import Observation

    from lipstick.tracking.row_checksum import RowChecksum

    observation = Observation()
    try:
        with unlogged_errors():
            seen = frame.observe(observation, *RowChecksum.columns(frame, rounded=True))
    except PySparkException:  # columns of one name; streams
        return frame, None
    return seen, ComparedRows(observation)


class Annotating:
    """The session that annotates a script's frames, made when the first of them is.

    A source is tracked once a frame reads it. Rows of Parquet are named by their places; rows of
    other sources are copied once, with their place in the file they are of.
    """

    def __init__(self, recorder: RunRecorder) -> None:
        self._recorder = recorder
        self._session: Session | None = None
        self._frames: list[tuple[Event, Any]] = []
        self._tracked: list[tuple[Tracked, Any]] = []
        self._relations: dict[str, int] = {}

    def add(self, event: Event, frame: DataFrame) -> None:
        """Remember where the rows of a frame that a script has made come from."""
        from lipstick.dataframes.jvm import analysed
        from lipstick.dataframes.leaves import plan_leaves

        leaves = plan_leaves(analysed(frame))
        if len(leaves) == 1:
            self._frames.append((event, leaves[0]))

    def capture(self, event: Event, frame: DataFrame) -> Capture | None:
        """Annotate a frame and save its capture; None, with the reason, where that cannot be."""
        from pyspark.errors import PySparkException

        from lipstick.dataframes import query_text
        from lipstick.dataframes.jvm import analysed
        from lipstick.dataframes.leaves import row_leaves

        directory = self._recorder.directory / "captures" / str(event.number)
        try:
            with unlogged_errors():
                relations = [
                    self._tracked_leaf(frame, leaf) for leaf in row_leaves(analysed(frame))
                ]
                text = query_text(frame.sparkSession, frame, relations)
                annotated = self._open(frame).sql(text)
                capture = annotated.save(directory)
        except (LipstickError, PySparkException) as error:
            reason = f"its frame cannot be annotated: {first_line(error)}"
            self._recorder.change(event, inferred=reason)
            return None
        used = {name: self._relations[name] for name in annotated.plan.relations}
        self._recorder.change(event, capture=True, relations=used)
        return capture

    def close(self) -> None:
        """Forget what was tracked."""
        if self._session is not None:
            self._session.close()

    def _open(self, frame: DataFrame) -> Session:
        if self._session is None:
            from lipstick.sessions import Session

            self._session = Session(frame.sparkSession, self._recorder.directory / "store")
        return self._session

    def _tracked_leaf(self, frame: DataFrame, leaf: Any) -> Tracked:
        for relation, known in self._tracked:
            if leaf.sameResult(known):
                return relation
        event = next((e for e, known in self._frames if leaf.sameResult(known)), None)
        return self._name(frame, leaf, event or self._read_otherwise(frame, leaf))

    def _read_otherwise(self, frame: DataFrame, leaf: Any) -> Event:
        """The read of a source that a text names, such as a table in ``spark.sql``."""
        from lipstick.dataframes.jvm import frame_of
        from lipstick.dataframes.leaves import table_name

        source = frame_of(frame.sparkSession, leaf)
        files = _input_files(source)
        name = table_name(leaf) or (str(Path(files[0].path).parent) if files else "?")
        return self._recorder.add("read", "spark", name, files=files, columns=tuple(source.columns))

    def _name(self, frame: DataFrame, leaf: Any, event: Event) -> Tracked:
        """Track a leaf under a name of its own."""
        from lipstick.dataframes.tracked_leaves import track_leaf

        stem = re.sub(r"\W", "_", Path(event.name.split(",")[0]).stem) or "rows"
        name = f"_script_{event.number}_{stem}".lower()
        while name in self._relations:
            name += "_"
        session = self._open(frame)
        copies = self._recorder.directory / "copies" / name
        relation = track_leaf(session, leaf, name, event.name, copies)
        self._tracked.append((relation, leaf))
        self._relations[name] = event.number
        files = session.tracked[name].files
        if not event.files and files and files[0].startswith("file:"):
            self._recorder.change(event, files=tuple(version_of(f[5:]) for f in files))
        return relation
