"""Tables of Apache Iceberg: versions are the snapshots of their metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from lipstick.errors import SourceError, first_line
from lipstick.tracking.formats.versions import (
    EMPTY,
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
    from pyspark.sql import Column, DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

FIELD = "iceberg.id"
"""The key of a column's number in its metadata."""

MAIN = "main"
"""The branch that the name of a table means."""

_READ_AS = "lipstick-branch"
"""The option of a plan, which Iceberg does not know, with the branch that it reads."""

_REFERENCE = re.compile(r"(.+)\.(branch|tag)_(\w+)")
"""The name of a table with that of a branch or a tag."""


@dataclass(frozen=True, slots=True)
class VersionedIceberg:
    """A table of Iceberg, or a branch of one, with its snapshots."""

    spark: SparkSession
    table: str
    """Its name in a catalog, or ``iceberg.`/path```: a path has no relation in SQL."""
    location: str
    """The folder of the table."""
    path: str | None = None
    branch: str = MAIN

    format = "iceberg"
    row_id = "_row_id"
    place = ("_file", "_pos")

    @property
    def identity(self) -> str:
        """The folder of the table, and its branch."""
        return self.location if self.branch == MAIN else f"{self.location}#{self.branch}"

    @property
    def whole(self) -> VersionedIceberg:
        """The table of the branch."""
        return self if self.branch == MAIN else replace(self, table=self._name, branch=MAIN)

    @property
    def _name(self) -> str:
        return self.table if self.branch == MAIN else self.table.removesuffix(_suffix(self.branch))

    def on(self, branch: str) -> VersionedIceberg:
        """Return a branch of the table."""
        whole = self.whole
        name = whole.table if branch == MAIN else whole.table + _suffix(branch)
        return replace(whole, table=name, branch=branch)

    def current(self) -> int:
        """Return the snapshot of the branch."""
        return self._current(self._loaded())

    def _current(self, table: Any) -> int:
        if table is None:
            return self.reference(self.branch) or EMPTY
        table.refresh()
        snapshot = table.snapshot(self.branch)
        return EMPTY if snapshot is None else int(snapshot.snapshotId())

    def next_after(self, before: int) -> int | None:
        """Return the current snapshot if it is another one or directly after it; else None."""
        table = self._loaded()
        version = self._current(table)
        return version if version == before or self._follows(table, version, before) else None

    def _follows(self, table: Any, version: int, before: int) -> bool:
        """Return True if a snapshot has another as its parent, or replaces the table after it."""
        if table is None:
            snapshots = self._metadata("snapshots").where(F.col("snapshot_id") == version)
            row = snapshots.select("parent_id").head()
            return row is not None and row["parent_id"] == before
        snapshot, earlier = table.snapshot(version), table.snapshot(before)
        if snapshot is None:
            return False
        if snapshot.parentId() is not None:
            return bool(snapshot.parentId() == before)
        # The snapshot of CREATE OR REPLACE TABLE has no parent, and the next number.
        number = 0 if earlier is None else int(earlier.sequenceNumber())
        return number > 0 and int(snapshot.sequenceNumber()) == number + 1

    def _loaded(self) -> Any:
        """Return the table as a classic session has loaded it; None elsewhere."""
        leaf = None if self.path is not None else classic_leaf(self.spark, self._name)
        table = _base_table(leaf)
        return table if table is not None and table.location() == self.location else None

    def reference(self, name: str) -> int | None:
        """Return the snapshot of a branch or a tag; None: there is none of the name."""
        row = self._metadata("refs").where(F.col("name") == name).head()
        return None if row is None else int(row["snapshot_id"])

    def history(self) -> list[TableVersion]:
        """Return the current snapshot and those before it that are not expired.

        Before the first snapshot of CREATE OR REPLACE TABLE, which has no parent, is the one that
        was current then.
        """
        rows = {row["snapshot_id"]: row for row in self._metadata("snapshots").collect()}
        found = list[TableVersion]()
        version: int | None = self.current()
        while version in rows:
            row = rows[version]
            found.append(
                TableVersion(
                    version=row["snapshot_id"],
                    time=row["committed_at"],
                    operation=row["operation"],
                    parameters=row["summary"] or {},
                    parent=row["parent_id"],
                )
            )
            version = row["parent_id"]
            if version is None:
                version = self._replaced_by(row["snapshot_id"])
        return found[::-1]

    def _replaced_by(self, version: int) -> int | None:
        """Return the snapshot that was current before another; None: it is the first."""
        table = self._loaded()
        if table is not None:
            log = [int(entry.snapshotId()) for entry in table.history()]
        else:
            entries = self._metadata("history").orderBy("made_current_at")
            log = [row["snapshot_id"] for row in entries.collect()]
        place = log.index(version) if version in log else 0
        return log[place - 1] if place else None

    def went_back(self, version: int) -> bool:
        """Return True if the table was rolled back, by what a classic session knows."""
        versions = {each.version for each in self.history()}
        if self.branch != MAIN:  # whose earlier snapshots no log has
            return version != EMPTY and version not in versions
        table = self._loaded()
        log = [] if table is None else [int(entry.snapshotId()) for entry in table.history()]
        after = log[log.index(version) :] if version in log else []
        return not versions.issuperset(after)

    def at(self, moment: Moment) -> int:
        """Return the snapshot of a branch, of a tag, or that was current at a moment."""
        if isinstance(moment, str) and (snapshot := self.reference(moment)) is not None:
            return snapshot
        time = F.col("made_current_at")
        log = self._metadata("history")
        if self.branch != MAIN:
            own = F.col("snapshot_id").isin([each.version for each in self.history()])
            log = (
                self._metadata("snapshots")
                .where(own)
                .withColumnRenamed("committed_at", "made_current_at")
            )
        before = log.where(time <= F.lit(moment).cast("timestamp"))
        try:
            found = before.agg(F.max_by("snapshot_id", time)).head()
        except PySparkException as error:
            raise SourceError(
                f"The Iceberg table {self.table} has no branch or tag {moment!r}, and it is not "
                "a timestamp."
            ) from error
        if found is None or found[0] is None:
            raise SourceError(
                f"The Iceberg table {self.table} has no snapshot of {moment} or before."
            )
        return int(found[0])

    def relation(self, version: int) -> str:
        """Return a snapshot as a relation of SQL."""
        if self.path is not None:
            raise SourceError(
                f"SQL has no name for the Iceberg table in {self.path}.\nRegister it in a catalog."
            )
        return f"{self._name} VERSION AS OF {version}"

    def read(self, version: int | None) -> DataFrame:
        """Return the rows of a snapshot."""
        if not version:  # rows of no table, whose columns may change
            now = self._now()
            return self.spark.createDataFrame(now.limit(0).toArrow(), schema=now.schema)
        return readable(
            lambda: self._at(version),
            f"Snapshot {version} of the Iceberg table {self.table}",
            f"SELECT * FROM {self.table}.snapshots has its snapshots.",
        )

    def schema(self, version: int | None) -> StructType:
        """Return the columns of a snapshot; None: of the table as it is now."""
        return (self.read(version) if version else self._now()).schema

    def notes(self, version: int | None) -> ColumnNotes:
        """Return the numbers of the columns of a snapshot, and what always partitioned the table.

        A session over Spark Connect cannot ask for them.
        """
        table = self._loaded()
        if table is None:
            return ColumnNotes({}, ())
        snapshot = table.snapshot(version) if version else None
        known = None if snapshot is None else snapshot.schemaId()
        schema = table.schema() if known is None else table.schemas().get(known)
        columns = self._parsed("SchemaParser", schema)
        numbers = {column["name"]: {FIELD: column["id"]} for column in columns}
        return ColumnNotes(numbers, self._partitions(table))

    def _partitions(self, table: Any) -> tuple[str, ...]:
        """Return the columns by whose values alone the table has always been partitioned."""
        if table.specs().size() != 1:
            return ()
        fields = self._parsed("PartitionSpecParser", table.spec())
        if any(field["transform"] != "identity" for field in fields):
            return ()
        return tuple(str(table.schema().findColumnName(field["source-id"])) for field in fields)

    def _parsed(self, parser: str, of: Any) -> list[dict[str, Any]]:
        """Return the fields of a schema or specification, which a parser of Iceberg writes.

        To walk through them takes a call into the JVM for each step.
        """
        jvm: Any = self.spark._jvm
        written = getattr(jvm.org.apache.iceberg, parser).toJson(of)
        fields: list[dict[str, Any]] = json.loads(written)["fields"]
        return fields

    def files(self, version: int | None) -> list[str]:
        """Return the data files and delete files of a snapshot."""
        if not version:
            return []
        if self.path is None:
            files = self.spark.sql(
                f"SELECT file_path FROM {self._name}.files VERSION AS OF {version}"
            )
        else:
            reader = self.spark.read.format("iceberg").option("versionAsOf", version)
            files = reader.load(f"{self.path}#files").select("file_path")
        return sorted(row[0] for row in files.distinct().collect())

    def changed(self, before: int, after: int) -> Column | None:
        """Return the condition of the rows in files that one of two snapshots has alone.

        Deletion files must name the data file of their rows, else they are not followed.
        """
        pair = {before, after}
        alike = self.alike(pair)
        if self.path is not None or alike.keys() != pair or len(set(alike.values())) > 1:
            return None
        names = set[str]()
        for file in set(self._described(before)) ^ set(self._described(after)):
            of = file.file_path if file.content == 0 else file.referenced_data_file
            if of is None:
                return None
            names.add(of)
        return F.col("_file").isin(*names) if names else F.lit(False)

    def added(self, files: Sequence[str]) -> dict[str, int]:
        """Return by data file the snapshot that added it."""
        file = F.col("data_file.file_path")
        entries = self._metadata("all_entries").where((F.col("status") == 1) & file.isin(*files))
        return dict(entries.groupBy(file).agg(F.min("snapshot_id")).collect())

    def alike(self, versions: Iterable[int]) -> dict[int, int]:
        """Return by snapshot one that was made under the same schema."""
        table = self._loaded()
        known = {} if table is None else {v: table.snapshot(v) for v in versions}
        schemas = {v: s.schemaId() for v, s in known.items() if s is not None}
        of_schema = {schema: version for version, schema in schemas.items()}
        return {v: of_schema[schema] for v, schema in schemas.items() if schema is not None}

    def own_files(self, versions: Iterable[int]) -> dict[int, frozenset[Path]] | None:
        """Return by snapshot the local Parquet files whose rows it has, all of them as they are.

        None: some are elsewhere, or a snapshot has other rows or columns than its files: by
        deletion files, and columns of other names.
        """
        table, found = self._loaded(), dict[int, frozenset[Path]]()
        if table is None or table.schemas().size() != 1:
            return None
        for version in set(versions):
            paths = set[Path]()
            scan = table.newScan().useSnapshot(version) if version else None
            for task in () if scan is None else scan.planFiles().iterator():
                file, deletes = task.file(), task.deletes()
                path = local_path(str(file.location()))
                if path is None or deletes.size() or str(file.format()) != "PARQUET":
                    return None
                paths.add(path)
            found[version] = frozenset(paths)
        return found

    def changes(self, before: int, after: int) -> DataFrame | None:
        """Return the rows of snapshots after another that were removed and added.

        None where columns changed, or rows are removed by files of their own.
        """
        table, version = self._loaded(), after
        while table is not None and version != before:
            snapshot = table.snapshot(version)
            if snapshot is None or snapshot.parentId() is None:
                return None
            deletes = snapshot.summary().get("total-delete-files")
            if deletes != "0" or snapshot.schemaId() != table.schema().schemaId():
                return None
            version = snapshot.parentId()
        if table is None:
            return None
        reader = self.spark.read.option("start-snapshot-id", before)
        feed = reader.option("end-snapshot-id", after).table(f"{self._name}.changes")
        # Iceberg reads other values where one of its three columns is not asked for.
        commit = F.when(F.col("_change_ordinal") >= 0, F.col("_commit_snapshot_id"))
        return changes_of(feed, commit)

    def _described(self, version: int) -> list[Row]:
        """Return the data files and delete files of a snapshot, with the data files of these."""
        files = self.spark.sql(f"SELECT * FROM {self._name}.files VERSION AS OF {version}")
        names = ("content", "file_path", "content_offset", "referenced_data_file")
        known = (name if name in files.columns else f"NULL AS {name}" for name in names)
        return files.selectExpr(*known).collect()

    def all_files(self) -> list[str]:
        """Return the data files and delete files of all snapshots."""
        files = self._metadata("all_files").select("file_path").distinct()
        return sorted(row[0] for row in files.collect())

    def _at(self, version: int) -> DataFrame:
        if self.branch != MAIN:  # whose plan is not that of the table
            reader = self.spark.read.option("versionAsOf", version)
            return reader.option(_READ_AS, self.branch).table(self._name)
        if self.path is None:
            return self.spark.sql(f"SELECT * FROM {self.relation(version)}")
        return self.spark.read.format("iceberg").option("versionAsOf", version).load(self.path)

    def _now(self) -> DataFrame:
        if self.path is None:
            return self.spark.table(self.table)
        return self.spark.read.format("iceberg").load(self.path)

    def _metadata(self, kind: str) -> DataFrame:
        if self.path is None:
            return self.spark.table(f"{self._name}.{kind}")
        return self.spark.read.format("iceberg").load(f"{self.path}#{kind}")


def iceberg_at_path(spark: SparkSession, path: str) -> VersionedIceberg:
    """Return the table of Iceberg in a folder.

    Raises
    ------
    SourceError
        When there is none, or Spark has not the jar of Iceberg.
    """
    found = VersionedIceberg(spark, f"iceberg.`{path}`", path, path)
    try:
        found._now().schema  # noqa: B018 - Connect reads the table here
    except PySparkException as error:
        raise SourceError(
            f"Spark cannot read the Iceberg table in {path}: "
            f"{first_line(error)}\nStart Spark with the package "
            "org.apache.iceberg:iceberg-spark-runtime of its version (docs/tables.md)."
        ) from error
    return found


def iceberg_of_name(spark: SparkSession, table: str) -> VersionedIceberg:
    """Return the table of Iceberg that SQL knows by a name."""
    loaded = _base_table(classic_leaf(spark, table))
    if loaded is not None:
        return VersionedIceberg(spark, table, str(loaded.location()))
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()
    places = [row["data_type"] for row in rows if row["col_name"] == "Location"]
    return VersionedIceberg(spark, table, places[0] if places else table)


def reference_of(table: str) -> tuple[str, str | None, str | None]:
    """Return a name without a branch or tag at its end, and the names of the branch and the tag."""
    match = _REFERENCE.fullmatch(table)
    if match is None:
        return table, None, None
    return (match[1], match[3], None) if match[2] == "branch" else (match[1], None, match[3])


def _suffix(branch: str) -> str:
    return f".branch_{branch}"


def _is_read(leaf: Any) -> bool:
    """Return True if a leaf of a plan reads a table of Iceberg, or one about it."""
    if leaf is None or leaf.getClass().getSimpleName() != "DataSourceV2Relation":
        return False
    package = "org.apache.iceberg.spark.source."
    return str(leaf.table().getClass().getName()).startswith(package)


def _base_table(leaf: Any) -> Any:
    """Return the table that a leaf of a plan reads; None: no table of Iceberg, or one about it."""
    if not _is_read(leaf) or leaf.table().getClass().getSimpleName() != "SparkTable":
        return None
    table = leaf.table().table()
    return table if table.getClass().getSimpleName() == "BaseTable" else None


def iceberg_leaf(spark: SparkSession, leaf: Any) -> Leaf | None:
    """Return the snapshot that a leaf of a plan reads; None: the leaf is not a table of Iceberg."""
    if not _is_read(leaf):
        return None
    read = leaf.table()
    if _base_table(leaf) is None:
        raise SourceError(
            f"The data frame reads {read.name()}, which is not a table of Iceberg but one about "
            "it, or its changes.\nCopy its rows (materialize=True)."
        )
    name = leaf.identifier().get()
    if name.getClass().getSimpleName() == "PathIdentifier":
        table = iceberg_at_path(spark, str(name.location()))
    else:
        parts = [leaf.catalog().get().name(), *name.namespace(), name.name()]
        if read.branch() is not None and parts[-1] == f"branch_{read.branch()}":
            parts.pop()
        table = iceberg_of_name(spark, plain_name(parts))
    options = {str(k): str(v) for k, v in dict(leaf.options().asCaseSensitiveMap()).items()}
    table = table.on(options.get("branch") or options.get(_READ_AS) or read.branch() or MAIN)
    if "snapshot-id" in options:
        return Leaf(table, int(options["snapshot-id"]), pinned=True)
    if "tag" in options:
        return Leaf(table, table.at(options["tag"]), pinned=True)
    unknown = sorted(set(options) & {"as-of-timestamp", "start-snapshot-id", "end-snapshot-id"})
    if unknown:
        raise SourceError(
            f"The data frame reads {table.table} with the option {unknown[0]}.\n"
            "Track the table, track(..., at=...), or read it by snapshot-id."
        )
    travels = leaf.timeTravelSpec().isDefined()
    return Leaf(table, int(read.snapshotId()) if travels else table.current(), pinned=travels)
