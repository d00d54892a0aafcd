"""Queries over few rows that are in this process, computed here: a job of Spark takes longer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

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

NAME: Final = re.compile(r"_lipstick_replay_\w{12}")
"""Names of views of a replay. A view has the same rows for ever."""
_WHOLE: Final = re.compile(rf"SELECT\s+\*\s+FROM `({NAME.pattern})`")
_TOKEN: Final = "_lipstick_held_row"
_KEPT: Final = 2**26
"""Bytes of answers that are kept; the oldest go first."""
_PLANS: Final = 512
"""Queries whose manifests are kept; the oldest go first."""
_PAIRS: Final = 1_000_000
"""Pairs of rows that a join looks at, at most."""


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
        self._held: dict[str, pa.Table] = {}
        self._texts: dict[str, str] = {}
        self._answers: dict[str, pa.Table | None] = {}
        self._plans: dict[tuple[object, ...], Manifest] = {}

    def hold(self, view: str, rows: pa.Table) -> None:
        """Take the rows of a view."""
        self._held[view] = rows

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
        whole = _WHOLE.fullmatch(query)
        if whole:
            return if_here(lambda: self._table(whole[1]))
        return self._kept(query, self._computed)

    def _kept(self, key: str, compute: Callable[[str], pa.Table]) -> pa.Table | None:
        """Return what a function computes here of a query or a name, and keep it for a while."""
        if key not in self._answers:
            self._answers[key] = if_here(lambda: compute(key))
            while sum(0 if t is None else t.nbytes for t in self._answers.values()) > _KEPT:
                rows = self._answers.pop(next(iter(self._answers)))
                if not self._answers:
                    return rows
        return self._answers[key]

    def _table(self, name: str) -> pa.Table:
        """Return the rows of a view."""
        if name in self._held:
            return self._held[name]
        text = self._texts.get(name)
        rows = self._kept(name, self._read) if text is None else self.rows(text)
        if rows is None:
            raise NeedsSparkError(f"The rows of {name} are not here.")
        return rows

    def _read(self, name: str) -> pa.Table:
        """Return the rows of a view of the session whose rows Spark's driver holds."""
        frame = self._spark.table(name)
        if not (is_held(frame) and in_arrow(frame.schema)):
            raise NeedsSparkError(f"Spark reads {name}.")
        return few_rows(frame, None)

    def _computed(self, query: str) -> pa.Table:
        if not computes_alike(self._spark):
            raise NeedsSparkError("Spark computes otherwise under the settings of the session.")
        tables = {name: self._table(name) for name in dict.fromkeys(NAME.findall(query))}
        if sum(table.num_rows for table in tables.values()) > self._most:
            raise NeedsSparkError("The views have many rows.")
        # Views have other names in each question, and queries over them are often the same.
        numbers = {name: f"v{number}" for number, name in enumerate(tables)}
        text = NAME.sub(lambda name: numbers[name[0]], query)
        columns = {numbers[name]: tuple(rows.column_names) for name, rows in tables.items()}
        zone = self._spark.conf.get("spark.sql.session.timeZone")
        key = text, zone, *columns.items()
        if key not in self._plans:
            self._plans[key] = _plan(text, zone, columns)
            if len(self._plans) > _PLANS:
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
