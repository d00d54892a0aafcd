"""Spark sessions that are watched, so that their tables can be asked about afterwards.

A watch keeps the plan of every write of files, which Spark hands to a listener, and nothing else
happens while the session works. Questions go back to the files that nobody wrote while the session
was watched.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick.errors import LipstickError, SourceError
from lipstick.written_tables import TableWrite, WrittenTables, folder_of, read_folders, written_rows
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

    @property
    def title(self) -> str:
        """The words for its query in reasons."""
        return f"the query of write {self.number}"


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
class SessionWatch(WrittenTables):
    """A watch over what a Spark session writes. Made by :func:`lipstick.watch`."""

    _closed_message = (
        "The watch was closed, and what it kept is gone.\nOpen another one, "
        "lipstick.watch(spark), before the writes to ask about."
    )

    def __init__(self, spark: SparkSession, store: str | os.PathLike[str] | None = None) -> None:
        if not hasattr(spark, "_jsparkSession"):
            raise LipstickError(
                "Sessions of Spark Connect cannot be watched: the plans of what they write are in "
                "the server.\nTrack relations and annotate queries (lipstick.session), or watch "
                "the session on the server."
            )
        from lipstick.dataframes.jvm import PlanListener

        super().__init__(spark, store)
        self._writes: list[WatchedWrite] = []
        self._listener = PlanListener(spark, {_WRITE}, self._add)

    def _add(self, plan: Plan) -> None:
        self._writes.append(_write_of(plan, len(self._writes) + 1))

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
            self._listener.stop()
        super().close()

    def __repr__(self) -> str:
        if self._closed:
            return "<lipstick watch, closed>"
        return f"<lipstick watch, {len(self.writes)} writes so far>"

    # -- the session that is watched ---------------------------------------------------------

    def _read(self, target: str) -> DataFrame:
        """Return the rows of a table or of a path that was written."""
        path = folder_of(target)
        for write in reversed(self._writes):
            if folder_of(write.path) == path and write.table is None:
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
        copy.listenerManager().unregister(self._listener)

    def _writes_of(self, leaf: Plan, before: int) -> Sequence[TableWrite] | str:
        if leaf.getClass().getSimpleName() == "HiveTableRelation":
            return "writes in the formats of Hive are not watched"
        roots = read_folders(leaf)
        earlier = [w for w in self._writes[: before - 1] if [folder_of(w.path)] == roots]
        if not earlier:
            return _WRITTEN
        whole = [n for n, write in enumerate(earlier) if write.mode == "overwrite"]
        earlier = earlier[whole[-1] if whole else 0 :]
        if any(write.mode == "part" for write in earlier):
            return "partitions of it were written by name"
        return earlier

    def _is_complete(self, write: TableWrite, writes: Sequence[TableWrite]) -> bool:
        return True


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
