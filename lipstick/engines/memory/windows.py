"""Window functions over the rows that are there, as Spark computes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.aggregates import reaggregate
from lipstick.engines.memory.order import Key
from lipstick.engines.memory.state import known_values, needs_spark
from lipstick.engines.memory.store import OPEN_WITH_SPARK
from lipstick.engines.memory.window_frames import FrameRanges, Placed
from lipstick.errors import CaptureError, NeedsSparkError
from rewriter.interpret import (
    AggregateCall,
    Anew,
    FailedError,
    Interpreted,
    Resolve,
    UninterpretableError,
    WindowCall,
    cast,
    from_arrow,
    unify,
)
from semiring.arrays.aggregates import aggregate_ranges
from semiring.arrays.arrow import decoded
from semiring.arrays.ranks import ranked
from semiring.base import Array
from semiring.errors import ExactnessError

MOST_IN_FRAMES = 1 << 26
"""So many rows of frames are looked at one by one."""

_FIRST = ("first", "first_value", "any_value")
_LAST = ("last", "last_value")
_LIST = AggregateCall("COLLECT_LIST", None, False, (), Anew("collect_list"))


def placed(
    call: WindowCall, resolve: Resolve, length: int, scenarios: pa.Array | None = None
) -> Placed:
    """The rows in the partitions and order of a window function.

    Raises
    ------
    NeedsSparkError
        When only Spark can compute what they are partitioned or sorted by.
    """
    rows = _Rows(call, resolve, length)
    partition = [rows.values(part) for part in call.partition]
    partition += [] if scenarios is None else [scenarios]
    keys = [Key(rows.values(k.scalar), k.descending, k.nulls_first) for k in call.order]
    return Placed(partition, keys, length)


def extent(call: WindowCall, placement: Placed) -> FrameRanges:
    """The places of the rows that the value at every place comes from or is decided by.

    Raises
    ------
    NeedsSparkError
        When only Spark knows them.
    """
    ranges = None if call.extent is None else placement.ranges(call.extent)
    if ranges is None:
        raise NeedsSparkError(
            f"The rows that {call.text} reads are not known without Spark.\n" + OPEN_WITH_SPARK
        )
    return ranges


def computed(
    call: WindowCall, resolve: Resolve, length: int, scenarios: pa.Array | None = None
) -> pa.Array:
    """Return the values of a window function over some rows, separately for each scenario.

    Raises
    ------
    NeedsSparkError
        When only Spark can compute it.
    CaptureError
        Where Spark would fail.
    """
    placement = placed(call, resolve, length, scenarios)
    rows = _Rows(call, resolve, length)
    ranking = _RANKING.get(call.function)
    if ranking is not None:
        return ranking(rows, placement).take(pa.array(placement.place))
    if call.function in ("lag", "lead"):
        return _offset(rows, placement)
    if call.frame is None or (frames := placement.ranges(call.frame)) is None:
        raise needs_spark(call.text)
    aggregate = call.aggregate
    if call.function in ("collect_list", "array_agg") and call.order:
        aggregate = replace(_LIST, arguments=call.arguments)
    if aggregate is not None:
        computed_values = _aggregated(rows, placement, frames, aggregate)
    elif call.function in ("min_by", "max_by") and len(call.arguments) == 2:
        computed_values = _by(rows, placement, frames)
    else:
        computed_values = _at_place(rows, placement, frames)
    return computed_values.take(pa.array(placement.place))


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows that a window function is computed over."""

    call: WindowCall
    resolve: Resolve
    length: int

    def values(self, scalar: Interpreted) -> pa.Array:
        """The values of a scalar, row by row."""
        return known_values(scalar, self.resolve, self.length)

    def argument(self, number: int) -> pa.Array:
        """The values of an argument, row by row."""
        return self.values(self.call.arguments[number])

    def constant(self, number: int, otherwise: int | None = None) -> int:
        """The value of an argument that is an integer for all rows."""
        if number >= len(self.call.arguments) and otherwise is not None:
            return otherwise
        argument = self.call.arguments[number]
        if argument.columns or argument.run is None:
            raise needs_spark(self.call.text)
        value = argument.evaluate(self.resolve).to_arrow(1)[0].as_py()
        if not isinstance(value, int):
            raise needs_spark(self.call.text)
        return value


# -- ranking -------------------------------------------------------------------------------


def _row_number(rows: _Rows, placement: Placed) -> pa.Array:
    del rows
    return pa.array(np.arange(len(placement.rows)) - placement.start + 1, pa.int32())


def _rank(rows: _Rows, placement: Placed) -> pa.Array:
    del rows
    return pa.array(placement.peers()[1] - placement.start + 1, pa.int32())


def _dense_rank(rows: _Rows, placement: Placed) -> pa.Array:
    del rows
    different = np.cumsum(placement.peers()[0])
    before = different[placement.start] if len(different) else different
    return pa.array(different - before + 1, pa.int32())


def _percent_rank(rows: _Rows, placement: Placed) -> pa.Array:
    del rows
    before, other_rows = (
        placement.peers()[1] - placement.start,
        placement.stop - placement.start - 1,
    )
    return pa.array(np.where(other_rows > 0, before / np.maximum(other_rows, 1), 0.0), pa.float64())


def _cume_dist(rows: _Rows, placement: Placed) -> pa.Array:
    del rows
    return pa.array(
        (placement.peers()[2] - placement.start) / (placement.stop - placement.start), pa.float64()
    )


def _ntile(rows: _Rows, placement: Placed) -> pa.Array:
    buckets = rows.constant(0, 1)
    at, size = np.arange(len(placement.rows)) - placement.start, placement.stop - placement.start
    smaller, larger = size // buckets, size % buckets
    in_larger = larger * (smaller + 1)
    beyond = larger + (at - in_larger) // np.maximum(smaller, 1)
    return pa.array(np.where(at < in_larger, at // (smaller + 1), beyond) + 1, pa.int32())


_RANKING: dict[str, Callable[[_Rows, Placed], pa.Array]] = {
    "row_number": _row_number,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "percent_rank": _percent_rank,
    "cume_dist": _cume_dist,
    "ntile": _ntile,
}
"""Values at every place."""


# -- functions that take a value from another row ---------------------------------------------


def row_of_value(
    call: WindowCall, resolve: Resolve, length: int, placement: Placed
) -> Array | None:
    """Return the row that has the value of each row, -1 for none; None for other functions.

    Raises
    ------
    NeedsSparkError
        When only Spark knows the frames.
    """
    rows = _Rows(call, resolve, length)
    if call.function in ("lag", "lead"):
        target, there = _offset_target(rows, placement)
    elif call.function in (*_FIRST, *_LAST, "nth_value"):
        if call.frame is None or (frames := placement.ranges(call.frame)) is None:
            raise needs_spark(call.text)
        target, there = _target_at_place(rows, placement, frames)
    else:
        return None
    found = np.append(placement.rows, -1)[np.where(there, target, -1)]
    of_rows: Array = found[placement.place]
    return of_rows


def is_ranking(call: WindowCall) -> bool:
    """Return True if the value of a window function is the place of its row."""
    return call.function in _RANKING


def _offset_target(rows: _Rows, placement: Placed) -> tuple[Array, Array]:
    """Return the place that LAG or LEAD looks at, and whether it is in the partition."""
    distance = rows.constant(1, 1)
    if rows.call.function == "lag":
        distance = -distance
    at = np.arange(len(placement.rows))
    target = at + distance
    if rows.call.ignores_nulls and distance:
        known = _known(rows.argument(0), placement)
        index = np.searchsorted(known, at, side="left" if distance < 0 else "right")
        index += distance if distance < 0 else distance - 1
        outside = (index < 0) | (index >= len(known))
        target = np.where(outside, -1, np.append(known, -1)[np.where(outside, 0, index)])
    elif rows.call.ignores_nulls:
        raise needs_spark(rows.call.text)
    return target, (target >= placement.start) & (target < placement.stop)


def _offset(rows: _Rows, placement: Placed) -> pa.Array:
    """Return the values of LAG or LEAD, row by row."""
    target, there = _offset_target(rows, placement)
    taken = _taken(rows.argument(0), placement, target, there).take(pa.array(placement.place))
    if len(rows.call.arguments) < 3:
        return taken
    default = rows.argument(2)
    try:
        kind = unify(taken.type, default.type)
        taken, default = (cast(from_arrow(c), kind).to_arrow(rows.length) for c in (taken, default))
    except UninterpretableError as error:
        raise needs_spark(rows.call.text) from error
    return pc.if_else(pa.array(there[placement.place]), taken, default)


def _at_place(rows: _Rows, placement: Placed, frames: FrameRanges) -> pa.Array:
    """Return FIRST_VALUE, LAST_VALUE or NTH_VALUE of frames, place by place."""
    if rows.call.function not in (*_FIRST, *_LAST, "nth_value"):
        raise needs_spark(rows.call.text)
    return _taken(rows.argument(0), placement, *_target_at_place(rows, placement, frames))


def _target_at_place(rows: _Rows, placement: Placed, frames: FrameRanges) -> tuple[Array, Array]:
    """Return the place of the value of each frame, and whether it is in the frame."""
    function = rows.call.function
    nth = rows.constant(1) if function == "nth_value" else 1
    first, last = frames.start, frames.stop - 1
    if not rows.call.ignores_nulls:
        target = last if function in _LAST else first + nth - 1
    else:
        known = np.append(_known(rows.argument(0), placement), len(placement.rows))
        index = np.searchsorted(known[:-1], first) + nth - 1
        target = known[np.minimum(index, len(known) - 1)]
        if function in _LAST:
            index = np.searchsorted(known[:-1], frames.stop) - 1
            target = np.where(index < 0, -1, known[index])
    return target, (target >= first) & (target <= last)


def _known(column: pa.Array, placement: Placed) -> Array:
    """The places with a value."""
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    return np.flatnonzero(valid[placement.rows])


def _taken(column: pa.Array, placement: Placed, target: Array, there: Array) -> pa.Array:
    """The values at some places, NULL where there is none."""
    rows = np.append(placement.rows, 0)[np.where(there, target, -1)]
    return column.take(pa.array(rows, mask=~there))


# -- aggregates ------------------------------------------------------------------------------


def _aggregated(
    rows: _Rows, placement: Placed, frames: FrameRanges, aggregate: AggregateCall
) -> pa.Array:
    if not aggregate.arguments:
        return pa.array(frames.sizes, pa.int64())
    columns = [rows.values(argument) for argument in aggregate.arguments]
    different, number = frames.distinct()
    try:
        if aggregate.function is not None and len(columns) == 1 and not aggregate.distinct:
            ordered = decoded(columns[0].take(pa.array(placement.rows)))
            summed = aggregate_ranges(aggregate.function, ordered, different.start, different.stop)
            if summed is not None:
                return summed.take(pa.array(number))
        members, offsets = _members(rows, placement, different)
        aggregated = reaggregate(aggregate, [c.take(pa.array(members)) for c in columns], offsets)
    except (FailedError, ExactnessError) as error:
        raise CaptureError(f"{rows.call.text} fails on these rows: {error}") from error
    return aggregated.take(pa.array(number))


def _by(rows: _Rows, placement: Placed, frames: FrameRanges) -> pa.Array:
    """Return MIN_BY or MAX_BY of frames by a value that is the same in no two rows of a frame."""
    column, by = rows.argument(0), rows.argument(1)
    different, number = frames.distinct()
    members, _ = _members(rows, placement, different)
    owners = np.repeat(np.arange(len(different.start)), different.sizes)
    kept = by.is_valid().to_numpy(zero_copy_only=False)[members]
    members, owners = members[kept], owners[kept]
    keys = ranked(by)[members]
    sorted_ = np.lexsort([keys if rows.call.function == "min_by" else -keys, owners])
    chosen = np.full(len(different.start), -1, dtype=np.int64)
    hit, first = np.unique(owners[sorted_], return_index=True)
    chosen[hit] = members[sorted_[first]]
    return column.take(pa.array(chosen, mask=chosen < 0)).take(pa.array(number))


def _members(rows: _Rows, placement: Placed, frames: FrameRanges) -> tuple[Array, Array]:
    """The rows of all frames, and their CSR offsets."""
    if int(frames.sizes.sum()) > MOST_IN_FRAMES:
        raise needs_spark(rows.call.text)
    places, offsets = frames.expanded()
    return placement.rows[places], offsets
