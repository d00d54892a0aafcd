"""The cells behind a reason: the rows that a candidate is made of, and values that fit them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from difflib import SequenceMatcher
from typing import Any

import pyarrow as pa

from lipstick.questions.missing.answer import LossOrigin
from lipstick.questions.missing.why_not import Tracer
from rewriter.algebra import Scalar as Condition
from rewriter.algebra import Scan, references
from rewriter.emit.candidate_values import (
    bounds,
    constants,
    holding,
    nearest_values,
    row_with_key,
    with_literals,
)
from rewriter.emit.operators import OperatorQueries
from rewriter.scalars.text import text

_HUNDREDTH = Decimal("0.01")
_TEMPORAL = {"date32[day]": "DATE"}


@dataclass(frozen=True, slots=True)
class DataCell:
    """A column of a row of a relation.

    Attributes
    ----------
    attribute
        The column in the plan.
    """

    scan: Scan
    key: Mapping[str, Any]
    attribute: str
    column: str


@dataclass(slots=True)
class CandidateCells:
    """The cells of the rows that a candidate is made of, at the step that loses it.

    Attributes
    ----------
    values
        Values by attribute: of the candidate at this step, and of the rows that it is made of.
    cells
        The cells by attribute.
    """

    tracer: Tracer
    origin: LossOrigin
    values: dict[str, Any] = field(init=False)
    cells: dict[str, DataCell] = field(init=False)

    def __post_init__(self) -> None:
        flow, values = self.origin.flow, self.origin.values
        self.values = dict(values)
        self.cells = cells_of(flow.scan, self.origin.key)
        for join in flow.joins:
            for scan, tokens in join.scans:
                if values.get(join.there) is not None:
                    names = self.tracer.tokens[scan.relation].columns
                    key = {n: values.get(own) for n, own in zip(names, tokens, strict=True)}
                    if None not in key.values():
                        self.cells |= cells_of(scan, key)

    def over_cells(self, condition: Condition) -> Condition:
        """Return a condition over columns of relations, whose values are known."""
        expanded = self.tracer.texts.expanded(condition, (), self.origin.flow.renamed)
        for name in references(expanded):
            if name not in self.values and name in self.cells:
                self._read(self.cells[name])
        return expanded

    def _read(self, cell: DataCell) -> None:
        view = self.tracer.tokens[cell.scan.relation].view
        rows = self.tracer.run(text(row_with_key(view, cell.scan.columns, cell.key))).to_pylist()
        for row in rows:
            for attribute, column in zip(cell.scan.output, cell.scan.columns, strict=True):
                self.values.setdefault(attribute.id, row[column])


def cells_of(scan: Scan, key: Mapping[str, Any]) -> dict[str, DataCell]:
    """Return the cells of the row with a key, by attribute."""
    pairs = zip(scan.output, scan.columns, strict=True)
    return {a.id: DataCell(scan, key, a.id, column) for a, column in pairs}


def fitting(
    tracer: Tracer,
    scan: Scan,
    attribute: str,
    conditions: Sequence[Condition],
    values: Mapping[str, Any],
    also: Sequence[Any] = (),
) -> list[Any]:
    """Return values of a column with which conditions hold, nearest to its value first.

    Constants that the conditions compare it with, the next ones beside these, and values of other
    rows, are tried, and ``also`` others; all other columns keep their ``values``.
    """
    others = {name: value for name, value in values.items() if name != attribute}
    try:
        parts = [with_literals(condition, others) for condition in conditions]
    except TypeError:
        return []
    if any(set(references(part)) - {attribute} for part in parts):
        return []
    queries = OperatorQueries(tracer.tokens, tracer.sql)
    old = values.get(attribute)
    rows = queries.rows(scan)
    column = next(each.column() for each in scan.output if each.id == attribute)
    try:
        query = nearest_values(rows, column, parts, old, queries)
    except TypeError:
        return []
    known = tracer.run(text(query))
    return fitting_values(tracer, attribute, parts, old, known.column(0), also)


def fitting_values(
    tracer: Tracer,
    attribute: str,
    parts: Sequence[Condition],
    old: Any,
    known: pa.ChunkedArray,
    also: Sequence[Any] = (),
) -> list[Any]:
    """Return values with which conditions on one column hold, nearest to the old one first.

    Parameters
    ----------
    known
        Values that may be right, of the type of the column.
    """
    kind = known.type
    compared = bounds(parts, attribute)
    tried: list[Any] = [True, False] if pa.types.is_boolean(kind) else []
    if compared:
        found = tracer.run(text(constants(compared, _sql_type(kind)))).to_pylist()[0]
        tried += [each for value in found.values() for each in _beside(value, kind)]
    tried += [each for each in [*known.to_pylist(), *also] if each is not None]
    tried = [value for n, value in enumerate(tried) if value != old and value not in tried[:n]]
    if not tried:
        return []
    holds = list(tracer.run(text(holding(parts, attribute, tried))).to_pylist()[0].values())
    fits = [value for value, held in zip(tried, holds, strict=True) if held]
    return sorted(fits, key=lambda value: distance(old, value))


def _sql_type(kind: pa.DataType) -> str | None:
    """Return the SQL type of constants that are compared with a column; None: as they are."""
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP_NTZ" if kind.tz is None else "TIMESTAMP"
    return _TEMPORAL.get(str(kind))


def _beside(value: Any, kind: pa.DataType) -> list[Any]:
    """Return a constant, and the next ones, as values of a type; [] if it is none of the type."""
    if value is None:
        return [None]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return [str(value)]
    if isinstance(value, dt.date) and (pa.types.is_temporal(kind)):
        return [value, beyond(value, upwards=True), beyond(value, upwards=False)]
    try:
        number = Decimal(str(value))
    except ArithmeticError:
        return []
    if not number.is_finite() or isinstance(value, bool):
        return []
    if pa.types.is_integer(kind):
        return [int(number.to_integral_value(r)) + n for r in _ROUNDED for n in (0, 1, -1)]
    step = _HUNDREDTH
    if pa.types.is_decimal(kind):
        step = Decimal(1).scaleb(-kind.scale)
    rounded = [number.quantize(step, rounding=each) for each in _ROUNDED]
    near = [each + sign * step for each in rounded for sign in (0, 1, -1)]
    if pa.types.is_decimal(kind):
        return near
    return [float(number), *map(float, near)] if pa.types.is_floating(kind) else []


_ROUNDED = (ROUND_FLOOR, ROUND_CEILING)


def distance(old: Any, new: Any) -> float:
    """Return how far a value is from an old one; infinite if that cannot be known."""
    if isinstance(old, str) and isinstance(new, str):
        alike = SequenceMatcher(None, old.upper(), new.upper(), autojunk=False).ratio()
        return 1 - alike + (old[:1] != new[:1]) / 100
    try:
        between = old - new
    except TypeError:
        return float("inf") if new is None else 0.0 if old is None else float("inf")
    return abs(between.total_seconds() if isinstance(between, dt.timedelta) else float(between))


def beyond(value: Any, *, upwards: bool) -> Any:
    """Return the next value above or below; None if there is none."""
    sign = 1 if upwards else -1
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        return f"{value}0" if upwards else value[:-1] or None
    if isinstance(value, dt.date):
        unit = "seconds" if isinstance(value, dt.datetime) else "days"
        return value + sign * dt.timedelta(**{unit: 1})
    if isinstance(value, Decimal):
        return value + sign * Decimal((0, (1,), min(int(value.as_tuple().exponent), 0)))
    return value + sign if isinstance(value, int | float) else None
