"""The refusals, as the fixtures of the rewriter hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.rewriter.cases import ERROR, Case, cases

_FIXTURES = Path(__file__).parents[1] / "rewriter"
_STATEMENTS = _FIXTURES / "statements" / "cases"
_FIRST = re.compile(r"\w+Error: (?P<problem>.*?)(?: at \d+:\d+)?", re.DOTALL)


@dataclass(frozen=True, slots=True, order=True)
class Refusal:
    """What is refused, and what to do instead."""

    problem: str
    advice: str


def refusals() -> set[Refusal]:
    """Return every refusal that a fixture of queries holds."""
    folders = (folder for folder in _FIXTURES.glob("*/cases") if folder != _STATEMENTS)
    return {_read(error) for folder in folders for error in _errors(folder)}


def statement_refusals() -> set[Refusal]:
    """Return every refusal that a fixture of statements that change tables holds."""
    return {_read(error) for error in _errors(_STATEMENTS)}


def statement_cases() -> list[Case]:
    """Return the fixtures of statements that change tables."""
    return list(cases(_STATEMENTS).values())


def refusal_of(case: Case) -> Refusal | None:
    """Return the refusal that a fixture holds; None: it holds none."""
    return _read(case.outcomes[ERROR]) if ERROR in case.outcomes else None


def _errors(folder: Path) -> Iterator[str]:
    return (case.outcomes[ERROR] for case in cases(folder).values() if ERROR in case.outcomes)


def _read(text: str) -> Refusal:
    first, *_, advice = text.rstrip("\n").split("\n")
    match = _FIRST.fullmatch(first)
    if match is None:
        raise ValueError(f"no refusal: {text}")
    return Refusal(match["problem"], advice)
