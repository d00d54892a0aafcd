"""The columns by which the inputs of a value differ most from the other rows of their relation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lipstick.engines.memory.engine import Engine
from lipstick.errors import CaptureError
from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import kind
from lipstick.questions.contributions.axes import Axis
from lipstick.questions.contributions.question import ValueInputs
from lipstick.questions.why.sources import decided_columns
from semiring.base import Array

SHOWN = 3
"""Columns at most."""

_ROWS = 20_000
"""Rows of a relation that are compared with at most, and as many inputs."""

_GROUPS = 60
"""Groups of a column at most: by more of them a value is not seen at a glance."""

_LEAST = 0.1
"""The least amount by which a group's share of the inputs exceeds its share of all rows."""


@dataclass(frozen=True, slots=True)
class ColumnSplit:
    """A column to group the inputs by.

    Attributes
    ----------
    label
        The group that has most more of the inputs than of all rows.
    share, usual
        Its part of the inputs, and of all rows.
    distance
        The Kullback-Leibler divergence of the inputs from all rows.
    """

    axis: int
    column: str
    unit: str
    label: Any
    share: float
    usual: float
    distance: float


def splits(engine: Engine, inputs: ValueInputs, budget: Budget) -> list[ColumnSplit]:
    """Return the columns that set the inputs apart from the other rows, the best first.

    Columns that the query itself decides are not among them, for all its inputs are alike there.
    """
    decided = decided_columns(engine, keys=True)
    keys = {engine.manifest.names[place] for place in engine.root.key_outputs or ()}
    found: list[ColumnSplit] = []
    for axis in inputs.axes:
        # Inputs without a row of the relation, as of an outer join, have no values to compare.
        there = replace(axis, rows=axis.rows[axis.rows >= 0])
        if not axis.source.whole or not len(there.rows):
            continue
        passed = {*axis.source.record.token, *decided.get(axis.relation, ()), *keys}
        for field in axis.source.schema:
            budget.check()
            if field.name not in passed and kind(field.type) != "other":
                found += _of_column(there, field.name, time=kind(field.type) == "time")
    return sorted(found, key=lambda each: -each.distance)[:SHOWN]


def _of_column(axis: Axis, column: str, *, time: bool) -> Iterator[ColumnSplit]:
    """Yield a column in its first unit that has few groups, if a group stands out there."""
    inside, usual = _sampled(axis.rows), _sampled(np.arange(len(axis.source)))
    for unit in ("day", "month", "year") if time else ("",):
        try:
            groups = replace(axis, rows=np.concatenate([inside, usual])).groups(column, unit)
        except CaptureError:
            return  # values that are not compared
        if not 1 < groups.count <= _GROUPS:
            continue
        shares, others = (
            np.bincount(codes, minlength=groups.count) / len(codes)
            for codes in (groups.codes[: len(inside)], groups.codes[len(inside) :])
        )
        best = int(np.argmax(shares - others))
        if shares[best] - others[best] < _LEAST:
            return
        # A group that no sampled row is in is about as rare as one row.
        least = np.maximum(others, 1 / (len(usual) + 1))
        there = shares > 0
        distance = float((shares[there] * np.log(shares[there] / least[there])).sum())
        assert groups.values is not None
        label = groups.values[best].as_py()
        yield ColumnSplit(
            axis.place, column, unit, label, float(shares[best]), float(others[best]), distance
        )
        return


def _sampled(rows: Array) -> Array:
    """Return rows that are spread over all of them, at most `_ROWS`."""
    return rows[:: max(1, len(rows) // _ROWS)]
