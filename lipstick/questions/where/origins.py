"""The cells behind a value, and the columns behind all values, as users see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from graphquery.exchange.openlineage import COLUMN_LINEAGE, PRODUCER
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.memory import Memory
from lipstick.errors import CaptureError
from lipstick.questions.where.cell_tracer import CellTracer
from lipstick.questions.why.answer import described
from lipstick.questions.why.measure import column_of, rows_with
from lipstick.questions.why.sources import read_sources
from rewriter.analysis.column_lineage import (
    SourceColumn,
    ValueRole,
    column_lineage,
    deciding_columns,
)
from semiring.door import checked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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

    def __str__(self) -> str:
        lines = [f"{self.subject} is {self.value}: {self.kind}"]
        for name, table in self.cells.items():
            for row in table.slice(0, 10).to_pylist():
                column, role = row.pop("_column"), row.pop("_role")
                lines.append(f"- {role} {name}.{column} where {described(row)}")
            if table.num_rows > 10:
                lines.append(f"- {table.num_rows - 10:,} more cells of {name}")
        return "\n".join(lines)

    __repr__ = __str__


def cell_origins(
    memory: Memory,
    spark: SparkSession | None,
    column: str,
    where: Mapping[str, Any],
    sources: Mapping[str, pa.Table],
) -> CellOrigins:
    """Return the cells behind a cell of the answer; see :meth:`lipstick.Capture.where`."""
    engine, answer = memory.engine, memory.answer()
    place = column_of(answer.column_names, column)
    rows = rows_with(answer, where)
    if len(rows) != 1:
        named = f" with {described(dict(where))}" if where else ""
        raise CaptureError(
            f"The answer has {len(rows)} rows{named}: name one by the values of its columns, "
            "where={...}."
        )
    if engine.root.copies:
        raise CaptureError("Rows of EXCEPT ALL and INTERSECT ALL are there several times.")
    positions = engine.base(engine.root.name).ordered[rows]
    output = engine.root.outputs[place].name
    tracer = CellTracer(engine, read_sources(engine, spark, sources))
    tracer.trace(engine.root, output, positions)
    tables: dict[str, list[pa.Table]] = {}
    for role in (ValueRole.COMPUTED, ValueRole.COPIED, ValueRole.CHOSEN):
        for (relation, name, its), parts in tracer.cells.items():
            if its is role:
                table = pa.concat_tables(parts)
                column_names = pa.array([name] * table.num_rows, pa.string())
                roles = pa.array([role.value] * table.num_rows, pa.string())
                table = table.append_column("_column", column_names).append_column("_role", roles)
                tables.setdefault(relation, []).append(table)
    cells = {name: _distinct(pa.concat_tables(parts)) for name, parts in tables.items()}
    subject = column + (f" of {described(dict(where))}" if where else "")
    value = answer.column(place)[int(rows[0])].as_py()
    return CellOrigins(subject, value, cells, deciding_columns(engine.root))


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


def lineage_facet(memory: Memory, namespace: str) -> dict[str, Any]:
    """Return the facet; see :meth:`lipstick.Capture.column_lineage_facet`."""

    def fields(found: set[SourceColumn]) -> list[dict[str, Any]]:
        transformations: dict[tuple[str, str], list[dict[str, str]]] = {}
        for each in sorted(found):
            kind = {"type": each.kind, "subtype": each.subtype}
            transformations.setdefault((each.relation, each.column), []).append(kind)
        return [
            {"namespace": namespace, "name": name, "field": column, "transformations": each}
            for (name, column), each in transformations.items()
        ]

    return {
        "_producer": PRODUCER,
        "_schemaURL": COLUMN_LINEAGE,
        "fields": {name: {"inputFields": fields(found)} for name, found in _behind(memory)},
        "dataset": fields(deciding_columns(memory.engine.root)),
    }
