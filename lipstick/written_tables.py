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
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self
from urllib.parse import unquote, urlparse

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick import display
from lipstick.dataframes.jvm import Plan, analysed, frame_of, nondeterministic_calls
from lipstick.dataframes.leaves import is_same_source, row_leaves
from lipstick.engines.spark.local_session import unlog_own_errors
from lipstick.engines.spark.private_session import PrivateSession
from lipstick.errors import (
    LipstickError,
    SourceChangedError,
    SourceError,
    first_line,
    readable_types,
)
from lipstick.frame import AnnotatedFrame
from lipstick.pipeline import prepare
from lipstick.sessions import Session
from lipstick.stages.reading import own_sql
from lipstick.stages.settings import (
    naming_settings,
    put_back_settings,
    settings_now,
    settings_of_plans,
)
from lipstick.tracking.formats.probe import versioned_leaf
from lipstick.tracking.row_checksum import RowChecksum
from lipstick.tracking.source import fingerprint
from lipstick.tracking.tracker import Tracked, stand_in
from lipstick.tracking.views import column_of, quoted_name
from rewriter import ViewText
from rewriter.dialect import emit, parse, volatile_calls, with_literals
from rewriter.dialect.literals import VALUE_OF
from rewriter.errors import QueryError
from rewriter.statements import (
    MergeInto,
    Reenactment,
    Relations,
    duplicate_source_keys,
    is_monotone,
    moments_of,
    parse_statement,
    reenact,
    references,
    source_query,
    statement_to_run,
)
from semiring.support.door import checked

_OPERATORS = {
    *("Aggregate", "CTERelationDef", "CTERelationRef", "Distinct", "Except", "Expand", "Filter"),
    *("Generate", "Intersect", "Join", "LocalRelation", "OneRowRelation", "Project", "Range"),
    *("Repartition", "RepartitionByExpression", "Sort", "SubqueryAlias", "Union", "View"),
    *("WithCTE",),
}
_MICROS = "SELECT unix_micros(TIMESTAMP '{}')"
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


@dataclass(frozen=True, slots=True)
class Moment:
    """When a query asked for the time: between two seconds since 1970, at one of some times.

    Attributes
    ----------
    known
        The times in the plan that ran, in the time zone of the session; empty: none is in it.
    """

    since: float
    until: float
    known: tuple[str, ...]


@checked
class WrittenTables(ABC):
    """Tables whose rows are annotated by the queries that wrote them."""

    _closed_message: ClassVar[str]

    def __init__(self, spark: SparkSession, store: str | os.PathLike[str] | None = None) -> None:
        unlog_own_errors()
        self.spark = spark
        self._store = store
        self._copies: dict[frozenset[tuple[str, str]], SessionCopy] = {}
        self._copy: SessionCopy | None = None
        self._names: set[str] = set()
        self._closed = False
        # Before Python ends: the session that questions are asked in has files.
        atexit.register(self.close)

    @property
    def session(self) -> Session:
        """The session that the last question was asked in, which tracks the sources it has met.

        Its SparkSession is a copy, whose views the original does not see. There is one for each
        set of settings by which questions are asked.
        """
        return self._current.session

    @property
    def _current(self) -> SessionCopy:
        """The copy of the session that the last question was asked in."""
        self._check_open()
        return self._copy or self._ask_by(settings_now(self.spark))

    def _ask_by(self, settings: Mapping[str, str]) -> SessionCopy:
        """Return the copy of the session with some settings, in which questions are asked now."""
        settings = settings_of_plans(settings)
        key = frozenset(settings.items())
        if key not in self._copies:
            copy = self.spark._jsparkSession.cloneSession()
            self._prepare_copy(copy)
            spark = PrivateSession(self.spark.sparkContext, copy)
            put_back_settings(spark, settings)
            self._copies[key] = SessionCopy(Session(spark, self._store))
        self._copy = self._copies[key]
        return self._copy

    @property
    def sources(self) -> dict[str, str]:
        """By tracked source that a question has met, the reason why it goes no further back."""
        met = (each for copy in self._copies.values() for each in copy.relations)
        return {r.tracked.name: r.reason for r in met if r.reason is not None}

    def close(self) -> None:
        """Forget what was tracked."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        if self.spark.sparkContext._jsc is not None:
            for copy in self._copies.values():
                copy.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise LipstickError(self._closed_message)

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

    def _before(self, _leaf: Plan, _writes: Sequence[TableWrite]) -> DataFrame | None:
        """Return the rows that the table of a leaf had before its writes; None: it had none."""
        return None

    def _statement(self, _write: TableWrite) -> RowsChange | None:
        """Return what a write does to the rows before it; None: it adds rows, or replaces all."""
        return None

    def _as_read(self, _write: TableWrite | None, plan: Plan) -> Plan:
        """Return a plan that reads the versions of tables that a write has read; None: of now."""
        return plan

    def _moment_of(self, _write: TableWrite) -> Moment | None:
        """Return when a write's query asked for the time; None: it did not, or it is not known."""
        return None

    def _key_of(self, _leaf: Plan) -> str | Sequence[str] | None:
        """Return the key by which the rows of a source are named; None: none was given."""
        return None

    def _annotated(
        self, frame: DataFrame, before: int, read_by: TableWrite | None = None
    ) -> AnnotatedFrame:
        """Annotate a frame, which cannot have read the write of a number or later ones.

        Parameters
        ----------
        read_by
            What has read the frame, if it reads versions and has the time of then; None: of now.

        Each write's query is first annotated over the tables that it reads, so that the time grows
        with their number. If the queries cannot be annotated together, each is annotated together
        with those before it, to find the tables that become sources.
        """
        copy = self._current
        asked = frame_of(copy.session.spark, self._as_read(read_by, analysed(frame)))

        def text() -> str:
            written, _ = self._text(asked, before, line)
            return written if read_by is None else self._at_its_time(read_by, written)

        in_force = self.session._views.in_force()
        with readable_types(), display.progress(after=2.0) as line, in_force:
            try:
                return self.session.sql(text())
            except QueryError:
                if copy.is_whole or all(each.text is None for each in copy.relations):
                    raise
            copy.is_whole = True
            copy.relations = [each for each in copy.relations if each.text is None]
            return self.session.sql(text())

    # -- the way back ------------------------------------------------------------------------

    def _text(self, frame: DataFrame, before: int, line: Any) -> tuple[str, list[LeafRelation]]:
        """Return a frame as a query over the relations that its leaves come from, and these.

        Parameters
        ----------
        before
            The number of the first write that the frame cannot have read.
        """
        from lipstick.dataframes import query_text

        relations = [self._relation(leaf, before, line) for leaf in row_leaves(analysed(frame))]
        tracked = [each.tracked for each in relations]
        return query_text(frame.sparkSession, frame, tracked), relations

    def _relation(self, leaf: Plan, before: int, line: Any) -> LeafRelation:
        """Return the relation that a leaf reads: the view of a write's query, or a source."""
        from lipstick.dataframes.leaves import table_name
        from lipstick.dataframes.tracked_leaves import track_leaf

        copy, spark = self._current, self.session.spark
        rows = frame_of(spark, leaf)
        files = frozenset(rows.inputFiles())
        known = copy.relation_of(leaf, files)
        if known is not None and not known.is_current(spark):
            name = known.tracked.name
            others = (each for each in copy.relations if each is not known)
            copy.relations = [each for each in others if name not in each.sources]
            known = None
        if known is None:
            called = table_name(leaf) or ", ".join(read_folders(spark, leaf)) or "rows"
            text, reason, read = self._made_by(leaf, rows, called, before, line)
            # Named after the relations below it, so that a file keeps its name beside its table.
            name = self._name_elsewhere(leaf, files) or self._free_name(called)
            if text is None:
                line(f"tracking {called}")
                _check_there(spark, rows, called)
                copies = self.session.store / "copies" / self.session._id / name
                key = self._key_of(leaf)
                tracked = track_leaf(self.session, leaf, name, called, copies, key)
                known = LeafRelation(leaf, files, tracked, None, reason, frozenset([name]))
            else:
                tracked = stand_in(spark, name, rows, called)
                known = LeafRelation(leaf, files, tracked, text, None, read)
                self.session.add_view(rows, name)
            copy.relations.append(known)
        if known.text is not None:
            columns = tuple(known.tracked.columns)
            name = known.tracked.name
            self.session.version_views[name] = ViewText(name, known.text, columns)
        return known

    def _made_by(
        self, leaf: Plan, rows: DataFrame, called: str, before: int, line: Any
    ) -> tuple[str | None, str, frozenset[str]]:
        """Return the query that made the rows of a leaf, or None, the reason, and its sources."""
        nothing: frozenset[str] = frozenset()
        title = "what wrote it"
        try:
            writes = self._writes_of(leaf, before)
            if isinstance(writes, str):
                return None, writes, nothing
            line(f"comparing {writes[-1].name} with the query that wrote it")
            made = _MadeRows(tuple(rows.columns))
            there = RowChecksum.of(rows, rounded=True)
            earlier = self._before(leaf, writes)
            if earlier is not None:
                self._begin(made, earlier, writes[0].number, line)
            for write in writes:
                title = write.title
                self._follow_write(made, write, rows, called, line)
                if made.checksum == there and self._is_complete(write, writes):
                    return made.text, "", made.sources
        except _NotFollowedError as error:
            return None, str(error), nothing
        except (LipstickError, PySparkException, Py4JError) as error:
            problem = error.problem if isinstance(error, QueryError) else first_line(error)
            return None, f"{title} cannot be followed: {problem}", nothing
        return None, "it has other rows than the queries that wrote it have now", nothing

    def _begin(self, made: _MadeRows, rows: DataFrame, before: int, line: Any) -> None:
        """Begin with the rows that a table had before its writes."""
        checksum = RowChecksum.of(rows, rounded=True)
        if checksum.rows:
            (leaf,) = row_leaves(analysed(rows))
            relation = self._relation(leaf, before, line)
            name = quoted_name([relation.tracked.name])
            made.add(f"SELECT {made.select} FROM {name}", checksum, [relation])

    def _follow_write(
        self, made: _MadeRows, write: TableWrite, rows: DataFrame, called: str, line: Any
    ) -> None:
        """Change rows as a write did.

        Raises
        ------
        _NotFollowedError
            With the reason.
        """
        change = self._statement(write)
        if change is not None and (made.texts or change.command is not None):
            self._reenact(made, write, change, rows, called, line)
            return
        if not write.plan.deterministic():
            calls = ", ".join(dict.fromkeys(nondeterministic_calls(write.plan)))
            raise _NotFollowedError(
                f"{write.title} calls {calls}: Spark may have other values when it runs again"
            )
        spark = self.session.spark
        frame = frame_of(spark, self._as_read(write, analysed(written_rows(spark, write))))
        if _types(frame) != _types(rows):
            raise _NotFollowedError("it is read with other columns than were written")
        text, relations = self._text(frame, write.number, line)
        text = f"SELECT {made.select} FROM ({self._at_its_time(write, text)})"
        copy = self._current
        if copy.is_whole:
            self.session.sql(text)
        if write.number not in copy.checksums:
            tracked = [each.tracked for each in relations]
            copy.checksums[write.number] = self._checksum(write, frame, text, tracked)
        made.add(text, copy.checksums[write.number], relations)

    def _reenact(
        self,
        made: _MadeRows,
        write: TableWrite,
        change: RowsChange,
        rows: DataFrame,
        called: str,
        line: Any,
    ) -> None:
        """Change rows as a statement did."""
        from lipstick.histories.engine import shape_of

        if not made.texts:
            raise _NotFollowedError(f"it is not known which rows it had before {write.title}")
        session, before = self.session, made.text
        name = self._free_name(f"{called}_before")
        session.add_view(own_sql(session.spark, before), name)
        plan = change.reads(session.spark)
        leaves = []
        if plan is not None:
            plan = self._as_read(write, plan)
            leaves = [leaf for leaf in row_leaves(plan) if not _is_target(leaf)]
        relations = [self._relation(leaf, write.number, line) for leaf in leaves]
        tracked = [each.tracked for each in relations]
        text = change.text(session.spark, quoted_name([name]), tracked, plan)
        statement = parse_statement(text)
        if moments := moments_of(statement):
            statement = parse_statement(statement_to_run(text, self._times(write, moments)))
        shape = replace(shape_of(rows.schema), partitions=change.partitions)
        query = source_query(statement, {})
        source = None if query is None else shape_of(own_sql(session.spark, query).schema)
        written = reenact(statement, shape, Relations(name), source, dynamic=change.dynamic)
        if isinstance(statement, MergeInto) and written.ambiguous is not None:
            known = self._current.relations
            _check_one_row_each(session.spark, statement, written, known, write.title)
        once = references(written.rows, name) > 1
        session.version_views[name] = ViewText(name, before, made.columns, once=once)
        checksum = RowChecksum.of(session.sql(written.rows).df, rounded=True)
        made.replace(written.rows, checksum, relations)

    def _at_its_time(self, write: TableWrite, text: str) -> str:
        """Return the text of a write's query with the time at which it ran."""
        if self._moment_of(write) is None:
            return text
        query = parse(text)
        calls = volatile_calls(query)
        return emit(with_literals(query, self._times(write, calls))) if calls else text

    def _times(self, write: TableWrite, functions: Iterable[str]) -> dict[str, str]:
        """Return what functions of the moment have returned to a write's query."""
        moment = self._moment_of(write)
        if moment is None:
            raise _NotFollowedError(f"it is not known at which time {write.title} ran")
        spark = self.session.spark
        known = [
            row[0] for text in moment.known for row in spark.sql(_MICROS.format(text)).collect()
        ]
        near = [n for n in known if moment.since * 1e6 - 1e3 <= n <= moment.until * 1e6 + 1e6]
        at = f"timestamp_micros({near[0] if near else int(moment.since * 1e6)})"
        values = {
            name: VALUE_OF[name][1]
            .replace("current_timestamp()", at)
            .replace("current_date()", f"to_date({at})")
            .replace("localtimestamp()", f"CAST({at} AS TIMESTAMP_NTZ)")
            .replace("unix_timestamp()", f"unix_timestamp({at})")
            for name in functions
        }
        row = spark.sql(f"SELECT {', '.join(values.values())}").collect()[0]
        return dict(zip(values, map(str, row), strict=True))

    def _checksum(
        self, write: TableWrite, frame: DataFrame, text: str, relations: Sequence[Tracked]
    ) -> RowChecksum:
        """Return the checksum of the rows that a write's query, annotated as a text, has now.

        The relations that it reads have the rows of their queries, so it is computed from their
        tables. Where rows tie, the annotated query may choose others, and is run itself.
        """
        if self._moment_of(write) is None and _is_free_of_ties(write.plan):
            # Files may be gone, and rules may ask for the tokens that such relations lack.
            with suppress(PySparkException, Py4JError, QueryError):
                columns = map(column_of, _columns_over(self.session, text, relations))
                return RowChecksum.of(frame.select(*columns), rounded=True)
        return RowChecksum.of(self.session.sql(text).df, rounded=True)

    def _name_elsewhere(self, leaf: Plan, files: frozenset[str]) -> str | None:
        """Return the name by which another copy of the session has the rows of a leaf."""
        known = (copy.relation_of(leaf, files) for copy in self._copies.values())
        spark = self.session.spark
        return next((r.tracked.name for r in known if r is not None and r.is_current(spark)), None)

    def _free_name(self, called: str) -> str:
        stem = called.rstrip("/").rpartition("/")[2].rpartition(".")
        word = stem[2] if "/" not in called else stem[0] or stem[2]
        word = re.sub(r"\W", "_", word).lower() or "rows"
        numbered = (word if n == 1 else f"{word}_{n}" for n in range(1, len(self._names) + 2))
        name = next(name for name in numbered if name not in self._names)
        self._names.add(name)
        return name


@dataclass(frozen=True, slots=True)
class LeafRelation:
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
        return files == self.files and is_same_source(leaf, self.leaf)

    def is_current(self, spark: SparkSession) -> bool:
        """Return True if its rows are as they were, if it is a source: a query is what it was."""
        source = self.tracked.source
        fixed = self.text is not None or bool(source.versions)
        return fixed or fingerprint(spark, source.frame) == source.fingerprint


@dataclass(slots=True)
class SessionCopy:
    """A copy of the session with the settings of one time, and what its questions have met.

    Attributes
    ----------
    checksums
        By the number of a write the rows that its query has now.
    is_whole
        True if each query is annotated together with those before it.
    """

    session: Session
    relations: list[LeafRelation] = field(default_factory=list)
    checksums: dict[int, RowChecksum] = field(default_factory=dict)
    is_whole: bool = False

    def relation_of(self, leaf: Plan, files: frozenset[str]) -> LeafRelation | None:
        """Return the relation of a leaf that reads some files; None: no question has met it."""
        return next((each for each in self.relations if each.is_of(leaf, files)), None)


class RowsChange(Protocol):
    """A change of rows that were there before a write."""

    @property
    def command(self) -> Plan | None:
        """The command that changed rows; None: rows of a query took the place of some."""

    @property
    def partitions(self) -> tuple[str, ...]:
        """The columns that partition the table."""

    @property
    def dynamic(self) -> bool:
        """True if it replaces the partitions of its rows."""

    def reads(self, spark: SparkSession) -> Plan | None:
        """Return the plan of its query or source; None: it has none."""

    def text(
        self, spark: SparkSession, table: str, relations: Sequence[Tracked], plan: Plan | None
    ) -> str:
        """Return it as a statement over a table of a name.

        Parameters
        ----------
        relations, plan
            What it reads, and the plan that reads them.
        """


class _NotFollowedError(Exception):
    """The reason why a table is not followed back."""


class _MadeRows:
    """The rows that the writes of a table have made so far, as a query."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns
        self.texts: list[str] = []
        self.checksum = RowChecksum()
        self.sources: frozenset[str] = frozenset()

    @property
    def select(self) -> str:
        return ", ".join(quoted_name([name]) for name in self.columns)

    @property
    def text(self) -> str:
        return " UNION ALL ".join(self.texts)

    def add(self, text: str, checksum: RowChecksum, relations: Iterable[LeafRelation]) -> None:
        self.texts.append(text)
        self.checksum += checksum
        self.sources = self.sources.union(*(each.sources for each in relations))

    def replace(self, text: str, checksum: RowChecksum, relations: Iterable[LeafRelation]) -> None:
        self.texts, self.checksum = [], RowChecksum()
        self.add(text, checksum, relations)


def _check_one_row_each(
    spark: SparkSession,
    statement: MergeInto,
    written: Reenactment,
    relations: Iterable[LeafRelation],
    title: str,
) -> None:
    """Check that no row is matched by several rows of a MERGE's source, whichever rows are there.

    Raises
    ------
    _NotFollowedError
        That is not known.
    """
    fixed = frozenset[str]()
    for each in relations:  # those that it reads come before it
        if each.text is None or is_monotone(parse(each.text), fixed):
            fixed |= {each.tracked.name.lower()}
    keys = [key for _, key in written.keys]
    query = duplicate_source_keys(statement, keys, written.aliases[1], fixed)
    if query is None or (query and own_sql(spark, query).head(1)):
        raise _NotFollowedError(
            f"several rows of the source of {title}, a MERGE, might match one row, had other rows "
            "been there"
        )


def _is_target(leaf: Plan) -> bool:
    """Return True if a leaf reads the rows that a statement changes."""
    of_table = str(leaf.getClass().getSimpleName()) == "DataSourceV2Relation"
    return of_table and str(leaf.table().getClass().getSimpleName()) == "RowLevelOperationTable"


def _check_there(spark: SparkSession, rows: DataFrame, called: str) -> None:
    """Raise :class:`SourceChangedError` if files that a frame reads were removed."""
    missing = [uri for uri, length, _ in fingerprint(spark, rows) if length < 0]
    if missing:
        raise SourceChangedError(f"files of {called} were removed: {missing[0]}")


def written_rows(spark: SparkSession, write: TableWrite) -> DataFrame:
    """Return the rows that a write has written, under the names of its columns."""
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


def read_folders(spark: SparkSession, leaf: Plan) -> list[str]:
    """Return the folders or files that a leaf reads: of a table with versions its folder."""
    from lipstick.dataframes.leaves import file_format

    with suppress(SourceError):  # it reads changes of a table, or what is known about it
        if (version := versioned_leaf(spark, leaf)) is not None:
            return [folder_of(version.table.location)]
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
