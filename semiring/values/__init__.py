"""Formal values beside tensors: functions, choices, general aggregates and window functions."""

from __future__ import annotations

from semiring.values.aggregated import Aggregated, AggregateFunction
from semiring.values.applied import Applied, Function, applied
from semiring.values.choice import Choice, choice
from semiring.values.windowed import Windowed, WindowFunction, WindowRows

__all__ = [
    "AggregateFunction",
    "Aggregated",
    "Applied",
    "Choice",
    "Function",
    "WindowFunction",
    "WindowRows",
    "Windowed",
    "applied",
    "choice",
]
