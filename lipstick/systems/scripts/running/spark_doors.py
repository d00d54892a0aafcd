"""Doors of Spark: the reads, writes, collects and given rows of a script, and written files."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce, wraps
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from lipstick.systems.scripts.running.record import Event, FileVersion, version_of, versions_of
from lipstick.systems.scripts.running.recorder import RunRecorder
from lipstick.tracking.tracker import comparable
from semiring.errors import LipstickError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation

    from lipstick.capture.capture import Capture
    from lipstick.sessions import Session
    from lipstick.systems.scripts.running.pandas_doors import PandasDoors


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
                files = versions_of(_local(name)) if Path(_local(name)).exists() else ()
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
        except (pa.ArrowException, TypeError):  # objects that are no Arrow values
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


def _local(path: str) -> str:
    parsed = urlparse(path)
    return unquote(parsed.path) if parsed.scheme == "file" else path


def _input_files(frame: DataFrame) -> tuple[FileVersion, ...]:
    return tuple(version_of(_local(uri)) for uri in sorted(frame.inputFiles()))


_FLOATS = ("float", "double")


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """The count and checksums of the rows of a frame, observed while Spark writes them."""

    observation: Observation

    def with_rows(self, rows: DataFrame) -> tuple[int | None, str | None]:
        """Return the number of rows written, and why they are not a frame's rows; None: they are.

        Floats are compared by their sums, whose last bits depend on the order of adding.
        """
        seen = self.observation.get
        if not seen:
            return None, "Spark did not say what it has written"
        again = rows.agg(*measures(rows)).collect()[0].asDict()
        count = int(seen["_rows"])
        if count != again["_rows"]:
            return count, f"{count} rows were written, and another run has {again['_rows']}"
        for name, value in seen.items():
            if not _equal(value, again[name]):
                return count, "another run of the frame has other rows"
        return count, None


def observed(frame: DataFrame) -> tuple[DataFrame, ComparedRows | None]:
    """The same frame, and what will be seen of its rows; None where Spark cannot observe it."""
    from pyspark.errors import PySparkException
    from pyspark.sql import Observation

    observation = Observation()
    try:
        return frame.observe(observation, *measures(frame)), ComparedRows(observation)
    except PySparkException:  # columns of one name; streams
        return frame, None


def measures(frame: DataFrame) -> list[Column]:
    """Count, an order-free checksum of all columns but floats, and the sums of floats."""
    from pyspark.sql import functions as F

    exact, sums = [], []
    for number, field in enumerate(frame.schema):
        column = F.col(f"`{field.name}`")
        if field.dataType.typeName() in _FLOATS:
            finite = F.when(F.abs(column) < F.lit(1e300), column.cast("double"))
            sums.append(F.sum(finite).alias(f"_sum{number}"))
            sums.append(F.sum(F.abs(finite)).alias(f"_size{number}"))
        else:
            exact.append(comparable(column, field.dataType))
    hashes = [F.xxhash64(*exact).cast("decimal(38,0)")] if exact else [F.lit(0)]
    checksum = F.sum(reduce(add, hashes)).alias("_checksum")
    return [F.count(F.lit(1)).alias("_rows"), checksum, *sums]


def _equal(left: Any, other: Any) -> bool:
    if isinstance(left, float) and isinstance(other, float):
        return math.isclose(left, other, rel_tol=1e-6, abs_tol=1e-9)
    return bool(left == other)


_ROWS = ("LogicalRelation", "LocalRelation", "LogicalRDD", "HiveTableRelation")
"""The leaves of plans that have rows of their own."""


class Annotating:
    """The session that annotates a script's frames, made when the first of them is.

    A source is tracked once a frame reads it. Rows of Parquet are named by their places; rows of
    other sources are copied once, with their place in the file they are of.
    """

    def __init__(self, recorder: RunRecorder) -> None:
        self._recorder = recorder
        self._session: Session | None = None
        self._frames: list[tuple[Event, Any]] = []
        self._tracked: list[tuple[str, Any]] = []
        self._relations: dict[str, int] = {}

    def add(self, event: Event, frame: DataFrame) -> None:
        """Remember where the rows of a frame that a script has made come from."""
        leaves = _leaves(frame)
        if len(leaves) == 1:
            self._frames.append((event, leaves[0]))

    def capture(self, event: Event, frame: DataFrame) -> Capture | None:
        """Annotate a frame and save its capture; None, with the reason, where that cannot be."""
        from pyspark.errors import PySparkException

        directory = self._recorder.directory / "captures" / str(event.number)
        try:
            self._track(frame)
            annotated = self._open(frame).annotate(frame)
            capture = annotated.save(directory)
        except (LipstickError, PySparkException) as error:
            first = str(error).strip().partition("\n")[0]
            self._recorder.change(event, inferred=f"its frame cannot be annotated: {first}")
            return None
        used = {name: self._relations[name] for name in annotated.relations}
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

    def _track(self, frame: DataFrame) -> None:
        for leaf in _leaves(frame):
            if leaf.getClass().getSimpleName() not in _ROWS:
                continue
            if any(leaf.sameResult(known) for _, known in self._tracked):
                continue
            event = next((e for e, known in self._frames if leaf.sameResult(known)), None)
            if event is None:
                event = self._read_otherwise(frame, leaf)
            self._name(frame, leaf, event)

    def _read_otherwise(self, frame: DataFrame, leaf: Any) -> Event:
        """The read of a source that a text names, such as a table in ``spark.sql``."""
        from lipstick.dataframes.jvm import frame_of

        source = frame_of(frame.sparkSession, leaf)
        kind = leaf.getClass().getSimpleName()
        table: Any = leaf.catalogTable() if kind == "LogicalRelation" else None
        is_table = table is not None and bool(table.isDefined())
        name = table.get().identifier().unquotedString() if is_table else "?"
        files = _input_files(source)
        if not is_table and files:
            name = str(Path(files[0].path).parent)
        return self._recorder.add("read", "spark", name, files=files, columns=tuple(source.columns))

    def _name(self, frame: DataFrame, leaf: Any, event: Event) -> None:
        """Track a leaf under a name of its own."""
        from lipstick.dataframes.jvm import frame_of
        from lipstick.tracking.source import Source, fingerprint
        from lipstick.tracking.tracker import Naming, name_rows

        spark = frame.sparkSession
        source = frame_of(spark, leaf)
        stem = re.sub(r"\W", "_", Path(event.name.split(",")[0]).stem) or "rows"
        name = f"_script_{event.number}_{stem}".lower()
        while name in self._relations:
            name += "_"
        kind = _format(leaf)
        pinned = Source(source, event.name, kind, fingerprint(spark, source), event.name)
        if kind == "parquet":
            rows, naming, token, files = name_rows(name, pinned, None, True)
        else:
            rows, token, files = _copied(source, self._recorder.directory / "copies" / name)
            naming = Naming.ROWS
        self._open(frame)._track(name, pinned, rows, naming, token, files)
        self._tracked.append((name, leaf))
        self._relations[name] = event.number
        if not event.files and files and files[0].startswith("file:"):
            self._recorder.change(event, files=tuple(version_of(f[5:]) for f in files))


def _leaves(frame: DataFrame) -> list[Any]:
    """Return the leaves of a frame's analysed plan, and of its subqueries."""
    plan = frame._jdf.queryExecution().analyzed()
    leaves = []
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        children = node.children()
        inner = node.subqueries()
        waiting += [inner.apply(number) for number in range(inner.size())]
        if children.size() == 0:
            leaves.append(node)
        waiting += [children.apply(number) for number in range(children.size())]
    return leaves


def _format(leaf: Any) -> str | None:
    """The format of files that a leaf reads: ``parquet``, or another; None: it reads no files."""
    if leaf.getClass().getSimpleName() != "LogicalRelation":
        return None
    relation = leaf.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        return None
    kind = relation.fileFormat().getClass().getSimpleName()
    return "parquet" if kind == "ParquetFileFormat" else str(kind)


def _copied(
    source: DataFrame, directory: Path
) -> tuple[DataFrame, tuple[str, ...], tuple[str, ...]]:
    """Copy rows to Parquet with their places: the file, and the number in it, from 0.

    Splits of a file are read from where they begin, and the rows of one in order.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    from lipstick.tracking.naming import ROW_BITS
    from lipstick.tracking.tracker import ROW_COLUMN

    in_files = bool(source.inputFiles())
    marks = [F.monotonically_increasing_id().alias("_at")]
    if in_files:
        marks += [
            F.col("_metadata.file_path").alias("_file"),
            F.col("_metadata.file_block_start").alias("_block"),
        ]
    else:
        marks += [F.lit("").alias("_file"), F.lit(0).alias("_block")]
    marked = source.select("*", *marks)
    file_rows = marked.select("_file").distinct().collect() if in_files else []
    files = tuple(sorted(row["_file"] for row in file_rows)) or ("",)
    window = Window.partitionBy("_file").orderBy("_block", "_at")
    number = F.lit(0)
    if len(files) > 1:
        known = F.create_map(*(F.lit(v) for n, f in enumerate(files) for v in (f, n)))
        number = known[F.col("_file")]
    row_number = F.shiftleft(number.cast("bigint"), ROW_BITS).bitwiseOR(
        (F.row_number().over(window) - 1).cast("bigint")
    )
    columns = [F.col(f"`{name}`") for name in source.columns]
    target = str(directory)
    marked.select(*columns, row_number.alias(ROW_COLUMN)).write.parquet(target)
    return source.sparkSession.read.parquet(target), (ROW_COLUMN,), files
