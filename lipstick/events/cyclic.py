"""Documents that close a cycle with those before them, which are refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphquery.reduction import CycleError, Partial, Reducer, merge
from lipstick.events.parse import DeadLetter
from semiring.base import Semiring


def acyclic(
    documents: Sequence[tuple[str, Partial]], semiring: Semiring[Any] | None, *, hubs: bool = True
) -> tuple[list[Partial], list[DeadLetter]]:
    """The documents without those that close a cycle with the ones before them.

    Parameters
    ----------
    documents
        With their names, in the order they came; none has a cycle of its own.

    Notes
    -----
    By bisection: O(log documents) reductions for each that is refused.
    """
    left = list(documents)
    refused = []
    while (first := _first_cyclic([part for _, part in left], semiring, hubs)) is not None:
        number, why = first
        name, _ = left.pop(number)
        refused.append(DeadLetter(name, 1, f"with the files before it: {why}", ""))
    return [part for _, part in left], refused


def _first_cyclic(
    parts: Sequence[Partial], semiring: Semiring[Any] | None, hubs: bool
) -> tuple[int, str] | None:
    """The first document that closes a cycle, and what is said of it."""
    good, bad, why = 0, len(parts) + 1, ""
    trial = len(parts)
    while bad - good > 1:
        try:
            alone = Reducer(semiring, hubs=hubs)
            if trial:
                alone.add(merge(parts[:trial], semiring))
            alone.seal()
            good = trial
        except CycleError as error:
            bad, why = trial, str(error)
        trial = (good + bad) // 2
    return None if bad > len(parts) else (bad - 1, why)
