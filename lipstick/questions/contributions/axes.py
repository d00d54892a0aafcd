"""The rows that the inputs of a value come from, and their columns to group the inputs by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.reach import lineage
from lipstick.errors import CaptureError
from lipstick.questions.why.measure import is_number
from lipstick.questions.why.sources import SourceRows, read_sources, with_held_columns
from rewriter.interpret import on_clocks
from semiring.arrays.arrow import decoded
from semiring.arrays.segments import mask_of
from semiring.base import Array

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UNITS = ("day", "month", "year")
"""Spans that times are grouped by."""

_BINS = 20
_LOADED = 20_000_000
"""Values of a source that are read whole, where rows of it are shown."""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """The row that each input of a value has of one relation.

    Attributes
    ----------
    place
        Its place among the axes.
    name
        That of the relation, with a number where the query reads it several times.
    source
        The rows of the relation.
    rows
        The row of each input; -1: none.
    """

    place: int
    name: str
    source: SourceRows
    rows: Array

    @property
    def relation(self) -> str:
        """The relation."""
        return self.source.name

    @property
    def distinct(self) -> int:
        """The number of rows that the inputs have."""
        if len(self.rows) and self.rows[0] >= 0 and bool((self.rows[1:] > self.rows[:-1]).all()):
            return len(self.rows)
        return int(np.count_nonzero(_dense(self.rows)[1] >= 0))

    def take(self, rows: Array) -> pa.Table:
        """Return some rows with all columns; all NULL for -1."""
        chosen = rows[rows >= 0]
        source = self.source
        if len(source) * len(source.schema) <= _LOADED:
            # The next rows are there at once.
            source.load(source.schema.names)
            taken = [
                decoded(source.column(name).take(pa.array(chosen))) for name in source.schema.names
            ]
            table = pa.table(taken, names=source.schema.names)
        else:
            table = source.take(chosen)
        if (rows >= 0).all():
            return table
        places = np.where(rows >= 0, np.cumsum(rows >= 0) - 1, -1)
        return table.take(pa.array(places, pa.int64(), mask=places < 0))

    def groups(self, column: str, unit: str) -> InputGroups:
        """Return the groups of the inputs: by row, or by a column in units.

        Raises
        ------
        CaptureError
            When there is no such column, or its values are not compared.
        """
        if not column:
            codes, first = _dense(self.rows)
            return InputGroups(self, "", "", codes, first, None)
        if column not in self.source.schema.names:
            raise CaptureError(f"{self.name} has no column {column!r} to group by.")
        array, type_ = self.source.column(column), self.source.schema.field(column).type
        if not _is_grouped(type_):
            raise CaptureError(f"{column!r} has values of the type {type_}: not grouped by.")
        if not pa.types.is_dictionary(array.type) or array.dictionary.null_count:
            array = decoded(array)
        step: Any = None
        if unit in UNITS and pa.types.is_temporal(array.type):
            if pa.types.is_time(array.type) or pa.types.is_duration(array.type):
                raise CaptureError(f"{column!r} has no {unit}s.")
            array = pc.floor_temporal(on_clocks(array), unit=unit)
        elif unit == "range" and is_number(array.type):
            array, step = _binned(array, self.rows)
        encoded = array.dictionary_encode()
        # An input without a row has NULL in all columns.
        of_inputs = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)[self.rows]
        codes, first = _dense(np.where(self.rows < 0, -1, of_inputs))
        values = encoded.dictionary.take(pa.array(first, pa.int64(), mask=first < 0))
        return InputGroups(self, column, unit, codes, first, values, step)


@dataclass(frozen=True, slots=True)
class InputGroups:
    """Inputs in groups.

    Attributes
    ----------
    codes
        The group of each input.
    first
        The row of each group of rows; -1: those without a row.
    values
        The value of each group; None where the groups are rows.
    step
        The width of a range.
    """

    axis: Axis
    column: str
    unit: str
    codes: Array
    first: Array
    values: pa.Array | None
    step: float | None = None

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.first)

    @property
    def ordered(self) -> bool:
        """True if the groups are spans and ranges, which are shown in their order."""
        return self.values is not None and self.unit in (*UNITS, "range")


def _dense(codes: Array) -> tuple[Array, Array]:
    """Return codes from 0 without gaps, and the old code of each."""
    if len(codes) and codes[0] >= 0 and bool((codes[1:] > codes[:-1]).all()):
        return np.arange(len(codes)), codes
    shifted = codes + 1
    used = np.bincount(shifted) > 0
    return (np.cumsum(used) - 1)[shifted], np.flatnonzero(used) - 1


def _binned(array: pa.Array, rows: Array) -> tuple[pa.Array, float]:
    """Return the lower bound of each value's range, and the width: 1, 2 or 5 times 10^n."""
    values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    finite = np.isfinite(values)
    inside = mask_of(rows[rows >= 0], len(values))
    least, most = (
        f(values[inside & finite], initial=i) for f, i in ((np.min, np.inf), (np.max, -np.inf))
    )
    if least > most:
        least = most = 0.0
    width = (most - least) / _BINS or 1.0
    power = 10.0 ** np.floor(np.log10(width))
    step = float(next(n * power for n in (1, 2, 5, 10) if n * power >= width * 0.999))
    # The bounds are the numbers that their texts are, which conditions compare with.
    bounds = np.arange(np.floor(least / step) - 1, np.floor(most / step) + 3)
    bounds = np.array([float(f"{bound * step:.12g}") for bound in bounds])
    places = np.searchsorted(bounds, values, side="right") - 1
    found = np.where(finite, bounds[np.clip(places, 0, len(bounds) - 1)], np.nan)
    return pa.array(found, mask=np.asarray(array.is_null())), step


class Axes:
    """The axes of a capture's values; rows of sources are read once.

    Sources are read in this process where they are Parquet files that did not change since the
    capture, else by Spark. Without it, only the columns of others are known that the capture holds.
    """

    def __init__(self, memory: Memory, spark: SparkSession | None = None) -> None:
        self._memory = memory
        self._spark = spark
        self._of_blocks: dict[str, list[Axis]] = {}

    @cached_property
    def sources(self) -> Mapping[str, SourceRows]:
        """The rows of the relations with tokens, by name."""
        return read_sources(self._memory.engine, self._spark, {})

    def of_members(self, rows: GroupRows, members: Array) -> list[Axis]:
        """Return the axes of some members of a block: its scans; none where it reads subqueries."""
        name = rows.block.name
        if name not in self._of_blocks:
            self._of_blocks[name] = [] if rows.members.joined else self._scans(rows)
        return [replace(axis, rows=axis.rows[members]) for axis in self._of_blocks[name]]

    def of_row(self, at: Array) -> list[Axis]:
        """Return the axes of all inputs of a row: one a relation, each with inputs of its own."""
        axes: list[Axis] = []
        for name, tokens in lineage(self._memory.engine, at).items():
            if tokens.num_rows:
                source = self.sources[name]
                axes.append(Axis(len(axes), name, source, source.find(tokens)))
        return axes

    def _scans(self, rows: GroupRows) -> list[Axis]:
        inside = rows.members
        if inside.dataset is None:
            return []
        relations = [token.relation for token in inside.block.tokens]
        axes: list[Axis] = []
        for number, token in enumerate(inside.block.tokens):
            source = self.sources[token.relation]
            places = source.rows_of(inside, number)
            if not source.whole:
                source = with_held_columns(source, inside, number, places)
            several = relations.count(token.relation) > 1
            name = f"{token.relation} ({number + 1})" if several else token.relation
            axes.append(Axis(number, name, source, places))
        return axes


def _is_grouped(kind: pa.DataType) -> bool:
    """Return True if values of a type are compared, so that rows are grouped by them."""
    types = pa.types
    if types.is_dictionary(kind):
        return _is_grouped(kind.value_type)
    is_text = types.is_string(kind) or types.is_large_string(kind)
    return bool(is_number(kind) or is_text or types.is_temporal(kind) or types.is_boolean(kind))
