"""Spark sessions that are watched, so that what they write and show can be asked about afterwards.

A watch keeps the plan of every write of files and of tables of Delta and Iceberg, which Spark hands
to a listener, and that of each call that shows rows; nothing else happens while the session works.
Questions go back to the files and versions that nobody wrote while the session was watched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from logging import getLogger
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick.dataframes import query_text
from lipstick.dataframes.classic import with_tables
from lipstick.dataframes.jvm import (
    PlanListener,
    analysed,
    elements,
    frame_of,
    jvm_of,
    texts,
    with_parameters,
)
from lipstick.dataframes.leaves import catalog_parts, row_leaves
from lipstick.errors import LipstickError, SourceChangedError, SourceError
from lipstick.histories.commands import (
    COMMANDS,
    CREATES,
    DYNAMIC,
    TableCommand,
    relation_of,
    statement_text,
    version_read,
)
from lipstick.tracking.formats.probe import (
    versioned_leaf,
    versioned_path,
    versioned_table,
)
from lipstick.tracking.views import quoted_name
from lipstick.watching.calls import ALL_ROWS, notice
from lipstick.watching.shown import Shown, ShownResults, check_files, check_unchanging
from lipstick.written_tables import (
    Moment,
    RowsChange,
    TableWrite,
    WrittenTables,
    folder_of,
    read_folders,
    written_rows,
)
from rewriter.dialect import name_parts
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.dataframes.jvm import Plan
    from lipstick.frame import AnnotatedFrame
    from lipstick.tracking.formats.versions import Leaf
    from lipstick.tracking.tracker import Tracked
    from lipstick.watching.connect import ConnectWatch

_log = getLogger(__name__)
_FILES = "InsertIntoHadoopFsRelationCommand"
"""The command that every write of files comes to."""
_BY_PATH = "SaveIntoDataSourceCommand"
"""The command of a writer's ``save`` where a format has its own way, as Delta has."""
_WRITTEN = "nothing wrote it while the session was watched"
_MADE = "its rows were made in Python or stand in a query"
_CHECKPOINT = "it is a checkpoint, and Spark has forgotten what computed its rows"
_MERGES = "MergeIntoCommand"
_OF_QUERIES = ("AppendData", "OverwriteByExpression", *DYNAMIC)
_OF_STATEMENTS = {
    "DeleteCommand": "DELETE",
    "DeleteFromTable": "DELETE",
    _MERGES: "MERGE",
    "TruncateDeltaTableCommand": "TRUNCATE",
    "TruncateTable": "TRUNCATE",
    "UpdateCommand": "UPDATE",
}
_DELTA_WRITES = "deltaTransactionalWrite"
"""Delta's name for the query that writes its files."""
_READS = frozenset(
    {
        *("collect", "collectAsArrowToPython", "collectToPython", "count", "first", "head"),
        *("isEmpty", "reduce", "tail", "take", "toLocalIterator", "toPythonIterator"),
    }
)
"""Spark's names for queries that write nothing: commands have run before their rows are read."""
_TIME = re.compile(r'"value":"([^"]+)","dataType":"timestamp"')


@dataclass(frozen=True, slots=True)
class WatchedWrite:
    """A write of files that a watched session has made.

    Attributes
    ----------
    number
        Its place among the writes, from 1.
    path
        The folder that was written to; None: that of a table of Delta or Iceberg, by its name.
    table
        The name of the table in the catalog; None: it was written to by its path.
    mode
        ``overwrite``, ``append``, ``part`` where it replaced or added partitions or rows by a
        condition, or the statement that changed the table: ``merge``, ``update``, ``delete``,
        ``truncate``, or ``change`` where Spark does not say which of them.
    format, options
        The format of the files, as Spark's readers call it, and the writer's options.
    """

    number: int
    at: datetime
    path: str | None
    table: str | None
    mode: str
    format: str
    columns: tuple[str, ...]
    options: Mapping[str, str] = field(repr=False, compare=False)
    plan: Plan = field(repr=False, compare=False)
    command: Plan = field(repr=False, compare=False)
    moment: Moment | None = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """The table's name, or the path."""
        return self.table or self.path or ""

    @property
    def title(self) -> str:
        """The words for its query in reasons."""
        if self.mode in ("overwrite", "append", "part"):
            return f"the query of write {self.number}"
        return f"the {self.mode.upper()} of write {self.number}"


_Parts: TypeAlias = tuple[str | None, str | None, str, str, tuple[str, ...], Mapping[str, str]]
"""Path, table, mode, format, columns and options of a write."""


def _parts_of(plan: Plan, kind: str) -> _Parts | None:
    """Return the parts of a command's write; None: it has written no table that is known."""
    if kind == _FILES:
        return _of_files(plan)
    if kind == _BY_PATH:
        if ".delta." not in plan.dataSource().getClass().getName():
            return None
        options = texts(plan.options())
        mode = "append" if str(plan.mode()) == "Append" else "overwrite"
        mode = "part" if mode == "overwrite" and _replaces_part(options) else mode
        return options.pop("path"), None, mode, "delta", _names(plan.query()), options
    if kind in _OF_STATEMENTS and kind.endswith("Command"):  # of Delta
        leaf = (plan.child() if kind.startswith("Truncate") else plan.target()).collectLeaves()
        known = leaf.apply(0).catalogTable()
        own = str(known.get().identifier().unquotedString()) if known.isDefined() else None
        folder = str(leaf.apply(0).relation().location().path().toString())
        return folder, own, _OF_STATEMENTS[kind].lower(), "delta", (), {}
    relation = relation_of(plan)
    if relation.getClass().getSimpleName() == "DataSourceV2Relation":
        parts = catalog_parts(relation)
    else:
        place = relation.identifier()
        parts = (str(relation.catalog().name()), *map(str, place.namespace()), str(place.name()))
    if parts is None:
        return None
    path = parts[2] if parts[1] == "delta" and len(parts) == 3 and "/" in parts[2] else None
    table = None if path is not None else ".".join(map(_written_name, parts))
    format = "iceberg" if "iceberg" in relation.table().getClass().getName() else "delta"
    if kind not in _OF_QUERIES:
        return path, table, _OF_STATEMENTS.get(kind, "change").lower(), format, (), {}
    columns, of_query = _names(relation), _names(plan.query())
    whole = kind == "OverwriteByExpression" and str(plan.deleteExpr().toString()) == "true"
    options = texts(plan.writeOptions()) if whole and format == "delta" else {}
    mode = "overwrite" if whole and not _replaces_part(options) else "part"
    columns = columns if len(columns) == len(of_query) else of_query
    return path, table, "append" if kind == "AppendData" else mode, format, columns, options


def _replaces_part(options: Mapping[str, str]) -> bool:
    """Return True if Delta replaces a part of a table alone, by the options of a writer."""
    return not options.keys().isdisjoint({"replaceWhere", "partitionOverwriteMode"})


def _of_files(plan: Plan) -> _Parts:
    table = plan.catalogTable()
    mode = str(plan.mode()).lower()
    in_parts = plan.staticPartitions().size() > 0 or plan.dynamicPartitionOverwrite()
    return (
        str(plan.outputPath().toString()),
        str(table.get().identifier().unquotedString()) if table.isDefined() else None,
        "append" if mode == "append" else "part" if in_parts else "overwrite",
        re.sub(r"(FileFormat|Format)$", "", plan.fileFormat().getClass().getSimpleName()).lower(),
        tuple(map(str, elements(plan.outputColumnNames()))),
        {name: value for name, value in texts(plan.options()).items() if name.lower() != "path"},
    )


def _written_name(part: str) -> str:
    """Return a part of a name as SQL has it."""
    return part if re.fullmatch(r"\w+", part) else quoted_name([part])


def _names(plan: Plan) -> tuple[str, ...]:
    return tuple(str(attribute.name()) for attribute in elements(plan.output()))


@dataclass(frozen=True, slots=True)
class _Replacing:
    """A write that replaced some rows, or partitions, of files."""

    write: WatchedWrite
    partitions: tuple[str, ...]
    dynamic: bool
    replaced: str | None
    command: Plan | None = None

    def reads(self, spark: SparkSession) -> Plan:
        """Return the plan of its query."""
        return analysed(written_rows(spark, self.write))

    def text(
        self, spark: SparkSession, table: str, relations: Sequence[Tracked], plan: Plan
    ) -> str:
        """Return it as an INSERT."""
        columns = ", ".join(quoted_name([name]) for name in spark.table(table).columns)
        query = query_text(spark, frame_of(spark, plan), relations)
        rows = f"SELECT {columns} FROM ({query})"
        if self.replaced is not None:
            return f"INSERT INTO {table} REPLACE WHERE {self.replaced} {rows}"
        return f"INSERT OVERWRITE {table} {rows}"


@dataclass(frozen=True, slots=True)
class _Changing:
    """A command of Delta or Iceberg that changed rows."""

    command: Plan
    partitions: tuple[str, ...]
    dynamic: bool

    @property
    def _read(self) -> str | None:
        """The parameter with the plan that it reads; None: its conditions read nothing."""
        kind = self.command.getClass().getSimpleName()
        if kind == _MERGES:
            return "source"
        return "query" if kind in (*_OF_QUERIES, "ReplaceData", "WriteDelta") else None

    def reads(self, _spark: SparkSession) -> Plan | None:
        """Return the plan of its source or query."""
        return None if self._read is None else getattr(self.command, self._read)()

    def text(
        self, spark: SparkSession, table: str, relations: Sequence[Tracked], plan: Plan | None
    ) -> str:
        """Return it as a statement."""
        command = self.command
        if self._read is not None:
            names = [str(command.productElementName(n)) for n in range(command.productArity())]
            command = with_parameters(spark, command, {names.index(self._read): plan})
        names = [each.name for each in relations]
        return statement_text(spark, TableCommand(command, None, None), table, relations, names)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A result that was shown, as what has read the rows of tables.

    Attributes
    ----------
    since, until
        The time in which it has read them.
    anew
        True if Spark has optimised a plan for it, and read Delta tables as they were then.
    """

    number: int
    plan: Plan
    columns: tuple[str, ...]
    since: datetime
    until: datetime
    anew: bool

    @property
    def name(self) -> str:
        return self.title

    @property
    def title(self) -> str:
        return f"result {self.number}"

    def version(self, leaf: Plan, read: Leaf) -> int | None:
        """Return the version of a table that it has read at a leaf.

        Raises
        ------
        SourceChangedError
            That is not known.
        """
        table, known = read.table, version_read(leaf)
        if known is not None and table.current() == known:
            return known
        first, last = table.at(self.since), table.at(self.until)
        if first == last and (first == known or (self.anew and table.format == "delta")):
            return first
        raise SourceChangedError(
            f"{table.table} has got other versions since the data frame of {self.title} was made, "
            "and it is not known which of them was shown.\nRead the table anew for each result, or "
            "a version of it (VERSION AS OF)."
        )


class _WriteListener(PlanListener):
    """Hands over writes, with the time at which their queries ran if these ask for it."""

    def __init__(
        self, spark: SparkSession, take: Callable[[Plan, Moment | None, datetime], None]
    ) -> None:
        super().__init__(spark, {_FILES, _BY_PATH, *COMMANDS} - CREATES, self._hand_over)
        self._write = take
        self.clock = jvm_of(spark).org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE()
        self._execution: Any = None
        self._inner: Any = None

    def onSuccess(self, function: str, execution: Any, nanoseconds: int) -> None:  # noqa: N802
        """Hand over the plan of an execution if it is one of the commands."""
        if function in _READS:
            return
        if function == _DELTA_WRITES:
            self._inner = execution
        self._execution = execution
        super().onSuccess(function, execution, nanoseconds)

    def _hand_over(self, plan: Plan) -> None:
        try:
            self._read(plan)
        except Exception:  # Spark would pass over it
            _log.exception("A write was not understood, and its table is a source.")

    def _read(self, plan: Plan) -> None:
        inner, self._inner = self._inner, None
        by_path = plan.getClass().getSimpleName() == _BY_PATH
        if by_path and str(plan.mode()) == "Ignore" and inner is None:
            return  # the table was there
        phase = self._execution.tracker().phases().get("analysis")
        began = datetime.fromtimestamp(phase.get().startTimeMs() / 1e3, UTC)
        moment = self._moment(plan, inner if by_path and inner else self._execution)
        self._write(plan, moment, began)

    def _moment(self, plan: Plan, execution: Any) -> Moment | None:
        name = "source" if plan.getClass().getSimpleName() == _MERGES else "query"
        try:
            asks = getattr(plan, name)().containsPattern(self.clock)
        except Py4JError:  # it has no query
            return None
        phase = execution.tracker().phases().get("optimization")
        if not asks or phase.isEmpty():
            return None
        known = _TIME.findall(str(execution.optimizedPlan().toJSON()))
        since, until = phase.get().startTimeMs() / 1e3, phase.get().endTimeMs() / 1e3
        return Moment(since, until, tuple(dict.fromkeys(known)))


@checked
class SessionWatch(WrittenTables, ShownResults):
    """A watch over what a Spark session writes. Made by :func:`lipstick.watch`."""

    _closed_message = (
        "The watch was closed, and what it kept is gone.\nOpen another one, "
        "lipstick.watch(spark), before the writes to ask about."
    )

    def __init__(
        self,
        spark: SparkSession,
        store: str | os.PathLike[str] | None = None,
        keys: Mapping[str, str | Sequence[str]] | None = None,
    ) -> None:
        self._keys = dict(keys or {})
        self._writes: list[WatchedWrite] = []
        self._places: dict[str, str | None] = {}
        ShownResults.__init__(self)
        self._listener = _WriteListener(spark, self._add_write)
        WrittenTables.__init__(self, spark, store)
        take = self._add_shown
        self._end_notice = notice(spark, lambda call: take(call, analysed(call.frame)))

    def _add_write(self, command: Plan, moment: Moment | None, at: datetime) -> None:
        kind = str(command.getClass().getSimpleName())
        parts = _parts_of(command, kind)
        if parts is not None:
            has_query = kind in (_FILES, _BY_PATH, *_OF_QUERIES)
            plan = command.query() if has_query else command
            number = len(self._writes) + 1
            self._writes.append(WatchedWrite(number, at, *parts, plan, command, moment))

    def _query_of(self, shown: Shown) -> AnnotatedFrame:
        """Annotate the query of a result, over the sources as they were then."""
        self._check_open()
        self._listener.catch_up()
        plan = shown._plan
        since, until = (datetime.fromtimestamp(each, UTC) for each in shown._period)
        anew = shown._name not in ALL_ROWS
        reading = _Reading(shown.number, plan, _names(plan), since, until, anew)
        frame = frame_of(self.spark, plan)
        if not plan.deterministic():
            raise SourceChangedError(
                f"Chance takes part in {reading.title}: another run has other rows.\nGive the "
                "functions values of columns, or write the rows first."
            )
        check_unchanging(frame, shown.number)
        for leaf in row_leaves(plan):
            check_files(self.session.spark, frame_of(self.session.spark, leaf), shown.number, since)
        if shown._name == "count":
            frame = frame.groupBy().count()
        before = 1 + sum(write.at <= until for write in self._writes)
        return self._annotated(frame, before, reading)

    @property
    def writes(self) -> tuple[WatchedWrite, ...]:
        """The writes so far, in their order."""
        self._check_open()
        self._listener.catch_up()
        return tuple(self._writes)

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
        self._check_open()
        self._listener.catch_up()
        frame = target if isinstance(target, DataFrame) else self._read(os.fspath(target))
        return self._annotated(frame, len(self._writes) + 1)

    def close(self) -> None:
        """Stop watching, and forget what was tracked."""
        if not self._closed:
            self._end_notice()
            self._listener.stop()
            self._shown.clear()
        WrittenTables.close(self)

    def __repr__(self) -> str:
        if self._closed:
            return "<lipstick watch, closed>"
        return f"<lipstick watch, {len(self.writes)} writes and {len(self._shown)} results so far>"

    # -- the session that is watched ---------------------------------------------------------

    def _read(self, target: str) -> DataFrame:
        """Return the rows of a table or of a path that was written."""
        path = folder_of(target)
        for write in reversed(self._writes):
            if write.table is None and write.path is not None and folder_of(write.path) == path:
                if write.format == "delta":
                    return self.spark.read.format("delta").load(target)
                schema = written_rows(self.spark, write).schema
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

    def _prepare_copy(self, copy: Any) -> None:
        self._listener.leave(copy)

    def _writes_of(self, leaf: Plan, before: int) -> Sequence[WatchedWrite] | str:
        if leaf.getClass().getSimpleName() == "HiveTableRelation":
            return "writes in the formats of Hive are not watched"
        roots = read_folders(self.session.spark, leaf)
        if not roots:
            of_rdd = leaf.getClass().getSimpleName() == "LogicalRDD"
            return _CHECKPOINT if of_rdd and leaf.rdd().isCheckpointed() else _MADE
        earlier = [w for w in self._writes[: before - 1] if [self._place(w)] == roots]
        if not earlier:
            return _WRITTEN
        whole = [n for n, write in enumerate(earlier) if write.mode == "overwrite"]
        return earlier[whole[-1] if whole else 0 :]

    def _place(self, write: WatchedWrite) -> str | None:
        """Return the folder of the table that a write has written to."""
        if write.path is not None:
            return folder_of(write.path)
        name = write.name
        if name not in self._places:
            found = versioned_table(self.session.spark, quoted_name(name_parts(name)))
            self._places[name] = None if found is None else folder_of(found[0].location)
        return self._places[name]

    def _before(self, leaf: Plan, writes: Sequence[TableWrite]) -> DataFrame | None:
        """Return the version before a table's writes: each has made one."""
        read = versioned_leaf(self.session.spark, leaf)
        if read is None or cast("WatchedWrite", writes[0]).mode == "overwrite":
            return None
        known = [each.version for each in read.table.history()]
        number = known.index(read.version) - len(writes) if read.version in known else -1
        return read.table.read(known[number]) if number >= 0 else None

    def _statement(self, write: TableWrite) -> RowsChange | None:
        assert isinstance(write, WatchedWrite)
        if write.mode in ("append", "overwrite"):
            return None
        if write.mode != "part":
            return _Changing(write.command, (), dynamic=False)
        plan = write.command
        kind = plan.getClass().getSimpleName()
        if kind == _FILES:
            partitions = _names_in(plan.partitionColumns())
            static = texts(plan.staticPartitions())
            dynamic = bool(plan.dynamicPartitionOverwrite())
            by_value = " AND ".join(
                f"{quoted_name([name])} <=> CAST('{value}' AS {_type_of(plan, name)})"
                for name, value in static.items()
            )
            return _Replacing(write, partitions, dynamic, None if dynamic else by_value)
        location = self._place(write)
        assert location is not None
        table = (
            versioned_path(self.session.spark, location, "delta") if write.table is None else None
        )
        if table is None:
            found = versioned_table(self.session.spark, quoted_name(name_parts(write.name)))
            table = None if found is None else found[0]
        partitions = () if table is None else table.partitions
        if kind == _BY_PATH or _replaces_part(write.options):
            replaced = write.options.get("replaceWhere")
            return _Replacing(write, partitions, replaced is None, replaced)
        return _Changing(plan, partitions, dynamic=kind in DYNAMIC)

    def _as_read(self, write: TableWrite | None, plan: Plan) -> Plan:
        spark = self.session.spark

        def chosen(leaf: Plan) -> DataFrame | None:
            with suppress(SourceError):  # of what is no version of a table
                read = versioned_leaf(spark, leaf)
                if read is not None and not read.pinned:
                    if isinstance(write, _Reading):
                        return read.table.read(write.version(leaf, read))
                    version = read.version if write is None else version_read(leaf)
                    return None if version is None else read.table.read(version)
            return None

        return with_tables(spark, plan, chosen)

    def _moment_of(self, write: TableWrite) -> Moment | None:
        if isinstance(write, _Reading):
            asks = write.plan.containsPattern(self._listener.clock)
            since, until = write.since.timestamp(), write.until.timestamp()
            return Moment(since, until, ()) if asks else None
        assert isinstance(write, WatchedWrite)
        return write.moment

    def _key_of(self, leaf: Plan) -> str | Sequence[str] | None:
        own = read_folders(self.session.spark, leaf)
        for name, key in self._keys.items():
            if own and own == [folder_of(name)]:
                return key
            with suppress(PySparkException, LipstickError):
                leaves = row_leaves(analysed(self.spark.table(name)))
                if own and len(leaves) == 1 and read_folders(self.session.spark, leaves[0]) == own:
                    return key
        return None

    def _is_complete(self, write: TableWrite, writes: Sequence[TableWrite]) -> bool:
        return True


def _names_in(attributes: Any) -> tuple[str, ...]:
    return tuple(str(each.name()) for each in elements(attributes))


def _type_of(plan: Plan, column: str) -> str:
    """Return the type of a column of a command's query."""
    names = [name.lower() for name in _names(plan.query())]
    attribute = plan.query().output().apply(names.index(column.lower()))
    return str(attribute.dataType().catalogString())


@checked
def watch(
    spark: SparkSession,
    store: str | os.PathLike[str] | None = None,
    keys: Mapping[str, str | Sequence[str]] | None = None,
) -> SessionWatch | ConnectWatch:
    """Watch a Spark session from now on, to ask afterwards what it wrote and showed.

    Queries run as they would: Spark hands the plans of writes over when they have ended, the plans
    of calls that show rows are kept, and nothing is tracked, copied or captured before the first
    question. Of a session over Spark Connect only what it shows is known.

    Parameters
    ----------
    store
        Where captures and copies go; None: a temporary directory, removed on close.
    keys
        By table or path that the session reads, the columns that identify its rows. Without a key
        they are named by their places in files, by the ids of their format, or by their values.
    """
    if hasattr(spark, "_jsparkSession"):
        return SessionWatch(spark, store, keys)
    from lipstick.watching.connect import ConnectWatch

    return ConnectWatch(spark, store, keys)
