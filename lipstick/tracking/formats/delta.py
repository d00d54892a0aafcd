"""Tables of Delta Lake: versions are the commits of their log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import pyarrow.compute as pc
import pyarrow.parquet as pq
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lipstick.errors import SourceError, first_line
from lipstick.tracking.formats.versions import (
    ColumnNotes,
    Leaf,
    Moment,
    TableVersion,
    changes_of,
    classic_leaf,
    readable,
)
from lipstick.tracking.names import plain_name
from lipstick.tracking.states import local_path

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql.types import StructType

LOG = "_delta_log"
"""The folder with the commits, in that of the table."""

_AS_STORED = frozenset({"deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"})
"""Features of tables whose files without a deletion vector have the rows as they are read."""

_MOST_COMMITS = 10_000
"""Commits of a table that are read here, at most."""

_CHAR = re.compile(r"\bchar\(")
"""Types of columns that Spark pads, as the log has them."""

_PLAIN_FILE = re.compile(r"[\w.=-]+", re.ASCII)
"""Names of files that paths and URIs have alike."""

_BY_PATH = re.compile(r"delta\.`(.+)`", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class VersionedDelta:
    """A table of Delta Lake in the log of its commits."""

    spark: SparkSession
    table: str
    identity: str
    location: str
    partitions: tuple[str, ...] = ()
    """The partition columns."""

    format = "delta"
    row_id = "_metadata.row_id"
    place = ("_metadata.file_path", "_metadata.row_index")

    @property
    def whole(self) -> VersionedDelta:
        """The table itself: Delta has no branches."""
        return self

    def current(self) -> int:
        """Return the number of the last commit; a classic session has it without a job."""
        index = _current_index(self.spark, self.table)
        if index is not None:
            snapshot = index.getSnapshot()
            if snapshot.metadata().id() == self.identity:
                return int(snapshot.version())
        last = self.spark.sql(f"DESCRIBE HISTORY {self.table} LIMIT 1").head()
        assert last is not None
        return int(last["version"])

    def next_after(self, before: int) -> int | None:
        """Return the last commit if it is another one or the next after it; else None."""
        version = self.current()
        return version if version in (before, before + 1) else None

    def history(self) -> list[TableVersion]:
        """Return the commits that the log still has, the oldest first."""
        rows = self.spark.sql(f"DESCRIBE HISTORY {self.table}").collect()
        return [
            TableVersion(
                version=row["version"],
                time=row["timestamp"],
                operation=row["operation"],
                parameters=row["operationParameters"] or {},
                parent=row["version"] - 1 if row["version"] else None,
            )
            for row in sorted(rows, key=lambda row: int(row["version"]))
        ]

    def went_back(self, version: int) -> bool:
        """Return False: RESTORE is a commit."""
        return False

    def at(self, moment: Moment) -> int:
        """Return the last commit up to a moment."""
        commits = self.spark.sql(f"DESCRIBE HISTORY {self.table}")
        before = commits.where(F.col("timestamp") <= F.lit(moment).cast("timestamp"))
        found = before.agg(F.max("version")).head()
        if found is None or found[0] is None:
            raise SourceError(f"The Delta table {self.table} has no version of {moment} or before.")
        return int(found[0])

    def relation(self, version: int) -> str:
        """Return a version as a relation of SQL."""
        return f"{self.table} VERSION AS OF {version}"

    def read(self, version: int | None) -> DataFrame:
        """Return the rows of a version."""
        assert version is not None
        query = f"SELECT * FROM {self.relation(version)}"
        return readable(
            lambda: self.spark.sql(query),
            f"Version {version} of the Delta table {self.table}",
            f"DESCRIBE HISTORY {self.table} has its versions.",
        )

    def notes(self, version: int | None) -> ColumnNotes:
        """Return what the log notes of columns, such as how they are generated.

        A session over Spark Connect cannot ask for it.
        """
        index = self._index(version)
        if index is None:
            return ColumnNotes({}, self.partitions)
        fields = json.loads(index.snapshotAtAnalysis().metadata().schemaString())["fields"]
        notes = {field["name"]: field.get("metadata", {}) for field in fields}
        return ColumnNotes(notes, self.partitions)

    def _index(self, version: int | None) -> Any:
        """Return Delta's index of the files of a version; None: over Spark Connect."""
        frame = self.spark.table(self.table) if version is None else self.read(version)
        if not hasattr(frame, "_jdf"):
            return None
        leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
        return _index(leaves.apply(0)) if leaves.size() == 1 else None

    def schema(self, version: int | None) -> StructType:
        """Return the columns of a version; None: of the table as it is now."""
        return (self.spark.table(self.table) if version is None else self.read(version)).schema

    def files(self, version: int | None) -> list[str]:
        """Return the data files of a version."""
        return sorted(self.read(version).inputFiles())

    def changed(self, before: int, after: int) -> Column | None:
        """Return the condition of the rows in files that commits after a version add or remove.

        None: they are not known, or Spark pads CHAR columns and hides the files of the rows.
        """
        actions = self._actions(before, after)
        if actions is None or not self._shows_files(after):
            return None
        files = (action.get("add") or action.get("remove") for action in actions)
        names = {file["path"].rpartition("/")[2] for file in files if file is not None}
        if not all(map(_PLAIN_FILE.fullmatch, names)):
            return None
        return F.col("_metadata.file_name").isin(*names) if names else F.lit(False)

    def _shows_files(self, version: int) -> bool:
        """Return False if Spark hides the files of rows, as it does where it pads CHAR columns."""
        try:
            self.read(version).select("_metadata.file_name").schema  # noqa: B018
        except PySparkException:
            return False
        return True

    def added(self, files: Sequence[str]) -> dict[str, int]:
        """Return by data file the commit that added it first, which later ones may delete from.

        Commits whose entries in the log are removed are not known.
        """
        names = {file.rpartition("/")[2]: file for file in files}
        log = self.spark.read.schema("add STRUCT<path: STRING>").json(
            f"{self.location}/{LOG}/*.json"
        )
        name = F.element_at(F.split("add.path", "/"), -1)
        commit = F.split("_metadata.file_name", r"\.")[0].cast("long")
        added = log.where(name.isin(*names)).groupBy(name).agg(F.min(commit)).collect()
        return {names[row[0]]: row[1] for row in added}

    def alike(self, versions: Iterable[int]) -> dict[int, int]:
        """Return by version the first one after the same change of columns."""
        found = dict[int, int]()
        before: int | None = None
        for version in versions:
            same = before is not None and self._actions(before, version) is not None
            found[version] = found[before] if same and before is not None else version
            before = version
        return found

    def changes(self, before: int, after: int) -> DataFrame | None:
        """Return the rows in files that commits after a version removed and added."""
        index = None if self._actions(before, after) is None else self._index(after)
        if index is None:
            return None
        jvm: Any = self.spark._jvm
        none, session = jvm.scala.Option.empty(), self.spark._jsparkSession
        columns = jvm.scala.Option.apply(index.snapshotAtAnalysis())
        reader = jvm.org.apache.spark.sql.delta.commands.cdc.CDCReader
        log, commits = index.deltaLog(), (before + 1, after)
        try:
            feed = reader.changesToBatchDF(log, *commits, session, none, columns, True, none)
        except Py4JError:  # another release of Delta
            return None
        return changes_of(DataFrame(feed, self.spark), F.col("_commit_version"))

    def _actions(self, before: int, after: int) -> list[dict[str, Any]] | None:
        """Return the actions of commits after a version.

        None: they may give the table other columns, or the log is not at hand.
        """
        folder = local_path(self.location)
        if folder is None:
            return None
        commits = [folder / LOG / f"{number:020}.json" for number in range(before + 1, after + 1)]
        if not all(commit.is_file() for commit in commits):
            return None
        lines = (commit.read_text("utf-8").splitlines() for commit in commits)
        actions = [json.loads(line) for line in chain.from_iterable(lines)]
        alters = any(action.keys() & {"metaData", "protocol"} for action in actions)
        return None if alters else actions

    def own_files(self, versions: Iterable[int]) -> dict[int, frozenset[Path]] | None:
        """Return by version the local Parquet files whose rows it has, all of them as they are.

        None: some are elsewhere, or the log is not at hand, or a version has other rows or columns
        than its files: by deletion vectors, partitions, and columns of other names.
        """
        folder, wanted = local_path(self.location), set(versions)
        if folder is None or self.partitions or not wanted or max(wanted) >= _MOST_COMMITS:
            return None
        now, found = frozenset[str](), dict[int, frozenset[Path]]()
        for number in range(max(wanted) + 1):
            commit = _commit(folder / LOG / f"{number:020}.json")
            if commit is None:
                return None
            now = (now - commit.removed) | commit.added
            if number in wanted:
                found[number] = frozenset(folder / unquote(name) for name in now)
        return found

    def all_files(self) -> list[str]:
        """Return the data files of all versions that the log still has."""
        folder = local_path(self.location)
        if folder is None:
            found = {file for each in self.history() for file in self.files(each.version)}
            return sorted(found)
        return sorted(_file_uri(folder, name) for name in set(_added_files(folder / LOG)))


@dataclass(frozen=True, slots=True)
class _Commit:
    """The names of the files that a commit added and removed."""

    added: frozenset[str]
    removed: frozenset[str]


def _commit(path: Path) -> _Commit | None:
    """Return the files of a commit.

    None: it is not at hand, or the rows of its files are not all rows of the table as they are.
    """
    try:
        return _commit_of(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=_MOST_COMMITS)
def _commit_of(path: Path, _written: int) -> _Commit | None:
    files: dict[str, set[str]] = {"add": set(), "remove": set()}
    for line in path.read_text("utf-8").splitlines():
        ((kind, action),) = json.loads(line).items()
        if kind == "metaData":
            mapping = action.get("configuration", {}).get("delta.columnMapping.mode", "none")
            padded = _CHAR.search(action["schemaString"])
            if padded or action.get("partitionColumns") or mapping != "none":
                return None
        elif kind == "protocol" and not _AS_STORED.issuperset(action.get("readerFeatures") or ()):
            return None
        elif kind in files:
            if action.get("deletionVector") or urlparse(action["path"]).scheme:
                return None
            files[kind].add(action["path"])
    return _Commit(frozenset(files["add"]), frozenset(files["remove"]))


def _added_files(log: Path) -> Iterator[str]:
    """Yield the paths of data files in a log: of its commits, and of its checkpoints."""
    for commit in log.rglob("*.json"):
        for line in commit.read_text("utf-8").splitlines():
            added = json.loads(line).get("add")
            if added:
                yield added["path"]
    for checkpoint in log.rglob("*.parquet"):
        file = pq.ParquetFile(checkpoint)
        if "add" in file.schema_arrow.names:
            paths = pc.struct_field(file.read(["add"])["add"].combine_chunks(), "path")
            yield from paths.drop_null().to_pylist()


def _file_uri(folder: Path, name: str) -> str:
    """Return the URI of a data file by its path in the log: relative, or a URI itself."""
    return name if urlparse(name).scheme else (folder / unquote(name)).as_uri()


def delta_at_path(spark: SparkSession, path: str) -> VersionedDelta:
    """Return the table of Delta in a folder.

    Raises
    ------
    SourceError
        When there is none, or Spark has not the jar and settings of Delta.
    """
    return delta_of_name(spark, f"delta.`{path}`")


def delta_of_name(spark: SparkSession, table: str) -> VersionedDelta:
    """Return the table of Delta that SQL knows by a name."""
    try:
        index = _current_index(spark, table)
        if index is not None:  # DESCRIBE DETAIL takes jobs
            metadata = index.getSnapshot().metadata()
            names = metadata.partitionColumns()
            partitions = tuple(str(names.apply(n)) for n in range(names.size()))
            location = str(index.path().toString())
            return VersionedDelta(spark, table, str(metadata.id()), location, partitions)
        detail = spark.sql(f"DESCRIBE DETAIL {table}").head()
    except PySparkException as error:
        raise SourceError(
            f"Spark cannot read the Delta table {table}: {first_line(error)}\n"
            "Start Spark with the package io.delta:delta-spark of its version, and with the "
            "extension and the catalog of Delta (docs/tables.md)."
        ) from error
    assert detail is not None
    partitions = tuple(detail["partitionColumns"])
    return VersionedDelta(spark, table, detail["id"], detail["location"], partitions)


def delta_path(source: str) -> str | None:
    """Return the path in ``delta.`/path```; None of any other text."""
    match = _BY_PATH.fullmatch(source.strip())
    return match[1] if match else None


def delta_leaf(spark: SparkSession, leaf: Any) -> Leaf | None:
    """Return the version that a leaf of a plan reads; None: the leaf is not a table of Delta."""
    index = _index(leaf)
    if index is None:
        return None
    if index.getClass().getSimpleName() != "TahoeLogFileIndex":
        raise SourceError(
            f"The data frame reads a Delta table by {index.getClass().getSimpleName()}, whose "
            "rows are not those of one version.\nTrack the table, or copy the rows "
            "(materialize=True)."
        )
    pinned = bool(index.isTimeTravelQuery())
    then = index.snapshotAtAnalysis()
    version = int((then if pinned else index.getSnapshot()).version())
    return Leaf(
        delta_of_name(spark, delta_name(leaf)), version, pinned, identity=str(then.metadata().id())
    )


def delta_name(leaf: Any) -> str:
    """Return the name in SQL of the table of Delta that a leaf of a plan reads."""
    known = leaf.catalogTable()
    if known.isDefined():
        return plain_name(_parts(known.get().identifier()))
    return f"delta.`{leaf.relation().location().path().toString()}`"


def _current_index(spark: SparkSession, table: str) -> Any:
    """Return Delta's index of the files of a table now; None: the name is a view of a version."""
    index = _index(classic_leaf(spark, table))
    if index is None or index.getClass().getSimpleName() != "TahoeLogFileIndex":
        return None
    return None if index.isTimeTravelQuery() else index


def _index(leaf: Any) -> Any:
    """Return Delta's index of the files that a leaf of a plan reads; None: it has none."""
    if leaf is None or leaf.getClass().getSimpleName() not in (
        "LogicalRelation",
        "LogicalRelationWithTable",
    ):
        return None
    relation = leaf.relation()
    kinds = (relation.getClass(), relation.getClass().getSuperclass())
    if all(kind.getSimpleName() != "HadoopFsRelation" for kind in kinds):
        return None
    index = relation.location()
    own = index.getClass().getName().startswith("org.apache.spark.sql.delta.")
    return index if own else None


def _parts(identifier: Any) -> list[str]:
    options = (identifier.catalog(), identifier.database())
    parts = [*(part.get() for part in options if part.isDefined()), identifier.table()]
    return parts if options[0].isDefined() else ["spark_catalog", *parts]
