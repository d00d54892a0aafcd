"""Annotates the frames of a script: tracks what they read, and captures them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lipstick.systems.scripts.running.record import Event, version_of
from lipstick.systems.scripts.running.recorder import Recorder
from semiring.errors import LipstickError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lipstick.capture.capture import Capture
    from lipstick.sessions import Session

_ROWS = ("LogicalRelation", "LocalRelation", "LogicalRDD", "HiveTableRelation")
"""The leaves of plans that have rows of their own."""


class Annotating:
    """The session that annotates a script's frames, made when the first of them is.

    A source is tracked once a frame reads it. Rows of Parquet are named by their places; rows of
    other sources are copied once, with their place in the file they are of.
    """

    def __init__(self, recorder: Recorder) -> None:
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
        from lipstick.systems.scripts.running.spark_doors import _input_files

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
