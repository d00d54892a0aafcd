"""Tables whose versions can be read: what each format answers, and a version that a source reads.

A version is a number: that of a commit of Delta, or the id of a snapshot of Iceberg, 0 where a
table of Iceberg has none yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from lipstick.errors import VersionGoneError, first_line
from lipstick.tracking.views import column_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

EMPTY = 0
"""The version of a table of Iceberg without a snapshot; of Delta it is the first commit."""

RESTORE = "RESTORE"
"""The operation of Delta after which a table has the rows of an earlier version."""

MORE, COMMIT = "_lipstick_more", "_lipstick_commit"
"""Columns of changes: how many more of a row a version has than the one before, and the version."""

Moment: TypeAlias = datetime | str
"""A time: a datetime, or a timestamp as text in the time zone of the session."""


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A version of a table: when it was committed, and the operation that made it."""

    version: int
    time: datetime
    operation: str
    parameters: Mapping[str, str]
    """The parameters of the operation (Delta), or the summary of the snapshot (Iceberg)."""
    parent: int | None
    """The version that the operation read or followed; None: the first."""


@dataclass(frozen=True, slots=True)
class ColumnNotes:
    """The notes of a format about the columns of a version."""

    metadata: Mapping[str, Mapping[str, Any]]
    """The notes of each column, by its name."""
    partitions: tuple[str, ...]
    """The columns that partition the table by their plain values; empty: none do."""


class VersionedTable(Protocol):
    """A table of a format that keeps its versions."""

    @property
    def format(self) -> str:
        """The format's name: ``delta`` or ``iceberg``."""

    @property
    def table(self) -> str:
        """The table as SQL names it."""

    @property
    def identity(self) -> str:
        """The table's own id, which another table of its name has not."""

    @property
    def whole(self) -> VersionedTable:
        """The table whose branch this is; the table itself where it is no branch."""

    def current(self) -> int:
        """Return the version that readers see now."""

    def next_after(self, before: int) -> int | None:
        """Return the current version if it is another one or directly after it; else None."""

    def history(self) -> list[TableVersion]:
        """Return the versions that led to the current one, the oldest first.

        Versions that the format has forgotten are not among them.
        """

    def went_back(self, version: int) -> bool:
        """Return True if a version after another was current that did not lead to the current one.

        Delta never goes back: RESTORE is a commit.
        """

    def at(self, moment: Moment) -> int:
        """Return the version that readers saw at a moment.

        A text that is the name of a branch or a tag stands for the version that this refers to.

        Raises
        ------
        SourceError
            When the table had no version then.
        """

    def relation(self, version: int) -> str:
        """Return a version as a relation of SQL: ``cat.db.orders VERSION AS OF 3``."""

    def read(self, version: int | None) -> DataFrame:
        """Return the rows of a version, whatever is committed later.

        Raises
        ------
        VersionGoneError
            When the version cannot be read any more, or never was.
        """

    def schema(self, version: int | None) -> StructType:
        """Return the columns of a version; None: of the table as it is now."""

    def notes(self, version: int | None) -> ColumnNotes:
        """Return what the format notes of the columns of a version.

        A session over Spark Connect cannot ask for it.
        """

    def files(self, version: int | None) -> list[str]:
        """Return the URIs of the files that a version consists of."""

    def own_files(self, versions: Iterable[int]) -> Mapping[int, frozenset[Path]] | None:
        """Return by version the local Parquet files whose rows it has, all of them as they are.

        None: some are elsewhere, or the log is not at hand, or a version has other rows or columns
        than its files: by deletion files and vectors, partitions, and columns of other names.
        """

    def added(self, files: Sequence[str]) -> Mapping[str, int]:
        """Return by data file the version that added it, as far as the format still knows."""

    def alike(self, versions: Iterable[int]) -> Mapping[int, int]:
        """Return by version one of them that has the same columns, the same one for all of these.

        Versions that the log does not know are left out.
        """

    def changes(self, before: int, after: int) -> DataFrame | None:
        """Return the rows that commits after a version removed and added, up to another.

        Rows that a commit wrote again are removed and added. Before the table's own columns come
        :data:`MORE` and :data:`COMMIT`. None: the log does not say.
        """

    def changed(self, before: int, after: int) -> Column | None:
        """Return the condition of the rows in files that differ between two versions.

        It is one on the frames that :meth:`read` returns. All other rows are in both versions, as
        they are. None: the log does not say.
        """

    @property
    def location(self) -> str:
        """The URI or the path of the table's folder."""

    def all_files(self) -> list[str]:
        """Return the URIs of the files of all versions that the format still knows."""

    @property
    def row_id(self) -> str:
        """The metadata column with the id of a row, which stays the same in later versions."""

    @property
    def place(self) -> tuple[str, str]:
        """The metadata columns with the file of a row, and its number there."""


def restored_version(commit: TableVersion, table: VersionedTable) -> int:
    """Return the version whose rows a table has after RESTORE."""
    version, moment = (commit.parameters.get(name) for name in ("version", "timestamp"))
    return int(version) if version is not None else table.at(str(moment))


def led_to(commits: Sequence[TableVersion], table: VersionedTable) -> list[TableVersion]:
    """Return the commits of a table without the ones that RESTORE took back."""
    found = list[TableVersion]()
    for commit in commits:
        numbers = [each.version for each in found]
        restored = restored_version(commit, table) if commit.operation == RESTORE else None
        if restored in numbers:
            del found[numbers.index(restored) + 1 :]
        found.append(commit)
    return found


def classic_leaf(spark: SparkSession, table: str) -> Any:
    """Return the only leaf of the plan by which a classic session reads a table; None elsewhere."""
    if not hasattr(spark, "_jsparkSession"):
        return None
    leaves = spark.table(table)._jdf.queryExecution().analyzed().collectLeaves()
    return leaves.apply(0) if leaves.size() == 1 else None


def readable(read: Callable[[], DataFrame], version: str, advice: str) -> DataFrame:
    """Return the rows of a version, once Spark has analysed them.

    Raises
    ------
    VersionGoneError
        When Spark cannot read them.
    """
    try:
        frame = read()
        frame.schema  # noqa: B018 - Connect analyses here
    except PySparkException as error:
        raise VersionGoneError(
            f"{version} cannot be read: {first_line(error)}\n{advice}"
        ) from error
    return frame


def changes_of(feed: DataFrame, version: Column) -> DataFrame:
    """Return the changes in a feed of a format, whose last three columns are about them."""
    own = [column_of(name) for name in feed.columns[:-3]]
    more = F.when(F.lower("_change_type") == "delete", -1).otherwise(1)
    return feed.select(more.alias(MORE), version.alias(COMMIT), *own)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of a plan that reads a version of a table."""

    table: VersionedTable
    version: int | None
    pinned: bool
    """True if the leaf reads this version for ever; False: the current one when it runs."""
    identity: str | None = None
    """The identity of the table when Spark analysed the leaf; None: the same as now."""
