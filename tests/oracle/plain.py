"""Spark without lipstick: the answer of a query over a database, whole or reduced."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

import pyarrow.parquet as pq

from tests.oracle.database import NOTHING, Database, Deletion, Relation
from tests.oracle.rows import Bag, from_spark

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_COPIED = (
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
    "spark.sql.shuffle.partitions",
    "spark.sql.adaptive.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.codegen.wholeStage",
)

FOR_FEW_ROWS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
}


_ROWS_IN_PLAN = 1_000


@contextmanager
def few_rows(
    spark: SparkSession, settings: Mapping[str, str] = MappingProxyType(FOR_FEW_ROWS)
) -> Iterator[None]:
    """Set a session to many small queries: no compilation, one task where there is a shuffle."""
    before = {name: str(spark.conf.get(name)) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


class Engine(Protocol):
    """Something that answers queries over a database from which tuples were deleted."""

    def answer(self, sql: str, deletion: Deletion = NOTHING) -> Bag:
        """Return the rows of the query over what the deletion leaves."""
        ...


class PlainSpark:
    """Plain Spark in a session of its own, where the relations are views under their own names.

    The user's text is run as it stands: nothing renames tables in it, and no view, setting or
    cache of the session under test is seen. Views are replaced only where a deletion differs from
    the one before, and the answer over the whole database is kept.
    """

    def __init__(self, spark: SparkSession, database: Database) -> None:
        from lipstick.workflow.execution.benches import new_session

        self.database = database
        self.spark = new_session(spark)
        for name in _COPIED:
            self.spark.conf.set(name, str(spark.conf.get(name)))
        self._whole: dict[str, DataFrame] = {}
        self._gone: dict[str, frozenset[tuple[object, ...]] | None] = {}
        self._answers: dict[str, Bag] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="oracle-")
        self._files = 0

    def answer(self, sql: str, deletion: Deletion = NOTHING) -> Bag:
        """Return the rows of the query over what the deletion leaves: one action."""
        if len(deletion) == 0 and sql in self._answers:
            return self._answers[sql]
        self._reduce(deletion)
        bag = from_spark(self.spark.sql(sql))
        if len(deletion) == 0:
            self._answers[sql] = bag
        return bag

    def frame(self, sql: str) -> DataFrame:
        """Return the query over the whole database, not run."""
        self._reduce(NOTHING)
        return self.spark.sql(sql)

    def close(self) -> None:
        """End this session with its views."""
        from lipstick.workflow.execution.benches import leave

        for name in self._gone:
            self.spark.catalog.dropTempView(name)
        self._gone.clear()
        self._folder.cleanup()
        leave(self.spark)

    def _frame(self, relation: Relation, data: pa.Table) -> DataFrame:
        """Return rows as a frame: small ones in the plan, others through a file."""
        if data.num_rows <= _ROWS_IN_PLAN:
            return relation.frame(self.spark, data)
        self._files += 1
        path = Path(self._folder.name) / f"{relation.name}-{self._files}.parquet"
        pq.write_table(data, path)
        return self.spark.read.schema(relation.schema).parquet(str(path))

    def _reduce(self, deletion: Deletion) -> None:
        for name, relation in self.database.relations.items():
            gone = deletion.keys.get(name, frozenset())
            if self._gone.get(name) == gone:
                continue
            if gone:
                frame = self._frame(relation, relation.without(gone))
            else:
                if name not in self._whole:
                    self._whole[name] = self._frame(relation, relation.data)
                frame = self._whole[name]
            frame.createOrReplaceTempView(name)
            self._gone[name] = gone
