"""Evidence against chance where few rows are behind a value.

Among a dozen rows no choice is unlikely in itself: one of them has 2.5 nats, less than the length
of any condition. A person sees there how far apart the rows are, and so does Student's t.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log

import numpy as np

from lipstick.questions.why.deletions import SearchEffects
from lipstick.questions.why.measure import Measure
from semiring.base import Array

FEW = 30
"""The number of rows from which choices of rows are unlikely enough to be evidence."""

_ALLOWED = 8.0
"""The nats by which Student's t may exceed a choice of rows: few rows are seldom normal."""

_ROUNDING = 1e-9
"""The deviation of numbers, as a share of the largest, that is rounding."""

_EXACT = 1e-12
"""The least share of their variance that two groups of numbers leave."""


@dataclass(frozen=True)
class FewRows:
    """The parts of few rows in a measure.

    Attributes
    ----------
    parts
        The measure of each row alone; where a row alone has none, what the measure loses with it.
        In units of the largest; 0: it is not known.
    """

    measure: Measure
    parts: Array

    @staticmethod
    def of(measure: Measure, effects: SearchEffects, length: int) -> FewRows:
        """Return the parts of the rows of a relation; complexity: a deletion for each row."""
        every = np.arange(length)
        others = np.where(np.eye(length, dtype=np.bool_), -1, every[:, None])
        if effects.by_row:
            alone = [effects.singles(np.minimum(codes, 0), 1).numbers for codes in others]
            parts = np.concatenate([np.zeros(0), *alone])
        else:
            parts = effects.singles(others.ravel(), length, np.tile(every, length)).numbers
        if np.isnan(parts).any():
            parts = measure.before - effects.singles(every, length).numbers
        parts = np.where(np.isfinite(parts), parts, 0.0)
        largest = float(np.abs(parts).max(initial=0.0))
        return FewRows(measure, parts / largest if largest else parts)

    def evidence(self, rows: Array, among: Array | None, after: float) -> float:
        """Return the evidence against chance, in nats, that the parts of some rows are larger.

        The nats are the evidence of Student's t that the means of these rows and of the others
        differ, at most the evidence of a choice of as many rows, and a constant.

        Parameters
        ----------
        rows
            Positions of the chosen rows.
        among
            Positions of the rows from which they are chosen; None: all.
        after
            The measure without the chosen rows: where any move counts, its side is explained.
        """
        every = np.arange(len(self.parts)) if among is None else among
        parts = self._sign(after) * (self.parts[every] - self.parts[every].mean())
        chosen, count = len(rows), len(every)
        variation = float(parts @ parts)
        gained = float(parts[np.isin(every, rows)].sum())
        least = count * (_ROUNDING * float(np.abs(self.parts[every]).max(initial=0.0))) ** 2
        if gained <= 0 or variation <= least or not 0 < chosen < count or count < 3:
            return 0.0
        explained = gained**2 * count / (chosen * (count - chosen) * variation)
        freedom = (count - 2) / 2
        # The tail of the distribution Beta(1/2, freedom) of R², one-sided, is at most exp(-nats).
        nats = -freedom * log(max(1.0 - explained, _EXACT)) + log(explained) / 2 + log(2 * freedom)
        nats += lgamma(0.5) + lgamma(freedom) - lgamma(freedom + 0.5)
        choices = lgamma(count + 1) - lgamma(chosen + 1) - lgamma(count - chosen + 1)
        return max(min(nats, choices + _ALLOWED), 0.0)

    def _sign(self, after: float) -> float:
        """Return 1 where a row is the more wrong the larger its part is, and -1 elsewhere."""
        if self.measure.any_move_counts:
            return 1.0 if after < self.measure.before else -1.0
        if self.measure.is_check or self.measure.is_condition:
            return 1.0
        return -1.0 if self.measure.is_low else 1.0
