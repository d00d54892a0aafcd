"""Seeds and sources of dbt as tracked relations.

Seeds are CSV files, with the types of columns as ``dbt seed`` gives them: dbt guesses the type of a
column from its values unless the project declares it: whole numbers, other numbers, dates,
instants, truth values, and text otherwise. Empty values and ``null`` are NULL.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkException

from lipstick.dataframes.arrow import frame_of_arrow
from lipstick.engines.spark.local_session import unlogged_errors
from lipstick.errors import LipstickError, SourceError, first_line
from lipstick.systems.dbt.manifest import DbtNode
from lipstick.systems.dbt.project import DbtProject, Refusal
from lipstick.tracking.views import quoted_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lipstick.sessions import Session

_NULLS = ("", "null")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_GUESSES = (
    ("date", re.compile(r"\d{4}-\d{1,2}-\d{1,2}")),
    ("timestamp", re.compile(r"\d{4}-\d\d?-\d\d? \d\d?:\d\d?:\d\d?")),
    ("timestamp", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?")),
    ("boolean", re.compile(r"true|false", re.IGNORECASE)),
)
_NOT_CLEAR = (
    re.compile(r"[-+(]?\s*[^\w\s.,+-]?\s*[\d,. ]*\d[\d,. ]*\s*[%)]?"),
    re.compile(r"\d{4}-?\d\d-?\d\dT[\d:.]+(Z|[+-]\d\d:?(\d\d)?)?"),
)
"""Amounts with currencies, separators or percents, and instants with zones, whose type is
ambiguous.
"""


@dataclass(frozen=True, slots=True)
class BaseTable:
    """The rows of a source: a path or a table name, and its key columns."""

    source: Any
    key: str | tuple[str, ...] | None = None


class TrackedBases:
    """The seeds and sources of a project, tracked in a session when they are first read.

    Parameters
    ----------
    tables
        The tables and files of sources, by the ids of their nodes.
    versions
        The versions of tables to read, by the ids of their nodes; None: tables as they stand.
    """

    def __init__(
        self,
        session: Session,
        tables: Mapping[str, BaseTable],
        versions: Mapping[str, int] | None = None,
    ) -> None:
        self.session = session
        self._tables = tables
        self._versions = versions
        self._tracked: dict[str, Refusal | None] = {}

    def at(self, versions: Mapping[str, int]) -> TrackedBases:
        """Return the sources at earlier versions of their tables."""
        return TrackedBases(self.session, self._tables, versions)

    def track(self, project: DbtProject, base: DbtNode) -> Refusal | None:
        """Track a seed or source under its name in a project, or return the reason for a
        failure.
        """
        if base.id not in self._tracked:
            try:
                with unlogged_errors():
                    self._track(project, base)
                    self._tracked[base.id] = None
            except (LipstickError, PySparkException) as error:
                self._tracked[base.id] = Refusal(first_line(error), base.file)
        return self._tracked[base.id]

    def untrack(self, project: DbtProject) -> None:
        """Untrack all tracked seeds and sources."""
        for base in (each for each, refusal in self._tracked.items() if refusal is None):
            self.session.untrack(project.names[base])

    def _track(self, project: DbtProject, base: DbtNode) -> None:
        name, table = project.names[base.id], self._tables.get(base.id)
        if table is None and base.kind == "seed":
            rows, types = read_seed(project.folder / base.file, base)
            frame = seed_frame(self.session.spark, rows, types)
            # A column that is tested to be unique, and is, is the key.
            key = next((c for c in project.uniquely_tested(base) if is_key(rows, c)), "*")
            self.session.track(name, frame, key)
            return
        table = table or self._in_catalog(base)
        at = None if self._versions is None else self._versions[base.id]
        is_csv = str(table.source).endswith(".csv")
        options = {"header": "true", "inferSchema": "true"} if is_csv else None
        track = partial(self.session.track, name, table.source, options=options, at=at)
        try:
            track(table.key)
        except SourceError:
            if table.key is not None:
                raise
            track("*")  # nothing but its values names a row

    def _in_catalog(self, base: DbtNode) -> BaseTable:
        """Return the table of a source in Spark's catalog."""
        called = quoted_name(base.relation)
        if not called or not self.session.spark.catalog.tableExists(called):
            raise LipstickError(
                f"no table or file is given for the source {base.title}, "
                f"and Spark's catalog has no table {'.'.join(base.relation) or base.name}"
            )
        return BaseTable(called)


def is_key(rows: pa.Table, column: str) -> bool:
    """Return True if a column has no NULLs and no duplicates."""
    if column not in rows.column_names:
        return False
    values = rows.column(column)
    return not values.null_count and pc.count_distinct(values).as_py() == len(values)


def read_seed(path: Path, node: DbtNode) -> tuple[pa.Table, dict[str, str]]:
    """Return the rows of a seed as text, and the Spark types of its columns.

    Raises
    ------
    LipstickError
        The file cannot be read, or the type of a column does not follow from its values.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file, delimiter=str(node.config.get("delimiter") or ",")))
    except (OSError, ValueError, csv.Error) as error:
        raise LipstickError(f"The seed {node.name} cannot be read from {path}: {error}") from error
    if not rows:
        raise LipstickError(f"The seed {node.name} has no header: {path}")
    header, *lines = (row for row in rows if row)
    if any(len(line) != len(header) for line in lines):
        number = next(i for i, line in enumerate(lines, start=2) if len(line) != len(header))
        raise LipstickError(f"{path}:{number} has not the {len(header)} values of the header.")
    declared = {name.lower(): kind for name, kind in node.config.get("column_types", {}).items()}
    arrays, types = {}, {}
    for place, name in enumerate(header):
        texts = [line[place] for line in lines]
        values = [None if text.strip().lower() in _NULLS else text for text in texts]
        types[name] = declared.get(name.lower()) or _guess(path, name, values)
        if types[name] == "bigint" and name.lower() not in declared:
            values = [None if value is None else str(int(Decimal(value))) for value in values]
        arrays[name] = pa.array(values, pa.string())
    return pa.table(arrays), types


def seed_frame(spark: SparkSession, table: pa.Table, types: dict[str, str]) -> DataFrame:
    """Return the rows of a seed with typed columns."""
    rows = frame_of_arrow(spark, table)
    return rows.selectExpr(
        *(f"CAST(`{name}` AS {kind}) AS `{name}`" for name, kind in types.items())
    )


def _guess(path: Path, name: str, values: Sequence[str | None]) -> str:
    known = [value.strip() for value in values if value is not None]
    if not known:
        return "bigint"
    if all(_NUMBER.fullmatch(value) for value in known):
        whole = all(number == number.to_integral_value() for number in map(Decimal, known))
        return "bigint" if whole else "double"
    for kind, pattern in _GUESSES:
        if all(pattern.fullmatch(value) for value in known):
            return kind
    for pattern in _NOT_CLEAR:
        if all(pattern.fullmatch(value) for value in known):
            raise LipstickError(
                f"{path}: how dbt reads the column {name} is not clear, as in {known[0]!r}.\n"
                "Declare its type in the project: seeds: config: column_types."
            )
    return "string"
