"""A check of data as a query with bounds, and what became of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pyarrow as pa

from lipstick.errors import CapabilityError, CaptureError
from rewriter.emit.templates import fill
from semiring.door import checked

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture
    from lipstick.frame import AnnotatedFrame
    from lipstick.questions.why.answer import Explanation
    from lipstick.sessions import Session

VALUE = "value"
"""The column of a check's number."""

DUPLICATES = "SELECT xs, count(*) AS n FROM r GROUP BY xs HAVING count(*) > 1"
"""The template of the values of some columns that several rows have."""


@dataclass(frozen=True, slots=True)
class ValueBounds:
    """The numbers that a check allows: from `low` to `high`; None: no bound.

    Attributes
    ----------
    above, below
        True if the number must be greater than `low`, less than `high`.
    """

    low: float | None = None
    high: float | None = None
    above: bool = False
    below: bool = False

    def side(self, number: float) -> Literal["high", "low"] | None:
        """Return the side on which a number is wrong; None: it is right."""
        if self.high is not None and (number >= self.high if self.below else number > self.high):
            return "high"
        if self.low is not None and (number <= self.low if self.above else number < self.low):
            return "low"
        return None

    def nearest(self, side: Literal["high", "low"]) -> float:
        """Return the number nearest to a bound that is allowed."""
        bound, strict, inward = self.high, self.below, -math.inf
        if side == "low":
            bound, strict, inward = self.low, self.above, math.inf
        assert bound is not None
        return math.nextafter(bound, inward) if strict else bound

    def __str__(self) -> str:
        parts = []
        if self.low is not None:
            parts.append(f"{'more than' if self.above else 'at least'} {self.low:,.12g}")
        if self.high is not None:
            parts.append(f"{'less than' if self.below else 'at most'} {self.high:,.12g}")
        return " and ".join(parts)


@checked
@dataclass(frozen=True)
class DataCheck:
    """A check of data from the document of a tool.

    Attributes
    ----------
    name
        Its name in the tool.
    sql
        A query whose rows are failures; or of one row, whose column ``value`` is checked.
    bounds
        The allowed numbers of failures, or values.
    is_value
        True if the query has a value rather than failures.
    relations
        The relations that the query reads.
    refused
        Why it cannot be asked; None: it can.
    recorded
        The number that the tool found; None: unknown.
    """

    name: str
    sql: str = ""
    bounds: ValueBounds = ValueBounds(high=0)
    is_value: bool = False
    relations: tuple[str, ...] = ()
    refused: str | None = None
    recorded: float | None = None

    def run(self, session: Session) -> CheckResult:
        """Run the check over the tracked relations of a session.

        Raises
        ------
        CapabilityError
            For checks that are not about rows, or whose documents do not say what they allow.
        """
        if self.refused is not None:
            raise CapabilityError(f"The check {self.name!r} cannot be asked: {self.refused}")
        return CheckResult(self, session.sql(self.sql))


@checked
class CheckResult:
    """A check that was run.

    Attributes
    ----------
    check
        The check.
    frame
        Its annotated answer: the failures, or the value.
    """

    def __init__(self, check: DataCheck, frame: AnnotatedFrame | Capture) -> None:
        self.check = check
        self.frame = frame

    @cached_property
    def number(self) -> float:
        """The number of failures, or the value; NaN for NULL."""
        answer = self.frame._captured.memory.answer()
        if not self.check.is_value:
            return float(answer.num_rows)
        value = answer.column(VALUE)[0].as_py()
        return math.nan if value is None else float(value)

    @property
    def passed(self) -> bool:
        """True if the number is within the bounds of the check; a NULL is not."""
        return not math.isnan(self.number) and self.check.bounds.side(self.number) is None

    @property
    def sentence(self) -> str:
        """Return what was found, and what is allowed."""
        kind = "its value" if self.check.is_value else "the number of failures"
        verdict = "passes" if self.passed else "fails"
        return f"{self.check.name} {verdict}: {kind} is {self.number:,.12g}, {self.check.bounds}."

    def why(self, **options: Any) -> Explanation:
        """Explain why the check fails, with options of :meth:`lipstick.Capture.why`.

        Raises
        ------
        CaptureError
            When it passes, when its value is NULL, and when rows are missing rather than wrong.
        """
        if math.isnan(self.number):
            raise CaptureError(f"The value of {self.check.name} is NULL: there are no rows for it.")
        side = self.check.bounds.side(self.number)
        if side is None:
            raise CaptureError(f"{self.sentence}\nThere is nothing to explain.")
        if self.check.is_value:
            bound = self.check.bounds.nearest(side)
            return self.frame.why(VALUE, than=bound, too=side, **options)
        if side == "low":
            raise CaptureError(f"{self.sentence}\nRows are missing: ask why_not for one of them.")
        return self.frame.why(**options)

    def quarantine(self, relation: str | None = None, **options: Any) -> pa.Table:
        """Return the rows of a relation to set aside; see :meth:`Explanation.quarantine`.

        The column ``_reasons`` has the name of the check, and the conditions that each satisfies.
        """
        table = self.why(**options).quarantine(relation)
        reasons = table.column("_reasons").to_pylist()
        named = [f"{self.check.name}: {text}" if text else self.check.name for text in reasons]
        return table.set_column(table.num_columns - 1, "_reasons", pa.array(named, pa.string()))


class CheckReader(Protocol):
    """Reads the checks of a tool from the documents that it writes."""

    def read(self, path: Path, relation: str | None) -> Iterable[DataCheck]:
        """Return the checks.

        Parameters
        ----------
        relation
            The relation that checks are about, where documents do not name one.

        Raises
        ------
        CaptureError
            For documents that are not the tool's.
        """


def number_bounds(kwargs: Mapping[str, Any]) -> ValueBounds:
    """Return bounds from the arguments ``min_value``, ``max_value``, ``strict_min`` and so on."""
    low, high = kwargs.get("min_value"), kwargs.get("max_value")
    return ValueBounds(
        None if low is None else float(low),
        None if high is None else float(high),
        bool(kwargs.get("strict_min")),
        bool(kwargs.get("strict_max")),
    )


def failing_rows(
    name: str,
    template: str,
    relation: str,
    columns: Mapping[str, Any],
    values: Mapping[str, Any] | None = None,
    bounds: ValueBounds = ValueBounds(high=0),
    where: str | None = None,
) -> DataCheck:
    """Return a check of the number of failures, from a template: see :func:`fill`."""
    sql = fill(template, relation, columns, values, where)
    return DataCheck(name, sql, bounds, False, (relation,))


def checked_value(
    name: str,
    template: str,
    relation: str,
    bounds: ValueBounds,
    columns: Mapping[str, Any],
    values: Mapping[str, Any] | None = None,
    where: str | None = None,
) -> DataCheck:
    """Return a check of a value, from a template: see :func:`fill`."""
    sql = fill(template, relation, columns, values, where)
    return DataCheck(name, sql, bounds, True, (relation,))
