"""Joins of two streams by the windows of both at every event of either."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch, Lists, concat_batches
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.keys import (
    INFINITE,
    NEVER,
    Keys,
    first_of_time,
    last_of_code,
    search,
    whole_order,
)
from lipstick.systems.streams.operator_state import StageState, batch_of_table, batch_to_table
from lipstick.systems.streams.operators.base import (
    Fired,
    Operator,
    Pairs,
    Parents,
    Reach,
    Spans,
    Stage,
    last_events,
    last_of,
    within_time,
)
from lipstick.systems.streams.operators.mapping import checked_mask, name_of
from semiring.arrays.segments import ascending, bounds, expand
from semiring.base import Array

Condition = Callable[[pa.Table, pa.Table], Any] | tuple[tuple[str, str], ...] | None
"""The condition of a match: a predicate of two tables with a row for each pair; pairs of columns
that are equal; None: all pairs match."""

PAIRS = 1 << 20
"""Number of pairs tested in one step."""


def condition_parameters(condition: Condition) -> Any:
    """Return a condition as JSON."""
    if condition is None:
        return None
    return (
        [list(each) for each in condition] if isinstance(condition, tuple) else name_of(condition)
    )


@dataclass(frozen=True, slots=True)
class WindowJoin(Operator):
    """A join of two streams by a window of each.

    Parameters
    ----------
    left, right
        The sizes of the windows of either side.
    condition
        See `Condition`.
    """

    left: int
    right: int
    condition: Condition = None
    inputs: ClassVar[int] = 2

    def size(self, which: int) -> int:
        """Return the size of the window of a side."""
        return self.right if which else self.left

    def parameters(self) -> dict[str, Any]:
        condition = condition_parameters(self.condition)
        return {"left": self.left, "right": self.right, "condition": condition}


@dataclass(frozen=True, slots=True)
class TimeJoin(WindowJoin):
    """At every event of either stream at τ, the pairs of events within [τ - w, τ] that match.

    Events of both streams at one time are one tick. An output is emitted if a pair matches; its
    content is the list of pairs, its delay the whole one from the tick.

    Parameters
    ----------
    left, right
        Widths in ticks.
    condition
        See `Condition`.
    """

    kind: ClassVar[str] = "time_join"

    def __post_init__(self) -> None:
        if min(self.left, self.right) < 0:
            raise StreamError(f"A join has windows of {self.left} and {self.right} ticks.")

    def spans(
        self, outputs: Keys, inputs: Sequence[Keys], which: int, rank: Array | None = None
    ) -> Spans:
        """Return ``TScope(t - d, t - d - w, S)`` of either side."""
        return within_time(outputs, inputs[which], self.size(which))

    def reach(self, which: int) -> Reach:
        return Reach(time=self.size(which))

    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        return _TimeJoinStage(self.condition, (self.left, self.right))

    def scaled(self, factor: int) -> TimeJoin:
        return replace(self, left=self.left * factor, right=self.right * factor)


@dataclass(frozen=True, slots=True)
class LengthJoin(WindowJoin):
    """At every event of either stream, the matching pairs among the last events of both.

    Parameters
    ----------
    left, right
        The number of last events of either side.
    condition
        See `Condition`.
    """

    kind: ClassVar[str] = "length_join"

    def __post_init__(self) -> None:
        if min(self.left, self.right) < 1:
            raise StreamError(f"A join has windows of {self.left} and {self.right} events.")

    def spans(
        self, outputs: Keys, inputs: Sequence[Keys], which: int, rank: Array | None = None
    ) -> Spans:
        """Return ``NScope(ub, ub - l + 1, S)`` of either side, ub the greatest n with t ≤ t - d."""
        return last_events(outputs, inputs[which], self.size(which))

    def reach(self, which: int) -> Reach:
        return Reach(count=self.size(which))

    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        return _LengthJoinStage(self.condition, (self.left, self.right))


class _JoinStage(Stage):
    def __init__(self, condition: Condition, sizes: tuple[int, int]) -> None:
        self._condition = condition
        self._sizes = sizes
        self._held: list[Batch | None] = [None, None]
        self._done = NEVER

    def push(self, batches: Sequence[Batch], frontiers: Sequence[int]) -> Fired:
        sides = [
            batch.rows() if held is None else concat_batches([held, batch])
            for held, batch in zip(self._held, batches, strict=True)
        ]
        safe = max(min(frontiers), self._done)
        code, ticks = self._ticks(sides, safe)
        ranges = [
            self._window(side.keys, code, ticks, self._sizes[i]) for i, side in enumerate(sides)
        ]
        fired = self._fire(sides, code, ticks, ranges)
        for i, side in enumerate(sides):
            kept = np.flatnonzero(self._needed(side.keys, safe, self._sizes[i]))
            self._held[i] = side if len(kept) == len(side) else side.take(kept)
        self._done = safe
        return fired

    def _ticks(self, sides: Sequence[Batch], safe: int) -> tuple[Array | None, Array]:
        """Return the times of due events of either side."""
        times, codes = [], []
        for side in sides:
            keys = side.keys
            due = np.flatnonzero((keys.t > self._done) & (keys.t <= safe))
            times.append(keys.t[due])
            if keys.code is not None:
                codes.append(keys.code[due])
        t = np.concatenate(times)
        code = np.concatenate(codes) if codes else None
        order = whole_order(code, t)
        t = t[order]
        code = None if code is None else code[order]
        first = first_of_time(code, t)
        return (None if code is None else code[first]), t[first]

    @abstractmethod
    def _window(self, keys: Keys, code: Array | None, ticks: Array, size: int) -> Spans: ...

    @abstractmethod
    def _needed(self, keys: Keys, safe: int, size: int) -> Array:
        """Return the mask of the events that a later tick's window may include."""

    def _fire(
        self,
        sides: Sequence[Batch],
        code: Array | None,
        ticks: Array,
        ranges: Sequence[Spans],
    ) -> Fired:
        (low1, high1), (low2, high2) = ranges
        sizes = (high1 - low1) * (high2 - low2)
        lefts, rights, owners = [], [], []
        for start, stop in _steps(sizes):
            pair, owner = expand(np.zeros(stop - start, dtype=np.int64), sizes[start:stop])
            owner += start
            width = (high2 - low2)[owner]
            left, right = low1[owner] + pair // width, low2[owner] + pair % width
            mask = self._match(sides, left, right)
            if mask is not None:
                left, right, owner = left[mask], right[mask], owner[mask]
            lefts.append(left)
            rights.append(right)
            owners.append(owner)
        left, right, owner = (
            np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
            for parts in (lefts, rights, owners)
        )
        counts = np.bincount(owner, minlength=len(ticks)) if len(ticks) else owner
        emitted = np.flatnonzero(counts)
        offsets = bounds(counts[emitted])
        members = _pairs_table(sides[0].table(), sides[1].table(), left, right)
        content = Lists(members, offsets[:-1], offsets[1:], newest_first=False)
        parents = [
            Parents(
                side.properties,
                low[emitted],
                high[emitted],
                side.keys.t[high[emitted] - 1] == ticks[emitted],
            )
            for side, (low, high) in zip(sides, ranges, strict=True)
        ]
        pairs = Pairs(offsets, left, right)
        codes = None if code is None else code[emitted]
        return Fired(ticks[emitted], None, content, parents, pairs, code=codes)

    def _match(self, sides: Sequence[Batch], left: Array, right: Array) -> Array | None:
        condition = self._condition
        if condition is None or not len(left):
            return None
        a = sides[0].table().take(pa.array(left))
        b = sides[1].table().take(pa.array(right))
        if not isinstance(condition, tuple):
            return checked_mask(condition(a, b), len(left), "join")
        mask = np.ones(len(left), dtype=np.bool_)
        for name, other in condition:
            mask &= checked_mask(pc.equal(a.column(name), b.column(other)), len(left), "join")
        return mask

    def save(self) -> StageState:
        tables = {"done": pa.table({"t": pa.array([self._done])})}
        for name, held in zip(("left", "right"), self._held, strict=True):
            if held is not None:
                tables[name] = batch_to_table(held)
        return StageState(tables)

    def load(self, state: StageState) -> None:
        self._done = state.tables["done"].column("t")[0].as_py()
        for i, name in enumerate(("left", "right")):
            if name in state.tables:
                self._held[i] = batch_of_table(state.tables[name])

    def held(self) -> int:
        return sum(0 if held is None else len(held) for held in self._held)


class _TimeJoinStage(_JoinStage):
    def _window(self, keys: Keys, code: Array | None, ticks: Array, size: int) -> Spans:
        low = search(keys.code, keys.t, code, ticks - size, "left")
        return low, search(keys.code, keys.t, code, ticks, "right")

    def _needed(self, keys: Keys, safe: int, size: int) -> Array:
        if safe == INFINITE:
            return np.zeros(len(keys), dtype=np.bool_)
        if safe == NEVER:
            return np.ones(len(keys), dtype=np.bool_)
        needed: Array = keys.t >= safe - size
        return needed


class _LengthJoinStage(_JoinStage):
    def _window(self, keys: Keys, code: Array | None, ticks: Array, size: int) -> Spans:
        high = search(keys.code, keys.t, code, ticks, "right")
        return last_of(keys.code, code, high, size), high

    def _needed(self, keys: Keys, safe: int, size: int) -> Array:
        if safe == INFINITE:
            return np.zeros(len(keys), dtype=np.bool_)
        done = keys.t <= safe
        # Among finished events, the last ones of every code.
        before = bounds(done)
        later = before[last_of_code(keys.code, len(keys))] - before[:-1]
        needed: Array = ~done | (later <= size)
        return needed


def _steps(sizes: Array) -> list[tuple[int, int]]:
    """Return ranges of ticks with about `PAIRS` pairs each."""
    ends = np.cumsum(sizes)
    if not len(sizes) or not int(ends[-1]):
        return []
    cuts = np.searchsorted(ends, np.arange(PAIRS, int(ends[-1]) + PAIRS, PAIRS), "left") + 1
    stops = ascending(np.minimum(cuts, len(sizes))).tolist()
    return list(zip([0, *stops[:-1]], stops, strict=True))


def _pairs_table(a: pa.Table, b: pa.Table, left: Array, right: Array) -> pa.Table:
    """Return a row for each pair: the columns of both sides, prefixed by ``left_`` and
    ``right_``.
    """
    a, b = a.take(pa.array(left)), b.take(pa.array(right))
    names = [f"left_{name}" for name in a.column_names]
    names += [f"right_{name}" for name in b.column_names]
    return pa.table([*a.columns, *b.columns], names=names)
