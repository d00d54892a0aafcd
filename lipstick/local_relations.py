"""Relations of few rows, read once into this process: captures of them need no jobs of Spark.

A job over few rows is mostly its own planning, scheduling and commit. Rows are kept only of
relations that stay as they are: their files are those of a fingerprint, which a capture checks
before and after it reads them, or their rows are part of the frame itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick.capture.files import arrow_of, in_arrow
from lipstick.dataframes.jvm import analysed, elements
from lipstick.source import Source
from lipstick.tracking import Tracked

MOST_ROWS: Final = 200_000
"""Rows of a relation that is read, at most."""
MOST_BYTES: Final = 16 << 20
"""Bytes of its files, at most."""
KEPT_BYTES: Final = 256 << 20
"""Bytes of all relations that are kept, at most; the one that was read first is forgotten first."""

_IN_THE_PLAN = ("LocalRelation", "OneRowRelation", "Range")
_OF_FILES = ("LogicalRelation", "LogicalRelationWithTable")


class LocalRelations:
    """The rows of a session's small relations, with the columns of their tokens.

    Parameters
    ----------
    spark
        Reads them.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._tables: OrderedDict[str, pa.Table] = OrderedDict()
        self._large: set[str] = set()

    def of(self, relations: Iterable[Tracked]) -> Callable[[str], pa.Table | None]:
        """Return what finds the rows of a view of some relations; None of those of many rows."""
        by_view = {tracked.view: tracked for tracked in relations}

        def rows(view: str) -> pa.Table | None:
            tracked = by_view.get(view)
            return None if tracked is None else self._rows(tracked)

        return rows

    def _rows(self, tracked: Tracked) -> pa.Table | None:
        view = tracked.view
        if view not in self._tables and view not in self._large:
            table = self._read(tracked)
            if table is None:
                self._large.add(view)
            else:
                self._keep(view, table)
        return self._tables.get(view)

    def _keep(self, view: str, table: pa.Table) -> None:
        self._tables[view] = table
        while len(self._tables) > 1 and sum(t.nbytes for t in self._tables.values()) > KEPT_BYTES:
            self._tables.popitem(last=False)

    def _read(self, tracked: Tracked) -> pa.Table | None:
        """The rows of a relation; None of one that is large, may change, or is not as Arrow has it.

        Its texts must be UTF-8, which Spark does not promise.
        """
        frame = tracked.frame(self._spark)
        if not in_arrow(frame.schema) or not _stays(frame, tracked):
            return None
        try:
            table = frame.limit(MOST_ROWS + 1).toArrow()
            if table.num_rows > MOST_ROWS:
                return None
            table.validate(full=True)
            return table.cast(arrow_of(frame.schema))
        except (PySparkException, pa.ArrowException):
            return None


def _stays(frame: DataFrame, tracked: Tracked) -> bool:
    """Tell whether a relation has the same rows each time, and files of few bytes."""
    if tracked.stream is not None:
        return False
    if hasattr(frame, "_jdf"):
        plan = analysed(frame)
        steady = plan.deterministic() and plan.subqueriesAll().isEmpty()
        return steady and all(_leaf_stays(leaf, tracked) for leaf in elements(plan.collectLeaves()))
    return _connect_stays(tracked.source)


def _leaf_stays(leaf: Any, tracked: Tracked) -> bool:
    kind = leaf.getClass().getSimpleName()
    if kind in _IN_THE_PLAN:
        return True
    if kind == "LogicalRDD":
        return all(rdd.endswith(".ParallelCollectionRDD") for rdd in _origins(leaf.rdd()))
    if kind not in _OF_FILES or not tracked.source.fingerprint:
        return False
    of_files = leaf.relation().getClass().getSimpleName() == "HadoopFsRelation"
    return of_files and int(str(leaf.stats().sizeInBytes())) <= MOST_BYTES


def _origins(rdd: Any) -> Iterator[str]:
    """Yield the classes of the RDDs that one is made of in the end."""
    made_of = [dependency.rdd() for dependency in elements(rdd.dependencies())]
    if not made_of:
        yield str(rdd.getClass().getName())
    for other in made_of:
        yield from _origins(other)


def _connect_stays(source: Source) -> bool:
    """Tell it of a relation over Spark Connect, whose client knows a frame as it was written."""
    if source.format is not None and source.fingerprint:
        return sum(length for _, length, _ in source.fingerprint) <= MOST_BYTES
    plan = getattr(source.frame, "_plan", None)
    return type(plan).__name__ in ("LocalRelation", "CachedLocalRelation", "Range")
