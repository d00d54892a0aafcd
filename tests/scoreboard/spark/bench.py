"""Plain Spark and a lipstick session, side by side, over the relations that a file makes.

Both run in Spark sessions of their own. What a file's statements make is run by plain Spark first:
a table, or a view over data of its own, is written once to a Parquet file, which is tracked by the
places of its rows; plain Spark reads the same file, without the rows that a deletion takes. A view
over such relations stays a view, in both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType, VariantVal

import lipstick
from lipstick.workflow.execution.benches import leave, new_session
from tests.oracle.database import NOTHING, Deletion
from tests.oracle.rows import Bag, from_spark
from tests.scoreboard.spark.script import is_query

_NAME: Final = r"(?P<name>(?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*)"
_MAKES_VIEW: Final = re.compile(
    r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:(?:GLOBAL\s+|LOCAL\s+)?TEMP(?:ORARY)?\s+)?VIEW\s+"
    rf"(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}",
    re.IGNORECASE,
)
_DROPS_VIEW: Final = re.compile(rf"DROP\s+VIEW\s+(?:IF\s+EXISTS\s+)?{_NAME}\s*$", re.IGNORECASE)
_CHANGES_TABLE: Final = re.compile(
    r"(?:CREATE\s+(?:OR\s+REPLACE\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    r"|INSERT\s+(?:INTO|OVERWRITE)\s+(?:TABLE\s+)?|ALTER\s+TABLE\s+|TRUNCATE\s+TABLE\s+"
    rf"|DROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?){_NAME}",
    re.IGNORECASE,
)
_OF_THE_CATALOG: Final = re.compile(
    r"(CREATE|DROP)\s+(OR\s+REPLACE\s+)?(FUNCTION|SCHEMA|DATABASE)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation in one Parquet file: its rows are named by their places there."""

    name: str
    file: str
    schema: StructType
    rows: int

    def frame(self, spark: SparkSession, gone: Collection[tuple[Any, ...]] = ()) -> DataFrame:
        """Return the rows but those at some places."""
        frame = spark.read.schema(self.schema).parquet(self.file)
        if gone:
            places = [int(row) for (row,) in gone]
            frame = frame.where(~F.col("_metadata.row_index").isin(places))
        return frame


class Bench:
    """What statements of one file run on.

    Parameters
    ----------
    spark
        Whose process runs both sessions, and whose settings they start with.
    settings
        Of both sessions.
    folder
        For the relations' files, and for captures.
    """

    def __init__(self, spark: SparkSession, settings: Mapping[str, str], folder: Path) -> None:
        self.plain, self.annotating = new_session(spark), new_session(spark)
        for session in (self.plain, self.annotating):
            for name in ("spark.sql.session.timeZone", "spark.sql.codegen.wholeStage"):
                session.conf.set(name, str(spark.conf.get(name)))
            for name, value in settings.items():
                session.conf.set(name, value)
        self.ls = lipstick.session(self.annotating, store=folder / "store")
        self.relations: dict[str, Relation] = {}
        self._folder = folder
        self._files = 0
        self._tables: set[str] = set()
        self._gone: dict[str, frozenset[tuple[object, ...]]] = {}

    # -- statements that make something ----------------------------------------------------

    def run(self, text: str) -> None:
        """Run a statement that is not a query, for both sessions.

        Raises
        ------
        pyspark.errors.PySparkException
            Plain Spark's, when it refuses the statement.
        """
        assert not is_query(text)
        self._reduce(NOTHING)
        if match := _MAKES_VIEW.match(text):
            self._make_view(match["name"], text[match.end() :])
        elif match := _DROPS_VIEW.match(text):
            self._forget(match["name"])
            for session in (self.plain, self.annotating):
                session.catalog.dropTempView(match["name"])
        elif match := _CHANGES_TABLE.match(text):
            self._change_table(match["name"].lower(), text)
        else:
            self.plain.sql(text)
            if not _OF_THE_CATALOG.match(text):
                self.annotating.sql(text)

    def _make_view(self, name: str, rest: str) -> None:
        """Make a temporary view: a permanent one would not read the reduced relations."""
        text = f"CREATE OR REPLACE TEMPORARY VIEW {name}{rest}"
        self._forget(name)
        self.plain.sql(text)
        if self.plain.table(name).inputFiles():
            self.annotating.sql(text)
        else:
            self._track(name, self.plain.table(name))

    def _change_table(self, name: str, text: str) -> None:
        for table in self._tables:  # the views that stand before them
            self.plain.catalog.dropTempView(table)
        try:
            self.plain.sql(text)
            self._forget(name)
            self._tables.discard(name)
            if self.plain.catalog.tableExists(name):
                self._tables.add(name)
                self._track(name, self.plain.table(name))
        finally:
            for table in self._tables - {name}:
                self.relations[table].frame(self.plain).createOrReplaceTempView(table)

    def _track(self, name: str, frame: DataFrame) -> None:
        self._files += 1
        folder = self._folder / f"relation-{self._files}"
        frame.coalesce(1).write.parquet(str(folder))
        [file] = folder.glob("part-*.parquet")
        schema = frame.schema
        bare = name.strip("`")
        self.ls.track(bare, str(file))
        relation = Relation(bare, str(file), schema, pq.read_metadata(file).num_rows)
        self.relations[relation.name.lower()] = relation
        relation.frame(self.plain).createOrReplaceTempView(name)

    def _forget(self, name: str) -> None:
        bare = name.strip("`").lower()
        if self.relations.pop(bare, None) is not None:
            self.ls.untrack(bare)
        self._gone.pop(bare, None)

    # -- plain answers ---------------------------------------------------------------------

    def answer(self, sql: str, deletion: Deletion = NOTHING) -> Bag:
        """Return plain Spark's rows over what a deletion leaves."""
        self._reduce(deletion)
        return rows_of(self.plain.sql(sql))

    def _reduce(self, deletion: Deletion) -> None:
        for name, relation in self.relations.items():
            gone = deletion.keys.get(relation.name, frozenset())
            if self._gone.get(name, frozenset()) != gone:
                relation.frame(self.plain, gone).createOrReplaceTempView(f"`{name}`")
                self._gone[name] = gone

    def close(self) -> None:
        """Drop what the file made, and end both sessions."""
        self.ls.close()
        for table in self._tables:
            self.plain.catalog.dropTempView(table)
            with suppress(PySparkException):
                self.plain.sql(f"DROP TABLE IF EXISTS {table}")
        leave(self.plain)
        leave(self.annotating)


def rows_of(frame: DataFrame) -> Bag:
    """Run a frame (one action) and return its rows; a variant is its text."""
    bag = from_spark(frame)
    if not any("variant" in kind for kind in bag.types):
        return bag
    return Bag(bag.columns, bag.types, tuple(tuple(map(_readable, row)) for row in bag.rows))


def _readable(value: Any) -> Any:
    if isinstance(value, VariantVal):
        return ("variant", value.toJson())
    if isinstance(value, tuple | list):
        return type(value)(map(_readable, value))
    return value
