"""The answer of tracing a row, and a step of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from lipstick.systems.scripts.answers import Assumption, Line
from lipstick.systems.scripts.running.record import Event, Rule

Places: TypeAlias = tuple[tuple[str, int], ...] | None
"""Rows by file and number in it; the file is empty where rows are counted over all files of an
event, or are in none. None: any row."""


@dataclass(frozen=True, slots=True)
class TracedRows:
    """Rows of an input that a row of an output was made of.

    Parameters
    ----------
    file
        The file; of rows that Python code gave to Spark, or of a table, its name in the script.
    where
        The line that reads it.
    rows
        Their numbers in the file, from 0; None: any of them.
    rules
        The rules that found them, step by step from the output.
    why
        Of each step that is inferred, why; empty: the rows are exact.
    """

    file: str
    where: str
    rows: tuple[int, ...] | None
    rules: tuple[Rule, ...]
    why: tuple[str, ...] = ()

    @property
    def certain(self) -> bool:
        """Return True if every step is by annotations."""
        return not self.why


@dataclass(frozen=True, slots=True)
class Trace:
    """The input rows and lines that a row of an output was made of.

    Parameters
    ----------
    row
        Its values; empty where it was not chosen by them.
    alike
        How many rows of the output have these values, and are answered for together.
    lines
        The lines between the inputs and the output, by the text.
    assumptions
        The assumed edges that the lines rest on.
    """

    output: Event
    row: Mapping[str, Any]
    alike: int
    inputs: tuple[TracedRows, ...]
    lines: tuple[Line, ...]
    assumptions: tuple[Assumption, ...]

    @property
    def certain(self) -> bool:
        """Return True if all rows are exact."""
        told = bool(self.inputs) or self.output.capture
        return told and all(item.certain for item in self.inputs)


@dataclass(frozen=True, slots=True)
class Step:
    """Rows of an event that were reached, and how."""

    event: Event
    places: Places
    rules: tuple[Rule, ...] = ()
    why: tuple[str, ...] = ()

    def to(self, event: Event, places: Places, rule: Rule, why: str | None) -> Step:
        """The next step."""
        reasons = self.why if why is None or why in self.why else (*self.why, why)
        return Step(event, places, (*self.rules, rule), reasons)
