"""Queries over few rows that are in this process, computed here: a job of Spark takes longer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lipstick.capture.files import in_arrow
from lipstick.capture.local_capture import collect
from lipstick.capture.local_rows import computes_alike
from lipstick.capture.manifest import Manifest
from lipstick.engines.route import if_here
from lipstick.errors import NeedsSparkError
from lipstick.histories.differences import few_rows, is_held
from rewriter import (
    Environment,
    MemoryCatalog,
    TrackedRelation,
    bind_query,
    dialect,
    lower_query,
)
from rewriter.blocks import TokenSource
from rewriter.statements import VIEW

FindRows: TypeAlias = Callable[[], pa.Table | None]
"""Finds the rows of a relation, if they are few; else None."""
WHOLE: Final = re.compile(rf"SELECT\s+\*\s+FROM `({VIEW.pattern})`")
"""The query of all rows of a view."""
_LOCAL: Final = "_lipstick_local_"
"""The beginning of the names of views in plans, which no query has for something else."""
_TOKEN: Final = "_lipstick_held_row"
MOST_KEPT = 512
"""Tables and manifests that are kept, each; the oldest go first."""
MOST_BYTES = 2**26
"""Bytes of tables that are kept."""
_PAIRS: Final = 1_000_000
"""Pairs of rows that a join looks at, at most."""


class KeptTables(dict[str, pa.Table | None]):
    """Tables by name, the oldest first, and their bytes."""

    size = 0

    def __setitem__(self, name: str, table: pa.Table | None) -> None:
        self.size += 0 if table is None else table.nbytes
        super().__setitem__(name, table)

    def __delitem__(self, name: str) -> None:
        table = self[name]
        self.size -= 0 if table is None else table.nbytes
        super().__delitem__(name)

    def clear(self) -> None:
        """Forget all."""
        self.size = 0
        super().clear()

    def too_many(self) -> bool:
        """Return True if they are more than are kept, or have more bytes."""
        return len(self) > MOST_KEPT or self.size > MOST_BYTES


class LocalQueries:
    """Views of rows that are here and of queries, and queries over them.

    Parameters
    ----------
    most
        Rows that a query may read of its views.
    """

    def __init__(self, spark: SparkSession, most: int) -> None:
        self._spark = spark
        self._most = most
        self._held: dict[str, pa.Table | None] = {}
        self._texts: dict[str, str] = {}
        self._found_by: dict[str, FindRows] = {}
        self._answers = KeptTables()
        self._plans: dict[tuple[object, ...], Manifest] = {}
        self._zone: str | None = None
        self._alike = False
        self.renew()

    def renew(self) -> None:
        """Compute by the settings that the session has now; forget what others gave."""
        self._zone = self._spark.conf.get("spark.sql.session.timeZone")
        self._alike = computes_alike(self._spark)
        self._answers.clear()

    def hold(self, view: str, rows: pa.Table, schema: StructType) -> None:
        """Take the rows of a view that the session does not know yet, and their schema."""
        self._held[view] = rows if in_arrow(schema) else None

    def look_up(self, view: str, rows: FindRows) -> None:
        """Take what finds the rows of a view of a relation."""
        self._found_by[view] = rows

    def drop(self, view: str) -> None:
        """Forget the rows of a view, which the session knows."""
        self._held.pop(view, None)

    def define(self, view: str, query: str) -> None:
        """Take the query of a view."""
        self._texts[view] = query

    def rows(self, query: str) -> pa.Table | None:
        """Return the rows of a query, of the types that Spark gives them.

        None: they are not all here, are many, or Spark alone computes them.
        """
        whole = WHOLE.fullmatch(query)
        if whole:
            return if_here(lambda: self._table(whole[1]))
        return self._kept(query, self._computed)

    def _kept(self, key: str, compute: Callable[[str], pa.Table]) -> pa.Table | None:
        """Return what a function computes here of a query or a name, and keep it for a while."""
        if key not in self._answers:
            rows = self._answers[key] = if_here(lambda: compute(key))
            while self._answers.too_many():
                del self._answers[next(iter(self._answers))]
            return rows
        return self._answers[key]

    def _table(self, name: str) -> pa.Table:
        """Return the rows of a view."""
        if name in self._held:
            rows = self._held[name]
        elif name in self._texts:
            rows = self.rows(self._texts[name])
        else:
            rows = self._kept(name, self._read)
        if rows is None:
            raise NeedsSparkError(f"The rows of {name} are not here.")
        return rows

    def _read(self, name: str) -> pa.Table:
        """Return the rows of a view of the session that are few, or that Spark's driver holds."""
        rows = self._found_by[name]() if name in self._found_by else None
        if rows is not None and rows.num_rows <= self._most:
            return rows
        frame = self._spark.table(name)
        if not (is_held(frame) and in_arrow(frame.schema)):
            raise NeedsSparkError(f"Spark reads {name}.")
        return few_rows(frame, None)

    def _computed(self, query: str) -> pa.Table:
        if not self._alike:
            raise NeedsSparkError("Spark computes otherwise under the settings of the session.")
        tables = {name: self._table(name) for name in dict.fromkeys(VIEW.findall(query))}
        if sum(table.num_rows for table in tables.values()) > self._most:
            raise NeedsSparkError("The views have many rows.")
        # Views have other names in each question, and queries over them are often the same.
        numbers = {name: f"{_LOCAL}{number}" for number, name in enumerate(tables)}
        text = VIEW.sub(lambda name: numbers[name[0]], query)
        columns = {numbers[name]: tuple(rows.column_names) for name, rows in tables.items()}
        key = text, self._zone, *columns.items()
        if key not in self._plans:
            self._plans[key] = _plan(text, self._zone, columns)
            if len(self._plans) > MOST_KEPT:
                del self._plans[next(iter(self._plans))]
        renamed = {numbers[name]: rows for name, rows in tables.items()}
        return _answer(self._spark, self._plans[key], renamed)


def _plan(query: str, time_zone: str | None, columns: Mapping[str, tuple[str, ...]]) -> Manifest:
    """Return the manifest of a query over relations, given by their columns."""
    expression = dialect.parse(query)
    if not dialect.relation_names(expression) <= columns.keys():
        raise NeedsSparkError("The query reads views of the session.")
    catalog = MemoryCatalog([TrackedRelation(*relation) for relation in columns.items()])
    bound = bind_query(query, Environment(catalog), expression)
    root = lower_query(bound.root, {name: TokenSource(name, (_TOKEN,)) for name in columns}, query)
    names = tuple(attribute.name for attribute in bound.root.attributes)
    return Manifest(query, names, "", "copy", root, {}, time_zone=time_zone)


def _answer(spark: SparkSession, plan: Manifest, tables: Mapping[str, pa.Table]) -> pa.Table:
    """Return the rows of a planned query over tables."""

    def refuse() -> None:
        raise NeedsSparkError("Spark runs a statement of this query.")

    numbered = {
        name: rows.append_column(_TOKEN, pa.array(np.arange(rows.num_rows)))
        for name, rows in tables.items()
    }
    engine = collect(spark, plan, numbered, refuse, _PAIRS)
    found = engine.table(engine.base(plan.root.name))
    if any(map(pa.types.is_null, found.schema.types)):
        raise NeedsSparkError("Spark says of which type NULL is.")
    return found
