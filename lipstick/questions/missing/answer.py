"""The answer to "why is it not there?" as users see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lipstick.questions.asking import question
from lipstick.questions.why.columns import shown
from rewriter.position import Span
from semiring.support.budget import within
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.questions.missing.changes import DataChange
    from rewriter.emit.flow import CandidateFlow, FlowStep


@dataclass(frozen=True, slots=True)
class LossOrigin:
    """The flow, the step, and the values and key of the first example, behind a reason."""

    flow: CandidateFlow
    step: FlowStep | None
    values: Mapping[str, Any]
    key: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LostRows:
    """Rows of a relation that the missing row would have come from, and where they are lost.

    Attributes
    ----------
    relation, rows
        The relation by its name in the query, and the number of these rows. 0: it has none.
    operator
        WHERE, JOIN, HAVING, LIMIT, ...: the first operator that leaves nothing of them; ``answer``
        if they are in the answer, ``relation`` if there are none.
    condition
        The condition that fails, as text.
    values
        What it compares, for the first example.
    span
        The place of the operator in the text of the query.
    sentence
        The reason in words.
    keys
        Tokens of examples.
    example
        The columns of the first example.
    partners
        Of joins and memberships: why the rows that would have matched are not there.
    """

    relation: str
    rows: int
    operator: str
    condition: str
    values: tuple[tuple[str, Any], ...]
    span: Span | None
    sentence: str
    keys: pa.Table
    example: Mapping[str, Any] = field(default_factory=dict)
    partners: tuple[LostRows, ...] = ()
    origin: LossOrigin | None = field(default=None, repr=False, compare=False)

    @property
    def place(self) -> str | None:
        """The line and column of the operator in the text."""
        return None if self.span is None else f"{self.span.line}:{self.span.column}"

    def lines(self, depth: int = 0) -> list[str]:
        """Return the sentences of these rows and of their partners."""
        lines = ["  " * depth + self.sentence]
        for partner in self.partners:
            lines += partner.lines(depth + 1)
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())


@checked
class MissingRow:
    """The reasons for which a row is not in an answer.

    Attributes
    ----------
    question
        The question as a sentence.
    present
        True if a row of the answer matches the pattern.
    reasons
        The rows it would have come from, by relation and operator: furthest first.
    notes
        What was assumed.
    """

    def __init__(
        self,
        question: str,
        reasons: Sequence[LostRows],
        notes: Sequence[str],
        changes: Callable[[int], list[DataChange]],
    ) -> None:
        self.question = question
        self.reasons = tuple(reasons)
        self.present = any(reason.operator == "answer" for reason in reasons)
        self.notes = tuple(notes)
        self._changes = changes

    @question("trying changes of the data")
    def changes(self, limit: int = 3, *, seconds: float | None = None) -> list[DataChange]:
        """Return smallest changes of the data that bring the row, if some are found.

        Values of the rows in `reasons`, rows to add, and rows to delete are tried, up to three at
        once and 24 in all. Every change was run: over the changed data, the query has a row that
        matches the pattern.

        Parameters
        ----------
        seconds
            No change is tried after so many seconds; None: all are.
        """
        if self.present:
            return []
        with within(seconds):
            return self._changes(limit)

    @property
    def table(self) -> pa.Table:
        """The reasons: relation, rows, operator, condition, values, place, reason."""
        reasons = self.reasons
        return pa.table(
            {
                "relation": pa.array([r.relation for r in reasons], pa.string()),
                "rows": pa.array([r.rows for r in reasons], pa.int64()),
                "operator": pa.array([r.operator for r in reasons], pa.string()),
                "condition": pa.array([r.condition for r in reasons], pa.string()),
                "values": pa.array([described_values(r.values) for r in reasons], pa.string()),
                "place": pa.array([r.place for r in reasons], pa.string()),
                "reason": pa.array([r.sentence for r in reasons], pa.string()),
            }
        )

    def __str__(self) -> str:
        lines = [self.question]
        if self.present:
            lines.append("It is there.")
        for reason in self.reasons:
            lines += reason.lines()
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__


def described_values(values: Sequence[tuple[str, Any]]) -> str:
    """Return operands and their values as text."""
    return ", ".join(f"{name} is {shown_value(value)}" for name, value in values)


def shown_value(value: Any) -> str:
    """Return a value for people; None is NULL."""
    return "NULL" if value is None else shown(value)
