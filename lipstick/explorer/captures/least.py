"""The fewest input rows whose removal brings a value to a number, or beyond it."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from lipstick.capture.capture import Capture
from lipstick.engines.memory.formal.tensors import column_number
from lipstick.explorer.cells import cells, number
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.questions.contributions.axes import Axis
from lipstick.questions.contributions.question import position_of
from lipstick.questions.why.measure import Measure
from lipstick.questions.why.smallest import smallest_sets

REMOVED = 2_000
"""Rows of one set at most: they become part of an address."""


def least(capture: Capture, row: int, axis: Axis, params: Params) -> dict[str, Any]:
    """Return a smallest set of rows whose removal brings a value to a bound.

    Parameters
    ----------
    axis
        The relation whose rows are removed.
    params
        ``column`` of the answer; ``than``, the number that is wanted at most, or at least where the
        value is below it now.

    Raises
    ------
    ExploreError
        For texts that are not a number, rows of subqueries, and sets that are too large.
    CapabilityError
        Where no removal suffices, or the smallest sets are not found.
    """
    memory = capture.memory
    text = params.text("than").replace(",", "").strip()
    try:
        wanted = Decimal(text)
        than = number(wanted)
    except (InvalidOperation, ValueError):
        than = None
    if than is None:
        raise ExploreError(f"{text!r} is not a number.")
    at = column_number(memory.engine, params.text("column"))
    value = number(memory.answer().column(at)[row].as_py())
    if value is None:
        raise ExploreError("The value is not a number.")
    if value == than:
        raise ExploreError("The value is this number already.")
    measure = Measure(
        memory.engine,
        memory.engine.root.outputs[at].name,
        np.array([position_of(memory, row)], dtype=np.int64),
        than,
        "high" if value > than else "low",
    )
    found = smallest_sets(measure, axis.source, 1)
    if not found.sets or found.size > REMOVED:
        raise ExploreError(f"{found.size:,} rows of {axis.relation} must go, too many to remove.")
    keys = found.sets[0].select(list(axis.source.record.token))
    deleted = {axis.relation: keys.cast(capture._token_types()[axis.relation])}
    # Sets are found by sums of doubles: the value without this one is compared exactly.
    new = memory.what_if(deleted).changes.column("new").combine_chunks()
    after = new.field(at)[row].as_py() if new[row].is_valid else None
    if after is None or (after > wanted if value > than else after < wanted):
        raise ExploreError(f"No set of rows of {axis.relation} was found that suffices exactly.")
    return {
        "relation": axis.relation,
        "side": "at most" if value > than else "at least",
        "size": found.size,
        "count": found.count,
        "keys": cells(keys, None),
    }
