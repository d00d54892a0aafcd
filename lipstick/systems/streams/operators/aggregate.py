"""Aggregates over the lists of events that windows and joins emit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch, Lists
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.operators.base import (
    Fired,
    OfTrigger,
    Parents,
    Stage,
    each,
)
from lipstick.systems.streams.operators.mapping import checked_table, name_of
from semiring.arrays.segments import bounds, index_of
from semiring.base import Array

FUNCTIONS = ("count", "sum", "mean", "min", "max", "first", "last")
AggregateFunction = Callable[[pa.Table], Any]
"""Maps a table with lists in the column ``events`` to a table with a row for each."""


@dataclass(frozen=True, slots=True)
class AggregateWindow(OfTrigger):
    """Map over the list of a window or a join: its content is one row of aggregated values.

    Parameters
    ----------
    columns
        By name of the result: a function of `FUNCTIONS` and the column of the listed events (None
        for ``count`` of all). NULLs are left out; of no other values ``count`` is 0, all else NULL.
        ``first`` and ``last`` are by time and keep NULL.
    """

    columns: tuple[tuple[str, str, str | None], ...]
    kind: ClassVar[str] = "aggregate"
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.columns:
            raise StreamError("An aggregate has no columns.\nName one: n=('count', None).")
        for name, function, column in self.columns:
            if function not in FUNCTIONS:
                raise StreamError(
                    f"{name}: there is no aggregate {function!r}.\nUse one of "
                    f"{', '.join(FUNCTIONS)}, or a function of the lists."
                )
            if column is None and function != "count":
                raise StreamError(f"{name}: {function} needs a column of the listed events.")

    @staticmethod
    def of(columns: Mapping[str, tuple[str, str | None]]) -> AggregateWindow:
        """Return an aggregate from a specification such as ``{"avg": ("mean", "temperature")}``."""
        return AggregateWindow(tuple((name, *given) for name, given in columns.items()))

    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        return _AggregateStage(self)

    def parameters(self) -> dict[str, Any]:
        return {"columns": [list(each) for each in self.columns]}


@dataclass(frozen=True, slots=True)
class AggregateBy(OfTrigger):
    """`AggregateWindow` by a user's function over the lists."""

    function: AggregateFunction
    kind: ClassVar[str] = "aggregate_by"
    aligned: ClassVar[bool] = True

    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        return _AggregateStage(self)

    def parameters(self) -> dict[str, Any]:
        return {"function": name_of(self.function)}


class _AggregateStage(Stage):
    def __init__(self, operator: AggregateWindow | AggregateBy) -> None:
        self._operator = operator

    def push(self, batches: Sequence[Batch], frontiers: Sequence[int]) -> Fired:
        (batch,) = batches
        if isinstance(self._operator, AggregateBy):
            content = checked_table(self._operator.function(batch.table()), len(batch), "aggregate")
        else:
            content = aggregated(_lists(batch), self._operator.columns)
        keys = batch.keys
        parents = [Parents(batch.properties, *each(len(batch)), aligned=True)]
        return Fired(keys.t, keys.n, content, parents, code=keys.code)


def _lists(batch: Batch) -> Lists:
    """Return the lists of a batch, also if they arrived as a column."""
    if isinstance(batch.content, Lists):
        return batch.content
    table = batch.content
    if table.column_names != ["events"]:
        raise StreamError(
            "An aggregate is over lists of events, but its input has "
            f"{', '.join(table.column_names)}.\nPut a window or a join before it."
        )
    column = table.column(0).combine_chunks()
    offsets = bounds(column.value_lengths().to_numpy())
    members = pa.Table.from_struct_array(column.flatten())
    return Lists(members, offsets[:-1], offsets[1:], newest_first=False)


def aggregated(lists: Lists, columns: Sequence[tuple[str, str, str | None]]) -> pa.Table:
    """Return the aggregated values of lists, a row for each.

    Sums of integers are exact; sums of floats depend on the list alone, never on what else is in
    the batch, so that a replay repeats them to the bit.

    Raises
    ------
    StreamError
        A column is missing, values cannot be added, or a sum exceeds 64 bits.
    """
    names = lists.members.column_names
    for name, _, column in columns:
        if column is not None and column not in names:
            raise StreamError(
                f"{name}: the listed events have no {column!r}, but {', '.join(names)}."
            )
    return pa.table({name: _value(lists, kind, column) for name, kind, column in columns})


def _value(lists: Lists, kind: str, column: str | None) -> pa.Array:
    low, high = lists.low, lists.high
    if column is None:
        return pa.array(high - low)
    values = lists.members.column(column).combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0) if values.num_chunks else pa.array([], values.type)
    if kind in ("first", "last"):
        return values.take(pa.array(low if kind == "first" else high - 1))
    present = None if not values.null_count else pc.is_valid(values).to_numpy(zero_copy_only=False)
    counts = high - low if present is None else _added(present.astype(np.int64), low, high)
    if kind == "count":
        return pa.array(counts)
    absent = pa.array(counts == 0) if present is not None else None
    if kind in ("min", "max"):
        return _masked(_extreme(values, present, kind, low, high), absent)
    numbers = _numbers(values, column)
    if numbers.dtype.kind == "i":
        _check_sums(numbers, counts, column)
    totals = _added(numbers, low, high)
    if kind == "sum":
        return _masked(pa.array(totals), absent)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = totals / counts
    return _masked(pa.array(means), absent)


def _masked(values: pa.Array, absent: pa.Array | None) -> pa.Array:
    return values if absent is None else pc.if_else(absent, pa.scalar(None, values.type), values)


def _numbers(values: pa.Array, column: str) -> Array:
    """Return values as int64 or float64, with 0 for NULL."""
    kind = values.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    if pa.types.is_floating(kind):
        return values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    raise StreamError(
        f"Column {column!r} has type {kind}, which is not added here.\nCast it to an integer or a "
        "double in a map before the window."
    )


def _check_sums(numbers: Array, counts: Array, column: str) -> None:
    if not len(numbers) or not len(counts):
        return
    largest = max(abs(int(numbers.max())), abs(int(numbers.min())))
    if largest * int(counts.max()) >= 1 << 63:
        raise StreamError(
            f"Sums of column {column!r} may be beyond 64 bits.\nCast it to a double in a map before"
            " the window."
        )


def _added(values: Array, low: Array, high: Array) -> Array:
    """Return sums over ranges: of integers by differences, of floats by adding each range."""
    if values.dtype.kind == "i":
        # Differences are exact also where the running total wraps around.
        totals = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(values)))
        sums: Array = totals[high] - totals[low]
        return sums
    return _reduced(np.add, values, low, high)


def _reduced(function: np.ufunc, values: Array, low: Array, high: Array) -> Array:
    """Return a reduction over non-empty ranges."""
    if not len(low):
        return values[:0]
    bounds = np.empty(2 * len(low), dtype=np.int64)
    bounds[0::2], bounds[1::2] = low, high
    padded = np.concatenate((values, values[:1]))
    result: Array = function.reduceat(padded, bounds)[::2]
    return result


def _extreme(
    values: pa.Array, present: Array | None, kind: str, low: Array, high: Array
) -> pa.Array:
    """Return the least or greatest value of each range, by the ranks of values; NaN is the
    greatest.
    """
    function = np.minimum if kind == "min" else np.maximum
    array = values.to_numpy(zero_copy_only=False) if present is None else None
    if array is not None and array.dtype.kind in "iu":
        return pa.array(_reduced(function, array, low, high), values.type)
    order = pc.sort_indices(values).to_numpy()
    ranks = index_of(order, len(order))
    if present is not None:
        ranks[~present] = len(order) if kind == "min" else -1
    best = _reduced(function, ranks, low, high)
    return values.take(pa.array(order[np.clip(best, 0, max(len(order) - 1, 0))]))
