"""Operators of a stream graph: their execution, and their ancestor functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from lipstick.systems.streams.batch import Batch, Lists
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.keys import Keys, search
from lipstick.systems.streams.operator_state import StageState
from semiring.arrays.segments import bounds, expand
from semiring.base import Array

Spans = tuple[Array, Array]
"""For every output, the positions ``[low, high)`` of its ancestors among the input's events."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The distance from a trigger back to the events of an input that an operator uses.

    Parameters
    ----------
    time
        Ticks before the trigger, inclusive.
    count
        The number of last events, instead; None: `time` counts.
    """

    time: int = 0
    count: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Parents:
    """The events of one input behind the outputs of a step.

    Parameters
    ----------
    properties
        Of the input's events at hand, by name.
    low, high
        The range of them for every output.
    triggered
        For joins, the outputs triggered by the last event of the range.
    aligned
        Whether output i derives from event i only.
    """

    properties: Mapping[str, Array]
    low: Array
    high: Array
    triggered: Array | None = None
    aligned: bool = False

    def take(self, positions: Array) -> Parents:
        """Return the parents of the outputs at positions."""
        triggered = None if self.triggered is None else self.triggered[positions]
        return Parents(self.properties, self.low[positions], self.high[positions], triggered)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The matching pairs of a join: output i has pairs ``offsets[i]`` to the next.

    `left` and `right` are positions among the buffered events of both inputs.
    """

    offsets: Array
    left: Array
    right: Array

    def take(self, positions: Array) -> Pairs:
        """Return the pairs of the outputs at positions."""
        low, high = self.offsets[:-1][positions], self.offsets[1:][positions]
        places, _ = expand(low, high)
        offsets = bounds(high - low)
        return Pairs(offsets, self.left[places], self.right[places])


@dataclass(frozen=True, slots=True, eq=False)
class Fired:
    """The outputs of a step of an operator, before they have times and numbers of their own.

    Parameters
    ----------
    trigger
        The times of the events that caused the outputs, ascending for every code.
    n
        The outputs' sequence numbers; None: they are counted.
    content
        Of the outputs.
    parents
        The parents of the outputs, one for each input.
    pairs
        For joins, the matching pairs.
    code
        Of the outputs, if the stream has a key.
    """

    trigger: Array
    n: Array | None
    content: pa.Table | Lists
    parents: Sequence[Parents]
    pairs: Pairs | None = None
    code: Array | None = None

    def take(self, positions: Array) -> Fired:
        """Return the outputs at ascending positions."""
        rows = pa.array(positions)
        content = self.content
        return Fired(
            self.trigger[positions],
            None if self.n is None else self.n[positions],
            content.take(positions if isinstance(content, Lists) else rows),
            [each.take(positions) for each in self.parents],
            None if self.pairs is None else self.pairs.take(positions),
            None if self.code is None else self.code[positions],
        )


class Stage(ABC):
    """A running operator, with its state: the events that it may still need."""

    @abstractmethod
    def push(self, batches: Sequence[Batch], frontiers: Sequence[int]) -> Fired:
        """Process the next events of every input.

        Parameters
        ----------
        batches
            One for each input, ascending by (code, t), after all that came before.
        frontiers
            For each input, the time up to which it is complete.
        """

    def save(self) -> StageState:
        """Return the state, to continue from after a restart."""
        return StageState()

    def load(self, state: StageState) -> None:  # noqa: B027 - stateless stages have nothing to load
        """Continue from a saved state."""

    def held(self) -> int:
        """Return the number of buffered events."""
        return 0


class Operator(ABC):
    """An operator of a stream graph; immutable.

    Every operator's outputs obey ``t = t_trigger + d``: the ancestors of an output follow from its
    key, the recorded keys of the inputs, and the operator's parameters alone.
    """

    kind: ClassVar[str]
    inputs: ClassVar[int] = 1
    """The number of streams it reads; -1: two or more."""
    aligned: ClassVar[bool] = False
    """True if there is exactly one output for every event of the input, with its number."""

    @abstractmethod
    def spans(
        self, outputs: Keys, inputs: Sequence[Keys], which: int, rank: Array | None = None
    ) -> Spans:
        """Return the ancestors of every output in one input: the stream ancestor function.

        Both bounds ascend with the outputs, for non-empty ranges.

        Parameters
        ----------
        outputs
            Keys of outputs.
        inputs
            Recorded keys of the inputs: all, or at least those within `reach` of the triggers.
        which
            The number of the input.
        rank
            The number of earlier outputs with the same trigger; None: `outputs` are all outputs.
        """

    @abstractmethod
    def reach(self, which: int) -> Reach:
        """Return the distance from outputs back to their ancestors in an input."""

    @abstractmethod
    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        """Return a running operator.

        Parameters
        ----------
        keyed
            Whether the inputs have a key.
        codes
            The values of keys met so far, by code.
        """

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the operator that a store records, as JSON."""
        return {}

    def scaled(self, factor: int) -> Operator:
        """Return the same operator for ticks divided into `factor` ticks."""
        return self


class OfTrigger(Operator):
    """An operator whose every output derives from the event that triggered it (``Map_OA``).

    That is the event with ``t_i = t - d``, whatever the keys: times of an input are unique.
    """

    def spans(
        self, outputs: Keys, inputs: Sequence[Keys], which: int, rank: Array | None = None
    ) -> Spans:
        return at_trigger(outputs, inputs[0])

    def reach(self, which: int) -> Reach:
        return Reach()


def at_trigger(outputs: Keys, inputs: Keys) -> Spans:
    """Return the event that triggered each output, as ``delayedExactly``; empty if there is
    none.
    """
    codes = None if inputs.code is None else outputs.code
    low = search(inputs.code, inputs.t, codes, outputs.trigger, "left")
    high = search(inputs.code, inputs.t, codes, outputs.trigger, "right")
    return low, high


def within_time(outputs: Keys, inputs: Keys, width: int) -> Spans:
    """Return the events at most `width` ticks before the trigger: ``TScope(t - d, t - d - w)``."""
    trigger = outputs.trigger
    low = search(inputs.code, inputs.t, outputs.code, trigger - width, "left")
    return low, search(inputs.code, inputs.t, outputs.code, trigger, "right")


def last_events(outputs: Keys, inputs: Keys, length: int) -> Spans:
    """Return the last `length` events up to the trigger: ``NScope`` from ``upperBound``."""
    high = search(inputs.code, inputs.t, outputs.code, outputs.trigger, "right")
    return last_of(inputs.code, outputs.code, high, length), high


def last_of(code: Array | None, codes: Array | None, high: Array, length: int) -> Array:
    """Return the lower ends of the `length` events before positions, within one code."""
    start: Array | int = 0
    if code is not None and codes is not None:
        start = np.searchsorted(code, codes, "left")
    low: Array = np.maximum(high - length, start)
    return low


def each(count: int) -> Spans:
    """Return the range of position i for output i."""
    low = np.arange(count, dtype=np.int64)
    return low, low + 1
