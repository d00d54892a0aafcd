"""Input-driven sliding windows: on each event, the list of the last events by time or by count."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch, Lists, concat_batches
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.keys import (
    INFINITE,
    NEVER,
    Keys,
    first_of_code,
    last_of_code,
    search,
)
from lipstick.systems.streams.operator_state import StageState, batch_of_table, batch_to_table
from lipstick.systems.streams.operators.base import (
    Fired,
    Operator,
    Parents,
    Reach,
    Spans,
    Stage,
    last_events,
    within_time,
)
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class TimeWindow(Operator):
    """On each event at t the events in the closed interval [t - width, t], newest first.

    Parameters
    ----------
    width
        In ticks; 0: the event alone.
    """

    width: int
    kind: ClassVar[str] = "time_window"
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.width < 0:
            raise StreamError(f"A time window has {self.width} ticks.\nGive 0 or more.")

    def spans(
        self, outputs: Keys, inputs: Sequence[Keys], which: int, rank: Array | None = None
    ) -> Spans:
        """Return ``TW_OA``: ``TScope(t - d, (t - d) - w, S)``."""
        return within_time(outputs, inputs[0], self.width)

    def reach(self, which: int) -> Reach:
        return Reach(time=self.width)

    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        return _TimeWindowStage(self.width)

    def parameters(self) -> dict[str, Any]:
        return {"width": self.width}

    def scaled(self, factor: int) -> TimeWindow:
        return replace(self, width=self.width * factor)


@dataclass(frozen=True, slots=True)
class LengthWindow(Operator):
    """On each event the last `length` events, including itself, newest first."""

    length: int
    kind: ClassVar[str] = "length_window"
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.length < 1:
            raise StreamError(f"A window has {self.length} events.\nGive 1 or more.")

    def spans(
        self, outputs: Keys, inputs: Sequence[Keys], which: int, rank: Array | None = None
    ) -> Spans:
        """Return ``LW_OA``: ``NScope(n, n - l + 1, S)``; the trigger is the event with that
        number.
        """
        return last_events(outputs, inputs[0], self.length)

    def reach(self, which: int) -> Reach:
        return Reach(count=self.length)

    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        return _LengthWindowStage(self.length)

    def parameters(self) -> dict[str, Any]:
        return {"length": self.length}


class _WindowStage(Stage):
    def __init__(self) -> None:
        self._tail: Batch | None = None

    def push(self, batches: Sequence[Batch], frontiers: Sequence[int]) -> Fired:
        batch = batches[0].rows()
        held = batch if self._tail is None else concat_batches([self._tail, batch])
        keys = batch.keys
        high = search(held.keys.code, held.keys.t, keys.code, keys.t, "right")
        low = self._low(held.keys, keys, high)
        parents = [Parents(held.properties, low, high)]
        kept = np.flatnonzero(self._needed(held.keys, frontiers[0]))
        self._tail = held if len(kept) == len(held) else held.take(kept)
        content = Lists(held.table(), low, high)
        return Fired(keys.t, keys.n, content, parents, code=keys.code)

    @abstractmethod
    def _low(self, held: Keys, keys: Keys, high: Array) -> Array: ...

    @abstractmethod
    def _needed(self, held: Keys, frontier: int) -> Array:
        """Return the mask of the events that a later window may include."""

    def save(self) -> StageState:
        return StageState({} if self._tail is None else {"tail": batch_to_table(self._tail)})

    def load(self, state: StageState) -> None:
        if "tail" in state.tables:
            self._tail = batch_of_table(state.tables["tail"])

    def held(self) -> int:
        return 0 if self._tail is None else len(self._tail)


class _TimeWindowStage(_WindowStage):
    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width

    def _low(self, held: Keys, keys: Keys, high: Array) -> Array:
        return search(held.code, held.t, keys.code, keys.t - self._width, "left")

    def _needed(self, held: Keys, frontier: int) -> Array:
        if not len(held) or frontier == INFINITE:
            return np.zeros(len(held), dtype=np.bool_)
        latest = held.t[last_of_code(held.code, len(held)) - 1]
        if frontier != NEVER:
            latest = np.maximum(latest, frontier)
        needed: Array = held.t >= latest - self._width
        return needed


class _LengthWindowStage(_WindowStage):
    def __init__(self, length: int) -> None:
        super().__init__()
        self._length = length

    def _low(self, held: Keys, keys: Keys, high: Array) -> Array:
        starts = first_of_code(held.code, len(held))
        low: Array = np.maximum(high - self._length, starts[high - 1])
        return low

    def _needed(self, held: Keys, frontier: int) -> Array:
        if frontier == INFINITE:
            return np.zeros(len(held), dtype=np.bool_)
        ends = last_of_code(held.code, len(held))
        needed: Array = np.arange(len(held)) >= ends - (self._length - 1)
        return needed
