"""Conditions on the columns of a relation, and which of its rows satisfy them.

A column offers its values as *codes*, one small integer a row: of values that are compared for
equality, or of the bins between quantile cuts, whose runs are ranges. -1: no condition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.questions.why.sources import SourceRows
from lipstick.questions.why.terms import Term, computed_terms, plain_term
from rewriter.emit.conditions import (
    columns_sql,
    comparison_sql,
    conjunction_sql,
    equality_sql,
    membership_sql,
    prefix_sql,
    range_sql,
)
from rewriter.interpret import on_clock
from semiring.arrays.arrow import decoded
from semiring.arrays.segments import ascending
from semiring.base import Array

BINS = 40
"""Bins of a column of numbers at most."""

_VALUES = 2_000
"""Distinct values that are compared for equality at most: the most frequent ones."""

_HITS = 4
"""Rows of a value, at least, where most values have few."""

_TAILS = np.array([0.002, 0.005, 0.01, 0.02])
_CUTS = np.unique(np.concatenate([_TAILS, np.linspace(0.0, 1.0, BINS - 7), 1 - _TAILS]))


@dataclass(frozen=True, slots=True)
class ColumnCondition:
    """A condition on a column, or on a function of columns.

    Attributes
    ----------
    text
        For people.
    holds
        From the values of the term to a Boolean per row.
    written
        Writes it as Spark SQL.
    """

    term: Term
    text: str
    holds: Callable[[pa.Array], Array] = field(repr=False, compare=False)
    written: Callable[[], str] = field(repr=False, compare=False)

    @property
    def sql(self) -> str:
        """The condition as Spark SQL."""
        return self.written()

    @property
    def column(self) -> str:
        """The name of its term."""
        return self.term.name

    def mask(self, source: SourceRows) -> Array:
        """Return a Boolean per row of a relation, of coded columns by their distinct values."""
        return _by_value(self.term.of(source), self.holds)


def _by_value(column: pa.Array, holds: Callable[[pa.Array], Array]) -> Array:
    if not pa.types.is_dictionary(column.type):
        return holds(column)
    values = column.dictionary
    of_values = np.append(holds(values), holds(pa.nulls(1, values.type)))
    indices = column.indices.fill_null(len(values)) if column.null_count else column.indices
    mask: Array = of_values[indices.to_numpy(zero_copy_only=False)]
    return mask


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

    def rows(self, source: SourceRows) -> Array:
        """Return the positions of all rows of its relation that satisfy it."""
        masks = [condition.mask(source) for condition in self.conditions]
        return np.flatnonzero(np.logical_and.reduce(masks))


def row_predicate(source: SourceRows, row: int) -> Predicate:
    """Return the predicate that names a row by its key of one column."""
    (key,) = source.record.token
    condition = equality(plain_term(source, key), source.column(key)[row])
    return Predicate(source.name, (condition,))


class ValueColumn:
    """A column whose values are compared for equality."""

    def __init__(self, term: Term, codes: Array, labels: pa.Array) -> None:
        self.term = term
        self.name = term.name
        self.codes = codes
        self._labels = labels

    @property
    def count(self) -> int:
        """The number of codes."""
        return len(self._labels)

    def condition(self, code: int) -> ColumnCondition:
        """Return the condition of a code."""
        return equality(self.term, self._labels[code])

    def among(self, codes: Sequence[int]) -> ColumnCondition | None:
        """Return the condition that the value is one of several; None: it has no words."""
        if self.term.other is not None or self.term.letters:
            return None
        values = self._labels.take(pa.array(sorted(codes)))
        if values.null_count:
            return None
        plain = sorted(values.to_pylist())
        return ColumnCondition(
            self.term,
            f"{self.name} in ({', '.join(map(shown, plain))})",
            lambda c: _mask(pc.is_in(c, value_set=values.cast(c.type))),
            lambda: comparison_sql(self.term.operand, "in", plain),
        )

    def other_than(self, code: int) -> ColumnCondition | None:
        """Return the condition that there is another value than one; None: it has no words."""
        value = self._labels[code]
        if self.term.other is not None or self.term.letters or not value.is_valid:
            return None
        plain = value.as_py()
        return ColumnCondition(
            self.term,
            f"{self.name} <> {shown(plain)}",
            lambda c: _mask(pc.not_equal(c, value.cast(c.type)).fill_null(False)),
            lambda: comparison_sql(self.term.operand, "<>", [plain]),
        )

    def only(self, code: int) -> ValueColumn:
        """Return the column with one of its values alone."""
        codes = np.where(self.codes == code, 0, -1)
        return ValueColumn(self.term, codes, self._labels.slice(code, 1))

    @cached_property
    def missing(self) -> int:
        """The code of NULL; -1: there is none."""
        return int(np.append(np.flatnonzero(_mask(self._labels.is_null())), -1)[0])


_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def equality(term: Term, value: pa.Scalar) -> ColumnCondition:
    """Return the condition that a term has a value, NULL and NaN included."""
    plain, name = value.as_py(), term.name

    def written() -> str:
        if term.other is not None:
            return columns_sql(term.operand, "<=>"[plain + 1], term.other)
        if term.letters and plain is not None:
            return prefix_sql(term.operand, plain)
        return equality_sql(term.operand, plain)

    if plain is None:
        return ColumnCondition(term, f"{name} is NULL", lambda c: _mask(c.is_null()), written)
    text = f"{name} = {shown(plain)}"
    if term.other is not None:
        text = f"{term.columns[0]} {'<=>'[plain + 1]} {term.columns[1]}"
    elif term.letters:
        text = f"{term.columns[0]} starts with {shown(plain)}"
    elif term.operand.function == "weekday":
        text = f"{name} = {_DAYS[plain - 1]}"
    if isinstance(plain, float) and np.isnan(plain):
        return ColumnCondition(term, text, lambda c: _mask(pc.is_nan(c).fill_null(False)), written)
    return ColumnCondition(
        term,
        text,
        lambda c: _mask(pc.equal(c, value.cast(c.type)).fill_null(False)),
        written,
    )


def _mask(booleans: pa.Array) -> Array:
    mask: Array = booleans.to_numpy(zero_copy_only=False)
    return mask


class MembershipColumn(ValueColumn):
    """A column whose values are, or are not, keys of another relation."""

    def __init__(self, term: Term, inside: Array, other: SourceRows, key: str) -> None:
        super().__init__(term, (~inside).astype(np.int64), pa.array([True, False]))
        self._other = other
        self._key = key

    @staticmethod
    def inside(column: pa.Array, keys: pa.Array) -> Array:
        """Return a Boolean array: the values that are among keys; never NULL."""
        return _mask(pc.and_(pc.is_in(column, value_set=keys), column.is_valid()))

    def condition(self, code: int) -> ColumnCondition:
        """Return the condition of a code: 0 in, 1 not in the other relation."""
        word = "is not in" if code else "is in"
        keys = self._other.column(self._key)

        def written() -> str:
            return membership_sql(self.name, self._other.name, self._key, negated=bool(code))

        def holds(column: pa.Array) -> Array:
            inside = self.inside(column, keys)
            return _mask(column.is_valid()) & ~inside if code else inside

        return ColumnCondition(self.term, f"{self.name} {word} {self._other.name}", holds, written)

    def among(self, codes: Sequence[int]) -> None:
        """Return None: there are two values."""

    def other_than(self, code: int) -> None:
        """Return None: that is the other condition."""


class NumberColumn:
    """A column of numbers or moments, compared with bounds."""

    def __init__(self, term: Term, column: pa.Array) -> None:
        self.term = term
        self.name = term.name
        self.column = column
        self._numbers = ordered_numbers(column)
        # Sorted once: quantiles of any rows, and their bins, are then counted by ranks.
        valid = ~np.isnan(self._numbers)
        self._values, ranks = np.unique(self._numbers[valid], return_inverse=True)
        self._ranks = np.full(len(self._numbers), -1, dtype=np.int32)
        self._ranks[valid] = ranks

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
        ranks = self._ranks if rows is None else self._ranks[rows]
        ordered = np.sort(ranks)
        ordered = ordered[np.searchsorted(ordered, 0) :]
        chosen = ascending(ordered)
        if len(chosen) > BINS:
            places = (_CUTS * (len(ordered) - 1)).astype(np.int64)
            if near is not None:
                starts = np.searchsorted(ordered, np.searchsorted(self._values, near))
                places = np.concatenate([_around(len(ordered), int(at)) for at in starts])
            chosen = np.unique(ordered[places])
        codes = np.searchsorted(chosen, ranks, side="right") - 1
        if len(chosen):
            codes[ranks >= 0] = np.maximum(codes[ranks >= 0], 0)
        return ColumnBins(self, self._values[chosen], codes)

    def condition(self, rows: Array) -> ColumnCondition:
        """Return the condition of the smallest range with the values of some rows."""
        numbers = self._numbers[rows]
        low = self.column[int(rows[int(numbers.argmin())])]
        high = self.column[int(rows[int(numbers.argmax())])]
        if low == high:
            return equality(self.term, low)
        first, last = self._ends
        nan = pa.types.is_floating(self.column.type) and self._has_nan
        at_least = None if float(numbers.min()) <= first else low
        at_most = None if float(numbers.max()) >= last and not nan else high
        if at_least is None and at_most is None:
            at_least = low
        text = f"{self.name} from {shown(low.as_py())} to {shown(high.as_py())}"
        if at_least is None:
            text = f"{self.name} <= {shown(high.as_py())}"
        elif at_most is None:
            text = f"{self.name} >= {shown(low.as_py())}"
        least, most = (None if b is None else b.as_py() for b in (at_least, at_most))
        return ColumnCondition(
            self.term,
            text,
            lambda column: _between(column, at_least, at_most),
            lambda: range_sql(self.term.operand, least, most),
        )

    @cached_property
    def _ends(self) -> tuple[float, float]:
        return float(np.nanmin(self._numbers)), float(np.nanmax(self._numbers))

    @cached_property
    def _has_nan(self) -> bool:
        return bool(pc.any(pc.is_nan(self.column)).as_py())


def _between(column: pa.Array, least: pa.Scalar, most: pa.Scalar) -> Array:
    """Return a Boolean array: the values within bounds, as Spark compares: NaN is the greatest."""
    mask = np.ones(len(column), dtype=np.bool_)
    if least is not None:
        mask &= _mask(pc.greater_equal(column, least.cast(column.type)).fill_null(False))
    if most is not None:
        mask &= _mask(pc.less_equal(column, most.cast(column.type)).fill_null(False))
    if most is None and pa.types.is_floating(column.type):
        mask |= _mask(pc.is_nan(column).fill_null(False))
    return mask


@dataclass(frozen=True, slots=True)
class ColumnBins:
    """The bins of some rows of a column: code `c` has the values from `cuts[c]` below the next."""

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


def _around(count: int, middle: int) -> Array:
    """Return places in an order of so many values near one, closer ones more densely."""
    steps = np.unique(np.geomspace(1, max(count // 12, 2), 10).astype(np.int64))
    places = np.concatenate([middle - steps, [middle], middle + steps])
    near: Array = np.clip(places, 0, count - 1)
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
        self.names = wanted
        self.equalities: list[ValueColumn] = []
        self.ranges: list[NumberColumn] = []
        for name in rows.schema.names:
            if name in wanted:
                self._add(plain_term(rows, name), rows.column(name))
        for term in computed_terms(rows, wanted):
            self._add(term, term.of(rows))
        for other in others:
            self._add_membership(other)

    @property
    def count(self) -> int:
        """The number of columns, each for equality and for ranges."""
        return len(self.equalities) + len(self.ranges)

    def _add(self, term: Term, array: pa.Array) -> None:
        kind = _value_type(array.type)
        is_ranged = (
            pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
            or pa.types.is_decimal(kind)
            or pa.types.is_date32(kind)
            or pa.types.is_timestamp(kind)
        )
        if is_ranged:
            array = decoded(array)
        if is_ranged and array.null_count < len(array) and term.other is None:
            numbers = NumberColumn(term, array)
            if not np.isnan(numbers._numbers).all():
                self.ranges.append(numbers)
        if self.rows.record.token == term.columns:
            return  # Each value is of one row: single rows have their own list.
        equal = is_ranged or pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if not (equal or pa.types.is_boolean(kind)):
            return
        codes, labels = _coded(array)
        counts = np.bincount(codes, minlength=len(labels))
        if term.columns != (term.name,):
            # A text that is NULL has no length; that is a condition on the text.
            counts[_mask(labels.is_null())] = 0
        codes, labels = _frequent(codes, labels, counts, len(array))
        if len(labels) > 1 or (len(labels) == 1 and (codes < 0).any()):
            self.equalities.append(ValueColumn(term, codes, labels))

    def _add_membership(self, other: SourceRows) -> None:
        if len(other.record.token) != 1 or not other.whole:
            return
        (key,) = other.record.token
        if key not in other.record.columns or key not in self.names:
            return
        theirs = other.column(key)
        if _value_type(self.rows.column(key).type) != theirs.type:
            return
        inside = _by_value(
            self.rows.column(key), lambda column: MembershipColumn.inside(column, theirs)
        )
        if inside.any() and not inside.all():
            self.equalities.append(MembershipColumn(plain_term(self.rows, key), inside, other, key))


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _coded(array: pa.Array) -> tuple[Array, pa.Array]:
    """Return a small integer per row, and the values that they stand for, each of some row."""
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode(null_encoding="encode")
    labels, indices = array.dictionary, array.indices
    if indices.null_count:
        indices = indices.fill_null(len(labels))
        labels = pa.concat_arrays([labels, pa.nulls(1, labels.type)])
    codes = indices.to_numpy(zero_copy_only=False).astype(np.int32)
    used = np.bincount(codes, minlength=len(labels)) > 0
    if not used.all():
        codes = (np.cumsum(used, dtype=np.int32) - 1)[codes]
        labels = labels.filter(pa.array(used))
    return codes, labels


def _frequent(codes: Array, labels: pa.Array, counts: Array, rows: int) -> tuple[Array, pa.Array]:
    """Return codes of values that rows share, of the most frequent ones; -1 for the others."""
    least = _HITS if len(labels) > max(rows // 8, BINS) else 1
    keep = np.flatnonzero(counts >= least)
    if len(keep) > _VALUES:
        keep = np.sort(keep[np.argpartition(-counts[keep], _VALUES)[:_VALUES]])
    if len(keep) == len(labels):
        return codes, labels
    places = np.full(len(labels), -1, dtype=np.int32)
    places[keep] = np.arange(len(keep), dtype=np.int32)
    return places[codes], labels.take(pa.array(keep))


def shown(value: Any) -> str:
    """Return a value for people."""
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.12g}"
    instant = isinstance(value, datetime) and value.tzinfo is not None
    return str(on_clock(value) if instant else value)
