"""Writing an answer to a table: capture, rows, table, version, in this order.

The rows come from the capture, and the table is written from them, so that the table and its
annotations cannot disagree. Table and provenance are in two places, and one is written after the
other: the version is announced first, with everything to be known of the rows; then the table is
written; then the version.

After a process died in between, the table is in one of three states, and the next reader finds out
which: as it was, with its last version; as announced, and the reader writes the version; or
another, which is an error, as is any table whose fingerprint differs from its version's.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType, StructType

from lipstick.capture.contents import MANIFEST
from lipstick.errors import CaptureDamagedError, CaptureError, SourceChangedError, TrackingError
from lipstick.tables.ancestry import Ancestry
from lipstick.tables.derivation import (
    CAPTURE,
    FILLED_FILES,
    ROWS,
    Derivation,
    Part,
    Replaced,
    latest_version,
    read_announced,
    read_latest,
    read_version,
    shared_files,
)
from lipstick.tables.derived_rows import (
    captured_rows,
    described,
    not_replaced,
    part_rows,
    relation_rows,
    schema_of,
    stored_rows,
    write_part,
)
from lipstick.tables.target import FILLED, Key, Target, check_provider, filling, named_key
from lipstick.tracking.catalog import relation_of_table
from lipstick.tracking.source import Source, check_unchanged
from lipstick.tracking.tracker import Naming, Tracked, verify_key
from lipstick.tracking.views import column_of
from semiring.support.document import file_checksum

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture
    from lipstick.frame import AnnotatedFrame
    from lipstick.sessions import Session


Emit = Callable[[DataFrame], None]
"""Writes rows, with the table's columns in their order, to a target."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The write to be done, after all checks.

    Parameters
    ----------
    existing, known
        What is there already, and what is tracked under the name; None: nothing.
    columns
        What the answer's columns are called in the table.
    earlier
        The last version of the table as it is there, if it is a derived relation.
    """

    frame: AnnotatedFrame
    target: Target
    existing: Source | None
    known: Tracked | None
    columns: tuple[str, ...]
    directory: Path
    earlier: Derivation | None

    @property
    def adds(self) -> bool:
        """True if the write keeps existing rows, all or some."""
        return self.existing is not None and self.target.adds

    @property
    def replaced(self) -> tuple[str, ...]:
        """The columns whose values select the overwritten rows, as the table names them."""
        return named_key(self.target.name, self.target.replaced, _schema(self).names)

    @property
    def parts(self) -> Path:
        """The folder of the parts."""
        return self.directory / "parts"


def write_answer(session: Session, frame: AnnotatedFrame, target: Target, emit: Emit) -> Tracked:
    """Write an answer, and track what was written as derived from the query.

    Raises
    ------
    TrackingError
        Before anything is written: when the target is a source of the query, has other columns, or
        is tracked as something else.
    SourceChangedError
        When the target was changed by something else since it was written.
    CaptureError
        When what was written is not what was to be: it is not tracked then.
    """
    spark = session.spark
    plan = _planned(session, frame, target)
    plan.parts.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    try:
        capture, part = _captured(spark, plan, paths)
        parts = _kept_parts(spark, plan, part, paths)
        derivation = _named(spark, plan, (*parts, part))
        rows = part_rows(spark, derivation, part)
        rows = rows.select(*(f"`{name}`" for name in schema_of(derivation).names))
        check_partitions(spark, target, plan.existing, rows)
        paths.append(derivation.announcement)
        derivation.announce()
        emit(rows)
        written = target.read(spark)
        check_kept(spark, derivation, written.frame)
        derivation = replace(
            derivation, schema=written.frame.schema.json(), fingerprint=written.fingerprint
        )
        derivation.write()
    except BaseException:
        for path in paths:
            if path.is_file():
                path.unlink()
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            plan.parts.rmdir()
            plan.directory.rmdir()
        raise
    frame._capture = capture
    return session.track_derived(written, derivation)


def _planned(session: Session, frame: AnnotatedFrame, target: Target) -> _Plan:
    spark = session.spark
    existing = target.existing(spark)
    if existing is not None and not target.is_path and target.directory is None:
        target = _named_as_before(session, target, existing)
    known = next((t for n, t in session.tracked.items() if n.lower() == target.name.lower()), None)
    check_target(spark, frame.plan.ancestry, target, existing, known)
    if session.exports is not None:
        session.exports.check(frame, target)
    columns = target.columns(frame.schema, existing)
    if target.key is not None:
        target = replace(target, key=named_key(target.name, target.key, columns))
    directory = target.kept_in(session.store)
    earlier = _earlier(spark, directory, existing, known)
    if earlier is not None:
        if target.directory not in (None, earlier.directory):
            raise TrackingError(
                f"The provenance of {target.name!r} is kept in {earlier.directory}.\n"
                "What is added to the table is kept there too: leave provenance(...) out."
            )
        directory = earlier.directory
    plan = _Plan(frame, target, existing, known, columns, directory, earlier)
    if plan.adds:
        _check_current(spark, plan)
    return plan


def _named_as_before(session: Session, target: Target, table: Source) -> Target:
    """Return a target under the name that its table was first written by, however it is spelt.

    Names mean what Spark's catalog finds. What an earlier session wrote is known by its files.
    """
    known = relation_of_table(table.identity, session.tracked)
    if known is not None:
        return target if known.derived is None else replace(target, name=known.name)
    if table.fingerprint and not target.kept_in(session.store).is_dir():
        for directory in sorted((session.store / "derived").glob("*/")):
            with suppress(CaptureError, CaptureDamagedError):  # it is of another table, or damaged
                if shared_files(read_latest(directory).fingerprint, table.fingerprint):
                    return replace(target, name=directory.name)
    return target


def _earlier(
    spark: SparkSession, directory: Path, existing: Source | None, known: Tracked | None
) -> Derivation | None:
    if existing is None:
        return None
    if known is not None:
        return None if known.derived is None else read_version(known.derived)
    return finished(spark, directory, existing) if directory.is_dir() else None


def _check_current(spark: SparkSession, plan: _Plan) -> None:
    """Check that rows are added to the table that is known."""
    if plan.known is not None:
        check_unchanged(spark, plan.known.name, plan.known.source)
        if plan.known.naming is Naming.NONE:
            raise TrackingError(
                f"{plan.known.name!r} is tracked with provenance=False: its rows have no tokens.\n"
                f"untrack({plan.known.name!r}), and track it with a key."
            )
    assert plan.existing is not None
    if plan.earlier is not None and plan.earlier.fingerprint != plan.existing.fingerprint:
        raise SourceChangedError(
            f"{plan.target.name!r} changed since its provenance was written to "
            f"{plan.directory}: rows were written by something else.\n"
            "Write the table anew, or keep the provenance of what is added elsewhere: "
            "q.write.provenance(path)."
        )


def _kept_parts(spark: SparkSession, plan: _Plan, new: Part, paths: list[Path]) -> tuple[Part, ...]:
    """The parts that are there already; rows of a base relation are copied once.

    Parameters
    ----------
    new
        The part that is added, in the place of those in its partition if it replaces one.
    """
    if not plan.adds:
        return ()
    replaced = (new.replacing(plan.replaced),) if plan.replaced else ()
    if plan.earlier is None:
        assert plan.existing is not None
        there = plan.existing.frame
        frame = not_replaced(spark, _version(plan), replaced, there, _columns(there))
        part = write_part(frame, frame.columns, _fresh(plan, paths), captured=False)
        return (part,) if part.files else ()
    parts = plan.earlier.parts
    for partition in replaced:
        left = (_left(spark, plan, part, partition, paths) for part in parts)
        parts = tuple(part for part in left if part is not None)
    return parts


def _left(
    spark: SparkSession, plan: _Plan, part: Part, replaced: Replaced, paths: list[Path]
) -> Part | None:
    """Return the rest of a part after a partition is overwritten; None if nothing remains."""
    version = _version(plan)
    if part.captured and not part.gives_any(replaced.columns):
        filled = spark.read.parquet(str(version.filled(part)))
        values = {name: F.col(f"{FILLED}.`{name}`") for name in replaced.columns}
        return part if not_replaced(spark, version, [replaced], filled, values).count() else None
    rows = stored_rows(spark, version, part)
    left = not_replaced(spark, version, [replaced], rows, _columns(rows))
    since = replace(part, replaced=(*part.replaced, replaced))
    if rows.count() == left.count():
        return since
    paths.append(plan.parts / part.name / f"{ROWS}-{uuid.uuid4().hex}")
    left.write.parquet(str(paths[-1]))
    since = described(replace(since, folder=paths[-1].name), paths[-1].parent)
    return since if since.files or since.captured else None


def _columns(rows: DataFrame) -> dict[str, Column]:
    return {name: F.col(f"`{name}`") for name in rows.columns}


def _captured(spark: SparkSession, plan: _Plan, paths: list[Path]) -> tuple[Capture, Part]:
    folder = _fresh(plan, paths)
    capture = plan.frame.save(folder / CAPTURE)
    schema = _schema(plan)
    filled = filling(spark, plan.target.into, plan.columns, schema)
    if filled is not None:
        # Once, as a default may be another value the next time.
        path = str(folder / FILLED_FILES)
        filled.write.parquet(path)
        filled = spark.read.schema(filled.schema).parquet(path)
    rows = captured_rows(capture, plan.columns, schema, filled)
    part = write_part(rows, plan.columns, folder, captured=True)
    return capture, replace(part, manifest=file_checksum(folder / CAPTURE / MANIFEST))


def _fresh(plan: _Plan, paths: list[Path]) -> Path:
    paths.append(plan.parts / uuid.uuid4().hex)
    return paths[-1]


def _named(spark: SparkSession, plan: _Plan, parts: tuple[Part, ...]) -> Derivation:
    """The table as it will be, once it is known how its rows are named."""
    key, declared = _key(plan)
    derivation = replace(_version(plan, parts), key=key, declared=declared)
    if key:
        try:
            verify_key(derivation.name, relation_rows(spark, derivation), key)
        except TrackingError:
            if declared:
                raise
            return replace(derivation, key=())
    return derivation


def _version(plan: _Plan, parts: tuple[Part, ...] = ()) -> Derivation:
    """The next version of the table, its rows named by their places."""
    return Derivation(
        directory=plan.directory,
        version=latest_version(plan.directory) + 1,
        name=plan.target.name,
        schema=_schema(plan).json(),
        key=(),
        declared=False,
        parts=parts,
    )


def _schema(plan: _Plan) -> StructType:
    if plan.existing is not None and (plan.adds or plan.target.keeps_schema):
        return plan.existing.frame.schema
    fields = zip(plan.columns, plan.frame.schema, strict=True)
    return StructType([type(field)(name, field.dataType) for name, field in fields])


def _key(plan: _Plan) -> tuple[Key, bool]:
    """The columns that name the rows, and whether the user chose them."""
    if plan.target.key is not None:
        return plan.target.key, True
    if plan.earlier is not None and (plan.adds or plan.earlier.declared):
        columns = set(_schema(plan).names)
        if columns.issuperset(plan.earlier.key):
            return plan.earlier.key, plan.earlier.declared
    if plan.adds:
        tracked = plan.known is not None and plan.known.naming is Naming.KEY
        return (plan.known.token, True) if plan.known is not None and tracked else ((), False)
    places = plan.frame.plan.root.key_outputs
    return tuple(plan.columns[index] for index in places or ()), False


_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
_DYNAMIC = "spark.sql.sources.partitionOverwriteMode"


def check_target(
    spark: SparkSession,
    ancestry: Ancestry,
    target: Target,
    existing: Source | None,
    known: Tracked | None,
) -> None:
    """Refuse targets that cannot be written, or whose old rows the query still needs.

    Parameters
    ----------
    ancestry
        That of the query.
    existing, known
        What is there already, and what is tracked under the target's name.
    """
    name = target.name
    if known is not None and not _same(target, existing, known):
        raise _tracked_as_another(target, known)
    if existing is not None and target.mode == "error":
        raise TrackingError(
            f"{target.source} exists already.\nAdd to it, mode('append') or INSERT INTO, or "
            "replace it, mode('overwrite') or INSERT OVERWRITE."
        )
    sources = [record.fingerprint for record in ancestry.records.values()]
    read = existing is not None and any(shared_files(existing.fingerprint, s) for s in sources)
    if read or name.lower() in ancestry.names:
        raise TrackingError(
            f"{name!r} is a source of the query, directly or through derived relations: its rows "
            "would be made of what they were before.\nWrite another table."
        )
    if existing is None:
        if target.keeps_schema:
            raise TrackingError(
                f"There is no table {target.source}.\n"
                "Make it with its first rows: CREATE TABLE ... AS SELECT, or saveAsTable(name)."
            )
        target.check_new(spark)
        return
    _check_replaceable(spark, target)


def _tracked_as_another(target: Target, known: Tracked) -> TrackingError:
    name = target.name
    if not target.keeps_schema:
        return TrackingError(
            f"{name!r} is tracked already, as {known.source.description}.\n"
            f"untrack({name!r}) first, or choose another name."
        )
    return TrackingError(
        f"INSERT writes into a table, and {name!r} is {known.source.description}, which queries "
        "read and no statement changes.\nAdd the rows to that source and track it anew, "
        f"ls.track({name!r}, ..., replace=True), or make a table of both: CREATE TABLE other AS "
        f"SELECT * FROM {name} UNION ALL SELECT ..."
    )


def _check_replaceable(spark: SparkSession, target: Target) -> None:
    """Refuse views, tables of formats that are not followed, and replacing an unknown part."""
    name = target.name
    if not target.is_path and spark.catalog.getTable(target.source).isTemporary:
        raise TrackingError(
            f"{name!r} is a temporary view, and no table.\n"
            "Write files, q.write.mode('append').parquet(path, name=...), or a table."
        )
    if not target.is_path:
        described = spark.sql(f"DESCRIBE TABLE EXTENDED {target.source}").collect()
        providers = (row["data_type"] for row in described if row["col_name"] == "Provider")
        check_provider(name, next(providers, None))
    dynamic = spark.conf.get(_DYNAMIC, "static")
    if target.mode == "overwrite" and dynamic is not None and dynamic.lower() == "dynamic":
        raise TrackingError(
            f"{_DYNAMIC} is dynamic: of a partitioned table, an unknown part is replaced.\n"
            "Set it to static."
        )


def _same(target: Target, existing: Source | None, known: Tracked) -> bool:
    """Return True if the relation tracked under the target's name is the target."""
    if (known.source.format, known.source.place) == (target.format, target.source):
        return True
    return existing is not None and shared_files(existing.fingerprint, known.source.fingerprint)


def check_partitions(
    spark: SparkSession, target: Target, existing: Source | None, rows: DataFrame
) -> None:
    """Refuse rows whose values in partition columns are read as NULL.

    Folders are named for these values, and the folder of an empty text is that of NULL.

    Raises
    ------
    TrackingError
        Before anything is written.
    """
    if target.is_path:
        return
    names = target.partitions
    if existing is not None and (target.adds or target.keeps_schema):
        columns = spark.catalog.listColumns(target.source)
        names = tuple(column.name for column in columns if column.isPartition)
    folded = {name.lower() for name in names}
    for field in rows.schema:
        if field.name.lower() in folded and isinstance(field.dataType, StringType | BinaryType):
            text = F.col(f"`{field.name}`").cast("string")
            lost = rows.where(text.isin("", _NULL_FOLDER)).limit(1).collect()
            if lost:
                raise TrackingError(
                    f"{target.name!r} is partitioned by {field.name!r}, and the query has the "
                    f"value {lost[0][field.name]!r} there, which Spark reads as NULL.\n"
                    "Write another value, or NULL, in its place, or do not partition by it."
                )


def check_kept(spark: SparkSession, derivation: Derivation, table: DataFrame) -> None:
    """Check that a table has the columns and the rows that it was to have.

    Raises
    ------
    CaptureError
        When its format, or something else that writes it, made other values of them.
    """
    from lipstick.tracking.row_checksum import RowChecksum

    expected, actual = schema_of(derivation), table.schema
    if _types(expected) != _types(actual):
        raise _other(derivation, f"its columns are {_shown(actual)} in place of {_shown(expected)}")
    columns = [column_of(field.name) for field in expected]
    before, after = (
        RowChecksum.of(frame.select(*columns))
        for frame in (relation_rows(spark, derivation), table)
    )
    if before != after:
        counts = f"{after.rows} rows in place of {before.rows}"
        raise _other(derivation, f"it has {counts}, or other values")


def _types(schema: StructType) -> set[tuple[str, str]]:
    return {(field.name.lower(), field.dataType.simpleString()) for field in schema}


def _shown(schema: StructType) -> str:
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema)


def _other(derivation: Derivation, what: str) -> CaptureError:
    return CaptureError(
        f"{derivation.name!r} was written, but it does not have what was to be written: {what}.\n"
        "It is not tracked. Another format may keep the values as they are: parquet."
    )


def finished(spark: SparkSession, directory: Path, table: Source) -> Derivation | None:
    """Return the last version of a table, finished if a process died before it wrote it.

    Cost: reading the last version; where one was announced, Spark also compares the rows of the
    table with the announced ones.

    Parameters
    ----------
    table
        As it is there.

    Returns
    -------
    Derivation
        Whose fingerprint is not the table's where something else wrote it. None: there is no
        version.

    Raises
    ------
    CaptureDamagedError
        When the last version is not what was written.
    """
    announced = read_announced(directory)
    last = read_latest(directory) if latest_version(directory) else None
    if announced is None or (last is not None and last.fingerprint == table.fingerprint):
        return last
    try:
        announced.check()
        check_kept(spark, announced, table.frame)
    except CaptureDamagedError:
        raise
    except CaptureError:  # the table is neither
        return last
    done = replace(announced, schema=table.frame.schema.json(), fingerprint=table.fingerprint)
    done.write()
    return done
