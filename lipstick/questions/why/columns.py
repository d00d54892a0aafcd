"""Conditions on the columns of a relation, and which of its rows satisfy them.

A column offers its values as *codes*, one small integer a row: of values that are compared for
equality, or of the bins between quantile cuts, whose runs are ranges. -1: no condition.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.questions.why.sources import SourceRows
from rewriter.emit.conditions import conjunction_sql, equality_sql, membership_sql, range_sql
from semiring.base import Array

BINS = 40
"""Bins of a column of numbers at most."""

_VALUES = 50_000
"""Distinct values that are compared for equality at most."""

_SAMPLED = 100_000
"""Rows from whose values quantiles are taken."""

_TAILS = np.array([0.002, 0.005, 0.01, 0.02])
_CUTS = np.unique(np.concatenate([_TAILS, np.linspace(0.0, 1.0, BINS - 7), 1 - _TAILS]))


@dataclass(frozen=True, slots=True)
class ColumnCondition:
    """A condition on one column.

    Attributes
    ----------
    text
        For people.
    sql
        For Spark.
    """

    column: str
    text: str
    sql: str


@dataclass(frozen=True, slots=True)
class Predicate:
    """A conjunction of conditions on the columns of one relation."""

    relation: str
    conditions: tuple[ColumnCondition, ...]

    @property
    def text(self) -> str:
        """The predicate for people."""
        return " and ".join(condition.text for condition in self.conditions)

    @property
    def sql(self) -> str:
        """The predicate as Spark SQL over the columns of the relation."""
        return conjunction_sql([condition.sql for condition in self.conditions])


class ValueColumn:
    """A column whose values are compared for equality."""

    def __init__(self, name: str, codes: Array, labels: pa.Array) -> None:
        self.name = name
        self.codes = codes
        self._labels = labels

    @property
    def count(self) -> int:
        """The number of codes."""
        return len(self._labels)

    def condition(self, code: int) -> ColumnCondition:
        """Return the condition of a code."""
        value = self._labels[code].as_py()
        if isinstance(value, float) and np.isnan(value):
            return ColumnCondition(self.name, f"{self.name} = NaN", equality_sql(self.name, value))
        text = f"{self.name} is NULL" if value is None else f"{self.name} = {shown(value)}"
        return ColumnCondition(self.name, text, equality_sql(self.name, value))


class MembershipColumn(ValueColumn):
    """A column whose values are, or are not, keys of another relation."""

    def __init__(self, name: str, inside: Array, other: str, key: str) -> None:
        super().__init__(name, (~inside).astype(np.int64), pa.array([True, False]))
        self._other = other
        self._key = key

    def condition(self, code: int) -> ColumnCondition:
        """Return the condition of a code: 0 in, 1 not in the other relation."""
        word = "is not in" if code else "is in"
        sql = membership_sql(self.name, self._other, self._key, negated=bool(code))
        return ColumnCondition(self.name, f"{self.name} {word} {self._other}", sql)


class NumberColumn:
    """A column of numbers or moments, compared with bounds."""

    def __init__(self, name: str, column: pa.Array) -> None:
        self.name = name
        self.column = column
        self._numbers = ordered_numbers(column)

    @cached_property
    def whole(self) -> ColumnBins:
        """Bins of the whole column."""
        return self.bins(None)

    def bins(self, rows: Array | None, near: tuple[float, float] | None = None) -> ColumnBins:
        """Return bins between quantiles of the values of some rows; None: all.

        Parameters
        ----------
        near
            Two values around which bins are finer than elsewhere.
        """
        numbers = self._numbers if rows is None else self._numbers[rows]
        valid = numbers[~np.isnan(numbers)]
        if len(valid) > _SAMPLED:
            valid = valid[:: len(valid) // _SAMPLED]
        distinct = np.unique(valid)
        if len(distinct) > BINS and near is None:
            distinct = np.unique(np.quantile(valid, _CUTS, method="lower"))
        elif len(distinct) > BINS:
            assert near is not None
            distinct = np.unique(np.concatenate([_around(np.sort(valid), at) for at in near]))
        codes = np.searchsorted(distinct, self._numbers, side="right") - 1
        codes = np.where(np.isnan(self._numbers), -1, np.maximum(codes, 0))
        return ColumnBins(self, distinct, codes)

    def condition(self, inside: Array) -> ColumnCondition:
        """Return the condition of the smallest range with the values of some rows.

        Parameters
        ----------
        inside
            Boolean array: the rows whose values the range has; no others between them.
        """
        numbers = self._numbers[inside]
        least, most = float(numbers.min()), float(numbers.max())
        rows = np.flatnonzero(inside)
        low = self.column[int(rows[int(numbers.argmin())])].as_py()
        high = self.column[int(rows[int(numbers.argmax())])].as_py()
        if least == most:
            sql = equality_sql(self.name, low)
            return ColumnCondition(self.name, f"{self.name} = {shown(low)}", sql)
        first, last = self._ends
        nan = pa.types.is_floating(self.column.type) and self._has_nan
        below = None if least <= first else low
        above = None if most >= last and not nan else high
        if below is None and above is None:
            below = low
        text = f"{self.name} from {shown(low)} to {shown(high)}"
        if below is None:
            text = f"{self.name} <= {shown(high)}"
        elif above is None:
            text = f"{self.name} >= {shown(low)}"
        return ColumnCondition(self.name, text, range_sql(self.name, below, above))

    def between(self, least: float, most: float) -> Array:
        """Return a Boolean array: the rows with values in a range."""
        inside: Array = (self._numbers >= least) & (self._numbers <= most)
        return inside

    @cached_property
    def _ends(self) -> tuple[float, float]:
        return float(np.nanmin(self._numbers)), float(np.nanmax(self._numbers))

    @cached_property
    def _has_nan(self) -> bool:
        return bool(pc.any(pc.is_nan(self.column)).as_py())


@dataclass(frozen=True, slots=True)
class ColumnBins:
    """The bins of a column of numbers: code `c` has the values from `cuts[c]` below the next."""

    numbers: NumberColumn
    cuts: Array
    codes: Array

    @property
    def name(self) -> str:
        """The column."""
        return self.numbers.name

    @property
    def count(self) -> int:
        """The number of bins."""
        return len(self.cuts)


def _around(ordered: Array, at: float) -> Array:
    """Return distinct values near one, closer ones more densely."""
    middle = int(np.searchsorted(ordered, at))
    steps = np.unique(np.geomspace(1, max(len(ordered) // 12, 2), 10).astype(np.int64))
    places = np.concatenate([middle - steps, [middle], middle + steps])
    near: Array = ordered[np.unique(np.clip(places, 0, len(ordered) - 1))]
    return near


def ordered_numbers(column: pa.Array) -> Array:
    """Return values as float64 in their order, NULL and NaN as NaN."""
    kind = column.type
    if pa.types.is_date32(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        column = column.cast(pa.int64())
    numbers: Array = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers


class RelationColumns:
    """The columns of a relation that conditions are looked for on."""

    def __init__(
        self, rows: SourceRows, others: Sequence[SourceRows], wanted: Collection[str]
    ) -> None:
        self.rows = rows
        self._wanted = wanted
        self.equalities: list[ValueColumn] = []
        self.ranges: list[NumberColumn] = []
        for field in rows.table.schema:
            self._add(field.name, rows.table.column(field.name))
        for other in others:
            self._add_membership(other)

    def _add(self, name: str, column: pa.ChunkedArray) -> None:
        if name not in self._wanted:
            return
        array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        kind = array.type
        is_ranged = (
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_decimal(kind)
            or pa.types.is_date32(kind)
            or pa.types.is_timestamp(kind)
        )
        if is_ranged and array.null_count < len(array):
            numbers = NumberColumn(name, array)
            if not np.isnan(numbers._numbers).all():
                self.ranges.append(numbers)
        equal = is_ranged or pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if equal or pa.types.is_boolean(kind):
            encoded = array.dictionary_encode(null_encoding="encode")
            labels = encoded.dictionary
            most = BINS if is_ranged else min(_VALUES, max(len(array) // 2, 2))
            codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
            if len(labels) > most and array.null_count:
                # Too many values to be compared with; NULL is one.
                null = array.is_null().to_numpy(zero_copy_only=False)
                codes, labels = np.where(null, 0, -1), pa.nulls(1, kind)
            if 1 < len(labels) <= most or (len(labels) == 1 and array.null_count):
                self.equalities.append(ValueColumn(name, codes, labels))

    def _add_membership(self, other: SourceRows) -> None:
        if len(other.record.token) != 1 or not other.whole:
            return
        (key,) = other.record.token
        if key not in other.record.columns or key not in self._wanted:
            return
        ours, theirs = self.rows.table.column(key), other.table.column(key)
        if ours.type != theirs.type:
            return
        inside = pc.is_in(ours, value_set=theirs).combine_chunks()
        mask = inside.to_numpy(zero_copy_only=False) & ours.is_valid().combine_chunks().to_numpy(
            zero_copy_only=False
        )
        if mask.any() and not mask.all():
            self.equalities.append(MembershipColumn(key, mask, other.name, key))


def shown(value: Any) -> str:
    """Return a value for people."""
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.12g}"
    return str(value)
