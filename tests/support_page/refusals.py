"""The refusals, as the fixtures of the rewriter hold them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.rewriter.cases import ERROR, Case, cases

_FIXTURES = Path(__file__).parents[1] / "rewriter"
_FIRST = re.compile(r"\w+Error: (?P<problem>.*?)(?: at \d+:\d+)?", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class Refusal:
    """What is refused, and what to do instead."""

    problem: str
    advice: str


def refusals() -> list[Refusal]:
    """Return every refusal that a fixture holds, in order."""
    errors = {
        _read(case.outcomes[ERROR])
        for folder in _FIXTURES.glob("*/cases")
        for case in cases(folder).values()
        if ERROR in case.outcomes
    }
    return sorted(errors)


def statement_cases() -> list[Case]:
    """Return the fixtures of statements that change tables."""
    return list(cases(_FIXTURES / "statements" / "cases").values())


def refusal_of(case: Case) -> Refusal | None:
    """Return the refusal that a fixture holds; None: it holds none."""
    return _read(case.outcomes[ERROR]) if ERROR in case.outcomes else None


def _read(text: str) -> Refusal:
    first, *_, advice = text.rstrip("\n").split("\n")
    match = _FIRST.fullmatch(first)
    if match is None:
        raise ValueError(f"no refusal: {text}")
    return Refusal(match["problem"], advice)
