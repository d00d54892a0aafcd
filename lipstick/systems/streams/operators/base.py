"""Operators of a stream graph: how they fire, and their ancestor functions."""

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
from semiring.base import Array
from semiring.segments import bounds, expand

Spans = tuple[Array, Array]
"""For every output, the positions ``[low, high)`` of its ancestors among the input's events."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The distance back from a trigger that an operator looks into an input.

    Parameters
    ----------
    time
        Ticks before the trigger, which count too.
    count
        The number of last events, instead; None: `time` counts.
    """

    time: int = 0
    count: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Parents:
    """The events of one input that the outputs of a step were made of.

    Parameters
    ----------
    properties
        Of the input's events at hand, by name.
    low, high
        The range of them for every output.
    triggered
        Of joins: for which outputs the last of the range is what triggered them.
    aligned
        Whether output i was made of event i alone.
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
    """The pairs of events that a join matched: output i has pairs ``offsets[i]`` to the next.

    `left` and `right` are positions among the events at hand of both inputs.
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
    """The outputs of a step of an operator, before they have their own times and numbers.

    Parameters
    ----------
    trigger
        The times of the events that caused the outputs, ascending for every code.
    n
        The outputs' sequence numbers; None: they are counted.
    content
        Of the outputs.
    parents
        What they were made of, one for each input.
    pairs
        Of joins, what matched.
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
        """The outputs at ascending positions."""
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
    """An operator at work, with its state: the events that it may still need."""

    @abstractmethod
    def push(self, batches: Sequence[Batch], frontiers: Sequence[int]) -> Fired:
        """Take the next events of every input, and fire.

        Parameters
        ----------
        batches
            One for each input, ascending by (code, t), after all that came before.
        frontiers
            For each input a time up to which nothing comes any more.
        """

    def save(self) -> StageState:
        """The state, to go on from after a restart."""
        return StageState()

    def load(self, state: StageState) -> None:  # noqa: B027 - stateless stages have nothing to load
        """Go on from a state that `save` gave."""

    def held(self) -> int:
        """Return the number of events that are held for later."""
        return 0


class Operator(ABC):
    """An operator of a stream graph; immutable.

    Every operator's outputs obey ``t = t_trigger + d``: which events an output was made of follows
    from its key, the recorded keys of the inputs, and the operator's parameters alone.
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
        """The stream ancestor function: for every output its ancestors in one input.

        Both bounds ascend with the outputs, where the ranges are not empty.

        Parameters
        ----------
        outputs
            Keys of outputs.
        inputs
            Recorded keys of the inputs: all, or at least those within `reach` of the triggers.
        which
            Which of the inputs.
        rank
            How many outputs before each have the same trigger; None: `outputs` are all there are.
        """

    @abstractmethod
    def reach(self, which: int) -> Reach:
        """Return the distance from outputs back to their ancestors in an input."""

    @abstractmethod
    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        """Begin to work.

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
        """The same operator where a tick is divided into `factor` ticks."""
        return self


class OfTrigger(Operator):
    """An operator whose every output is made of the event that triggered it (``Map_OA``).

    That is the event with ``t_i = t - d``, whatever the keys: times of an input are unique.
    """

    def spans(
        self, outputs: Keys, inputs: Sequence[Keys], which: int, rank: Array | None = None
    ) -> Spans:
        return at_trigger(outputs, inputs[0])

    def reach(self, which: int) -> Reach:
        return Reach()


def at_trigger(outputs: Keys, inputs: Keys) -> Spans:
    """The event that triggered each output, as ``delayedExactly``; empty where there is none."""
    codes = None if inputs.code is None else outputs.code
    low = search(inputs.code, inputs.t, codes, outputs.trigger, "left")
    high = search(inputs.code, inputs.t, codes, outputs.trigger, "right")
    return low, high


def within_time(outputs: Keys, inputs: Keys, width: int) -> Spans:
    """The events at most `width` ticks before the trigger: ``TScope(t - d, t - d - w)``."""
    trigger = outputs.trigger
    low = search(inputs.code, inputs.t, outputs.code, trigger - width, "left")
    return low, search(inputs.code, inputs.t, outputs.code, trigger, "right")


def last_events(outputs: Keys, inputs: Keys, length: int) -> Spans:
    """The last `length` events up to the trigger: ``NScope`` from ``upperBound``."""
    high = search(inputs.code, inputs.t, outputs.code, outputs.trigger, "right")
    return last_of(inputs.code, outputs.code, high, length), high


def last_of(code: Array | None, codes: Array | None, high: Array, length: int) -> Array:
    """The lower ends of the `length` events before positions, of one code each."""
    start: Array | int = 0
    if code is not None and codes is not None:
        start = np.searchsorted(code, codes, "left")
    low: Array = np.maximum(high - length, start)
    return low


def each(count: int) -> Spans:
    """The range of position i for output i."""
    low = np.arange(count, dtype=np.int64)
    return low, low + 1
