"""Annotations evaluated in semirings, with values for tokens as somebody chooses them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lipstick.capture.capture import Capture
from lipstick.engines.memory.reach import reach
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures import why
from lipstick.explorer.captures.valuations import Chosen
from lipstick.explorer.cells import cell
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.explorer.table_windows import Windows
from semiring import semirings
from semiring.base import Semiring
from semiring.errors import LipstickError

_CHOSEN: dict[str, tuple[Semiring[Any], str, str]] = {
    "counting": (semirings.Counting(), "how many times the row is there", "integer"),
    "boolean": (semirings.Boolean(), "whether the row is there", "truth"),
    "why": (semirings.Why(), "sets of inputs that suffice", ""),
    "which": (semirings.Which(), "all inputs that take part", ""),
    "posbool": (semirings.PosBool(), "the minimal sets of inputs", ""),
    "trio": (semirings.Trio(), "sets of inputs, counted", ""),
    "sorp": (semirings.Sorp(), "derivations that no shorter one is part of", ""),
    "boolean_polynomials": (semirings.BooleanPolynomials(), "derivations, each once", ""),
    "integers": (semirings.Integers(), "how often, after additions and deletions", "integer"),
    "tropical": (semirings.Tropical(), "least cost", "number"),
    "max_plus": (semirings.MaxPlus(), "largest gain", "number"),
    "viterbi": (semirings.Viterbi(), "confidence in the best derivation", "number"),
    "fuzzy": (semirings.Fuzzy(), "the weakest link of the best derivation", "number"),
    "lukasiewicz": (semirings.Lukasiewicz(), "truth that many doubts wear down", "number"),
    "access": (semirings.AccessControl(), "the least clearance that sees it", "level"),
    "validity": (semirings.Validity(), "the times at which it holds", "interval"),
}

SEMIRINGS = [
    {"id": key, "name": semiring.name, "says": says, "values": values}
    for key, (semiring, says, values) in _CHOSEN.items()
]
"""The menu: ``values`` is what tokens may be given: ``integer``, ``number``, ``truth``, ``level``
(such as ``SECRET``), ``interval`` (such as ``3..7``, without the 7) or nothing."""


def evaluated(capture: Capture, windows: Windows, params: Params, budget: Budget) -> dict[str, Any]:
    """The rows of a window of the answer, each with its annotation in a semiring.

    Parameters
    ----------
    params
        ``semiring``, one of `SEMIRINGS`; ``values``: per relation a number that all of its tokens
        have, or ``{"column": name}``; tokens of others have the semiring's default; and ``at``, the
        place of one row, or what :meth:`Windows.window` takes.
    """
    name = params.text("semiring")
    if name not in _CHOSEN:
        raise ExploreError(f"Choose a semiring of {', '.join(_CHOSEN)}, not {name!r}.")
    semiring, _, kind = _CHOSEN[name]
    chosen = Chosen(capture, kind, params.mapping("values"))
    row = params.integer("at", -1)
    there = 0 <= row < windows.table.num_rows
    places = [row] if there else windows.window(params)["places"]
    shown = []
    for row in places:
        budget.check()
        shown.append(_annotated(capture, row, semiring, chosen))
    opening = f"import lipstick\n\ncapture = lipstick.open({str(capture.directory)!r})"
    return {
        "values": shown,
        "places": places,
        "name": semiring.name,
        "python": chosen.python(semiring, opening),
    }


def _annotated(
    capture: Capture, row: int, semiring: Semiring[Any], chosen: Chosen
) -> dict[str, str | None]:
    memory = capture.memory
    at = np.array([why.position(memory, row)], dtype=np.int64)
    total = sum(len(reached.members) for reached in reach(memory.engine, at).values())
    if total > why.READ:
        return {"refused": f"{total:,} derivations"}
    try:
        value = chosen.valuation(semiring, at)
        return {"text": cell(semiring.render(why.annotation(memory, at).evaluate(semiring, value)))}
    except LipstickError as error:
        return {"refused": cell(str(error).partition("\n")[0])}
