"""The cells behind a value, and the columns behind all values, as users see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.memory import Memory
from lipstick.errors import CaptureError, TrackingError
from lipstick.questions.where.cell_tracer import Cells, CellTracer
from lipstick.questions.why.answer import described, only_row
from lipstick.questions.why.columns import shown
from lipstick.questions.why.measure import column_of
from lipstick.questions.why.sources import SourceRows, read_sources
from rewriter.analysis.column_lineage import (
    SourceColumn,
    ValueRole,
    column_lineage,
    deciding_columns,
)
from semiring.base import Array
from semiring.support.door import checked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class MakersOfRows(Protocol):
    """A capture that knows the captures behind written tables."""

    @property
    def memory(self) -> Memory:
        """The engine that answers without Spark."""

    def _makers(
        self, relation: str, tokens: pa.Table
    ) -> Iterator[tuple[MakersOfRows, tuple[str, ...], Array]]:
        """See :meth:`lipstick.Capture._makers`."""


@checked
class CellOrigins:
    """The cells that a cell of an answer comes from.

    Attributes
    ----------
    kind
        ``"copied"``, ``"computed"``, or ``"constant"`` where no cell has a part in the value.
    cells
        By relation, its key columns, ``_column`` and ``_role``: copied, computed, or chosen by.
    deciding
        The columns that decide which rows take part.
    """

    def __init__(
        self, subject: str, value: Any, cells: Mapping[str, pa.Table], deciding: set[SourceColumn]
    ) -> None:
        self.subject = subject
        self.value = value
        self.cells = dict(cells)
        self.deciding = tuple(sorted(deciding))

    @property
    def kind(self) -> Literal["copied", "computed", "constant"]:
        """The part that the cells have."""
        roles = {r for table in self.cells.values() for r in table.column("_role").to_pylist()}
        if ValueRole.COMPUTED.value in roles:
            return "computed"
        return "copied" if ValueRole.COPIED.value in roles else "constant"

    def text(self, limit: int | None = 10) -> str:
        """Return the cells as lines, of every relation at most so many; None: all."""
        value = shown(self.value) if isinstance(self.value, float) else self.value
        lines = [f"{self.subject} is {value}: {self.kind}"]
        for name, table in self.cells.items():
            for row in table.slice(0, limit).to_pylist():
                column, role = row.pop("_column"), row.pop("_role")
                lines.append(f"- {role} {name}.{column} where {described(row)}")
            if limit is not None and table.num_rows > limit:
                lines.append(f"- {table.num_rows - limit:,} more cells of {name}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__


def cell_origins(
    memory: Memory,
    spark: SparkSession | None,
    column: str,
    where: Mapping[str, Any],
    sources: Mapping[str, pa.Table],
    capture: MakersOfRows | None = None,
) -> CellOrigins:
    """Return the cells behind a cell of the answer; see :meth:`lipstick.Capture.where`.

    Parameters
    ----------
    capture
        The capture that has the answer; cells of tables that annotated queries wrote are followed
        to the cells of the relations behind them.
    """
    engine, answer = memory.engine, memory.answer()
    place = column_of(answer.column_names, column)
    row = only_row(answer, where)
    if engine.root.copies:
        raise CaptureError("Rows of EXCEPT ALL and INTERSECT ALL are there several times.")
    search = _Search(spark, sources)
    positions = engine.base(engine.root.name).ordered[[row]]
    search.trace(memory, capture, place, positions, ValueRole.COPIED)
    search.check_sources()
    subject = column + (f" of {described(dict(where))}" if where else "")
    value = answer.column(place)[row].as_py()
    return CellOrigins(subject, value, search.found(), search.deciding)


class _Search:
    """Cells that are found in one capture after the other.

    Attributes
    ----------
    deciding
        The columns that decide which rows take part.
    """

    def __init__(self, spark: SparkSession | None, sources: Mapping[str, pa.Table]) -> None:
        self._spark = spark
        self._sources = sources
        self._cells: Cells = {}
        self._relations: set[str] = set()
        self.deciding: set[SourceColumn] = set()

    def trace(
        self,
        memory: Memory,
        capture: MakersOfRows | None,
        place: int,
        positions: Array,
        role: ValueRole,
    ) -> None:
        """Add the cells behind a column, by its place, of some rows of an answer."""
        engine = memory.engine
        output = engine.root.outputs[place].name

        @cache
        def sources() -> dict[str, SourceRows]:
            own = {name.lower() for name in engine.manifest.relations}
            given = {name: rows for name, rows in self._sources.items() if name.lower() in own}
            return read_sources(engine, self._spark, given)

        self._relations |= set(engine.manifest.relations)
        tracer = CellTracer(engine, lambda name: sources()[name])
        tracer.trace(engine.root, output, positions, role)
        behind = column_lineage(engine.root, output)
        self.deciding |= deciding_columns(engine.root)
        self.deciding |= {each for each in behind if each.subtype == "WINDOW"}
        for (relation, column, its), tables in tracer.cells.items():
            self._cells.setdefault((relation, column, its), []).extend(tables)
            if capture is None:
                continue
            for maker, columns, rows in capture._makers(relation, pa.concat_tables(tables)):
                if column in columns:
                    self.trace(maker.memory, maker, columns.index(column), rows, its)

    def check_sources(self) -> None:
        """Refuse rows that were given for relations which no query reads."""
        known = {name.lower() for name in self._relations}
        for name in self._sources:
            if name.lower() not in known:
                raise TrackingError(
                    f"The query reads no relation {name!r}.\n"
                    f"It reads: {', '.join(sorted(self._relations))}."
                )

    def found(self) -> dict[str, pa.Table]:
        """Return the cells by relation, each once, with the strongest of its roles."""
        tables: dict[str, list[pa.Table]] = {}
        for role in (ValueRole.COMPUTED, ValueRole.COPIED, ValueRole.CHOSEN):
            for (relation, name, its), parts in self._cells.items():
                if its is role:
                    table = pa.concat_tables(parts)
                    for key, value in (("_column", name), ("_role", role.value)):
                        table = table.append_column(
                            key, pa.array([value] * table.num_rows, pa.string())
                        )
                    tables.setdefault(relation, []).append(table)
        return {name: _distinct(pa.concat_tables(parts)) for name, parts in tables.items()}


def _distinct(cells: pa.Table) -> pa.Table:
    """Return each cell once, with its first role."""
    columns = [column.combine_chunks() for column in cells.columns[:-1]]
    _, first = distinct(columns, cells.num_rows)
    return cells.take(pa.array(np.sort(first)))


def lineage_of_columns(memory: Memory) -> pa.Table:
    """Return the columns behind each column; see :meth:`lipstick.Capture.column_lineage`."""
    root = memory.engine.root
    deciding = deciding_columns(root)
    rows = []
    for name, found in _behind(memory):
        rows += [(name, c.relation, c.column, c.kind, c.subtype) for c in sorted(found)]
        rows += [(name, c.relation, c.column, c.kind, c.subtype) for c in sorted(deciding - found)]
    names = ("column", "relation", "source", "kind", "subtype")
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return pa.table([pa.array(list(values), pa.string()) for values in columns], list(names))


def _behind(memory: Memory) -> Iterator[tuple[str, set[SourceColumn]]]:
    """Yield each column of the answer, and the columns that have a part in its values."""
    engine = memory.engine
    for name, output in zip(engine.manifest.names, engine.root.outputs, strict=True):
        yield name, column_lineage(engine.root, output.name)
