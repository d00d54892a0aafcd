"""Spark sessions that are watched, so that what they write and show can be asked about afterwards.

A watch keeps the plan of every write of files and of tables of Delta and Iceberg, which Spark hands
to a listener, and that of each call that shows rows; nothing else happens while the session works.
Questions go back to the files and versions that nobody wrote while the session was watched.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick.dataframes.classic import with_tables
from lipstick.dataframes.jvm import (
    analysed,
    column_names,
    elements,
    frame_of,
    nondeterministic_calls,
    texts,
)
from lipstick.dataframes.leaves import row_leaves
from lipstick.errors import LipstickError, SourceChangedError, SourceError
from lipstick.histories.commands import BY_PATH, DYNAMIC, version_read
from lipstick.stages.settings import settings_now, settings_of_plans
from lipstick.tracking.formats.probe import versioned_leaf, versioned_path, versioned_table
from lipstick.tracking.views import quoted_name
from lipstick.watching.calls import ALL_ROWS, notice
from lipstick.watching.shown import Shown, ShownResults, check_files, check_unchanging
from lipstick.watching.writes import (
    FILES,
    OF_QUERIES,
    CommandChange,
    ReplacedPart,
    WatchedWrite,
    WriteListener,
    parts_of,
    replaces_part,
    type_of,
)
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
from rewriter.errors import NotUnderstoodError, QueryError, UnsupportedError
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.dataframes.jvm import Plan
    from lipstick.frame import AnnotatedFrame
    from lipstick.tracking.formats.versions import Leaf, VersionedTable
    from lipstick.watching.connect import ConnectWatch

_WRITTEN = "nothing wrote it while the session was watched"
_MADE = "its rows were made in Python or stand in a query"
_CHECKPOINT = "it is a checkpoint, and Spark has forgotten what computed its rows"


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
    def title(self) -> str:
        return f"result {self.number}"

    name = title

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
        self._listener = WriteListener(spark, self._add_write)
        WrittenTables.__init__(self, spark, store)
        self._began_by = settings_now(spark)
        take = self._add_shown
        self._end_notice = notice(
            spark, lambda call: take(call, analysed(call.frame), settings_now(spark))
        )

    def _add_write(self, command: Plan, moment: Moment | None, at: datetime) -> None:
        kind = str(command.getClass().getSimpleName())
        parts = parts_of(command, kind)
        if parts is not None:
            has_query = kind in (FILES, BY_PATH, *OF_QUERIES)
            plan = command.query() if has_query else command
            number = len(self._writes) + 1
            self._writes.append(WatchedWrite(number, at, *parts, plan, command, moment))

    def _query_of(self, shown: Shown) -> AnnotatedFrame:
        """Annotate the query of a result, over the sources as they were then."""
        self._check_open()
        self._listener.catch_up()
        self._ask_by(shown._settings)
        plan = shown._plan
        since, until = (datetime.fromtimestamp(each, UTC) for each in shown._period)
        anew = shown._name not in ALL_ROWS
        reading = _Reading(shown.number, plan, column_names(plan), since, until, anew)
        frame = frame_of(self.spark, plan)
        if not plan.deterministic():
            calls = ", ".join(dict.fromkeys(nondeterministic_calls(plan)))
            raise SourceChangedError(
                f"{reading.title.capitalize()} calls {calls}: Spark may have other values when it "
                "runs again.\nWrite the rows first, and show what is read from them."
            )
        check_unchanging(frame, shown.number)
        for leaf in row_leaves(plan):
            check_files(self.session.spark, frame_of(self.session.spark, leaf), shown.number, since)
        if shown._name == "count":
            frame = frame.groupBy().count()
        before = 1 + sum(write.at <= until for write in self._writes)
        try:
            return self._annotated(frame, before, reading)
        except NotUnderstoodError:
            self._check_made_as_shown(shown, frame, before, reading)
            raise

    def _check_made_as_shown(
        self, shown: Shown, frame: DataFrame, before: int, reading: _Reading
    ) -> None:
        """Refuse a frame that is understood by the settings of another time than it was shown at.

        Raises
        ------
        UnsupportedError
            With the settings that have changed meanwhile.
        """
        own, others = settings_of_plans(shown._settings), [self._began_by, settings_now(self.spark)]
        others += [each._settings for each in self._shown if each.number == shown.number - 1]
        for other in map(settings_of_plans, others):
            if other == own:
                continue
            changed = [
                f"{name} ({other.get(name, 'not set')}, then {own.get(name, 'not set')})"
                for name in sorted(other.keys() | own.keys())
                if other.get(name) != own.get(name)
            ]
            self._ask_by(other)
            try:
                self._annotated(frame, before, reading)
            except QueryError:
                continue
            raise UnsupportedError(
                f"settings changed after the frame of {reading.title} was made, and before it was "
                f"shown: {', '.join(changed)}",
                "Make the frame anew, show it, and ask then.",
            )

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
        self._ask_by(settings_now(self.spark))
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
                reader = self.spark.read.schema(written_rows(self.spark, write).schema)
                return reader.options(**write.options).format(write.format).load(target)
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
        if write.name not in self._places:
            table = self._table_of(write)
            self._places[write.name] = None if table is None else folder_of(table.location)
        return self._places[write.name]

    def _table_of(self, write: WatchedWrite) -> VersionedTable | None:
        """Return the table of a name that a write has written to, if it is one with versions."""
        found = versioned_table(self.session.spark, quoted_name(name_parts(write.name)))
        return None if found is None else found[0]

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
            return CommandChange(write.command, (), dynamic=False)
        spark, plan = self.session.spark, write.command
        kind = plan.getClass().getSimpleName()
        if kind == FILES:
            partitions = tuple(str(each.name()) for each in elements(plan.partitionColumns()))
            static = texts(plan.staticPartitions())
            dynamic = bool(plan.dynamicPartitionOverwrite())
            by_value = " AND ".join(
                f"{quoted_name([name])} <=> CAST('{value}' AS {type_of(plan, name)})"
                for name, value in static.items()
            )
            return ReplacedPart(write, partitions, dynamic, None if dynamic else by_value)
        by_path = write.path if write.table is None else None
        table = None if by_path is None else versioned_path(spark, folder_of(by_path), "delta")
        table = self._table_of(write) if table is None else table
        partitions = () if table is None else table.notes(None).partitions
        if kind == BY_PATH or replaces_part(write.options):
            replaced = write.options.get("replaceWhere")
            return ReplacedPart(write, partitions, replaced is None, replaced)
        return CommandChange(plan, partitions, dynamic=kind in DYNAMIC)

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
