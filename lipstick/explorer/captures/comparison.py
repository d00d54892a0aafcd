"""Several numbers of the answer beside each other: what they have in common, and what moves them.

Every number is the engine's: see :mod:`lipstick.questions.contributions.joint`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from lipstick.display.number_text import spelled
from lipstick.engines.memory.memory import Memory
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.contributions import (
    STATES,
    ContributionViews,
    Items,
    KeptInputs,
    TooManyGroupsError,
    bars_of,
    described_axis,
    described_groups,
    group_labels,
    in_order,
    row_name,
    source_table,
    worded,
)
from lipstick.explorer.captures.why import listed
from lipstick.explorer.cells import cell, cells, columns, number
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.questions.contributions.axes import InputGroups
from lipstick.questions.contributions.joint import JointInputs, differences_without, joint_inputs
from lipstick.questions.contributions.question import GroupContributions, ValueInputs
from lipstick.questions.why.measure import difference
from semiring.base import Array
from semiring.support.budget import call_within

MOST = 6
"""Numbers that are compared at most."""

SECONDS = 20
"""The seconds that an answer may take by default."""

_SHARE = 0.6
"""The share of the time for an answer after which the groups that are left are unknown."""

_OF_NUMBERS = ("text", "value", "count", "without", "state")


def comparison(
    views: ContributionViews, numbers: Sequence[tuple[int, str]], params: Params, budget: Budget
) -> dict[str, Any]:
    """Return several numbers of the answer with their inputs in groups, shared groups first.

    Each group has what it brings to each number, the number without it, and the differences from
    the first number then.

    Parameters
    ----------
    numbers
        The place of the row, and the column, of each.
    params
        ``by`` and ``only`` as of :meth:`ContributionViews.value`; ``seconds`` that it may take:
        near their end the remaining groups become unknown.

    Raises
    ------
    ExploreError
        For other than two to `MOST` numbers.
    BudgetError
        Where it takes longer, all the same.
    """
    asked = list(dict.fromkeys(numbers))
    if not 2 <= len(asked) <= MOST:
        raise ExploreError(f"Two to {MOST} numbers are compared, not {len(asked)}.")
    seconds = min(params.integer("seconds", SECONDS, 1, 60), budget.left)
    until = time.monotonic() + _SHARE * seconds

    def answer() -> dict[str, Any]:
        values = [views.inputs(row, column) for row, column in asked]
        return _compared(views, values, params, until)

    return call_within(seconds, answer, budget.is_cancelled)


def _compared(
    views: ContributionViews, values: list[ValueInputs], params: Params, until: float
) -> dict[str, Any]:
    memory = views.capture.memory
    every = KeptInputs(joint_inputs(values, views.axes), [])
    asked: KeptInputs[JointInputs] = reduce(KeptInputs.narrowed, params.items("only"), every)
    inputs, labels = asked.inputs, _labels(memory, values)
    answer = {
        "numbers": [
            {
                "label": label,
                "value": cell(value.value),
                "difference": cell(difference(value.value, values[0].value)),
            }
            for label, value in zip(labels, values, strict=True)
        ],
        "only": asked.only,
        "axes": [
            described_axis(axis) | {"rows": axis.distinct, "common": inputs.common(axis)}
            for axis in inputs.axes
        ],
    }
    try:
        groups = asked.groups(Params(params.mapping("by")))
    except TooManyGroupsError as error:
        return answer | {"refused": str(error), "bars": [], "sentence": ""}
    found = inputs.without(memory, groups, until)
    counts = inputs.counts(groups)
    moving = _order(found, counts)
    order = in_order(groups) if groups.ordered else moving
    items = [Items(groups, own, each, order) for own, each in zip(counts, found, strict=False)]
    shown = items[0].shown
    known = np.logical_and.reduce([each.without.known for each in found])
    bars = _bars(items, shown, counts[-1])
    rest = order[len(shown) :]
    table = source_table(groups, shown)
    lead = _lead(labels, groups)
    return answer | {
        **described_groups(groups),
        "known": int(np.count_nonzero(known)),
        "reason": next((each.without.reason for each in found if each.without.reason), ""),
        "bars": bars,
        "rest": {"count": len(rest), "common": int(np.count_nonzero(counts[-1][rest]))},
        "sentence": _sentence(labels, asked, items, moving[:1], known),
        "lead": len(lead),
        "columns": [*lead, *columns(table.schema)],
        "rows": [[*_cells(bar, groups), *row] for bar, row in zip(bars, cells(table), strict=True)],
    }


def _labels(memory: Memory, values: Sequence[ValueInputs]) -> list[str]:
    """Return the shortest distinct names of numbers: by column, by row, or by both."""
    rows = {value.row: row_name(memory, value.row) for value in values}
    if len(rows) == 1:
        return [value.column for value in values]
    if len({*rows.values()}) < len(rows):
        rows = {row: f"{name} (row {row + 1})".strip() for row, name in rows.items()}
    if len({value.column for value in values}) == 1:
        return [rows[value.row] for value in values]
    return [f"{value.column} of {rows[value.row]}" for value in values]


def _order(found: Sequence[GroupContributions], counts: Array) -> Array:
    """Return the groups: with inputs of all numbers first, then by how much all numbers move.

    Moves are measured by the numbers themselves, for these may be of different sizes.
    """
    least = np.nextafter(0.0, 1.0)
    moves = []
    for each in found:
        sizes, whole = each.sizes(), abs(number(each.inputs.value) or 0.0) or 1.0
        moves.append(np.where(sizes > 0, np.maximum(sizes / whole, least), sizes))
    order: Array = np.lexsort(
        (-np.max(moves, axis=0), -np.min(moves, axis=0), ~counts[:-1].all(axis=0))
    )
    return order


def _bars(items: Sequence[Items], shown: Array, common: Array) -> list[dict[str, Any]]:
    """Return the groups that are listed, with the numbers and the differences without each."""
    first, *others = (each.found for each in items)
    between = [differences_without(first, other, shown) for other in others]
    return [
        {
            **{name: own[0][name] for name in ("label", "key", "where")},
            "common": count,
            "numbers": [{name: bar[name] for name in _OF_NUMBERS} for bar in own],
            "differences": [{"state": state, "text": cell(value)} for state, value in gaps],
        }
        for own, gaps, count in zip(
            zip(*(bars_of(each, shown) for each in items), strict=True),
            zip(*between, strict=True),
            common[shown].tolist(),
            strict=True,
        )
    ]


def _lead(labels: Sequence[str], groups: InputGroups) -> list[dict[str, str]]:
    """Return the columns of numbers, as texts."""
    counted = [f"inputs of {label}" for label in labels] if groups.values is not None else []
    names = [
        "in common",
        *counted,
        *(f"brings to {label}" for label in labels),
        *(f"{label} without it" for label in labels),
        *(f"{label} − {labels[0]} without it" for label in labels[1:]),
    ]
    return [{"name": name, "type": "STRING", "kind": "text"} for name in names]


def _cells(bar: dict[str, Any], groups: InputGroups) -> list[str | None]:
    """Return the cells of the columns of numbers."""
    own = bar["numbers"]
    counted = [str(each["count"]) for each in own] if groups.values is not None else []
    return [
        str(bar["common"]),
        *counted,
        *("unknown" if each["state"] == "unknown" else each["text"] for each in own),
        *(STATES.get(each["state"], each["without"]) for each in own),
        *(STATES.get(each["state"], each["text"]) for each in bar["differences"]),
    ]


def _sentence(
    labels: Sequence[str],
    asked: KeptInputs[JointInputs],
    items: Sequence[Items],
    best: Array,
    known: Array,
) -> str:
    """Return how the numbers differ, their common inputs, and the group that moves all of them."""
    values, groups = asked.inputs.values, items[0].groups
    now = [worded(value.value) for value in values]
    if len({value.column for value in values}) == 1:
        parts = (f"{text} for {label}" for label, text in zip(labels, now, strict=True))
        said = f"{values[0].column} is {listed([*parts])}"
    else:
        said = listed([f"{label} is {text}" for label, text in zip(labels, now, strict=True)])
    gap = difference(values[1].value, values[0].value)
    if len(values) == 2 and gap is not None:
        said += f", {spelled(abs(gap))} {'less' if gap < 0 else 'more'}" if gap else ", the same"
    all_of_them = "both" if len(values) == 2 else "all"
    shared = ((asked.inputs.common(axis), axis.name) for axis in asked.inputs.axes)
    rows = [
        f"{count:,} {'row' if count == 1 else 'rows'} of {name}" for count, name in shared if count
    ]
    kept = f" with {' and '.join(each['text'] for each in asked.only)}" if asked.only else ""
    said += f". In {all_of_them}{kept}: {listed(rows) if rows else 'no input row'}."
    if not rows and groups.values is None:
        said += f" Group them by a column to see what moves {all_of_them}."
    if len(best) and known[best[0]] and all(each.counts[best[0]] for each in items):
        (name,) = group_labels(groups, best)
        without = [each.found.without for each in items]
        after = [worded(w.values[best[0]].as_py()) if w.there[best[0]] else "gone" for w in without]
        named = [f"{label} {text}" for label, text in zip(labels, after, strict=True)]
        said += f" Without {groups.column or groups.axis.name} {'NULL' if name is None else name}:"
        said += f" {listed(named)}."
    unknown = len(known) - int(np.count_nonzero(known))
    return f"{said} {unknown:,} of {len(known):,} are unknown." if unknown else said
