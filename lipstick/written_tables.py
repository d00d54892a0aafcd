"""Tables that stand for the queries that wrote them, back to rows that no known query wrote.

A question about a table goes back through the plans of the writes that made it. The relations that
no write made are tracked then, and the tables between are views of them. A table stands for the
rows of its plans only if it still has these rows; otherwise it is a source itself, and
:attr:`WrittenTables.sources` has the reason.
"""

from __future__ import annotations

import atexit
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self
from urllib.parse import unquote, urlparse

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick import display
from lipstick.errors import LipstickError, SessionClosedError, SourceChangedError, first_line
from lipstick.pipeline import prepare
from lipstick.sessions import Session
from lipstick.stages.settings import naming_settings
from lipstick.tracking.row_checksum import RowChecksum
from lipstick.tracking.source import fingerprint
from lipstick.tracking.tracker import Tracked, stand_in
from lipstick.tracking.views import column_of, quoted_name
from rewriter import View
from rewriter.errors import QueryError
from semiring.door import checked

if TYPE_CHECKING:
    from lipstick.dataframes.jvm import Plan
    from lipstick.frame import AnnotatedFrame

_OPERATORS = {
    *("Aggregate", "CTERelationDef", "CTERelationRef", "Distinct", "Except", "Expand", "Filter"),
    *("Generate", "Intersect", "Join", "LocalRelation", "OneRowRelation", "Project", "Range"),
    *("Repartition", "RepartitionByExpression", "Sort", "SubqueryAlias", "Union", "View"),
    *("WithCTE",),
}
_AGGREGATES = {"AggregateExpression", "Average", "Count", "Max", "Min", "Sum"}
"""The operators and aggregates of Spark whose values do not depend on the order of rows."""


class TableWrite(Protocol):
    """A write of rows, by a plan."""

    @property
    def number(self) -> int:
        """Its place among the writes, from 1."""

    @property
    def name(self) -> str:
        """The name of the table or path."""

    @property
    def title(self) -> str:
        """The words for its query in reasons."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the written columns."""

    @property
    def plan(self) -> Plan:
        """The plan of the written rows."""


@checked
class WrittenTables(ABC):
    """Tables whose rows are annotated by the queries that wrote them."""

    _closed_message: ClassVar[str]

    def __init__(self, spark: SparkSession, store: str | os.PathLike[str] | None = None) -> None:
        self.spark = spark
        self._store = store
        self._session: Session | None = None
        self._relations: list[Relation] = []
        self._names: set[str] = set()
        self._checksums: dict[int, RowChecksum] = {}
        self._is_whole = False
        self._closed = False
        # Before Python ends: the session that questions are asked in has files.
        atexit.register(self.close)

    @property
    def session(self) -> Session:
        """The session that questions are asked in, which tracks the sources that they have met.

        Its SparkSession is a copy, whose views the original does not see.
        """
        self._check_open()
        if self._session is None:
            copy = self.spark._jsparkSession.cloneSession()
            self._prepare_copy(copy)
            self._session = Session(SparkSession(self.spark.sparkContext, copy), self._store)
        return self._session

    @property
    def sources(self) -> dict[str, str]:
        """By tracked source that a question has met, the reason why it goes no further back."""
        return {r.tracked.name: r.reason for r in self._relations if r.reason is not None}

    def close(self) -> None:
        """Forget what was tracked."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        if self._session is not None and self.spark.sparkContext._jsc is not None:
            self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosedError(self._closed_message)

    @abstractmethod
    def _prepare_copy(self, copy: Any) -> None:
        """Change the copy of the session, before questions are asked in it."""

    @abstractmethod
    def _writes_of(self, leaf: Plan, before: int) -> Sequence[TableWrite] | str:
        """Return the writes that may have made the rows of a leaf in order, or why none has.

        Parameters
        ----------
        before
            The number of the first write that the leaf cannot have read.
        """

    @abstractmethod
    def _is_complete(self, write: TableWrite, writes: Sequence[TableWrite]) -> bool:
        """Return True if a table may have been read after this one of its writes."""

    def _annotated(self, frame: DataFrame, before: int) -> AnnotatedFrame:
        """Annotate a frame, which cannot have read the write of a number or later ones.

        Each write's query is first annotated over the tables that it reads, so that the time grows
        with their number. If the queries cannot be annotated together, each is annotated together
        with those before it, to find the tables that become sources.
        """
        from lipstick.dataframes.jvm import analysed, frame_of

        asked = frame_of(self.session.spark, analysed(frame))
        with display.progress(after=2.0) as line, self.session._views.in_force():
            text, _ = self._text(asked, before, line)
            try:
                return self.session.sql(text)
            except QueryError:
                if self._is_whole or all(each.text is None for each in self._relations):
                    raise
            self._is_whole = True
            self._relations = [each for each in self._relations if each.text is None]
            return self.session.sql(self._text(asked, before, line)[0])

    # -- the way back ------------------------------------------------------------------------

    def _text(self, frame: DataFrame, before: int, line: Any) -> tuple[str, list[Relation]]:
        """Return a frame as a query over the relations that its leaves come from, and these.

        Parameters
        ----------
        before
            The number of the first write that the frame cannot have read.
        """
        from lipstick.dataframes import query_text
        from lipstick.dataframes.leaves import row_leaves

        relations = [self._relation(leaf, before, line) for leaf in row_leaves(frame)]
        tracked = [each.tracked for each in relations]
        return query_text(frame.sparkSession, frame, tracked), relations

    def _relation(self, leaf: Plan, before: int, line: Any) -> Relation:
        """Return the relation that a leaf reads: the view of a write's query, or a source."""
        from lipstick.dataframes.jvm import frame_of
        from lipstick.dataframes.leaves import table_name, track_leaf

        spark = self.session.spark
        rows = frame_of(spark, leaf)
        files = frozenset(rows.inputFiles())
        known = next((r for r in self._relations if r.is_of(leaf, files)), None)
        if known is None:
            called = table_name(leaf) or ", ".join(read_folders(leaf)) or "rows"
            text, reason, read = self._made_by(rows, self._writes_of(leaf, before), line)
            # Named after the relations below it, so that a file keeps its name beside its table.
            name = self._free_name(called)
            if text is None:
                line(f"tracking {called}")
                _check_there(spark, rows, called)
                copies = self.session.store / "copies" / name
                tracked = track_leaf(self.session, leaf, name, called, copies)
                known = Relation(leaf, files, tracked, None, reason, frozenset([name]))
            else:
                tracked = stand_in(spark, name, rows, called)
                known = Relation(leaf, files, tracked, text, None, read)
                self.session.add_view(rows, name)
            self._relations.append(known)
        if known.text is not None:
            columns = tuple(known.tracked.columns)
            name = known.tracked.name
            self.session.version_views[name] = View(name, known.text, columns)
        return known

    def _made_by(
        self, rows: DataFrame, writes: Sequence[TableWrite] | str, line: Any
    ) -> tuple[str | None, str, frozenset[str]]:
        """Return the query that made the rows of a leaf, or None, the reason, and its sources."""
        nothing: frozenset[str] = frozenset()
        if isinstance(writes, str):
            return None, writes, nothing
        line(f"comparing {writes[-1].name} with the query that wrote it")
        columns = ", ".join(quoted_name([name]) for name in rows.columns)
        there, made = RowChecksum.of(rows, rounded=True), RowChecksum()
        texts, sources = [], nothing
        for write in writes:
            try:
                if not write.plan.deterministic():
                    return None, f"chance takes part in {write.title}", nothing
                frame = written_rows(self.session.spark, write)
                if _types(frame) != _types(rows):
                    return None, "it is read with other columns than were written", nothing
                text, relations = self._text(frame, write.number, line)
                texts.append(f"SELECT {columns} FROM ({text})")
                sources = sources.union(*(each.sources for each in relations))
                if self._is_whole:
                    self.session.sql(texts[-1])
                if write.number not in self._checksums:
                    tracked = [each.tracked for each in relations]
                    self._checksums[write.number] = self._checksum(write, texts[-1], tracked)
            except (LipstickError, PySparkException, Py4JError) as error:
                return None, f"{write.title} cannot be followed: {first_line(error)}", nothing
            made += self._checksums[write.number]
            if made == there and self._is_complete(write, writes):
                return " UNION ALL ".join(texts), "", sources
        return None, "it has other rows than the queries that wrote it have now", nothing

    def _checksum(self, write: TableWrite, text: str, relations: Sequence[Tracked]) -> RowChecksum:
        """Return the checksum of the rows that a write's query, annotated as a text, has now.

        The relations that it reads have the rows of their queries, so it is computed from their
        tables. Where rows tie, the annotated query may choose others, and is run itself.
        """
        if _is_free_of_ties(write.plan):
            columns = map(column_of, _columns_over(self.session, text, relations))
            rows = written_rows(self.session.spark, write)
            with suppress(PySparkException, Py4JError):  # files that it has read may be gone
                return RowChecksum.of(rows.select(*columns), rounded=True)
        return RowChecksum.of(self.session.sql(text).df, rounded=True)

    def _free_name(self, called: str) -> str:
        stem = called.rstrip("/").rpartition("/")[2].rpartition(".")
        word = stem[2] if "/" not in called else stem[0] or stem[2]
        word = re.sub(r"\W", "_", word).lower() or "rows"
        numbered = (word if n == 1 else f"{word}_{n}" for n in range(1, len(self._names) + 2))
        name = next(name for name in numbered if name not in self._names)
        self._names.add(name)
        return name


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation of a leaf: a source, with the reason why it is one, or a view with its text.

    Attributes
    ----------
    sources
        The names of the sources that it goes back to; of a source, its own.
    """

    leaf: Plan
    files: frozenset[str]
    tracked: Tracked
    text: str | None
    reason: str | None
    sources: frozenset[str]

    def is_of(self, leaf: Plan, files: frozenset[str]) -> bool:
        """Return True if a leaf reads the same rows: of the same files, in the same way."""
        return files == self.files and bool(leaf.sameResult(self.leaf))


def _check_there(spark: SparkSession, rows: DataFrame, called: str) -> None:
    """Raise :class:`SourceChangedError` if files that a frame reads were removed."""
    missing = [uri for uri, length, _ in fingerprint(spark, rows) if length < 0]
    if missing:
        raise SourceChangedError(f"files of {called} were removed: {missing[0]}")


def written_rows(spark: SparkSession, write: TableWrite) -> DataFrame:
    """Return the rows that a write has written, under the names of its columns."""
    from lipstick.dataframes.jvm import frame_of

    return frame_of(spark, write.plan).toDF(*write.columns)


def _columns_over(session: Session, query: str, relations: Sequence[Tracked]) -> list[str]:
    """Put a query over some relations through the stages, and return its columns.

    Raises
    ------
    QueryError
        The query has no rewrite rule.
    """
    own = {relation.name.lower(): relation for relation in relations}
    surroundings = replace(session._surroundings, tracked=own, versions={})
    with naming_settings(session.spark):
        return list(prepare(query, None, surroundings).schema.names)


def _is_free_of_ties(plan: Plan) -> bool:
    """Return True if the rows of a plan follow from the bags of rows that it reads."""
    text = str(plan.toJSON())
    classes = {each.rpartition(".")[::2] for each in re.findall(r'"class":"([\w.$]+)"', text)}
    return " collate " not in text.lower() and not any(
        (package.endswith("plans.logical") and name not in _OPERATORS)
        or (package.endswith(".aggregate") and name not in _AGGREGATES)
        or name == "PythonUDAF"
        for package, name in classes
    )


def _types(frame: DataFrame) -> dict[str, str]:
    return {column.name.lower(): column.dataType.simpleString() for column in frame.schema}


def read_folders(leaf: Plan) -> list[str]:
    """Return the folders or files that a leaf reads."""
    from lipstick.dataframes.leaves import file_format

    if file_format(leaf) is None:
        return []
    paths = leaf.relation().location().rootPaths()
    return [folder_of(str(paths.apply(n).toString())) for n in range(paths.size())]


def folder_of(path: str) -> str:
    """Return a path in the form in which paths are compared."""
    parsed = urlparse(path)
    if parsed.scheme in ("", "file"):
        return str(Path(unquote(parsed.path) if parsed.scheme else path).absolute())
    return path.rstrip("/")
