"""The queries of a replay, run by Spark."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, IntegerType, StructField, StructType

from lipstick.errors import UnsupportedError, VersionGoneError
from lipstick.histories.changes import TableChanges, lifetimes, row_codes
from lipstick.histories.differences import differing_rows, few_rows, is_held
from lipstick.histories.sql_engine import stored
from lipstick.tracking.formats.iceberg import FIELD
from lipstick.tracking.formats.versions import COMMIT, MORE, VersionedTable
from lipstick.tracking.views import column_of
from rewriter.statements import (
    SINCE,
    UNTIL,
    TableColumn,
    TableShape,
    column_names,
    keys_of,
    numbered,
    rows_of,
    union_all,
)

if TYPE_CHECKING:
    from lipstick.histories.chain import Chain

FEW = 100_000
"""Rows up to which a difference is held in this process; more are written to files."""

_HELD = 32
"""Stored rows that are held here as well as in Spark; the oldest go first."""

_LITERALS = 2_000
"""Values of a column up to which they are written into queries, so that files are skipped."""

_CHAR = re.compile(r"\bchar\(")
"""Types of columns that Spark pads, as the log of a table has them."""

_PLAIN = re.compile(r"[^\\'\x00-\x1f]*")
"""Texts that are literals of SQL as they are, in any setting of escapes."""

_DEFAULT = "CURRENT_DEFAULT"
_GENERATED = ("GENERATION_EXPRESSION", "delta.generationExpression")
_FIELDS = ("delta.columnMapping.id", FIELD)
_IDENTITY = "delta.identity.start"


_GONE = re.compile(
    r"Cannot find snapshot with ID -?\d+|FILE_NOT_EXIST\]? .*?file (?P<file>\S+)\.\s"
)
"""Errors of Iceberg and Spark about a version that was removed."""


@contextmanager
def reading_versions() -> Iterator[None]:
    """Name the error where versions of tables cannot be read any more.

    Raises
    ------
    VersionGoneError
    """
    try:
        yield
    except (PySparkException, Py4JError) as error:
        found = _GONE.search(str(error))
        if found is None:
            raise
        what = f"{found['file']} is not there" if found["file"] else found[0]
        raise VersionGoneError(
            f"A version that this question reads cannot be read any more: {what}.\n"
            "VACUUM and the expiry of snapshots remove the files of old versions. Follow the "
            "tables from a later version on: ls.reenact(...)."
        ) from error


class SparkReplayEngine:
    """Runs the queries of replays in a session.

    Parameters
    ----------
    folder
        A directory for rows that are many.
    register
        Makes a temporary view that the session drops in the end.
    """

    def __init__(
        self, spark: SparkSession, folder: Path, register: Callable[[DataFrame, str], None]
    ) -> None:
        self._spark = spark
        self._folder = folder
        self._register = register
        self._shapes: dict[str, TableShape] = {}
        self._stored: dict[str, pa.Table] = {}
        self._views: dict[str, str] = {}
        self._changes = TableChanges(spark, self.written)

    def view(self, query: str) -> str:
        """Return the name of a view of a query."""
        return self.named(self._spark.sql(query))

    def named(self, frame: DataFrame) -> str:
        """Return the name of a view of a data frame."""
        name = f"_lipstick_replay_{uuid.uuid4().hex[:12]}"
        self._register(frame, name)
        return name

    def store(self, query: str, *, few: bool = False) -> str | None:
        """Compute a query and return a view of its rows; None: it has none.

        Parameters
        ----------
        few
            Rows that are many are not stored: the view computes them again.
        """
        if query in self._views:
            return self._views[query]
        frame = self._spark.sql(query)
        rows = few_rows(frame, FEW + 1)
        if not rows.num_rows:
            return None
        if rows.num_rows > FEW:
            return self.named(frame) if few else self.written(frame)
        return self._local(rows, frame.schema)

    def _local(self, rows: pa.Table, schema: StructType) -> str:
        """Return a view of rows in this process."""
        view = self.named(self._spark.createDataFrame(rows, schema=schema))
        self._stored[view], self._views[rows_of(view)] = rows, view
        if len(self._stored) > _HELD:
            oldest = next(iter(self._stored))
            del self._stored[oldest], self._views[rows_of(oldest)]
        return view

    def held(self, view: str) -> pa.Table | None:
        """Return the rows of a stored view; None: they are not held in this process."""
        return self._stored.get(view)

    def literals(self, view: str) -> list[list[str | None] | None]:
        """Return the values of the columns of a stored view as literals; None: not as such."""
        rows = self.held(view)
        if rows is None or rows.num_rows > _LITERALS:
            return []
        return [_literals(column) for column in rows.columns]

    def is_held(self, query: str) -> bool:
        """Return True if a query reads few rows, and this process holds them all."""
        return is_held(self._spark.sql(query))

    def keys(self, queries: Sequence[tuple[str, str, Sequence[str]]]) -> str | None:
        """Return a view of keys, as ``keys_of`` selects them; None: none."""
        held = [self._held_keys(*query) for query in queries]
        found = [each for each in held if each is not None]
        if len(found) < len(held) or any(types != found[0][1] for _, types in found):
            return self.store(keys_of(queries))
        keys = pa.concat_tables([table for table, _ in found])
        return self._local(keys, StructType(list(map(StructField, keys.column_names, found[0][1]))))

    def _held_keys(
        self, rows: str, alias: str, expressions: Sequence[str]
    ) -> tuple[pa.Table, list[DataType]] | None:
        """Return keys and their types; None: they are not columns that this process holds."""
        view, columns = self._views.get(rows), column_names(expressions, alias)
        if view is None or columns is None:
            return None
        schema = self._spark.table(view).schema
        places = {field.name.lower(): place for place, field in enumerate(schema)}
        if not places.keys() >= {column.lower() for column in columns}:
            return None
        chosen = [places[column.lower()] for column in columns]
        values = [self._stored[view].column(place) for place in chosen]
        names = [f"k{number}" for number in range(len(chosen))]
        return pa.Table.from_arrays(values, names), [schema[place].dataType for place in chosen]

    def compared(self, left: str, right: str) -> tuple[str, str | None, str | None]:
        """Return a view of a query's rows, and what :meth:`differences` does of it and another."""
        if not (self.is_held(left) and self.is_held(right)):
            first = stored(self, left)
            return first, *self.differences(rows_of(first), right)
        rows, signs, schema = self._signed(left, right)
        own = rows.filter(pa.array(signs > 0))
        sides = self._sides(rows, signs, schema)
        if not own.num_rows:
            return self.view(f"{rows_of(self.view(left))} WHERE FALSE"), *sides
        return self._local(own, schema), *sides

    def differences(self, left: str, right: str) -> tuple[str | None, str | None]:
        """Return views of the rows of each of two queries that the other has not, as bags."""
        if self.is_held(left) and self.is_held(right):
            return self._sides(*self._signed(left, right))
        names = self.shape(left).names
        frame = differing_rows(self._spark, left, right, names)
        rows = few_rows(frame, FEW + 1)
        schema = StructType(frame.schema.fields[:-1])
        if rows.num_rows <= FEW:
            counts = rows.column(rows.num_columns - 1).to_numpy()
            return self._sides(rows.select(range(rows.num_columns - 1)), counts, schema)
        many = self._spark.table(self.written(frame))
        views = []
        for sign in (1, -1):
            often = F.explode(F.sequence(F.lit(1), F.lit(sign) * F.col(frame.columns[-1])))
            side = many.where(F.lit(sign) * F.col(frame.columns[-1]) > 0)
            own = [column_of(name) for name in names]
            views.append(self.named(side.select(*own, often).select(*own)))
        return views[0], views[1]

    def _signed(self, left: str, right: str) -> tuple[pa.Table, np.ndarray, StructType]:
        """Return the rows of two queries over few rows, with 1 and -1 for these of either."""
        both = (numbered({MORE: sign}, query) for sign, query in ((1, left), (-1, right)))
        frame = self._spark.sql(union_all(list(both)))
        rows = few_rows(frame, None)
        signs = rows.column(0).to_numpy()
        return rows.select(range(1, rows.num_columns)), signs, StructType(frame.schema.fields[1:])

    def _sides(
        self, rows: pa.Table, counts: np.ndarray, schema: StructType
    ) -> tuple[str | None, str | None]:
        """Return views of rows that there are more of, and fewer, by the sums of their counts."""
        codes = row_codes(rows)
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        sums = np.zeros(len(first), np.int64)
        np.add.at(sums, inverse, counts)
        views = []
        for sign in (1, -1):
            taken = rows.take(pa.array(np.repeat(first, np.maximum(sign * sums, 0))))
            views.append(self._local(taken, schema) if taken.num_rows else None)
        return views[0], views[1]

    def written(self, frame: DataFrame) -> str:
        """Compute a data frame into files, and return a view of these."""
        path = str(self._folder / uuid.uuid4().hex)
        frame.write.parquet(path)
        return self.named(self._spark.read.schema(frame.schema).parquet(path))

    def shape(self, query: str) -> TableShape:
        """Return the columns of a query."""
        if query not in self._shapes:
            self._shapes[query] = shape_of(self._spark.sql(query).schema)
        return self._shapes[query]

    def forget_changes(self, chain: Chain) -> None:
        """Forget what commits changed, where later versions were taken back."""
        self._changes.forget(chain)

    def lifetimes(
        self, chain: Chain, numbers: Sequence[int], select: Callable[[str], str]
    ) -> str | None:
        """Return a view of rows of versions, from the first and what commits changed after it."""
        first = numbers[0]
        changes = self._changes.between(chain, first, numbers[-1])
        if changes is None:
            return None
        start = select(rows_of(chain.versions[first]))
        later = (select(rows_of(self.named(frame))) for frame in changes)
        frame = self._spark.sql(union_all([numbered({MORE: 1, COMMIT: first}, start), *later]))
        rows = few_rows(frame, FEW + 1)
        found = None if rows.num_rows > FEW else lifetimes(rows, numbers)
        if found is None:
            return None
        places = [StructField(name, IntegerType(), False) for name in (SINCE, UNTIL)]
        return self._local(found, StructType([*places, *frame.schema.fields[2:]]))


def _literals(column: pa.ChunkedArray) -> list[str | None] | None:
    """Return the distinct values of a column as literals of SQL; None: its type has none here."""
    values = column.unique().to_pylist()
    if pa.types.is_integer(column.type):
        return [None if value is None else str(value) for value in values]
    if pa.types.is_date(column.type):
        return [None if value is None else f"DATE'{value}'" for value in values]
    texts = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if texts and all(value is None or _PLAIN.fullmatch(value) for value in values):
        return [None if value is None else f"'{value}'" for value in values]
    return None


def shape_of(
    schema: StructType, table: VersionedTable | None = None, version: int | None = None
) -> TableShape:
    """Return the columns of a schema, as statements know them.

    Parameters
    ----------
    table, version
        The version of a table that has the schema, whose format knows more of columns; None: the
        columns that it has now.

    Raises
    ------
    UnsupportedError
        A column is a CHAR: Spark pads its values when they are read, and no statement does.
    """
    noted = {} if table is None else table.metadata(version)
    for name, kept in noted.items():
        if _CHAR.search(str(kept.get("__CHAR_VARCHAR_TYPE_STRING", ""))):
            raise UnsupportedError(
                f"the column {name!r} is a CHAR, whose values Spark pads when it reads them",
                "Make it a STRING or a VARCHAR, or change the table by spark.sql; it is not "
                "followed.",
            )
    metadata = {field.name: {**field.metadata, **noted.get(field.name, {})} for field in schema}
    return TableShape(
        tuple(
            TableColumn(
                field.name,
                field.dataType.simpleString(),
                metadata[field.name].get(_DEFAULT),
                _IDENTITY in metadata[field.name],
                next((m for key in _GENERATED if (m := metadata[field.name].get(key))), None),
                next((m for key in _FIELDS if (m := metadata[field.name].get(key))), None),
            )
            for field in schema
        ),
        () if table is None else table.partitions,
    )
