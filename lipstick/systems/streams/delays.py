"""Delays of outputs: fixed, measured, from a function, or recorded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.keys import Keys, search
from semiring.base import Array
from semiring.support.door import checked


@checked
class Delays(ABC):
    """A source of delays: the ticks from an output's trigger to its emission."""

    deterministic: bool = True
    """True if a run of the same input has the same delays."""

    @abstractmethod
    def of(self, sid: str, code: Array | None, trigger: Array, elapsed: int) -> Array:
        """Return the delays of outputs of a stream, int64, 0 or more.

        Parameters
        ----------
        elapsed
            The measured ticks that the operator took for the batch.
        """


@checked
@dataclass(frozen=True, slots=True)
class Fixed(Delays):
    """A constant delay per stream: a logical clock, which every run repeats.

    Parameters
    ----------
    ticks
        By name of the stream; `other` for those not named.
    """

    other: int = 0
    ticks: Mapping[str, int] | None = None

    def of(self, sid: str, code: Array | None, trigger: Array, elapsed: int) -> Array:
        value = (self.ticks or {}).get(sid, self.other)
        return np.full(len(trigger), value, dtype=np.int64)


@checked
@dataclass(frozen=True, slots=True)
class Measured(Delays):
    """The time from receipt of the batch to the operator's output, as in the thesis."""

    deterministic = False

    def of(self, sid: str, code: Array | None, trigger: Array, elapsed: int) -> Array:
        return np.full(len(trigger), elapsed, dtype=np.int64)


@checked
@dataclass(frozen=True, slots=True)
class Given(Delays):
    """Delays from a function of stream, codes and trigger times."""

    function: Callable[[str, Array | None, Array], Array]

    def of(self, sid: str, code: Array | None, trigger: Array, elapsed: int) -> Array:
        delays = np.asarray(self.function(sid, code, trigger), dtype=np.int64)
        if delays.shape != trigger.shape or (len(delays) and int(delays.min()) < 0):
            raise StreamError(
                f"Delays of stream {sid}: shape {delays.shape} for {len(trigger)} outputs, or a"
                " negative one.\nReturn one delay of 0 ticks or more for each output."
            )
        return delays


class Recorded(Delays):
    """The recorded delays of outputs, found by their triggers; else 0."""

    def __init__(self, recorded: Mapping[str, Keys]) -> None:
        self._recorded = recorded
        self._triggers = {sid: keys.trigger for sid, keys in recorded.items()}

    def of(self, sid: str, code: Array | None, trigger: Array, elapsed: int) -> Array:
        keys = self._recorded.get(sid)
        if keys is None or not len(keys):
            return np.zeros(len(trigger), dtype=np.int64)
        triggers = self._triggers[sid]
        index = search(keys.code, triggers, code, trigger, "left")
        # Of outputs with one trigger (a merge) the second has the second's delay.
        index += np.arange(len(trigger)) - search(code, trigger, code, trigger, "left")
        index = np.minimum(index, len(keys) - 1)
        known = triggers[index] == trigger
        if keys.code is not None and code is not None:
            known &= keys.code[index] == code
        return np.where(known, keys.d[index], 0)
