"""Relations of few rows, read once into this process: captures of them need no jobs of Spark.

A job over few rows is mostly its own planning, scheduling and commit. Rows are cached of relations
that stay as they are: a capture checks the fingerprint of their files before and after
it reads them, or their rows are part of the frame itself. What a function of Python makes of
rows may be something else the next time: it is read once for each capture. What a session makes of
a file depends on its settings (the zone of the instants in a text): with others it is read again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick.capture.files import arrow_of, in_arrow
from lipstick.dataframes.arrow import arrow_rows
from lipstick.dataframes.jvm import analysed, elements
from lipstick.tracking.formats.versions import EMPTY
from lipstick.tracking.naming import ROW_BITS
from lipstick.tracking.source import Source
from lipstick.tracking.states import local_path, local_state
from lipstick.tracking.tracker import ROW_COLUMN, Naming, Tracked

if TYPE_CHECKING:
    from lipstick.capture.local_rows import Relations

MOST_ROWS: Final = 2_000_000
"""Rows of a relation that is read, at most."""
MOST_BYTES: Final = 16 << 20
"""Bytes of its files, at most, that Spark reads."""
FILE_BYTES: Final = 64 << 20
"""Bytes of local Parquet files, at most: reading them here takes a tenth of Spark's time."""
READ_BYTES: Final = 256 << 20
"""The maximum number of bytes of its rows, which can be far more than its file has."""
KEPT_BYTES: Final = 512 << 20
"""Bytes of all relations that are kept, at most; the one that was read first is forgotten first."""

_IN_THE_PLAN = ("LocalRelation", "OneRowRelation", "Range")
_OF_FILES = ("LogicalRelation", "LogicalRelationWithTable")
_WRITTEN = ("CachedLocalRelation", "LocalRelation", "Range")
"""Plans of a client that have their rows."""
_OF_THE_DRIVER = ("MapPartitionsRDD", "ParallelCollectionRDD", "PythonRDD")
"""The RDD classes that ``createDataFrame`` builds from rows of the driver."""


class Steadiness(Enum):
    """The time for which a small relation keeps the same rows."""

    ALWAYS = "always"
    ONCE = "for one capture"


class LocalRelations:
    """The rows of a session's small relations, with the columns of their tokens.

    Parameters
    ----------
    spark
        Reads them.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._settings = ""
        self._steady: dict[str, Steadiness | None] = {}
        self._tables: OrderedDict[str, pa.Table] = OrderedDict()

    def of(self, relations: Iterable[Tracked]) -> Relations:
        """Return what finds the rows of some relations by their views, for one capture."""
        settings = session_settings(self._spark)
        if settings != self._settings:
            self._tables.clear()
            self._steady.clear()
            self._settings = settings
        by_view = {tracked.view: tracked for tracked in relations}
        of_this: dict[str, pa.Table] = {}

        def rows(views: Collection[str]) -> Mapping[str, pa.Table] | None:
            if not all(view in by_view and self._may_read(by_view[view]) for view in views):
                return None
            for view in views:
                table = of_this[view] if view in of_this else self._rows(by_view[view])
                if table is None:
                    return None
                of_this[view] = table
            return {view: of_this[view] for view in views}

        return rows

    def _may_read(self, tracked: Tracked) -> bool:
        """Return True if a relation is small and steady, as far as is known before it is read."""
        view = tracked.view
        if view not in self._steady:
            self._steady[view] = _steadiness(tracked.frame(self._spark), tracked)
        return self._steady[view] is not None

    def _rows(self, tracked: Tracked) -> pa.Table | None:
        view = tracked.view
        if view in self._tables:
            return self._tables[view]
        table = self._read(tracked)
        if table is None:
            self._steady[view] = None
        elif self._steady[view] is Steadiness.ALWAYS:
            self._keep(view, table)
        return table

    def _keep(self, view: str, table: pa.Table) -> None:
        self._tables[view] = table
        while len(self._tables) > 1 and sum(t.nbytes for t in self._tables.values()) > KEPT_BYTES:
            self._tables.popitem(last=False)

    def _read(self, tracked: Tracked) -> pa.Table | None:
        """The rows of a relation; None of one that is large, or that cannot be read whole.

        Its texts are not UTF-8, or Spark fails in a column that the query may not even read.
        """
        # Sessions that read no relation do not load this module.
        from lipstick.tracking.stored_rows import valid

        frame = tracked.frame(self._spark)
        schema = arrow_of(frame.schema)
        given = tracked.source.held if tracked.naming is Naming.KEY else None
        if given is not None and _named_types(given.schema) == _named_types(schema):
            return valid(given, schema).combine_chunks()
        rows = _of_files(tracked, schema)
        if rows is None and sum(size for _, size, _ in tracked.source.fingerprint) <= MOST_BYTES:
            with suppress(PySparkException, Py4JError, pa.ArrowException):
                rows = valid(arrow_rows(frame.limit(MOST_ROWS + 1)), schema)
        if rows is None or rows.num_rows > MOST_ROWS or rows.nbytes > READ_BYTES:
            return None
        return rows.combine_chunks()


def _named_types(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    return list(zip(schema.names, schema.types, strict=True))


def session_settings(spark: SparkSession) -> str:
    """The settings of a session, as one text: in a classic session one call of the JVM."""
    in_jvm = getattr(spark.conf, "_jconf", None)
    return str(spark.conf.getAll) if in_jvm is None else str(in_jvm.getAllAsJava().toString())


def _steadiness(frame: DataFrame, tracked: Tracked) -> Steadiness | None:
    """Return how long a relation has the same rows; None if it is large, or has other types."""
    if tracked.stream is not None or not in_arrow(frame.schema):
        return None
    if not hasattr(frame, "_jdf"):
        return _over_connect(tracked.source)
    plan = analysed(frame)
    if not plan.deterministic() or not plan.subqueriesAll().isEmpty():
        return None
    leaves = [_of_leaf(leaf, tracked) for leaf in elements(plan.collectLeaves())]
    if None in leaves:
        return None
    return Steadiness.ONCE if Steadiness.ONCE in leaves else Steadiness.ALWAYS


def _of_leaf(leaf: Any, tracked: Tracked) -> Steadiness | None:
    kind = leaf.getClass().getSimpleName()
    if kind in _IN_THE_PLAN:
        return Steadiness.ALWAYS
    if kind == "LogicalRDD":
        of_driver = all(name in _OF_THE_DRIVER for name in _lineage(leaf.rdd()))
        return Steadiness.ONCE if of_driver else None
    most = FILE_BYTES if _own_files(tracked) else MOST_BYTES
    if tracked.source.version is None or kind not in (*_OF_FILES, "DataSourceV2Relation"):
        if kind not in _OF_FILES or not tracked.source.fingerprint:
            return None
        if leaf.relation().getClass().getSimpleName() != "HadoopFsRelation":
            return None
    return Steadiness.ALWAYS if int(str(leaf.stats().sizeInBytes())) <= most else None


def _own_files(tracked: Tracked) -> list[Path]:
    """The local Parquet files whose rows a relation has, as they are; empty: it has others."""
    source, by_row = tracked.source, tracked.naming is Naming.ROWS
    if tracked.copied is not None or not (by_row or tracked.naming is Naming.KEY):
        return []
    if source.version is not None:
        (pinned,) = source.versions
        version = EMPTY if by_row or pinned.version is None else pinned.version
        files = source.version.own_files([version]) if version else None
        return [] if files is None else sorted(files[version])
    if source.format != "parquet" or any(local_state(s[0]) != s for s in source.fingerprint):
        return []
    uris = tracked.files if by_row else [uri for uri, _, _ in source.fingerprint]
    return [path for uri in uris if (path := local_path(uri)) is not None]


def _of_files(tracked: Tracked, schema: pa.Schema) -> pa.Table | None:
    """The rows of local Parquet files; None where Spark reads them, or may read other values."""
    # Imports pandas, which takes longer than the import of all else.
    import pyarrow.parquet as pq

    from lipstick.tracking.stored_rows import stored_rows

    tables: list[pa.Table] = []
    try:
        for number, path in enumerate(_own_files(tracked)):
            with pq.ParquetFile(path) as file:
                if file.metadata.num_rows + sum(each.num_rows for each in tables) > MOST_ROWS:
                    return None
                own = [field for field in schema if field.name != ROW_COLUMN]
                table = stored_rows(file, pa.schema(own))
            if table is None:
                return None
            if tracked.naming is Naming.ROWS:
                places = pa.array(np.arange(table.num_rows) | number << ROW_BITS)
                table = table.append_column(ROW_COLUMN, places).select(schema.names)
            tables.append(table)
    except (pa.ArrowException, KeyError, OSError):
        return None
    return pa.concat_tables(tables) if tables else None


def _lineage(rdd: Any) -> Iterator[str]:
    """Yield the class names of an RDD and of the RDDs that it depends on."""
    yield str(rdd.getClass().getSimpleName())
    for dependency in elements(rdd.dependencies()):
        yield from _lineage(dependency.rdd())


def _over_connect(source: Source) -> Steadiness | None:
    """Return the steadiness of a relation over Spark Connect, from the plan as it was written."""
    if source.format is not None and source.fingerprint:
        few = sum(length for _, length, _ in source.fingerprint) <= MOST_BYTES
    else:
        few = type(getattr(source.frame, "_plan", None)).__name__ in _WRITTEN
    return Steadiness.ALWAYS if few else None
