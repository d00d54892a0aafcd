"""The value of a window function at one row in many scenarios, without the values of other rows.

All rows are sorted once, with the rows that scenarios change. What the frame of the row loses and
gains in each scenario then follows from the places of these rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.aggregates import (
    COUNT_SUFFIX,
    SUM_SUFFIX,
    Touched,
    TouchedMembers,
    reaggregate,
)
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.order import Key
from lipstick.engines.memory.places import NOTHING, matches, pack, positions_of, scenarios_of
from lipstick.engines.memory.state import Context, as_type, known_values, needs_spark
from lipstick.engines.memory.sums import ChunkedSums
from lipstick.engines.memory.window_frames import FrameRanges, Placed
from lipstick.engines.memory.windows import MOST_IN_FRAMES
from rewriter.emit import MEMBERS
from rewriter.interpret import AggregateCall, Interpreted, WindowCall
from semiring.arrays.aggregates import aggregate_ranges
from semiring.arrays.arrow import decoded
from semiring.arrays.segments import bounds, index_of
from semiring.base import Array

_COUNTED = ("row_number", "rank", "percent_rank", "cume_dist")
_AGGREGATED = ("SUM", "COUNT", "AVG", "MIN", "MAX")
FLOATS = 1 << 16
"""More members than these in the frames of scenarios: sums of floats are added up by chunks."""


def is_followed(call: WindowCall) -> bool:
    """Return True if the value of a window function follows from what its frame loses and gains."""
    if call.function in _COUNTED:
        return True
    aggregate, frame = call.aggregate, call.frame
    if aggregate is None or frame is None or aggregate.distinct:
        return False
    begins, ends = frame.start in (None, 0), frame.end in (None, 0)
    return aggregate.function in _AGGREGATED and len(aggregate.arguments) < 2 and begins and ends


@dataclass(frozen=True, slots=True)
class MovedRows:
    """The rows of a block, and the rows that scenarios move, take away or bring.

    Attributes
    ----------
    present
        The positions of the rows that are there without deletion, sorted.
    old, arriving
        The places of changed rows that were there, and that are there now.
    context
        The other blocks, as the arriving rows see them.
    """

    members: Members
    present: Array
    old: Array
    arriving: Array
    context: Context

    def value(self, call: WindowCall, places: Array) -> pa.Array:
        """Return the value of a window function at the places of one row that is there.

        Raises
        ------
        NeedsSparkError
            When only Spark can compute it.
        """
        return _RowValue(self, call, places).value()


class _RowValue:
    """The frame of a row in each scenario, as a range of places among all rows in order.

    Rows keep the order of their positions where the window leaves them in a tie.
    """

    def __init__(self, moved: MovedRows, call: WindowCall, places: Array) -> None:
        self._moved = moved
        self._call = call
        self._places = places
        self._scenarios = scenarios_of(places)
        count = len(moved.present)
        positions = np.concatenate([moved.present, positions_of(moved.arriving)])
        by_position = np.argsort(positions, kind="stable")
        at = index_of(by_position, len(positions))
        scalars = [*call.partition, *(key.scalar for key in call.order)]
        columns = [column.take(pa.array(by_position)) for column in self._scalars(scalars)]
        width = len(call.partition)
        keys = [
            Key(column, key.descending, key.nulls_first)
            for column, key in zip(columns[width:], call.order, strict=True)
        ]
        self._placed = placed = Placed(columns[:width], keys, len(positions))
        place = placed.place[at]
        is_base = by_position[placed.rows] < count
        self._base_order = by_position[placed.rows][is_base]
        self._before = bounds(is_base.astype(np.int64))
        # Where the row stands in each scenario: as it was, or as it is now.
        own = np.searchsorted(moved.present, positions_of(places))
        found, arrived = matches(places, moved.arriving)
        own = np.minimum(own, max(count - 1, 0))
        own[found] = count + arrived
        self._own = place[own]
        self._old = np.searchsorted(moved.present, positions_of(moved.old))
        self._old_place, self._new_place = place[self._old], place[count:]
        self._of_old, self._of_new = self._asked(moved.old), self._asked(moved.arriving)

    def _asked(self, places: Array) -> Array:
        """Return which of the asked scenarios places are in; -1: none."""
        scenarios = scenarios_of(places)
        index = np.searchsorted(self._scenarios, scenarios)
        index = np.minimum(index, max(len(self._scenarios) - 1, 0))
        if not len(self._scenarios):
            return np.full(len(places), -1)
        return np.where(self._scenarios[index] == scenarios, index, -1)

    def _scalars(self, scalars: Sequence[Interpreted]) -> list[pa.Array]:
        """Return the values of scalars of the rows without deletion, then of arriving ones."""
        moved = self._moved
        base = moved.members.resolve(moved.present, moved.members.base)
        now = moved.members.resolve(moved.arriving, moved.context)
        columns = []
        for scalar in scalars:
            before = known_values(scalar, base, len(moved.present))
            after = known_values(scalar, now, len(moved.arriving))
            columns.append(pa.concat_arrays([before, as_type(after, before.type)]))
        return columns

    def value(self) -> pa.Array:
        placed, own = self._placed, self._own
        if self._call.function not in _COUNTED:
            assert self._call.frame is not None
            frames = placed.ranges(self._call.frame)
            if frames is None or self._call.aggregate is None:
                raise needs_spark(self._call.text)
            return self._aggregated(self._call.aggregate, frames.of(own))
        start, stop = placed.start[own], placed.stop[own]
        if self._call.function == "row_number":
            return pa.array(self._counted(FrameRanges(start, own)) + 1, pa.int32())
        _, first, last = placed.peers()
        before = self._counted(FrameRanges(start, first[own]))
        if self._call.function == "rank":
            return pa.array(before + 1, pa.int32())
        whole = self._counted(FrameRanges(start, stop))
        if self._call.function == "percent_rank":
            others = np.maximum(whole - 1, 1)
            return pa.array(np.where(whole > 1, before / others, 0.0), pa.float64())
        return pa.array(self._counted(FrameRanges(start, last[own])) / whole, pa.float64())

    def _inside(self, frames: FrameRanges, owners: Array, places: Array) -> Array:
        """Return which changed rows, each in its scenario, are in the frame."""
        asked = owners >= 0
        of = np.where(asked, owners, 0)
        if not len(frames.start):
            return NOTHING
        inside = asked & (places >= frames.start[of]) & (places < frames.stop[of])
        return np.flatnonzero(inside)

    def _counted(self, frames: FrameRanges) -> Array:
        """Return the number of rows in each frame."""
        lost = self._inside(frames, self._of_old, self._old_place)
        gained = self._inside(frames, self._of_new, self._new_place)
        count = len(frames.start)
        counts = self._before[frames.stop] - self._before[frames.start]
        counts = counts - np.bincount(self._of_old[lost], minlength=count)
        numbers: Array = counts + np.bincount(self._of_new[gained], minlength=count)
        return numbers

    def _aggregated(self, call: AggregateCall, frames: FrameRanges) -> pa.Array:
        """Return an aggregate of the rows in each frame."""
        if not call.arguments:
            return pa.array(self._counted(frames), pa.int64())
        moved = self._moved
        members, present = moved.members, moved.present
        lost = self._inside(frames, self._of_old, self._old_place)
        gained = self._inside(frames, self._of_new, self._new_place)
        base = FrameRanges(self._before[frames.start], self._before[frames.stop])
        (argument,) = call.arguments
        resolve = members.resolve(present, members.base)
        ordered = decoded(known_values(argument, resolve, len(present)))
        ordered = ordered.take(pa.array(self._base_order))
        own = _OwnFrames(call, ordered, base)
        old, new = moved.old[lost], moved.arriving[gained]
        lost_of, gained_of = self._of_old[lost], self._of_new[gained]
        order = index_of(self._base_order, len(present))
        lost_at = order[self._old[lost]]

        def survivors(chosen: Array) -> TouchedMembers:
            places, offsets = FrameRanges(base.start[chosen], base.stop[chosen]).expanded()
            owners = np.repeat(np.arange(len(chosen)), np.diff(offsets))
            gone, of_gone = matches(lost_of, chosen)
            keys = owners * len(present) + places
            kept = ~np.isin(keys, of_gone * len(present) + lost_at[gone])
            there, at = matches(gained_of, chosen)
            scenarios = self._scenarios[chosen[owners[kept]]]
            rows = pack(scenarios, present[self._base_order[places[kept]]])
            rows, owners = np.concatenate([rows, new[there]]), np.concatenate([owners[kept], at])
            by_group = np.argsort(owners, kind="stable")
            rows, owners = rows[by_group], owners[by_group]
            return TouchedMembers(owners, members.resolve(rows, moved.context))

        def sums(_: str, chosen: Array) -> tuple[Array, Array]:
            starts, stops = base.start[chosen], base.stop[chosen]
            same = (starts == starts[:1]) & (stops == stops[:1])
            chosen = chosen[same & (base.sizes[chosen] > 0)]
            if not len(chosen) or int(base.sizes[chosen].sum()) < FLOATS:
                return NOTHING, NOTHING
            low, high = int(base.start[chosen[0]]), int(base.stop[chosen[0]])
            weights = ordered.slice(low, high - low).cast(pa.float64()).fill_null(0.0)
            numbers = weights.to_numpy(zero_copy_only=False)
            zeros = np.zeros(len(numbers), dtype=np.int64)
            gone, of_gone = matches(lost_of, chosen)
            chunked = ChunkedSums(numbers, zeros, 1)
            of_chosen = np.zeros(len(chosen), dtype=np.int64)
            return chosen, chunked.without(of_chosen, of_gone, lost_at[gone] - low)

        touched = Touched(
            len(self._places),
            TouchedMembers(lost_of, members.resolve(old, members.base)),
            TouchedMembers(gained_of, members.resolve(new, moved.context)),
            own.stored,
            survivors,
            sums,
            _no_whole,
        )
        return touched.recompute("", call)


def _no_whole() -> tuple[TouchedMembers, Array]:
    raise AssertionError("Distinct values of windows are not counted here.")


@dataclass(frozen=True, slots=True)
class _OwnFrames:
    """Aggregates of frames without deletion, in the form that a capture has for groups."""

    call: AggregateCall
    ordered: pa.Array
    frames: FrameRanges

    def stored(self, name: str) -> pa.Array:
        """Return an aggregate of each frame: the call's own, a sum, or a number."""
        if name == MEMBERS:
            return pa.array(self.frames.sizes)
        function = {COUNT_SUFFIX: "COUNT", SUM_SUFFIX: "SUM"}.get(name, self.call.function)
        assert function is not None
        start, stop = self.frames.start, self.frames.stop
        found = aggregate_ranges(function, self.ordered, start, stop)
        if found is not None:
            return found
        different, number = self.frames.distinct()
        if int(different.sizes.sum()) > MOST_IN_FRAMES:
            raise needs_spark(self.call.text)
        places, offsets = different.expanded()
        values = reaggregate(self.call, [self.ordered.take(pa.array(places))], offsets)
        return values.take(pa.array(number))
