"""The part of the text of a query in a difference, divided among the edits of the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import factorial

from rewriter.analysis.text_edits import TextEdits
from semiring.errors import LipstickError
from semiring.support.budget import check_budget

MOST_IN_ALL_ORDERS = 6
"""The number of edits that are switched in every order at most; more are made one by one."""

Value = Callable[[str], Fraction]
"""Runs a text, and returns the number."""


@dataclass(frozen=True, slots=True)
class EditPart:
    """An edit of a text, or several that need each other, and their part of a difference."""

    sentence: str
    part: Fraction


class _Unreadable(Exception):  # noqa: N818 - edits that need others
    """A text with some edits alone is not a query."""

    def __init__(self, units: frozenset[int]) -> None:
        self.units = units


def edit_parts(edits: TextEdits, ends: tuple[Fraction, Fraction], value: Value) -> list[EditPart]:
    """Return the parts of edits, which add up to the difference of both ends exactly.

    The part of an edit is its Shapley value: the mean of its effects over all orders of the edits.
    More than six edits are made one by one, and the part is the effect of each. Edits that are no
    query without others are one with these. Runs up to 2 ** 6 - 2 queries.

    Parameters
    ----------
    ends
        The number without edits, and with all.
    """
    units = [[number] for number in range(len(edits.sentences))]
    known: dict[frozenset[int], Fraction | None] = {}

    def number(made: frozenset[int]) -> Fraction | None:
        if made not in known:
            check_budget()
            try:
                known[made] = value(edits.text(made))
            except LipstickError:
                known[made] = None
        return known[made]

    every = frozenset(range(len(units)))
    known |= {frozenset(): ends[0], every: ends[1]}

    def of_units(chosen: frozenset[int]) -> Fraction:
        found = number(frozenset(n for unit in chosen for n in units[unit]))
        if found is None:
            raise _Unreadable(chosen)
        return found

    while units:
        divide = _in_all_orders if len(units) <= MOST_IN_ALL_ORDERS else _one_by_one
        try:
            parts = divide(len(units), of_units)
        except _Unreadable as error:
            units = _joined(units, error.units, number)
            continue
        sentences = ("; ".join(edits.sentences[n] for n in unit) for unit in units)
        return [EditPart(*each) for each in zip(sentences, parts, strict=True)]
    return []


def _joined(
    units: Sequence[list[int]],
    failing: frozenset[int],
    number: Callable[[frozenset[int]], Fraction | None],
) -> list[list[int]]:
    """Return units with a failing one joined to another that it needs; else all of them as one."""
    if len(failing) == 1:
        (one,) = failing
        for other, unit in enumerate(units):
            if other != one and number(frozenset(units[one] + unit)) is not None:
                rest = [each for n, each in enumerate(units) if n not in (one, other)]
                return sorted([*rest, sorted(units[one] + unit)])
    return [sorted(n for unit in units for n in unit)]


def _in_all_orders(count: int, value: Callable[[frozenset[int]], Fraction]) -> list[Fraction]:
    """Return the Shapley values of units, by all sets of them."""
    parts = [Fraction(0)] * count
    for size in range(count):
        weight = Fraction(factorial(size) * factorial(count - size - 1), factorial(count))
        for one in range(count):
            others = [n for n in range(count) if n != one]
            for made in map(frozenset, combinations(others, size)):
                parts[one] += weight * (value(made | {one}) - value(made))
    return parts


def _one_by_one(count: int, value: Callable[[frozenset[int]], Fraction]) -> list[Fraction]:
    """Return the effect of each unit after the earlier ones."""
    values = [value(frozenset(range(number))) for number in range(count + 1)]
    return [after - before for before, after in pairwise(values)]
