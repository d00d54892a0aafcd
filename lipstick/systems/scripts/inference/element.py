"""Processing elements, with their window, trigger, ratio and delay."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.inference.distribution import Distribution

By: TypeAlias = Literal["time", "tuples"]
Ratio: TypeAlias = Literal["n:1", "1:1", "variable"]


@dataclass(frozen=True, slots=True)
class ProcessingElement:
    """A processing element (PE), as the workflow graph describes it (section III-A).

    Parameters
    ----------
    window
        The size of its window over its input, in time units or tuples; from 1.
    trigger
        After how many time units or tuples it runs again; from 1.
    delay
        From when it is triggered to when its output is in the view, in time units.
    origin
        A time at which it was triggered, where the grid of triggers is known: all times at which it
        is are multiples of `trigger` from there. None: not known.
    """

    window: int
    trigger: int
    delay: Distribution = field(default_factory=lambda: Distribution.constant(0))
    window_by: By = "time"
    trigger_by: By = "time"
    ratio: Ratio = "n:1"
    origin: int | None = None

    def __post_init__(self) -> None:
        if self.window < 1 or self.trigger < 1:
            raise ScriptError(
                f"A window of {self.window} and a trigger of {self.trigger}: both are at least 1."
            )
        if self.origin is not None and self.trigger_by != "time":
            raise ScriptError("A trigger by tuples has no grid in time: leave out the origin.")
