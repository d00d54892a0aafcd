"""The queries of a replay, run by Spark."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructField, StructType

from lipstick.capture.files import arrow_of, in_arrow, spark_schema
from lipstick.dataframes.arrow import frame_of_arrow
from lipstick.errors import UnsupportedError, VersionGoneError
from lipstick.histories.changes import TableChanges, lifetimes, row_codes, stored_changes
from lipstick.histories.differences import differing_rows, few_rows, is_held
from lipstick.histories.local_queries import WHOLE, FindRows, KeptTables, LocalQueries
from lipstick.histories.sql_engine import stored
from lipstick.stages.reading import own_sql
from lipstick.tracking.formats.iceberg import FIELD
from lipstick.tracking.formats.versions import COMMIT, MORE, ColumnNotes, VersionedTable
from lipstick.tracking.local_relations import session_settings
from lipstick.tracking.views import column_of
from rewriter.statements import (
    SINCE,
    UNTIL,
    VIEW,
    TableColumn,
    TableShape,
    keys_of,
    numbered,
    rows_of,
    union_all,
)

if TYPE_CHECKING:
    from lipstick.histories.chain import Chain

T = TypeVar("T")

FEW = 100_000
"""Rows up to which a difference is held in this process; more are written to files."""

_ANSWERS = 20_000
"""Answers about queries that are kept."""

_LITERALS = 2_000
"""Values of a column up to which they are written into queries, so that files are skipped."""

_CHAR = re.compile(r"\bchar\(")
"""Types of columns that Spark pads, as the log of a table has them."""

_PLAIN = re.compile(r"[^\\'\x00-\x1f]*")
"""Texts that are literals of SQL as they are, in any setting of escapes."""

_PINNED = re.compile(r"_lipstick_\w+_pinned_\w+")
"""Names of views of the session, which stand for other rows when a relation is tracked anew."""

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
    finder
        Returns what finds the rows of a view of the session as it is now.
    """

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        register: Callable[[DataFrame, str], None],
        finder: Callable[[str], FindRows] = lambda view: lambda: None,
    ) -> None:
        self.spark = spark
        self._finder = finder
        self._folder = folder
        self._register = register
        self._shapes: dict[str, TableShape] = {}
        self._stored = KeptTables()
        self._settings = ""
        self._found: dict[tuple[str, ...], Any] = {}
        self._present: dict[str, str] = {}
        self._unregistered: dict[str, str | StructType] = {}
        self._pinned: dict[str, tuple[DataFrame, str]] = {}
        self._local = LocalQueries(spark, FEW)
        self._changes = TableChanges(spark, self.written)

    def renew(self) -> None:
        """Answer by the settings and relations of this moment; forget what others gave."""
        self._present.clear()
        settings = session_settings(self.spark)
        if settings != self._settings:
            self._settings = settings
            self._found.clear()
            self._shapes.clear()
            self._local.renew()

    def _once(self, *question: str, compute: Callable[[], T]) -> T:
        """Return what a function finds of queries, which have the same rows for ever."""
        if question not in self._found:
            if len(self._found) > _ANSWERS:
                self._found.clear()
            self._found[question] = compute()
        found: T = self._found[question]
        return found

    def view(self, query: str) -> str:
        """Return the name of a view of a query, for queries of this engine."""
        query = self._over_pinned(query)
        return self._once("view", query, compute=lambda: self._defined(query))

    def _defined(self, query: str) -> str:
        name = _new_name()
        self._unregistered[name] = query
        self._local.define(name, query)
        return name

    def _over_pinned(self, query: str) -> str:
        """Return a query over the present rows of views of the session."""
        return _PINNED.sub(lambda pinned: self._pinned_now(pinned[0]), query)

    def _pinned_now(self, view: str) -> str:
        """Return a view that keeps the present rows of a view of the session."""
        if view not in self._present:
            frame = self.spark.table(view)
            if view not in self._pinned or not frame.sameSemantics(self._pinned[view][0]):
                self._pinned[view] = frame, self.named(frame)
                self._local.look_up(self._pinned[view][1], self._finder(view))
            self._present[view] = self._pinned[view][1]
        return self._present[view]

    def named(self, frame: DataFrame) -> str:
        """Return the name of a view of a data frame."""
        name = _new_name()
        self._register(frame, name)
        return name

    def frame(self, query: str) -> DataFrame:
        """Return the data frame of a query over views of this engine and of the session."""
        return own_sql(self.spark, self.shown(query))

    def shown(self, query: str) -> str:
        """Return a query, or the name of a view, whose views the session has now."""
        for name in VIEW.findall(query):
            self._show(name)
        return query

    def _show(self, name: str) -> None:
        """Make a view of this engine one of the session."""
        known = self._unregistered.pop(name, None)
        if isinstance(known, str):
            self._register(self.frame(known), name)
        elif known is not None:
            self._register(frame_of_arrow(self.spark, self._stored[name], known), name)

    def store(self, query: str, *, few: bool = False) -> str | None:
        """Compute a query and return a view of its rows; None: it has none.

        Parameters
        ----------
        few
            Rows that are many are not stored: the view computes them again.
        """
        query = self._over_pinned(query)
        return self._once("store", str(few), query, compute=lambda: self._computed(query, few))

    def _computed(self, query: str, few: bool) -> str | None:
        whole = WHOLE.fullmatch(query)
        if whole and whole[1] in self._stored:
            return whole[1]
        own = self._local.rows(query)
        if own is not None:
            return self._held(own, spark_schema(own)) if own.num_rows else None
        frame = self.frame(query)
        rows = few_rows(frame, FEW + 1)
        if not rows.num_rows:
            return None
        if rows.num_rows > FEW:
            return self.named(frame) if few else self.written(frame)
        return self._held(rows, frame.schema)

    def hold(self, rows: pa.Table, schema: StructType) -> str:
        """Return a view of a few rows that somebody else found."""
        if rows.num_rows > _LITERALS:
            return self._held(rows, schema)
        content = str(rows.to_pylist())
        return self._once("hold", schema.json(), content, compute=lambda: self._held(rows, schema))

    def _held(self, rows: pa.Table, schema: StructType) -> str:
        """Return a view of rows in this process."""
        view = _new_name()
        self._stored[view] = rows
        self._unregistered[view] = schema
        self._local.hold(view, rows, schema)
        while self._stored.too_many():  # the oldest go to Spark
            oldest = next(iter(self._stored))
            self._show(oldest)
            self._local.drop(oldest)
            del self._stored[oldest]
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
        here = self._local.rows(query) is not None
        return here or self._once("held", query, compute=lambda: is_held(self.frame(query)))

    def count_here(self, query: str) -> int | None:
        """Return the number of rows of a query that is computed here; None: it is not."""
        rows = self._local.rows(query)
        return None if rows is None else int(rows.num_rows)

    def keys(self, queries: Sequence[tuple[str, str, Sequence[str]]]) -> str | None:
        """Return a view of keys, as ``keys_of`` selects them; None: none."""
        return self.store(keys_of(queries))

    def compared(self, left: str, right: str) -> tuple[str, str | None, str | None]:
        """Return a view of a query's rows, and what :meth:`differences` does of it and another."""
        left, right = map(self._over_pinned, (left, right))
        return self._once("compared", left, right, compute=lambda: self._compared_anew(left, right))

    def _compared_anew(self, left: str, right: str) -> tuple[str, str | None, str | None]:
        if not (self.is_held(left) and self.is_held(right)):
            first = stored(self, left)
            return first, *self.differences(rows_of(first), right)
        rows, signs, schema = self._signed(left, right)
        own = rows.filter(pa.array(signs > 0))
        sides = self._sides(rows, signs, schema)
        if not own.num_rows:
            return self.view(f"{rows_of(self.view(left))} WHERE FALSE"), *sides
        return self._held(own, schema), *sides

    def differences(self, left: str, right: str) -> tuple[str | None, str | None]:
        """Return views of the rows of each of two queries that the other has not, as bags."""
        left, right = map(self._over_pinned, (left, right))
        return self._once("differ", left, right, compute=lambda: self._differences(left, right))

    def _differences(self, left: str, right: str) -> tuple[str | None, str | None]:
        if self.is_held(left) and self.is_held(right):
            return self._sides(*self._signed(left, right))
        names = self.shape(left).names
        frame = differing_rows(self.spark, self.shown(left), self.shown(right), names)
        rows = few_rows(frame, FEW + 1)
        schema = StructType(frame.schema.fields[:-1])
        if rows.num_rows <= FEW:
            counts = rows.column(rows.num_columns - 1).to_numpy()
            return self._sides(rows.select(range(rows.num_columns - 1)), counts, schema)
        many = self.spark.table(self.written(frame))
        views = []
        for sign in (1, -1):
            often = F.explode(F.sequence(F.lit(1), F.lit(sign) * F.col(frame.columns[-1])))
            side = many.where(F.lit(sign) * F.col(frame.columns[-1]) > 0)
            own = [column_of(name) for name in names]
            views.append(self.named(side.select(*own, often).select(*own)))
        return views[0], views[1]

    def _signed(self, left: str, right: str) -> tuple[pa.Table, np.ndarray, StructType]:
        """Return the rows of two queries over few rows, with 1 and -1 for these of either."""
        first, second = self._local.rows(left), self._local.rows(right)
        if first is not None and second is not None and first.schema.types == second.schema.types:
            second = second.rename_columns(first.column_names)
            signs = np.repeat([1, -1], [first.num_rows, second.num_rows])
            return pa.concat_tables([first, second]), signs, spark_schema(first)
        both = (numbered({MORE: sign}, query) for sign, query in ((1, left), (-1, right)))
        frame = self.frame(union_all(list(both)))
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
            views.append(self._held(taken, schema) if taken.num_rows else None)
        return views[0], views[1]

    def written(self, frame: DataFrame) -> str:
        """Compute a data frame into files, and return a view of these."""
        path = str(self._folder / uuid.uuid4().hex)
        frame.write.parquet(path)
        return self.named(self.spark.read.schema(frame.schema).parquet(path))

    def shape(self, query: str) -> TableShape:
        """Return the columns of a query."""
        if query not in self._shapes:
            rows = self._local.rows(query)
            schema = self.frame(query).schema if rows is None else spark_schema(rows)
            self._shapes[query] = shape_of(schema)
        return self._shapes[query]

    def forget_changes(self, chain: Chain) -> None:
        """Forget what commits changed, where later versions were taken back."""
        self._changes.forget(chain)

    def lifetimes(
        self,
        chain: Chain,
        numbers: Sequence[int],
        select: Callable[[str], str],
        keys: pa.Table | None = None,
    ) -> str | None:
        """Return a view of rows of versions, from the first and what commits changed after it."""
        first = numbers[0]
        schema = None if keys is None else self.spark.table(chain.versions[first]).schema
        if keys is not None and schema is not None and in_arrow(schema):
            stored = stored_changes(chain, numbers, keys, arrow_of(schema))
            found = None if stored is None else lifetimes(stored, numbers)
            if found is not None:
                return self._alive(found, schema)
        changes = self._changes.between(chain, first, numbers[-1])
        if changes is None:
            return None
        start = select(rows_of(chain.versions[first]))
        later = (select(rows_of(self.named(frame))) for frame in changes)
        frame = self.frame(union_all([numbered({MORE: 1, COMMIT: first}, start), *later]))
        rows = few_rows(frame, FEW + 1)
        found = None if rows.num_rows > FEW else lifetimes(rows, numbers)
        return None if found is None else self._alive(found, StructType(frame.schema.fields[2:]))

    def _alive(self, rows: pa.Table, schema: StructType) -> str:
        """Return a view of rows with SINCE and UNTIL."""
        places = [StructField(name, IntegerType(), False) for name in (SINCE, UNTIL)]
        return self._held(rows, StructType([*places, *schema.fields]))


def _new_name() -> str:
    return f"_lipstick_replay_{uuid.uuid4().hex[:12]}"


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
    notes = ColumnNotes({}, ()) if table is None else table.notes(version)
    noted = notes.metadata
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
        notes.partitions,
    )
