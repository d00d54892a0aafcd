"""The number to be explained, and what becomes of it in many scenarios."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, localcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.contributions import values_without
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.places import pack, positions_of, scenarios_of
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import AskedValue, State, known_values
from lipstick.errors import CaptureError
from rewriter.algebra import Scalar
from rewriter.blocks import GROUP
from rewriter.interpret import (
    Comparison,
    UninterpretableError,
    comparison,
    from_arrow,
    is_time,
    moment,
)
from semiring.base import Array

if TYPE_CHECKING:
    from lipstick.engines.protocol import AskedCapture
    from lipstick.questions.why.sources import SourceRows

Direction: TypeAlias = Literal["high", "low"]
"""The side on which a value is wrong."""

_DELETIONS = 1 << 22
"""Deleted tuples of scenarios that are evaluated together."""

_COMPARISONS = ("<", "<=", ">", ">=", "=")
"""The comparisons whose distance from being true is measured."""


@dataclass(frozen=True)
class Measure:
    """A number that depends on the input, and its distance from the number that is wanted.

    Attributes
    ----------
    column
        The output of the value or of the condition; None: the number of rows is measured.
    positions
        Rows of the answer: one for a value, two for a difference, the counted ones for a number of
        rows; None: all rows count, new ones included.
    expected
        The value that is wanted; None: none is.
    direction
        The side on which a value is wrong if none is expected; None: any move counts.
    signed
        True if numbers beyond a bound that is wanted are negative gaps; False: their gap is 0.
    name, named
        The column in the answer, and the values of columns that name each row that is measured.
    """

    engine: Engine
    column: str | None
    positions: Array | None
    expected: float | None = None
    direction: Direction | None = None
    signed: bool = False
    name: str | None = None
    named: tuple[Mapping[str, Any], ...] = ()

    # -- what is measured ------------------------------------------------------------------

    @property
    def is_check(self) -> bool:
        """True if rows are counted that must not be there."""
        return self.column is None

    @property
    def has_goal(self) -> bool:
        """True if the gap may be closed: then it is 0."""
        return self.is_check or self.is_condition or self.expected is not None

    @property
    def any_move_counts(self) -> bool:
        """True if neither a number nor a side is wanted."""
        return not self.has_goal and self.direction is None

    @cached_property
    def is_condition(self) -> bool:
        """True if the value is a truth value, to be made true."""
        return self.column is not None and pa.types.is_boolean(self._column_type)

    @property
    def scalar(self) -> Scalar:
        """The expression of the column."""
        return next(o.scalar for o in self.engine.root.outputs if o.name == self.column)

    @cached_property
    def sides(self) -> Comparison | None:
        """The comparison of numbers that a condition is, of a grouping; None: it is another one."""
        rows = self.engine.rows(self.engine.root.name)
        if not (self.is_condition and isinstance(rows, GroupRows)):
            return None
        sides = comparison(self.scalar)
        if sides is None or sides.op not in _COMPARISONS:
            return None
        if any(alias != GROUP for side in (sides.left, sides.right) for alias, _ in side.columns):
            return None
        state = rows.base
        assert self.positions is not None
        try:
            for side in (sides.left, sides.right):
                kind = self._side(side, state, self.positions[:1]).type
                if not is_number(kind):
                    return None
        except (UninterpretableError, CaptureError):
            return None
        return sides

    @cached_property
    def _column_type(self) -> pa.DataType:
        base = self.engine.base(self.engine.root.name)
        assert self.column is not None
        return base.take(self.column, np.zeros(0, dtype=np.int64)).type

    @cached_property
    def before(self) -> float:
        """The number without any deletion."""
        return float(self.of_state(self.engine.base(self.engine.root.name), 1)[0])

    @property
    def is_low(self) -> bool:
        """True if a greater number is wanted."""
        if self.sides is not None:
            return self.sides.op.startswith(">")
        if self.is_check or self.is_condition or self.expected is None:
            return self.direction == "low"
        return self.before < self.expected

    def gap(self, numbers: Array) -> Array:
        """Return the distances of numbers from what they should be; NaN for vanished values."""
        if self.is_check or self.is_condition:
            return numbers
        if self.expected is not None:
            beyond = numbers - self.expected
            if self.direction is None:
                return np.abs(beyond)
            return self._clipped(beyond if self.direction == "high" else -beyond)
        if self.direction == "high":
            return numbers
        if self.direction == "low":
            return -numbers
        return -np.abs(numbers - self.before)

    def gain(self, numbers: Array) -> Array:
        """Return by how much numbers are nearer to what they should be than without deletion."""
        gained: Array = self.gap(np.array([self.before]))[0] - self.gap(numbers)
        return gained

    def reached(self, numbers: Array) -> Array:
        """Return a Boolean per number: True if it is as wanted, which no number is without goal."""
        if not self.has_goal:
            return np.zeros(len(numbers), dtype=np.bool_)
        closed: Array = self.gap(numbers) <= 0.0
        return closed

    def _clipped(self, beyond: Array) -> Array:
        return beyond if self.signed else np.maximum(beyond, 0.0)

    # -- in scenarios ----------------------------------------------------------------------

    def of_deletions(self, deleted: Mapping[str, Deleted], count: int) -> Array:
        """Return the number in each of some scenarios of deletions, exactly.

        Parameters
        ----------
        deleted
            Per relation the deleted tuples, by sorted scenarios.

        Raises
        ------
        CaptureError
            As a what-if does.
        """
        parts, first = [], 0
        ends = np.zeros(count, dtype=np.int64)
        for each in deleted.values():
            ends += np.searchsorted(each.scenarios, np.arange(count), side="right")
        while first < count:
            start = int(ends[first - 1]) if first else 0
            last = max(int(np.searchsorted(ends, start + _DELETIONS, side="right")), first + 1)
            pieces = {name: each.slice(first, last) for name, each in deleted.items()}
            moved = {name: Deleted(p.tokens, p.scenarios - first) for name, p in pieces.items()}
            states = self.engine.states(moved)
            parts.append(self.of_state(states[self.engine.root.name], last - first))
            first = last
        return np.concatenate(parts) if parts else np.zeros(0)

    def exactly(self, deleted: Mapping[str, Deleted], count: int) -> tuple[pa.Array, pa.Array]:
        """Return the number in each scenario and its difference, of one value in its own type.

        NULL where the value is gone.
        """
        single = self.positions is not None and len(self.positions) == 1
        if self.column is None or not (single and is_number(self._column_type)):
            after = self.of_deletions(deleted, count)
            gone = np.isnan(after)
            effect = pa.array(after - self.before, pa.float64(), mask=gone)
            return pa.array(after, pa.float64(), mask=gone), effect
        assert self.positions is not None
        value = AskedValue(int(self.positions[0]), self.column)
        found = values_without(self.engine, value, deleted, count, lambda _: True)
        base = self.engine.base(self.engine.root.name)
        (now,) = base.take(self.column, self.positions).to_pylist()
        return found.values, differences(found.values, now)

    def of_state(self, state: State, count: int) -> Array:
        """Return the number in each of the scenarios of a state."""
        if self.is_check:
            return self._rows(state, count)
        assert self.positions is not None
        if self.sides is not None:
            return self._distances(state, count, self.positions)
        values = [self._values(state, count, int(p)) for p in self.positions]
        return values[0] if len(values) == 1 else values[0] - values[1]

    def of_answer(self, answer: pa.Table) -> float:
        """Return the number in another answer to the query; NaN: it is not known or not there.

        A condition that is not true has no distance here.
        """
        rows = [rows_with(answer, each) for each in self.named] or [np.arange(answer.num_rows)]
        if self.name is None:
            return float(len(rows[0]))
        if any(len(each) != 1 for each in rows):
            return np.nan
        taken = answer.column(self.name).combine_chunks().take(pa.array(np.concatenate(rows)))
        if self.is_condition:
            return 0.0 if taken[0].as_py() else np.nan
        values = as_numbers(taken)
        return float(values[0] - values[1] if len(values) == 2 else values[0])

    def _rows(self, state: State, count: int) -> Array:
        base = self.engine.base(self.engine.root.name)
        flipped = state.flipped
        chosen = base.present
        if self.positions is not None:
            flipped = flipped[np.isin(positions_of(flipped), self.positions)]
            chosen = chosen[self.positions]
        was = np.append(base.present, False)[np.minimum(positions_of(flipped), base.size)]
        change = np.where(was, -1.0, 1.0)
        moved = np.bincount(scenarios_of(flipped), weights=change, minlength=count)
        return float(np.count_nonzero(chosen)) + moved[:count]

    def _values(self, state: State, count: int, position: int) -> Array:
        assert self.column is not None
        places = pack(np.arange(count, dtype=np.int64), np.full(count, position))
        there = state.there(places)
        values = np.full(count, np.nan)
        taken = state.take(self.column, places[there])
        if self.is_condition:
            values[there] = 1.0 - taken.fill_null(False).to_numpy(zero_copy_only=False)
        else:
            values[there] = as_numbers(taken)
        return values

    def _distances(self, state: State, count: int, positions: Array) -> Array:
        """Return how far a comparison is from being true; where it is true 0, and only there."""
        assert self.sides is not None
        places = pack(np.arange(count, dtype=np.int64), np.full(count, positions[0]))
        there = state.there(places)
        distances = np.full(count, np.nan)
        left, right = (
            as_numbers(self._side(side, state, places[there]))
            for side in (self.sides.left, self.sides.right)
        )
        distances[there] = self.distance(left, right)
        assert self.column is not None
        taken = state.take(self.column, places[there]).fill_null(False)
        holds = taken.to_numpy(zero_copy_only=False)
        least = np.finfo(np.float64).tiny
        true = np.minimum(distances[there], 0.0) if self.signed else 0.0
        distances[there] = np.where(holds, true, np.maximum(distances[there], least))
        return distances

    def distance(self, left: Array, right: Array) -> Array:
        """Return the distances of a comparison of numbers from being true."""
        assert self.sides is not None
        difference: Array = left - right
        if self.sides.op == "=":
            return np.abs(difference)
        return self._clipped(difference if self.sides.op.startswith("<") else -difference)

    def _side(self, side: Any, state: State, places: Array) -> pa.Array:
        return known_values(side, lambda _, n: from_arrow(state.take(n, places)), len(places))


def is_number(kind: pa.DataType) -> bool:
    """Return True for types of numbers."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def is_measurable(kind: pa.DataType) -> bool:
    """Return True if values of a type are numbers, or moments, whose differences are."""
    return is_number(kind) or bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def as_numbers(array: pa.Array) -> Array:
    """Return values as float64, NULL as NaN; dates in days, moments in seconds."""
    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan)
    unit = 1.0
    if pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        unit = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        array = array.cast(pa.int64())
    elif pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    numbers: Array = pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers / unit if unit != 1.0 else numbers


def difference(left: Any, right: Any) -> Any:
    """Return the exact difference of two numbers; None where one of them is none, or only one NaN.

    Two equal infinities differ by 0, and so do two NaN: Spark takes them to be equal.
    """
    for value in (left, right):
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return None
    if isinstance(left, float) or isinstance(right, float):
        change = float(left) - float(right)
        if math.isnan(change):
            return 0.0 if left == right or (math.isnan(left) and math.isnan(right)) else None
        return change
    with localcontext(prec=100):
        return left - right


def differences(numbers: pa.Array, before: Any) -> pa.Array:
    """Return the exact differences of numbers from one; NULL where one of them is none."""
    kind = numbers.type
    if pa.types.is_decimal(kind):
        kind = pa.decimal128(38, kind.scale)
    elif pa.types.is_integer(kind):
        kind = pa.int64()
    else:
        kind = pa.float64()
    return pa.array([difference(value, before) for value in numbers.to_pylist()], kind)


def rows_with(answer: pa.Table, values: Mapping[str, Any]) -> Array:
    """Return the places of rows of an answer that have some values; None: NULL.

    Raises
    ------
    CaptureError
        For a column that the answer does not have, and values of another type.
    """
    chosen = np.ones(answer.num_rows, dtype=np.bool_)
    for name, value in values.items():
        column = answer.column(column_of(answer.column_names, name)).combine_chunks()
        if value is None:
            matching = column.is_null()
        elif pa.types.is_nested(column.type):
            wanted = compared(name, value, column.type).as_py()
            matching = pa.array([each == wanted for each in column.to_pylist()], pa.bool_())
        else:
            matching = pc.equal(column, compared(name, value, column.type)).fill_null(False)
        chosen &= matching.to_numpy(zero_copy_only=False)
    return np.flatnonzero(chosen)


def compared(name: str, value: Any, kind: pa.DataType) -> pa.Scalar:
    """Return a value as one of an answer's column, of the column's type.

    Raises
    ------
    CaptureError
        For a value that the type does not have.
    """
    try:
        if is_time(kind) and isinstance(value, str | date):
            return moment(value, kind)
        return pa.scalar(value, kind) if pa.types.is_nested(kind) else pa.scalar(value).cast(kind)
    except (pa.ArrowException, UninterpretableError) as error:
        written = " Write it as 2026-01-31 12:30:00." if pa.types.is_timestamp(kind) else ""
        raise CaptureError(
            f"The column {name!r} of the answer is of type {kind}, and is compared with {value!r}: "
            f"{error}.{written}"
        ) from error


def column_of(names: Sequence[str], name: str) -> int:
    """Return the place of the one column of a name, in any case.

    Raises
    ------
    CaptureError
        When there is none, or several.
    """
    places = [i for i, known in enumerate(names) if known.lower() == name.lower()]
    if len(places) != 1:
        problem = "several columns" if places else "no column"
        raise CaptureError(
            f"The answer has {problem} {name!r}.\nIts columns are: {', '.join(names)}."
            + ("" if name.isidentifier() else " Rows are selected by filter().")
        )
    return places[0]


@dataclass(frozen=True, slots=True)
class WhyQuestion:
    """A question about a measure of a capture.

    Attributes
    ----------
    subject
        The name of the measure in sentences.
    read
        The rows of the relations.
    wanted
        By relation, the columns that conditions may be on.
    extremes
        Relations and columns whose extreme values the measure is, if conditions may be on any.
    """

    capture: AskedCapture
    measure: Measure
    subject: str
    read: Mapping[str, SourceRows]
    wanted: Mapping[str, frozenset[str]]
    extremes: Set[tuple[str, str]] = frozenset()

    @property
    def of_extremes(self) -> WhyQuestion:
        """The question with conditions also on the columns whose extreme values are asked about."""
        wanted = {
            name: chosen | {c for c in self.read[name].schema.names if (name, c) in self.extremes}
            for name, chosen in self.wanted.items()
        }
        return replace(self, wanted=wanted)
