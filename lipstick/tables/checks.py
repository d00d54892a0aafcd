"""What must hold before an answer is written, and of what was written."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType, StructType

from lipstick.errors import CaptureError, TrackingError
from lipstick.tables.ancestry import Ancestry
from lipstick.tables.derivation import Derivation, shared_files
from lipstick.tables.derived_rows import relation_rows, schema_of
from lipstick.tables.target import Target, check_provider
from lipstick.tracking.source import Source
from lipstick.tracking.tracker import Tracked, comparable

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
        raise TrackingError(
            f"{name!r} is tracked already, as {known.source.description}.\n"
            f"untrack({name!r}) first, or choose another name."
        )
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
        return
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
    """Whether what is tracked under the target's name is the target."""
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
    expected, actual = schema_of(derivation), table.schema
    if _types(expected) != _types(actual):
        raise _other(derivation, f"its columns are {_shown(actual)} in place of {_shown(expected)}")
    before, after = (
        _checksum(frame, expected) for frame in (relation_rows(spark, derivation), table)
    )
    if before != after:
        raise _other(derivation, f"it has {after[0]} rows in place of {before[0]}, or other values")


def _checksum(frame: DataFrame, schema: StructType) -> Row:
    """The number of rows and a checksum of them, in whatever order."""
    values = [comparable(F.col(f"`{field.name}`"), field.dataType) for field in schema]
    row: Column = F.xxhash64(*values).cast("decimal(20, 0)")
    [checksum] = frame.agg(F.count(F.lit(1)), F.sum(row)).collect()
    return checksum


def _types(schema: StructType) -> set[tuple[str, str]]:
    return {(field.name.lower(), field.dataType.simpleString()) for field in schema}


def _shown(schema: StructType) -> str:
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema)


def _other(derivation: Derivation, what: str) -> CaptureError:
    return CaptureError(
        f"{derivation.name!r} was written, but it does not have what was to be written: {what}.\n"
        "It is not tracked. Another format may keep the values as they are: parquet."
    )
