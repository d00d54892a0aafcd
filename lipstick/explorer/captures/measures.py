"""Numbers of a row's annotation: the probability of the row, and the part of each input in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from lipstick.capture.capture import Capture
from lipstick.errors import first_line
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.valuations import Chosen
from lipstick.explorer.captures.why import LISTED, annotation, token
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.questions.asking import answer_rows
from lipstick.questions.contributions.question import position_of
from semiring.analysis import (
    Estimate,
    MinimalWitnesses,
    bounded_responsibility,
    found_witnesses,
    probability,
    responsibility,
    sampled_probabilities,
    sampled_shapley,
    shapley,
    witnesses,
)
from semiring.boolean.chances import PROBABILITIES
from semiring.boolean.events import Annotation
from semiring.errors import CapabilityError
from semiring.support.budget import call_within
from semiring.token import Token

SECONDS = 5
"""The seconds that an answer may take by default."""

_ERROR, _CONFIDENCE = 0.05, 0.95
_SETS = 20
"""Witnesses, and tokens of each, that are listed at most."""

Parts: TypeAlias = Mapping[Token, tuple[float, float]]
"""By input its part, and how much more it may be."""

Measure: TypeAlias = Callable[[Annotation], tuple[Parts, dict[str, Any]]]
"""From an annotation to the parts of its inputs, and what else is found."""


class RowMeasures:
    """Questions about the annotation of one row of a capture, each within its seconds.

    Parameters
    ----------
    row
        Its place in the answer. What LIMIT decides is left aside.
    params
        ``seconds``, `SECONDS` by default.
    """

    def __init__(self, capture: Capture, row: int, params: Params, budget: Budget) -> None:
        self._capture = capture
        self._at = np.array([position_of(capture.memory, row)], dtype=np.int64)
        self._params, self._budget = params, budget
        self._seconds = min(params.integer("seconds", SECONDS, 1, 60), budget.left)
        self._call = f"limit={row + 1}, budget={self._seconds:.0f})[{row}]"

    def _annotation(self) -> Annotation:
        return annotation(self._capture.memory, self._at)

    def _asked(self, ask: Callable[[], dict[str, Any]], python: str) -> dict[str, Any]:
        """Return an answer, and what is left aside."""
        answer = call_within(self._seconds, ask, self._budget.is_cancelled)
        root = self._capture.memory.engine.root
        return answer | {
            "aside": "LIMIT is left aside." if root.limited else "",
            "python": "" if root.limited else python,
        }

    def shares(self, opening: str) -> dict[str, Any]:
        """Return the part of each input in the row's presence, the largest first.

        The ``measure`` is ``shapley``, with the witnesses of the row, or ``responsibility``.

        Raises
        ------
        ExploreError
            For another one.
        ExactnessError
            Where the annotation takes longer than there is.
        """
        measure = self._params.text("measure", "shapley")
        asked = {"shapley": self._shapley, "responsibility": self._responsibility}.get(measure)
        if asked is None:
            raise ExploreError(f"Shares are shapley or responsibility, not {measure!r}.")
        python = f"{opening}\nrow, parts = capture.{measure}({self._call}"
        return self._asked(partial(self._ranked, asked), python)

    def _ranked(self, asked: Measure) -> dict[str, Any]:
        parts, more = asked(self._annotation())
        ranked = sorted(parts.items(), key=lambda item: (-abs(item[1][0]), item[0].sort_key))
        listed = [
            token(of) | {"value": value, "error": error} for of, (value, error) in ranked[:LISTED]
        ]
        others = [value for _, (value, _) in ranked[LISTED:]]
        rest = [len(others), sum(others)]
        return {"tokens": len(parts), "shares": listed, "rest": rest} | more

    def _shapley(self, formal: Annotation) -> tuple[Parts, dict[str, Any]]:
        sampled = partial(sampled_shapley, error=_ERROR, confidence=_CONFIDENCE)
        ((_, found),) = answer_rows([(None, lambda: formal)], "auto", shapley, sampled)
        parts = {of: (estimate.value, estimate.error) for of, estimate in found.items()}
        return parts, {"witnesses": _witnesses(formal)}

    def _responsibility(self, formal: Annotation) -> tuple[Parts, dict[str, Any]]:
        ((_, found),) = answer_rows(
            [(None, lambda: formal)], "auto", responsibility, bounded_responsibility
        )
        return {of: (value, found.upper.get(of, value) - value) for of, value in found.items()}, {}

    def circuit(self) -> dict[str, Any]:
        """Return the picture of the annotation, or of a ``part`` of it.

        See :func:`lipstick.explorer.captures.circuit.circuit`.
        """
        # Pictures are imported where one is drawn: they take longer than all else here.
        from lipstick.explorer.captures.circuit import circuit

        part = self._params.integers("part")
        return self._asked(lambda: circuit(self._annotation(), part), "")

    def probability(self, opening: str) -> dict[str, Any]:
        """Return how probable the row is, of independent inputs.

        The ``values`` are the probabilities of the tuples of each relation, as `Chosen` takes
        them; 1 by default.

        Raises
        ------
        ExploreError, ValuationError
            For values that are no probabilities.
        """
        chosen = Chosen(self._capture, "number", self._params.mapping("values"))
        chance = chosen.valuation(PROBABILITIES, self._at)

        def asked() -> dict[str, Any]:
            ((_, estimate),) = answer_rows(
                [(None, self._annotation)],
                "auto",
                lambda formal: probability(formal, chance),
                unknown=lambda: Estimate(0.5, 0.5),
                together=lambda formals: sampled_probabilities(formals, chance),
            )
            return {
                "probability": estimate.value,
                "error": estimate.error,
                "confidence": estimate.confidence,
            }

        python = chosen.python(opening, lambda w: f"capture.probability({w or 1}, {self._call}")
        return self._asked(asked, python)


def _witnesses(formal: Annotation) -> dict[str, Any]:
    """Return the first minimal sets of inputs that suffice, and how many there are."""
    unknown = partial(MinimalWitnesses, [], complete=False)
    try:
        ((_, sets),) = answer_rows(
            [(None, lambda: formal)], "auto", witnesses, found_witnesses, unknown
        )
    except CapabilityError as error:
        return {"count": 0, "sets": [], "complete": False, "why": first_line(error)}
    listed = [
        [token(element) for element in sorted(each, key=lambda t: t.sort_key)[:_SETS]]
        for each in sets[:_SETS]
    ]
    return {"count": len(sets), "sets": listed, "complete": sets.complete}
