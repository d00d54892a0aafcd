"""Several values of the answer: their common input rows, and each value without them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.places import NOTHING
from lipstick.questions.contributions.axes import Axes, Axis, InputGroups
from lipstick.questions.contributions.question import (
    GroupContributions,
    ValueInputs,
    contributions_of,
    grouped,
)
from lipstick.questions.why.measure import difference
from semiring.arrays.segments import mask_of
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class JointInputs:
    """Several values of the answer, and the rows that are inputs of any of them.

    Attributes
    ----------
    axes
        One a relation, each with inputs of its own.
    had
        By relation a Boolean array of values by rows: the row is an input of the value.
    """

    values: list[ValueInputs]
    axes: list[Axis]
    had: Mapping[str, Array]

    @property
    def joint(self) -> bool:
        """False: each axis has inputs of its own."""
        return False

    def grouped(self, axis: int | None, column: str, unit: str) -> InputGroups:
        """Return the inputs in groups; by default by the rows of the axis with most in common.

        Raises
        ------
        CaptureError
            Where there are no inputs, no such axis or no such column.
        """
        if axis is None and self.axes:
            common = [self.common(each) for each in self.axes]
            axis = max(range(len(common)), key=lambda at: (common[at], self.axes[at].distinct))
        return grouped(self.axes, axis, column, unit)

    def common(self, axis: Axis) -> int:
        """Return the number of rows of an axis that are inputs of all values."""
        return int(np.count_nonzero(self._had(axis).all(axis=0)))

    def counts(self, groups: InputGroups) -> Array:
        """Return by value and group the number of inputs; the last line counts common inputs."""
        had = self._had(groups.axis)
        lines = [*had, had.all(axis=0)]
        return np.array([np.bincount(groups.codes[line], minlength=groups.count) for line in lines])

    def _had(self, axis: Axis) -> Array:
        return self.had[axis.relation][:, axis.rows]

    def without(
        self, memory: Memory, groups: InputGroups, until: float | None = None
    ) -> list[GroupContributions]:
        """Return each value without each of some groups: one deletion is the same for all values.

        Groups stay unknown for which there was no time ``until``, of the clock
        :func:`time.monotonic`; None: none does.
        """
        found = []
        for done, value in enumerate(self.values):
            left = until and max(0.0, until - time.monotonic()) / (len(self.values) - done)
            found.append(contributions_of(memory, value, groups, left))
        return found


def joint_inputs(values: list[ValueInputs], axes: Axes) -> JointInputs:
    """Return several values with the rows that are inputs of any of them."""
    joint: list[Axis] = []
    had: dict[str, Array] = {}
    for name in dict.fromkeys(axis.relation for value in values for axis in value.axes):
        own = [[axis for axis in value.axes if axis.relation == name] for value in values]
        sources = [axis.source for each in own for axis in each]
        # What a capture holds of a scan is known of the rows of that scan alone.
        source = sources[0] if all(s is sources[0] for s in sources) else axes.sources[name]
        rows = [np.concatenate([NOTHING, *(axis.rows for axis in each)]) for each in own]
        had[name] = np.array([mask_of(each[each >= 0], len(source)) for each in rows])
        there = np.flatnonzero(had[name].any(axis=0))
        if len(there):
            joint.append(Axis(len(joint), name, source, there))
    return JointInputs(values, joint, had)


def differences_without(
    first: GroupContributions, other: GroupContributions, groups: Array
) -> list[tuple[str, Any]]:
    """Return by how much a value exceeds another one without each of some groups, exactly.

    Returns
    -------
    list
        ``there`` with the difference, None where one of them is not a number; ``gone`` where one
        of their rows is not there; ``unknown``.
    """
    known = (first.without.known & other.without.known)[groups]
    there = (first.without.there & other.without.there)[groups]
    states = np.where(known, np.where(there, "there", "gone"), "unknown")
    values = [each.without.values.take(pa.array(groups)).to_pylist() for each in (other, first)]
    return list(zip(states.tolist(), map(difference, *values), strict=True))
