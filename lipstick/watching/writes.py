"""Writes of a watched session, read from Spark's commands, and how they change rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from logging import getLogger
from typing import Any, TypeAlias

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

from lipstick.dataframes import query_text
from lipstick.dataframes.jvm import (
    Plan,
    PlanListener,
    analysed,
    column_names,
    elements,
    frame_of,
    jvm_of,
    texts,
    with_parameters,
)
from lipstick.dataframes.leaves import catalog_parts
from lipstick.histories.commands import (
    BY_PATH,
    COMMANDS,
    CREATES,
    DYNAMIC,
    TableCommand,
    relation_of,
    statement_text,
)
from lipstick.tracking.names import plain_name
from lipstick.tracking.tracker import Tracked
from lipstick.tracking.views import quoted_name
from lipstick.written_tables import Moment, written_rows

_log = getLogger(__name__)
FILES = "InsertIntoHadoopFsRelationCommand"
"""The command that every write of files comes to."""
_MERGES = "MergeIntoCommand"
OF_QUERIES = ("AppendData", "OverwriteByExpression", *DYNAMIC)
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


def parts_of(plan: Plan, kind: str) -> _Parts | None:
    """Return the parts of a command's write; None: it has written no table that is known."""
    if kind == FILES:
        return _of_files(plan)
    if kind == BY_PATH:
        if ".delta." not in plan.dataSource().getClass().getName():
            return None
        options = texts(plan.options())
        mode = "append" if str(plan.mode()) == "Append" else "overwrite"
        mode = "part" if mode == "overwrite" and replaces_part(options) else mode
        return options.pop("path"), None, mode, "delta", column_names(plan.query()), options
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
    table = None if path is not None else plain_name(parts)
    format = "iceberg" if "iceberg" in relation.table().getClass().getName() else "delta"
    if kind not in OF_QUERIES:
        return path, table, _OF_STATEMENTS.get(kind, "change").lower(), format, (), {}
    columns, of_query = column_names(relation), column_names(plan.query())
    whole = kind == "OverwriteByExpression" and str(plan.deleteExpr().toString()) == "true"
    options = texts(plan.writeOptions()) if whole and format == "delta" else {}
    mode = "overwrite" if whole and not replaces_part(options) else "part"
    columns = columns if len(columns) == len(of_query) else of_query
    return path, table, "append" if kind == "AppendData" else mode, format, columns, options


def replaces_part(options: Mapping[str, str]) -> bool:
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


@dataclass(frozen=True, slots=True)
class ReplacedPart:
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
class CommandChange:
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
        return "query" if kind in (*OF_QUERIES, "ReplaceData", "WriteDelta") else None

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


class WriteListener(PlanListener):
    """Hands over writes, with the time at which their queries ran if these ask for it."""

    def __init__(
        self, spark: SparkSession, take: Callable[[Plan, Moment | None, datetime], None]
    ) -> None:
        super().__init__(spark, {FILES, *COMMANDS} - CREATES, self._hand_over)
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
        inner, self._inner = self._inner, None
        by_path = plan.getClass().getSimpleName() == BY_PATH
        try:
            if by_path and str(plan.mode()) == "Ignore" and inner is None:
                return  # the table was there
            phase = self._execution.tracker().phases().get("analysis")
            began = datetime.fromtimestamp(phase.get().startTimeMs() / 1e3, UTC)
            moment = self._moment(plan, inner if by_path and inner else self._execution)
            self._write(plan, moment, began)
        except Exception:  # Spark would pass over it
            _log.exception("A write was not understood, and its table is a source.")

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


def type_of(plan: Plan, column: str) -> str:
    """Return the type of a column of a command's query."""
    names = [name.lower() for name in column_names(plan.query())]
    kind = plan.query().output().apply(names.index(column.lower())).dataType()
    return str(kind.catalogString())
