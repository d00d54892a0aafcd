"""Tables of an erasure: what is erased from them, their versions, and what they are without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.erasure.parquet import ParquetFolder, parquet_table
from lipstick.errors import LipstickError, SourceError, StatementError
from lipstick.histories.chain import Chain
from lipstick.histories.differences import differing_rows
from lipstick.histories.engine import SparkReplayEngine
from lipstick.histories.replay import Replay
from lipstick.histories.steps import (
    ExecutedStatement,
    check_versions,
    read_statement,
    steps_of,
    untracked_sources,
)
from lipstick.tracking.catalog import SessionCatalog
from lipstick.tracking.formats.iceberg import VersionedIceberg, iceberg_at_path, reference_of
from lipstick.tracking.formats.probe import versioned_path, versioned_table
from lipstick.tracking.formats.versions import VersionedTable
from lipstick.tracking.views import quoted_name
from rewriter.statements import Bags, row_by_row, rows_of, sources_of

ErasableTable: TypeAlias = VersionedTable | ParquetFolder
"""Tables that rows are erased from."""


class ErasureHost(Protocol):
    """A session, as far as erasures need one."""

    spark: SparkSession
    store: Path

    def catalog(self) -> SessionCatalog:
        """Return what names mean at this moment."""

    def add_view(self, frame: DataFrame, name: str) -> None:
        """Make a temporary view that is dropped in the end."""


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """A table of an erasure: a source, or derived from others by a query or by statements."""

    name: str
    """Its name in queries and statements."""
    table: str
    """The table as SQL names it."""
    format: str
    identity: str
    version: int | None
    key: tuple[str, ...] = ()
    """Columns that name its rows; empty: all values do."""
    predicate: str | None = None
    """The rows of a source that are erased."""
    query: str | None = None
    """The query that a derived table is the answer of."""
    statements: tuple[ExecutedStatement, ...] = ()
    """The statements that made a derived table, from its first version on."""
    versions: tuple[int, ...] = ()
    """With statements, the versions of the table up to `version`."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """With a query, the tables that names in it mean, where these are others."""

    @property
    def derived(self) -> bool:
        """True unless the table is a source."""
        return self.query is not None or bool(self.statements)

    def to_json(self) -> dict[str, Any]:
        """Return the table as JSON values."""
        return {k: v for k, v in asdict(self).items() if v not in (None, (), {})}

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> PlannedTable:
        """Return the table of JSON values."""
        given = dict(values)
        for name in ("key", "versions"):
            given[name] = tuple(given.get(name, ()))
        given["statements"] = tuple(ExecutedStatement(**s) for s in given.get("statements", ()))
        given.setdefault("version", None)
        return PlannedTable(**given)

    def open(self, spark: SparkSession) -> ErasableTable:
        """Return the table, and check that it is the one that was planned with.

        Raises
        ------
        LipstickError
            When there is another table of its name, or none.
        """
        try:
            found = open_table(spark, self.table)
        except SourceError as error:
            raise LipstickError(f"The table {self.table} cannot be read: {error}") from error
        if found.identity != self.identity:
            raise LipstickError(
                f"{self.table} is another table than when the erasure was planned.\nPlan it anew."
            )
        return found


def open_table(spark: SparkSession, reference: str) -> ErasableTable:
    """Return the table of Delta, Iceberg or plain Parquet of a name in SQL, or in a folder.

    Raises
    ------
    SourceError
        When there is none.
    """
    if reference.startswith("iceberg.`"):
        return iceberg_at_path(spark, reference.removeprefix("iceberg.`").removesuffix("`"))
    if reference.startswith("parquet.`"):
        return parquet_table(spark, reference)
    found = None if "/" in reference and "`" not in reference else versioned_table(spark, reference)
    if found is not None and found[1] is None:
        return found[0]
    table = versioned_path(spark, reference, None) if "/" in reference else None
    return table or parquet_table(spark, reference)


def check_predicate(spark: SparkSession, source: str, predicate: str) -> None:
    """Refuse a predicate that does not say of each row by itself, now and later, if it goes.

    Raises
    ------
    LipstickError
    """
    statement = read_statement(spark, f"DELETE FROM {quoted_name(['t'])} WHERE {predicate}")
    if not row_by_row(statement):
        raise LipstickError(
            f"The predicate of {source!r}, {predicate!r}, has a subquery.\n"
            "Write a condition on the columns of the row alone."
        )


class ErasedTables:
    """The tables of an erasure, and the rows by which they differ without what is erased.

    Nothing is changed. Versions are read as they were planned with, whatever is committed since.

    Parameters
    ----------
    opened
        The tables by name, where they are open already.
    """

    def __init__(
        self,
        host: ErasureHost,
        tables: Sequence[PlannedTable],
        progress: Callable[[str], None],
        opened: Mapping[str, ErasableTable] | None = None,
    ) -> None:
        self.host = host
        self.tables = {table.name: table for table in tables}
        self.opened = opened or {table.name: table.open(host.spark) for table in tables}
        self.engine = SparkReplayEngine(host.spark, host.store / "erasures", host.add_view)
        self._progress = progress
        self._bases: dict[str, Bags] = {}
        self._chains: dict[str, Chain] = {}
        executed: list[tuple[str, ExecutedStatement]] = []
        for table in tables:
            if table.derived:
                self._chains[table.name.lower()] = self._chain(table)
                executed += [(table.name, statement) for statement in _statements(table)]
            else:
                self._bases[table.name.lower()] = self._source(table)
        self._steps = steps_of(host.spark, self._chains, [each for _, each in executed])
        untracked_sources(self._chains, self._steps, lambda name: name in self._bases)

    def _source(self, table: PlannedTable) -> Bags:
        view = self.engine.named(self.opened[table.name].read(table.version))
        if table.predicate is None:
            return Bags(view)
        real = self.host.spark.table(view)
        rest = self.engine.named(real.where(f"NOT coalesce({table.predicate}, FALSE)"))
        gone = self.engine.store(rows_of(self.engine.named(real.where(table.predicate))))
        if gone is None:
            return Bags(view)
        return Bags(view, self.engine.shown(gone), rest=rest)

    def _chain(self, table: PlannedTable) -> Chain:
        opened = self.opened[table.name]
        if table.versions:
            versioned = None if isinstance(opened, ParquetFolder) else opened
            return Chain.of(self.engine, table.versions, opened.read, versioned)
        real = opened.read(table.version)
        return Chain.of(self.engine, (0, 1), (real.where(F.lit(False)), real).__getitem__)

    def check(self) -> None:
        """Check that every derived table is what its query or statements make of its sources.

        Raises
        ------
        LipstickError
            When one is not, with some of the rows that differ.
        """
        self._progress("comparing derived tables with their queries")
        bases = {name: Bags(bags.real) for name, bags in self._bases.items()}
        try:
            check_versions(self.engine, self._chains, self._steps, bases)
        except StatementError as error:
            raise LipstickError(
                "A derived table is not what its query or statements make of its sources as they "
                f"are now.\n{error}\nRun the pipeline, then plan the erasure. Sums of floats may "
                "be others in each run: store them as decimals."
            ) from error

    def differing(self, name: str) -> int:
        """Return the number of distinct rows that a table and its query have differently often."""
        (step,) = (step for step in self._steps if step.table == name.lower())
        replay = Replay(self.engine, self._chains, self._steps, self._bases)
        for table, chain in self._chains.items():
            replay.state[table] = Bags(chain.versions[chain.last])
        computed = self.engine.shown(rows_of(self.engine.view(replay.reenacted(step).rows)))
        chain = self._chains[step.table]
        real = rows_of(chain.versions[chain.last])
        names = chain.shapes[chain.last].names
        return differing_rows(self.host.spark, real, computed, names).count()

    def differences(self) -> dict[str, Bags]:
        """Return by table its version, the rows that go, and the rows that come."""
        self._progress("computing the tables without what is erased")
        keys = {name.lower(): table.key for name, table in self.tables.items() if table.query}
        replay = Replay(self.engine, self._chains, self._steps, self._bases, keys=keys)
        found = {**self._bases, **replay.run()}
        return {name: found[name.lower()] for name in self.tables}


def _statements(table: PlannedTable) -> Sequence[ExecutedStatement]:
    if table.query is None:
        return table.statements
    name = quoted_name(table.name.split("."))
    text = f"INSERT OVERWRITE {name} {table.query}"
    return [ExecutedStatement(text, name=table.name, reads=table.reads)]


def in_order(spark: SparkSession, tables: Sequence[PlannedTable]) -> list[PlannedTable]:
    """Return tables in an order in which each comes after the tables it reads.

    Raises
    ------
    LipstickError
        For derived tables that read each other.
    """
    names = {table.name.lower(): table for table in tables}
    reads = {
        name: {
            each
            for executed in _statements(table)
            for read in sources_of(read_statement(spark, executed.text, executed.moments))
            if (each := executed.reads.get(read, read)) in names and each != name
        }
        for name, table in names.items()
    }
    ordered: dict[str, PlannedTable] = {}
    while len(ordered) < len(names):
        ready = [n for n in names if n not in ordered and reads[n] <= ordered.keys()]
        if not ready:
            circle = ", ".join(sorted(set(names) - set(ordered)))
            raise LipstickError(f"The derived tables {circle} read each other.\nName one of them.")
        ordered |= {name: names[name] for name in ready}
    return list(ordered.values())


def at_version(table: PlannedTable, opened: ErasableTable) -> PlannedTable:
    """Return a table with the identity and the version that it has now."""
    return replace(
        table,
        table=opened.table,
        format=opened.format,
        identity=opened.identity,
        version=opened.current(),
    )


@dataclass(frozen=True, slots=True)
class CurrentTable:
    """A table of an erasure as it is now, and its branch or copy until that is published."""

    planned: PlannedTable
    opened: ErasableTable
    main: PlannedTable
    """The table itself at its current version."""
    written: PlannedTable
    """Its branch or its copy, else the table itself."""
    copy: ErasableTable | None = None

    @property
    def published(self) -> bool:
        """True if there is no branch or copy that readers do not see."""
        return self.written == self.main

    def read(self) -> DataFrame:
        """Return the rows of the branch or copy, else of the table."""
        return (self.copy or self.opened).read(self.written.version)


def current_table(
    spark: SparkSession, table: PlannedTable, target: str, opened: ErasableTable | None = None
) -> CurrentTable | None:
    """Return a table as it is now; None: there is none any more.

    Parameters
    ----------
    target
        The table, branch or copy that the erasure writes.
    opened
        The table, where it is open already.
    """
    try:
        opened = opened or open_table(spark, table.table)
        main = replace(table, identity=opened.identity, version=opened.current())
    except (SourceError, PySparkException):
        return None
    itself = CurrentTable(table, opened, main, main)
    if target == table.table:
        return itself
    _, branch, _ = reference_of(target)
    if branch is not None and isinstance(opened, VersionedIceberg):
        version = opened.reference(branch)
        if version is None or any(each.version == version for each in opened.history()):
            return itself
        return replace(itself, written=replace(main, version=version))
    if "`" not in target and not spark.catalog.tableExists(target):
        return itself
    try:
        copy = open_table(spark, target)
    except (SourceError, PySparkException):
        return itself
    written = replace(main, table=target, identity=copy.identity, version=copy.current())
    return replace(itself, written=written, copy=copy)
