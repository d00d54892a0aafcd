"""A report on the difference of two runs, for terminals and for pull requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lipstick.errors import CaptureError
from lipstick.questions.diff.counterexample import Counterexample, markdown
from lipstick.questions.diff.difference import AnswerDifference
from lipstick.questions.diff.parts import DifferenceParts
from semiring.errors import LipstickError

if TYPE_CHECKING:
    from lipstick.frame import AnnotatedFrame

_SHOWN = 20
"""Rows of a report by default."""


@dataclass(frozen=True)
class DifferenceReport:
    """The difference of two runs, the parts of one number, and a small database.

    Attributes
    ----------
    parts
        The parts of the number that was asked for, or of the only one that differs.
    counterexample
        A small database on which two texts over the same data differ.
    notes
        The reasons why something is not there.
    """

    difference: AnswerDifference
    parts: DifferenceParts | None
    counterexample: Counterexample | None
    notes: tuple[str, ...]

    @staticmethod
    def of(
        before: AnnotatedFrame,
        after: AnnotatedFrame,
        key: Sequence[str] | None,
        column: str | None,
        where: Mapping[str, Any],
    ) -> DifferenceReport:
        """Return the report on two frames.

        Raises
        ------
        LipstickError
            When a number is named that cannot be divided.
        """
        difference = before.diff(after, key)
        parts, small, notes = None, None, list(difference.notes)
        if not difference.is_empty:
            try:
                parts = difference.parts(column, where)
            except LipstickError:
                if column is not None:
                    raise
            if difference.is_of_code:
                try:
                    small = before.plan.counterexample(after)
                except CaptureError as error:
                    notes.append(f"No small database was looked for: {error}")
        return DifferenceReport(difference, parts, small, tuple(notes))

    def _sections(self, limit: int | None) -> Iterator[str]:
        yield self.difference.sentence
        if not self.difference.is_empty:
            yield markdown(self.difference.rows(), limit or _SHOWN)
        if self.parts is not None:
            yield str(self.parts)
            if found := self.parts.predicates():
                yield "\n".join(f"- {each.sentence}" for each in found)
        if self.counterexample is not None:
            yield self.counterexample.markdown()
        yield from self.notes

    def text(self, limit: int | None = None) -> str:
        """Return the report for a terminal."""
        return "\n\n".join(self._sections(limit)).replace("**", "")

    def markdown(self, limit: int | None = None) -> str:
        """Return the report for a pull request."""
        return "\n\n".join(["## Difference of the answers", *self._sections(limit)])

    def document(self, limit: int | None = None) -> dict[str, Any]:
        """Return the report as plain values."""
        document: dict[str, Any] = {
            "added": self.difference.added,
            "removed": self.difference.removed,
            "changed": self.difference.changed,
            "rows": self.difference.rows(limit).to_pylist(),
            "notes": list(self.notes),
        }
        if self.parts is not None:
            document["parts"] = self.parts.table.to_pylist()
            document["predicates"] = [
                {"relation": p.relation, "sql": p.sql, "rows": p.rows, "part": float(p.part)}
                for p in self.parts.predicates()
            ]
        if self.counterexample is not None:
            tables = self.counterexample.tables
            document["counterexample"] = {n: table.to_pylist() for n, table in tables.items()}
        return document
