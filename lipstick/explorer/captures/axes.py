"""The rows that the inputs of a value come from, and their columns to group the inputs by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.reach import lineage
from lipstick.explorer.captures.input_rows import source_files
from lipstick.explorer.cells import cell, cells, kind
from lipstick.explorer.errors import ExploreError
from lipstick.questions.why.sources import SourceRows, read_sources
from rewriter.blocks import Block
from rewriter.interpret import interpret
from semiring.arrow import decoded
from semiring.base import Array

UNITS = ("day", "month", "year")
"""Spans that times are grouped by."""

_BINS = 20
_LOADED = 20_000_000
"""Values of a source that are read whole, where rows of it are shown."""


class AxisRows(Protocol):
    """Rows with columns: of a source, or of a subquery."""

    schema: pa.Schema

    def column(self, name: str, /) -> pa.Array: ...
    def take(self, rows: Array, /) -> pa.Table: ...


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """The row that each input of a value has of one relation or subquery.

    Attributes
    ----------
    place
        Its place among the axes.
    relation
        None for the rows of a subquery, which have no tokens.
    rows
        The row of each input; -1: none.
    note
        The reason why there are only some of the relation's columns; empty where all are there.
    """

    place: int
    name: str
    relation: str | None
    key: tuple[str, ...]
    table: AxisRows
    rows: Array
    note: str = ""

    @property
    def distinct(self) -> int:
        """The number of rows that the inputs have."""
        if len(self.rows) and self.rows[0] >= 0 and bool((self.rows[1:] > self.rows[:-1]).all()):
            return len(self.rows)
        return int(np.count_nonzero(_dense(self.rows)[1] >= 0))

    def take(self, rows: Array) -> pa.Table:
        """Return some rows with all columns; all NULL for -1."""
        chosen = rows[rows >= 0]
        source = self.table
        if isinstance(source, SourceRows) and len(source) * len(source.schema) <= _LOADED:
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
        ExploreError
            When there is no such column, or its values are not compared.
        """
        if not column:
            codes, first = _dense(self.rows)
            return InputGroups(self, "", "", codes, first, None)
        if column not in self.table.schema.names:
            raise ExploreError(f"{self.name} has no column {column!r} to group by.")
        array, type_ = self.table.column(column), self.table.schema.field(column).type
        if kind(type_) == "other":
            raise ExploreError(f"{column!r} has values of the type {type_}: not grouped by.")
        if not pa.types.is_dictionary(array.type) or array.dictionary.null_count:
            array = decoded(array)
        step: Any = None
        if unit in UNITS and kind(array.type) == "time":
            if pa.types.is_time(array.type) or pa.types.is_duration(array.type):
                raise ExploreError(f"{column!r} has no {unit}s.")
            array = pc.floor_temporal(array, unit=unit)
        elif unit == "range" and kind(array.type) == "number":
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

    def labels(self, chosen: Array) -> list[str | None]:
        """Return the labels of some groups; None: NULL, or no row."""
        if self.values is None:
            return row_labels(self.axis, self.first[chosen])
        values = self.values.take(pa.array(chosen)).to_pylist()
        if self.step is not None:
            return [
                None if v is None else f"{_plain(v)} to {_plain(v + self.step)}" for v in values
            ]
        length = {"day": 10, "month": 7, "year": 4}.get(self.unit)
        return [None if v is None else str(cell(v))[:length] for v in values]

    def keys(self, chosen: Array) -> list[list[str | None] | None]:
        """Return the key of each of some groups that are rows; None: it is not a row with a key."""
        keys: list[list[str | None] | None] = [None] * len(chosen)
        if self.values is None and isinstance(self.axis.table, SourceRows):
            rows = self.first[chosen]
            there = np.flatnonzero(rows >= 0)
            tokens = self.axis.table.tokens.take(pa.array(rows[there]))
            for place, key in zip(there.tolist(), cells(tokens, None), strict=True):
                keys[place] = key
        return keys

    def conditions(self, chosen: Array) -> list[str | None]:
        """Return the condition of each of some groups on the column, as people type it."""
        askable = isinstance(self.axis.table, SourceRows) and (
            self.axis.table.whole or self.column in self.axis.key
        )
        if self.values is None or not askable:
            return [None] * len(chosen)
        return [self._condition(value) for value in self.values.take(pa.array(chosen)).to_pylist()]

    def _condition(self, value: Any) -> str | None:
        name = self.column if self.column.isidentifier() else f"`{self.column}`"
        if value is None:
            return f"{name} is null"
        if self.step is not None and not np.isfinite(value):
            return None
        if self.step is not None:
            return f"{name} >= {_plain(value)} and {name} < {_plain(value + self.step)}"
        if self.unit in UNITS and kind(self.axis.table.schema.field(self.column).type) == "time":
            code = {"day": "D", "month": "M", "year": "Y"}[self.unit]
            span = np.array([str(cell(value))[:10]], "datetime64[D]").astype(f"datetime64[{code}]")
            first, after = (each.astype("datetime64[D]")[0] for each in (span, span + 1))
            return f"{name} >= '{first}' and {name} < '{after}'"
        text = str(cell(value, None))
        quoted = text if kind(pa.scalar(value).type) in ("number", "truth") else _quoted(text)
        return f"{name} = {quoted}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _plain(value: float) -> str:
    return f"{value:.12g}"


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
    inside = np.zeros(len(values), dtype=np.bool_)
    inside[rows[rows >= 0]] = True
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
    bounds = np.array([float(_plain(bound * step)) for bound in bounds])
    places = np.searchsorted(bounds, values, side="right") - 1
    found = np.where(finite, bounds[np.clip(places, 0, len(bounds) - 1)], np.nan)
    return pa.array(found, mask=np.asarray(array.is_null())), step


def row_labels(axis: Axis, rows: Array) -> list[str | None]:
    """Return the keys of some rows as people write them; None: no row."""
    from lipstick.explorer.captures.why import labels

    there = np.flatnonzero(rows >= 0)
    if axis.relation is None:
        texts: Sequence[str | None] = [f"row {row + 1:,}" for row in rows[there].tolist()]
    else:
        assert isinstance(axis.table, SourceRows)
        tokens = axis.table.tokens.take(pa.array(rows[there]))
        texts = labels(axis.table.record.naming, tokens)
    named: list[str | None] = [None] * len(rows)
    for place, text in zip(there.tolist(), texts, strict=True):
        named[place] = text
    return named


class Axes:
    """The axes of a capture's values; rows of sources are read once.

    Sources are read in this process: Parquet files that did not change since the capture. Of other
    relations only the columns are known that the capture holds.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._of_blocks: dict[str, list[Axis]] = {}

    @cached_property
    def sources(self) -> Mapping[str, SourceRows]:
        """The rows of the relations with tokens, by name."""
        return read_sources(self._memory.engine, None, {})

    def of_members(self, rows: GroupRows, members: Array) -> list[Axis]:
        """Return the axes of some members of a block: its scans, or the subqueries it reads."""
        name = rows.block.name
        if name not in self._of_blocks:
            self._of_blocks[name] = self._scans(rows) or self._subqueries(rows)
        return [replace(axis, rows=axis.rows[members]) for axis in self._of_blocks[name]]

    def of_row(self, at: Array) -> list[Axis]:
        """Return the axes of all inputs of a row: one a relation, each with inputs of its own."""
        axes: list[Axis] = []
        for name, tokens in lineage(self._memory.engine, at).items():
            if tokens.num_rows:
                source = self.sources[name]
                axes.append(self._axis(len(axes), name, source, source.find(tokens)))
        return axes

    def _axis(self, place: int, name: str, source: SourceRows, rows: Array) -> Axis:
        return Axis(place, name, source.name, source.record.token, source, rows, _note(source))

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
                source = _with_captured(
                    source, inside.block, token.alias, places, inside.dataset.take
                )
            several = relations.count(token.relation) > 1
            name = f"{token.relation} ({number + 1})" if several else token.relation
            axes.append(self._axis(number, name, source, places))
        return axes

    def _subqueries(self, rows: GroupRows) -> list[Axis]:
        inside = rows.members
        axes: list[Axis] = []
        for lookup in inside.lookups:
            table = _Subquery(self._memory, lookup.block)
            places = inside.references.of(lookup, np.arange(inside.count))
            axes.append(Axis(len(axes), f"subquery {lookup.block.name}", None, (), table, places))
        return axes


def _note(source: SourceRows) -> str:
    if source.whole:
        return ""
    try:
        source_files(source.record)
    except ExploreError as error:
        return f"{str(error).partition(chr(10))[0]} The columns here are those of the capture."
    return "Its columns are not those that were captured."


def _with_captured(
    source: SourceRows,
    block: Block,
    alias: str,
    places: Array,
    take: Callable[[str, Array], pa.Array],
) -> SourceRows:
    """Add the columns that the members hold of a scan as it is, where these are all its rows."""
    assert block.core is not None
    member = np.full(len(source), -1, dtype=np.int64)
    there = np.flatnonzero(places >= 0)
    member[places[there]] = there
    if (member < 0).any():
        return source
    names = source.schema.names
    source.load(names)
    table = pa.table([decoded(source.column(name)) for name in names], names=names)
    for name, scalar in block.core.select:
        column = interpret(scalar).column
        bare = column is not None and column[0] == alias
        if column is not None and bare and column[1] not in table.column_names:
            table = table.append_column(column[1], decoded(take(name, member)))
    return SourceRows.of_table(source.record, table, whole=False)


class _Subquery:
    """The rows of a block below, with its columns."""

    def __init__(self, memory: Memory, block: Block) -> None:
        self._state = memory.engine.base(block.name)
        self._names = [output.name for output in block.outputs]
        nothing = np.zeros(0, dtype=np.int64)
        types = [self._state.take(name, nothing).type for name in self._names]
        self.schema = pa.schema(list(zip(self._names, types, strict=True)))

    def column(self, name: str, /) -> pa.Array:
        return self._state.take(name, np.arange(self._state.size))

    def take(self, rows: Array, /) -> pa.Table:
        return pa.table([self._state.take(name, rows) for name in self._names], self._names)
