"""Commands that Spark ran on tables of Delta and Iceberg, read from their plans as statements.

A plan has a command's source as a plan, and its conditions and values as expressions over the
columns of target and source. The source is written as a data frame is. So are the expressions, as
the items of a query over two empty relations with these columns: Spark proves that either text
means what the plan does. A command that a text cannot say is refused.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lipstick.dataframes import query_text
from lipstick.dataframes.jvm import (
    Plan,
    alias,
    analysed,
    column_names,
    elements,
    frame_of,
    jvm_of,
    sequence,
    with_parameters,
)
from lipstick.errors import UnsupportedError
from lipstick.histories.chain import replaces_partitions
from lipstick.tracking.formats.delta import delta_name, delta_of_name
from lipstick.tracking.formats.probe import versioned_table
from lipstick.tracking.formats.versions import TableVersion, VersionedTable
from lipstick.tracking.names import plain_name
from lipstick.tracking.tracker import Tracked, stand_in
from lipstick.tracking.views import quoted_name
from rewriter.statements import select_items

_APPENDS: Final = "AppendData"
_OVERWRITES: Final = "OverwriteByExpression"
CREATES_NEW: Final = "CreateTableAsSelect"
"""The command of a table that was not there."""
CREATES: Final = frozenset({CREATES_NEW, "ReplaceTableAsSelect"})
DYNAMIC: Final = frozenset({"DeltaDynamicPartitionOverwriteCommand", "OverwritePartitionsDynamic"})
BY_PATH: Final = "SaveIntoDataSourceCommand"
"""The command of a writer's ``save`` where a format has its own way, as Delta has."""
_DELTA: Final = frozenset({"DeleteCommand", "MergeIntoCommand", "UpdateCommand"})
_DELETED: Final = "1"
"""The mark of a row that is deleted by its place."""
_REPLACES_ROWS: Final = frozenset({"ReplaceData", "WriteDelta"})
_EMPTIES_DELTA: Final = "TruncateDeltaTableCommand"
_EMPTIES: Final = frozenset({"DeleteFromTable", "TruncateTable", _EMPTIES_DELTA})
"""Commands that delete all rows, or whole files, without reading them."""
COMMANDS: Final = frozenset(
    {_APPENDS, _OVERWRITES, BY_PATH, *CREATES, *DYNAMIC, *_DELTA, *_REPLACES_ROWS, *_EMPTIES}
)
"""Classes of the commands that change tables."""

_OPERATIONS: Final = {
    _APPENDS: ("WRITE", "append"),
    BY_PATH: ("WRITE",),
    "DeleteCommand": ("DELETE",),
    "MergeIntoCommand": ("MERGE",),
    "UpdateCommand": ("UPDATE",),
    _EMPTIES_DELTA: ("TRUNCATE",),
}
"""The operations that logs of Delta and Iceberg call commands, where they have one name."""

_TARGET, _SOURCE, _REPLACED = "_lipstick_target", "_lipstick_source", "_lipstick_replaced"
_QUALIFIERS: Final = {_TARGET: "target", _SOURCE: "source", _REPLACED: None}
"""By the relation that stands in for one of a command, the qualifier of its columns."""


@dataclass(frozen=True, slots=True)
class TableCommand:
    """A command that a session has run.

    Attributes
    ----------
    plan
        Its analysed plan.
    table
        The table that it changes; None: a new table, or one of another format.
    base
        The version of the table that Spark read when it analysed the command; None: the plan does
        not say, as of CREATE OR REPLACE TABLE.
    on_branch
        It changed a branch of the table, which has become the table since.
    commit
        The version that it made, as the log has it; None: it is not known.
    """

    plan: Plan
    table: VersionedTable | None
    base: int | None
    on_branch: bool = False
    commit: TableVersion | None = None

    @property
    def kind(self) -> str:
        """The name of its class."""
        return str(self.plan.getClass().getSimpleName())

    @property
    def dynamic(self) -> bool:
        """True if it replaces the partitions of its rows alone."""
        logged = self.commit is not None and replaces_partitions(self.commit)
        return logged or self.kind in DYNAMIC

    @property
    def replaced(self) -> str | None:
        """The condition of the rows that a writer of Delta replaces; None: it gives none."""
        is_delta = self.table is not None and self.table.format == "delta"
        if not is_delta or self.kind not in (_OVERWRITES, BY_PATH, *CREATES):
            return None
        return self.option("replaceWhere")

    @property
    def overwrites(self) -> bool:
        """True if no row of its table stays."""
        whole = self.kind == _OVERWRITES and not _unless_true(self.plan.deleteExpr())
        whole = whole or self.kind in (BY_PATH, *CREATES)
        return whole and not self.appends and self.replaced is None and not self.dynamic

    @property
    def appends(self) -> bool:
        """True if it adds rows and keeps all others."""
        by_path = self.kind == BY_PATH and str(self.plan.mode()) == "Append"
        return by_path or self.kind == _APPENDS

    def option(self, name: str) -> str | None:
        """Return an option of a writer; None: it has not this one."""
        options = self.plan.options() if self.kind == BY_PATH else self.plan.writeOptions()
        given = {str(o._1()).lower(): str(o._2()) for o in elements(options.toSeq())}
        return given.get(name.lower())

    def may_read(self, places: Mapping[int, int], count: int, first: int) -> bool:
        """Return True if it may have run after a number of commits.

        Parameters
        ----------
        places
            By version, how many commits had changed rows by then.
        first
            The version before all of them.
        """
        if self.base is None:
            return True
        if self.kind not in _DELTA:
            return places.get(self.base) == count
        # It reads the last version, while a DeltaTable is analysed over that of its making.
        earliest = 0 if self.base < first else places.get(self.base)
        return earliest is not None and earliest <= count

    def commits_as(self, operation: str) -> bool:
        """Return True if a log may call its commit so."""
        return self.kind not in _OPERATIONS or operation in _OPERATIONS[self.kind]

    def is_logged(self, commit: TableVersion) -> bool:
        """Return True if the log has its condition, whose columns have numbers of the plan."""
        if self.kind not in _DELTA:
            return False
        condition = self.plan.condition()
        found = [condition] if self.kind == "MergeIntoCommand" else _option(condition)
        logged = str(commit.parameters.get("predicate", ""))
        return any(str(each.toString()) in logged for each in found)


def commands_of(spark: SparkSession, plans: Sequence[Plan]) -> list[TableCommand]:
    """Return the commands of plans in their order, each that changes a table once.

    A table is created by one command within another, which both have the query.
    """
    found: list[TableCommand] = []
    for plan in plans:
        command = TableCommand(plan, _table_of(spark, plan), _base_of(plan))
        if found and command.kind in CREATES and _is_inner(found[-1], command):
            found.pop()
        found.append(command)
    return found


def _is_inner(command: TableCommand, creation: TableCommand) -> bool:
    """Return True if a command is the part of a table's creation that writes its rows."""
    writes = command.kind in (_APPENDS, _OVERWRITES)
    return writes and bool(command.plan.query().sameResult(creation.plan.query()))


def _table_of(spark: SparkSession, plan: Plan) -> VersionedTable | None:
    """Return the table, or the branch of one, that a command changes."""
    kind = plan.getClass().getSimpleName()
    if kind in _DELTA:
        return delta_of_name(spark, delta_name(plan.target().collectLeaves().apply(0)))
    if kind == BY_PATH:
        written = str(plan.mode()) in ("Append", "Overwrite")
        if not written or ".delta." not in plan.dataSource().getClass().getName():
            return None
        path = TableCommand(plan, None, None).option("path")
        return delta_of_name(spark, f"delta.`{path}`")
    relation = plan.name() if kind in CREATES else relation_of(plan)
    catalog, identifier = relation.catalog(), relation.identifier()
    if relation.getClass().getSimpleName() == "DataSourceV2Relation":
        if identifier.isEmpty() or catalog.isEmpty():
            return None
        catalog, identifier = catalog.get(), identifier.get()
    parts = [catalog.name(), *identifier.namespace(), identifier.name()]
    found = versioned_table(spark, plain_name(parts))
    return None if found is None else found[0]


def _base_of(plan: Plan) -> int | None:
    """Return the version of its table that a command was analysed over; None: it does not say."""
    kind = plan.getClass().getSimpleName()
    if kind in _DELTA:
        index = plan.target().collectLeaves().apply(0).relation().location()
        return int(index.snapshotAtAnalysis().version())
    if kind in CREATES or kind == BY_PATH:
        return None
    return _version_of(relation_of(plan).table())


def version_read(leaf: Plan) -> int | None:
    """Return the version of a table that Spark had read when it analysed a leaf; None: unknown."""
    if leaf.getClass().getSimpleName() == "DataSourceV2Relation":
        return _version_of(leaf.table())
    return int(leaf.relation().location().snapshotAtAnalysis().version())


def _version_of(table: Plan) -> int | None:
    match table.getClass().getSimpleName():
        case "DeltaTableV2":
            return int(table.initialSnapshot().version())
        case "SparkTable":
            number = str(table.version()).rpartition("_")[2]
            return int(number) if number.isdecimal() else None
    return None


def relation_of(plan: Plan) -> Plan:
    """Return the node of the table that a command of Spark's own, or TRUNCATE, changes."""
    kind = plan.getClass().getSimpleName()
    if kind in _REPLACES_ROWS:
        return plan.originalTable()
    if kind == _EMPTIES_DELTA:
        return plan.child()
    return plan.table().collectLeaves().apply(0)


def statement_text(
    spark: SparkSession,
    command: TableCommand,
    name: str,
    tracked: Sequence[Tracked],
    changed: Collection[str] = (),
) -> str:
    """Return the statement in SQL that a command is, over a table of a name.

    Parameters
    ----------
    tracked
        The relations that its source may read, as they were when the command ran.
    changed
        The names of those whose tables have changed since.

    Raises
    ------
    QueryError
        When its source or an expression has no text, or reads what is not tracked.
    """
    return _CommandReader(spark, command, name, tracked, changed).text()


class _CommandReader:
    def __init__(
        self,
        spark: SparkSession,
        command: TableCommand,
        name: str,
        tracked: Sequence[Tracked],
        changed: Collection[str],
    ) -> None:
        self._spark = spark
        self._command = command
        self._plan = command.plan
        self._kind = command.kind
        self._name = name
        self._tracked = tracked
        self._changed_tables = changed

    def text(self) -> str:
        plan, name = self._plan, self._name
        if self._command.replaced is not None:
            condition = self._command.replaced
            return f"INSERT INTO {name} REPLACE WHERE {condition} {self._rows(plan.query())}"
        if self._command.dynamic:
            return f"INSERT OVERWRITE {name} {self._rows(plan.query())}"
        if self._command.appends:
            given = column_names(plan.query())
            if self._by_name and _folded(given) != _folded(self._columns):
                columns = ", ".join(quoted_name([column]) for column in given)
                return f"INSERT INTO {name} ({columns}) {self._query(plan.query())}"
            return f"INSERT INTO {name} {self._rows(plan.query())}"
        if self._kind == BY_PATH or self._kind in CREATES:
            return f"CREATE OR REPLACE TABLE {name} AS {self._rows(plan.query())}"
        if self._kind == _OVERWRITES:
            (replaced,) = self._texts({_REPLACED: plan.table()}, [plan.deleteExpr()])
            return f"INSERT INTO {name} REPLACE WHERE {replaced} {self._rows(plan.query())}"
        if self._kind == "MergeIntoCommand":
            return self._delta_merge()
        if self._kind == "UpdateCommand":
            values = elements(plan.updateExpressions())
            return self._update(plan.target(), values, _option(plan.condition()))
        if self._kind == "DeleteCommand":
            return self._delete(plan.target(), _option(plan.condition()))
        if self._kind == "DeleteFromTable":
            return self._delete(plan.table(), _unless_true(plan.condition()))
        if self._kind in _EMPTIES:
            return f"TRUNCATE TABLE {name}"
        if plan.query().getClass().getSimpleName() == "MergeRows":
            return self._rows_merge(plan.query())
        return self._rows_changed(plan.query())

    def _rows_changed(self, rows: Plan) -> str:
        """Return the UPDATE or DELETE of a plan that has the rows to write in place of others."""
        target, condition = self._plan.originalTable(), _unless_true(self._plan.condition())
        values = _updated(rows)
        if values is None:
            return self._delete(target, condition)
        count = target.output().size()
        if len(values) < count:
            raise self._unsupported("the plan of this UPDATE or DELETE is not read")
        return self._update(target, values[:count], condition)

    def _update(self, target: Plan, values: Sequence[Plan], condition: Sequence[Plan]) -> str:
        changed = self._changed(target, column_names(target), values)
        texts = self._texts({_TARGET: target}, [*changed.values(), *condition])
        text = f"UPDATE {self._name} AS target SET {_pairs(changed, texts)}"
        return f"{text} WHERE {texts[-1]}" if condition else text

    def _delete(self, target: Plan, condition: Sequence[Plan]) -> str:
        texts = self._texts({_TARGET: target}, condition)
        return " WHERE ".join([f"DELETE FROM {self._name} AS target", *texts])

    # -- MERGE -----------------------------------------------------------------------------

    def _delta_merge(self) -> str:
        plan = self._plan
        target, source = plan.target(), plan.source()
        new = plan.migratedSchema()
        evolves = new.isDefined() and len(new.get().fieldNames()) != target.output().size()
        clauses = []
        for matching, found in (
            ("MATCHED", plan.matchedClauses()),
            ("NOT MATCHED", plan.notMatchedClauses()),
            ("NOT MATCHED BY SOURCE", plan.notMatchedBySourceClauses()),
        ):
            for clause in elements(found):
                deletes = "Delete" in clause.getClass().getSimpleName()
                actions = [] if deletes else elements(clause.resolvedActions())
                columns = [action.targetColNameParts().mkString(".") for action in actions]
                values = dict(zip(columns, (action.expr() for action in actions), strict=True))
                condition = _option(clause.condition())
                clauses.append(_CommandClause(matching, condition, values, deletes=deletes))
        return self._merge(target, source, plan.condition(), clauses, evolves=evolves)

    def _rows_merge(self, rows: Plan) -> str:
        """Return the MERGE of a plan that has its clauses as instructions for joined rows."""
        join = rows.child()
        if join.getClass().getSimpleName() != "Join" or join.condition().isEmpty():
            raise self._unsupported("this MERGE has a plan without a join")
        columns = column_names(self._plan.originalTable())
        sides = [join.left(), join.right()]
        sides.sort(key=lambda side: "__row_from_source" in column_names(side))
        clauses = []
        for matching, found in (
            ("MATCHED", rows.matchedInstructions()),
            ("NOT MATCHED", rows.notMatchedInstructions()),
            ("NOT MATCHED BY SOURCE", rows.notMatchedBySourceInstructions()),
        ):
            for instruction in elements(found):
                kind = instruction.getClass().getSimpleName()
                context = str(instruction.context().toString()) if kind == "Keep" else kind
                if context == "Copy":
                    continue
                deletes = context in ("Delete", "Discard")
                if not deletes and context not in ("Insert", "Split", "Update"):
                    raise self._unsupported(f"this MERGE has the instruction {context}")
                given = (
                    instruction.otherOutput()
                    if kind == "Split"
                    else (None if deletes else instruction.output())
                )
                row = [] if given is None else elements(given)[1 : len(columns) + 1]
                values = {} if deletes else dict(zip(columns, row, strict=True))
                condition = _unless_true(instruction.condition())
                clauses.append(_CommandClause(matching, condition, values, deletes=deletes))
        return self._merge(sides[0], sides[1], join.condition().get(), clauses)

    def _merge(
        self,
        target: Plan,
        source: Plan,
        condition: Plan,
        clauses: Sequence[_CommandClause],
        *,
        evolves: bool = False,
    ) -> str:
        both = {_TARGET: target, _SOURCE: source}
        (on,) = self._texts(both, [condition])
        parts = [
            f"MERGE {'WITH SCHEMA EVOLUTION ' if evolves else ''}INTO {self._name} AS target "
            f"USING ({self._query(_source_rows(source))}) AS source ON {on}"
        ]
        for clause in clauses:
            sides = dict(both)
            values = clause.values
            if clause.matching == "NOT MATCHED":
                del sides[_TARGET]
            else:
                values = self._changed(target, list(values), list(values.values()))
            if clause.matching == "NOT MATCHED BY SOURCE":
                del sides[_SOURCE]
            texts = self._texts(sides, [*values.values(), *clause.condition])
            when = f"WHEN {clause.matching}"
            if clause.condition:
                when += f" AND {texts[-1]}"
            if clause.deletes:
                parts.append(f"{when} THEN DELETE")
            elif clause.matching == "NOT MATCHED":
                names = ", ".join(quoted_name([name]) for name in values)
                given = ", ".join(texts[: len(values)])
                parts.append(f"{when} THEN INSERT ({names}) VALUES ({given})")
            else:
                parts.append(f"{when} THEN UPDATE SET {_pairs(values, texts)}")
        return "\n".join(parts)

    # -- parts -----------------------------------------------------------------------------

    def _changed(
        self, target: Plan, columns: Sequence[str], values: Sequence[Plan]
    ) -> dict[str, Plan]:
        """Return the values of columns that get another one than they had, or one where none do."""
        own = {a.name(): a for a in elements(target.output())}
        given = list(zip(columns, values, strict=True))
        changed = {
            name: value
            for name, value in given
            if name not in own or not value.semanticEquals(own[name])
        }
        return changed or dict(given[:1])

    @property
    def _by_name(self) -> bool:
        """True if rows are written by the names of their columns, whatever their order."""
        return self._kind in (BY_PATH, *CREATES) or bool(self._plan.isByName())

    @property
    def _columns(self) -> list[str]:
        """The columns of the table: as the command read it, or made it if it does not say."""
        table, commit = self._command.table, self._command.commit
        if table is None or self._kind not in (BY_PATH, *CREATES):
            return list(column_names(relation_of(self._plan)))
        return list(table.schema(None if commit is None else commit.version).names)

    def _rows(self, query: Plan) -> str:
        """Return the query of rows to insert, in the order of the table's columns."""
        text, given, columns = self._query(query), column_names(query), self._columns
        if not self._by_name or [*map(str.lower, given)] == [*map(str.lower, columns)]:
            return text
        if _folded(given) != _folded(columns):
            raise self._unsupported("a recorded INSERT by name gives some of the columns alone")
        return f"SELECT {', '.join(quoted_name([name]) for name in columns)} FROM ({text})"

    def _query(self, plan: Plan) -> str:
        frame = frame_of(self._spark, plan)
        return query_text(self._spark, frame, self._tracked, self._changed_tables)

    def _texts(self, sides: Mapping[str, Plan], expressions: Sequence[Plan]) -> list[str]:
        """Return expressions over the columns of target and source in SQL."""
        if not expressions:
            return []
        spark = self._spark
        catalyst = jvm_of(spark).org.apache.spark.sql.catalyst
        relations, frames = [], []
        for name, plan in sides.items():
            schema = StructType.fromJson(json.loads(plan.schema().json()))
            rows = spark.createDataFrame(spark.sparkContext.emptyRDD(), schema)
            rows.createOrReplaceTempView(name)
            own = with_parameters(spark, analysed(rows), {0: plan.output()})
            relations.append(stand_in(spark, name, rows, name))
            frames.append(frame_of(spark, own).alias(name))
        try:
            joined = frames[0].crossJoin(frames[1]) if len(frames) > 1 else frames[0]
            items = [
                alias(spark, value, f"c{n}", catalyst.expressions.NamedExpression.newExprId())
                for n, value in enumerate(expressions)
            ]
            plan = catalyst.plans.logical.Project(sequence(spark, items), analysed(joined))
            known = [*self._tracked, *relations]
            text = query_text(spark, frame_of(spark, plan), known, self._changed_tables)
        finally:
            for name in sides:
                spark.catalog.dropTempView(name)
        found = select_items(text, _QUALIFIERS)
        if found is None:
            raise self._unsupported("an expression of this command has no text of its own")
        return found

    def _unsupported(self, problem: str) -> UnsupportedError:
        return UnsupportedError(problem, "Write it as a text for ls.sql(...).", self._kind)


@dataclass(frozen=True, slots=True)
class _CommandClause:
    """A clause of a MERGE: its condition if it has one, and the values of columns."""

    matching: str
    condition: list[Plan]
    values: dict[str, Plan]
    deletes: bool


def _updated(rows: Plan) -> list[Plan] | None:
    """Return the new values of rows that an UPDATE writes, in order; None: it is a DELETE.

    Where files are written anew, unchanged rows are among them, and a value is the new one if the
    condition is true. Where rows are marked as deleted, the others are inserted beside the marks.
    An unknown form has no values.
    """
    kind = rows.getClass().getSimpleName()
    if kind == "Expand":
        written = elements(rows.projections())
        return elements(written[-1])[1:] if len(written) == 2 else []
    if kind != "Project":
        return []
    below = rows.child()
    if below.getClass().getSimpleName() == "Filter":
        operation = elements(rows.projectList())[0]
        marks = operation.name() == "__row_operation" and str(operation.child()) == _DELETED
        return None if marks or "_file" in column_names(rows) else []
    if below.getClass().getSimpleName() == "Union":  # the rows of a condition with a subquery
        below = below.children().apply(0)
    if below.getClass().getSimpleName() != "Project":
        return []
    values = [named.children().apply(0) for named in elements(below.projectList()) if _is_if(named)]
    return [value.trueValue() for value in values]


def _is_if(named: Plan) -> bool:
    kind = named.getClass().getSimpleName()
    return kind == "Alias" and str(named.child().getClass().getSimpleName()) == "If"


def _source_rows(source: Plan) -> Plan:
    """Return the source of a MERGE without the column by which Spark knows its rows."""
    marked = "__row_from_source" in column_names(source)
    return source.children().apply(0) if marked else source


def _folded(names: Sequence[str]) -> list[str]:
    return sorted(name.lower() for name in names)


def _option(value: Plan) -> list[Plan]:
    return [value.get()] if value.isDefined() else []


def _unless_true(condition: Plan) -> list[Plan]:
    return [] if condition.toString() == "true" else [condition]


def _pairs(values: Mapping[str, Plan], texts: Sequence[str]) -> str:
    return ", ".join(
        f"{quoted_name([name])} = {text}" for name, text in zip(values, texts, strict=False)
    )
