"""Tables of a run as it shows them: as Arrow tables, or as data frames of a session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Protocol

import pyarrow as pa

from lipstick.workflow.errors import RunError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class StoredTables(Protocol):
    """Shows the tables that are in the store of a run."""

    def shown(self, table: pa.Table) -> DataFrame | pa.Table:
        """Return a table as callers get it."""

    def session(self) -> SparkSession:
        """Return the session in which graphs larger than memory are built."""


class ArrowTables:
    """Shows tables as they are. For runs that were opened without Spark."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def shown(self, table: pa.Table) -> pa.Table:
        """Return the table."""
        return table

    def session(self) -> NoReturn:
        """Refuse: there is no session.

        Raises
        ------
        RunError
            Always.
        """
        raise RunError(
            f"The run in {self._path} was opened without Spark.\n"
            "Open it with a session: open_run(path, spark)."
        )


class FrameTables:
    """Shows tables as data frames of a session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def shown(self, table: pa.Table) -> DataFrame:
        """Return the table as a data frame."""
        from pyspark.sql.pandas.types import from_arrow_schema

        if not table.num_rows:  # whose columns Spark Connect does not take from the table
            return self._spark.createDataFrame([], from_arrow_schema(table.schema))
        return self._spark.createDataFrame(table)

    def session(self) -> SparkSession:
        """Return the session."""
        return self._spark
