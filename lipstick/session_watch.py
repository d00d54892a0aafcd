"""Spark sessions that are watched, so that their tables can be asked about afterwards.

A watch keeps the plan of every write of files, which Spark hands to a listener, and nothing else
happens while the session works. A question about a table goes back through the plans of the
writes that made it, to the files that nobody wrote while the session was watched: these are
tracked then, and the tables between are views of them. A table stands for the rows of its plans
only if it still has these rows; otherwise it is a source itself, and
:attr:`SessionWatch.sources` has the reason.
"""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick import display
from lipstick.errors import (
    LipstickError,
    SessionClosedError,
    SourceChangedError,
    SourceError,
)
from lipstick.sessions import Session
from lipstick.tracking.row_checksum import RowChecksum
from lipstick.tracking.source import fingerprint
from lipstick.tracking.tracker import Tracked, stand_in
from lipstick.tracking.views import quoted_name
from rewriter import View
from semiring.door import checked

if TYPE_CHECKING:
    from lipstick.dataframes.jvm import Plan
    from lipstick.frame import AnnotatedFrame

_WRITE = "InsertIntoHadoopFsRelationCommand"
"""The command that every write of files comes to."""
_WRITTEN = "nothing wrote it while the session was watched"


@dataclass(frozen=True, slots=True)
class WatchedWrite:
    """A write of files that a watched session has made.

    Attributes
    ----------
    number
        Its place among the writes, from 1.
    path
        The folder that was written to.
    table
        The name of the table in the catalog; None: it was written to by its path.
    mode
        ``overwrite``, ``append``, or ``part`` where it replaced or added partitions by name.
    format, options
        The format of the files, as Spark's readers call it, and the writer's options.
    """

    number: int
    at: datetime
    path: str
    table: str | None
    mode: str
    format: str
    columns: tuple[str, ...]
    options: Mapping[str, str] = field(repr=False, compare=False)
    plan: Plan = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """The table's name, or the path."""
        return self.table or self.path


def _write_of(plan: Plan, number: int) -> WatchedWrite:
    table = plan.catalogTable()
    names = plan.outputColumnNames()
    mode = str(plan.mode()).lower()
    in_parts = plan.staticPartitions().size() > 0 or (
        mode == "overwrite"
        and plan.partitionColumns().size() > 0
        and plan.dynamicPartitionOverwrite()
    )
    options, given = {}, plan.options().iterator()
    while given.hasNext():
        option = given.next()
        options[str(option._1())] = str(option._2())
    return WatchedWrite(
        number,
        datetime.now(UTC),
        str(plan.outputPath().toString()),
        str(table.get().identifier().unquotedString()) if table.isDefined() else None,
        "part" if in_parts else "append" if mode == "append" else "overwrite",
        re.sub(r"(FileFormat|Format)$", "", plan.fileFormat().getClass().getSimpleName()).lower(),
        tuple(str(names.apply(n)) for n in range(names.size())),
        {name: value for name, value in options.items() if name.lower() != "path"},
        plan.query(),
    )


@checked
class SessionWatch:
    """A watch over what a Spark session writes. Made by :func:`lipstick.watch`."""

    def __init__(self, spark: SparkSession, store: str | os.PathLike[str] | None = None) -> None:
        if not hasattr(spark, "_jsparkSession"):
            raise LipstickError(
                "Sessions of Spark Connect cannot be watched: the plans of what they write are in "
                "the server.\nTrack relations and annotate queries (lipstick.session), or watch "
                "the session on the server."
            )
        from lipstick.dataframes.jvm import PlanListener

        self.spark = spark
        self._store = store
        self._writes: list[WatchedWrite] = []
        self._session: Session | None = None
        self._relations: list[_Relation] = []
        self._names: set[str] = set()
        self._checksums: dict[int, RowChecksum] = {}
        self._closed = False
        self._listener = PlanListener(spark, {_WRITE}, self._add)
        # Before Python ends: the session that questions are asked in has files.
        atexit.register(self.close)

    def _add(self, plan: Plan) -> None:
        self._writes.append(_write_of(plan, len(self._writes) + 1))

    @property
    def writes(self) -> tuple[WatchedWrite, ...]:
        """The writes so far, in their order."""
        self._check_open()
        self._listener.catch_up()
        return tuple(self._writes)

    @property
    def session(self) -> Session:
        """The session that questions are asked in, which tracks the sources that they have met.

        Its SparkSession is a copy, whose views the watched one does not see.
        """
        self._check_open()
        if self._session is None:
            copy = self.spark._jsparkSession.cloneSession()
            copy.listenerManager().unregister(self._listener)
            self._session = Session(SparkSession(self.spark.sparkContext, copy), self._store)
        return self._session

    @property
    def sources(self) -> dict[str, str]:
        """By tracked source that a question has met, the reason why it goes no further back."""
        return {r.tracked.name: r.reason for r in self._relations if r.reason is not None}

    def query(self, target: str | os.PathLike[str] | DataFrame) -> AnnotatedFrame:
        """Annotate the rows of a table or frame, in terms of the files that they began with.

        A question about few rows of a large table is cheaper about a frame that selects them:
        ``watch.query(spark.table("daily").where("day = '2024-02-01'"))``.

        Parameters
        ----------
        target
            The name of a table, the path of a write, or a data frame over tables and files, however
            it was made.

        Raises
        ------
        QueryError
            When the frame has an operator without a rule. Tables whose plans have one are sources.
        SourceError
            When there is no such table or path.
        """
        from lipstick.dataframes.jvm import analysed, frame_of

        self._check_open()
        self._listener.catch_up()
        frame = target if isinstance(target, DataFrame) else self._read(os.fspath(target))
        asked = frame_of(self.session.spark, analysed(frame))
        with display.progress(after=2.0) as line, self.session._views.in_force():
            return self.session.sql(self._text(asked, len(self._writes) + 1, line))

    def close(self) -> None:
        """Stop watching, and forget what was tracked."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        self._listener.stop()
        if self._session is not None and self.spark.sparkContext._jsc is not None:
            self._session.close()

    def __enter__(self) -> SessionWatch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._closed:
            return "<lipstick watch, closed>"
        return f"<lipstick watch, {len(self.writes)} writes so far>"

    # -- the session that is watched ---------------------------------------------------------

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosedError(
                "The watch was closed, and what it kept is gone.\nOpen another one, "
                "lipstick.watch(spark), before the writes to ask about."
            )

    def _read(self, target: str) -> DataFrame:
        """Return the rows of a table or of a path that was written."""
        path = _folder(target)
        for write in reversed(self._writes):
            if _folder(write.path) == path and write.table is None:
                schema = _frame(self.spark, write).schema
                reader = self.spark.read.schema(schema).options(**write.options)
                return reader.format(write.format).load(target)
        try:
            return self.spark.table(target)
        except PySparkException as error:
            known = ", ".join(dict.fromkeys(w.name for w in self._writes)) or "nothing"
            raise SourceError(
                f"There is no table {target!r}, and no path that was written while the session was "
                f"watched.\nWritten were: {known}. Give one of these, or a data frame."
            ) from error

    # -- the way back ------------------------------------------------------------------------

    def _text(self, frame: DataFrame, before: int, line: Any) -> str:
        """Return a frame as a query over the relations that its leaves come from.

        Parameters
        ----------
        before
            The number of the first write that the frame cannot have read.
        """
        from lipstick.dataframes import query_text
        from lipstick.dataframes.leaves import row_leaves

        relations = [self._relation(leaf, before, line).tracked for leaf in row_leaves(frame)]
        return query_text(frame.sparkSession, frame, relations)

    def _relation(self, leaf: Plan, before: int, line: Any) -> _Relation:
        """Return the relation that a leaf reads: the view of a write's query, or a source."""
        from lipstick.dataframes.jvm import frame_of
        from lipstick.dataframes.leaves import table_name, track_leaf

        spark = self.session.spark
        rows = frame_of(spark, leaf)
        roots = _roots(leaf)
        files = frozenset(rows.inputFiles())
        known = next((r for r in self._relations if r.is_of(leaf, files)), None)
        if known is None:
            called = table_name(leaf) or ", ".join(roots) or "rows"
            name = self._free_name(called)
            text, reason = self._made_by(rows, roots, before, line)
            if text is None:
                line(f"tracking {called}")
                _check_there(spark, rows, called)
                copies = self.session.store / "copies" / name
                tracked = track_leaf(self.session, leaf, name, called, copies)
                known = _Relation(leaf, files, tracked, None, reason)
            else:
                known = _Relation(leaf, files, stand_in(spark, name, rows, called), text, None)
                self.session.add_view(rows, name)
            self._relations.append(known)
        if known.text is not None:
            columns = tuple(known.tracked.columns)
            name = known.tracked.name
            self.session.version_views[name] = View(name, known.text, columns)
        return known

    def _made_by(
        self, rows: DataFrame, roots: Sequence[str], before: int, line: Any
    ) -> tuple[str | None, str]:
        """Return the query that made the rows of a leaf, or None and the reason."""
        earlier = [w for w in self._writes[: before - 1] if [_folder(w.path)] == roots]
        if not earlier:
            return None, _WRITTEN
        whole = [n for n, write in enumerate(earlier) if write.mode == "overwrite"]
        earlier = earlier[whole[-1] if whole else 0 :]
        if any(write.mode == "part" for write in earlier):
            return None, "partitions of it were written by name"
        line(f"comparing {earlier[-1].name} with the query that wrote it")
        columns = ", ".join(quoted_name([name]) for name in rows.columns)
        there, made = RowChecksum.of(rows, rounded=True), RowChecksum()
        texts = []
        for write in earlier:
            try:
                if not write.plan.deterministic():
                    return None, f"chance takes part in the query of write {write.number}"
                frame = _frame(self.session.spark, write)
                if _types(frame) != _types(rows):
                    return None, "it is read with other columns than were written"
                text = f"SELECT {columns} FROM ({self._text(frame, write.number, line)})"
                texts.append(text)
                if write.number not in self._checksums:
                    # Of the annotated query, whose rows may be others where rows tie.
                    answer = self.session.sql(text).df
                    self._checksums[write.number] = RowChecksum.of(answer, rounded=True)
            except (LipstickError, PySparkException, Py4JError) as error:
                first = str(error).strip().partition("\n")[0]
                return None, f"the query of write {write.number} cannot be followed: {first}"
            made += self._checksums[write.number]
            if made == there:
                return " UNION ALL ".join(texts), ""
        return None, "it has other rows than the queries that wrote it have now"

    def _free_name(self, called: str) -> str:
        stem = called.rstrip("/").rpartition("/")[2].rpartition(".")
        word = stem[2] if "/" not in called else stem[0] or stem[2]
        word = re.sub(r"\W", "_", word).lower() or "rows"
        numbered = (word if n == 1 else f"{word}_{n}" for n in range(1, len(self._names) + 2))
        name = next(name for name in numbered if name not in self._names)
        self._names.add(name)
        return name


@dataclass(frozen=True, slots=True)
class _Relation:
    """The relation of a leaf: a source, with the reason why it is one, or a view with its text."""

    leaf: Plan
    files: frozenset[str]
    tracked: Tracked
    text: str | None
    reason: str | None

    def is_of(self, leaf: Plan, files: frozenset[str]) -> bool:
        """Return True if a leaf reads the same rows: of the same files, in the same way."""
        return files == self.files and bool(leaf.sameResult(self.leaf))


def _check_there(spark: SparkSession, rows: DataFrame, called: str) -> None:
    """Raise :class:`SourceChangedError` if files that a frame reads were removed."""
    missing = [uri for uri, length, _ in fingerprint(spark, rows) if length < 0]
    if missing:
        raise SourceChangedError(f"files of {called} were removed: {missing[0]}")


def _frame(spark: SparkSession, write: WatchedWrite) -> DataFrame:
    """Return the rows that a write has written, under the names of its columns."""
    from lipstick.dataframes.jvm import frame_of

    return frame_of(spark, write.plan).toDF(*write.columns)


def _types(frame: DataFrame) -> dict[str, str]:
    return {column.name.lower(): column.dataType.simpleString() for column in frame.schema}


def _roots(leaf: Plan) -> list[str]:
    """Return the folders or files that a leaf reads."""
    from lipstick.dataframes.leaves import file_format

    if file_format(leaf) is None:
        return []
    paths = leaf.relation().location().rootPaths()
    return [_folder(str(paths.apply(n).toString())) for n in range(paths.size())]


def _folder(path: str) -> str:
    """Return a path in the form in which paths are compared."""
    parsed = urlparse(path)
    if parsed.scheme in ("", "file"):
        return str(Path(unquote(parsed.path) if parsed.scheme else path).absolute())
    return path.rstrip("/")


@checked
def watch(spark: SparkSession, store: str | os.PathLike[str] | None = None) -> SessionWatch:
    """Watch a Spark session from now on, to ask afterwards where the rows that it writes are from.

    Queries run as they would: Spark hands the plans of writes over when they have ended, and
    nothing is tracked, copied or captured before the first question.

    Parameters
    ----------
    store
        Where captures and copies go; None: a temporary directory, removed on close.
    """
    return SessionWatch(spark, store)
