"""A check of data as a query with bounds, and what became of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pyarrow as pa

from lipstick.errors import CapabilityError, CaptureError
from rewriter.emit.templates import fill
from semiring.errors import LipstickError
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture
    from lipstick.frame import AnnotatedFrame
    from lipstick.questions.why.answer import Explanation
    from lipstick.sessions import Session

VALUE, HOLDS, ROWS = "value", "holds", "n"
"""The columns of a check's value, of whether it is allowed, and of the rows of a group."""

_NUMBER = r"(-?\d+(?:\.\d+)?)\s*%?"
_COMPARISON = re.compile(rf"(<=|>=|<>|!=|==|<|>|=)\s*{_NUMBER}$")
_BETWEEN = re.compile(
    rf"(not\s+)?between\s+([(\[]?)\s*{_NUMBER}\s+and\s+{_NUMBER}\s*([)\]]?)$", re.I
)


@dataclass(frozen=True, slots=True)
class ValueBounds:
    """The values that a check allows: from `low` to `high`; None: no bound.

    Attributes
    ----------
    low, high
        Numbers; or dates, times and texts, which Spark compares.
    above, below
        True if the interval does not contain `low`, does not contain `high`.
    outside
        True if the values of the interval are wrong, and all others are allowed.
    """

    low: Any = None
    high: Any = None
    above: bool = False
    below: bool = False
    outside: bool = False

    @property
    def opposite(self) -> ValueBounds:
        """The values that these bounds do not allow."""
        if self.low is None and self.high is not None:
            return ValueBounds(low=self.high, above=not self.below)
        if self.high is None and self.low is not None:
            return ValueBounds(high=self.low, below=not self.above)
        return replace(self, outside=not self.outside)

    @property
    def are_numbers(self) -> bool:
        """True if no bound is a date, a time or a text."""
        return all(end is None or isinstance(end, Real) for end in (self.low, self.high))

    def side(self, number: float) -> Literal["high", "low"] | None:
        """Return the side on which a number is wrong; None: it is right."""
        high = self.high is not None and (number >= self.high if self.below else number > self.high)
        low = self.low is not None and (number <= self.low if self.above else number < self.low)
        if not self.outside:
            return "high" if high else "low" if low else None
        if high or low:
            return None
        return "high" if number - self.low < self.high - number else "low"

    def nearest(self, side: Literal["high", "low"]) -> float:
        """Return the allowed number that is nearest to the bound on a side."""
        # Beside an interval of wrong values the allowed ones begin at its other end.
        is_high = (side == "high") != self.outside
        bound, strict = (self.high, self.below) if is_high else (self.low, self.above)
        strict = strict != self.outside
        inward = -math.inf if side == "high" else math.inf
        return math.nextafter(bound, inward) if strict else float(bound)

    def __str__(self) -> str:
        if self.outside and self.low == self.high:
            return f"not {shown(self.low)}"
        parts = []
        if self.low is not None:
            parts.append(f"{'more than' if self.above else 'at least'} {shown(self.low)}")
        if self.high is not None:
            parts.append(f"{'less than' if self.below else 'at most'} {shown(self.high)}")
        text = " and ".join(parts) or "any"
        return f"not {text}" if self.outside else text


def compared(text: str) -> ValueBounds:
    """Return the numbers for which a comparison holds: ``>= 5``, ``not between [1 and 3)``.

    Raises
    ------
    CaptureError
        For other texts.
    """
    if match := _BETWEEN.match(text.strip()):
        ends = float(match[3]), float(match[4])
        return ValueBounds(*ends, match[2] == "(", match[5] == ")", bool(match[1]))
    match = _COMPARISON.match(text.strip())
    if match is None:
        raise CaptureError(f"its threshold {text!r} is not read here: compare with a number")
    return bounded(match[1], float(match[2]))


def bounded(sign: str, number: float) -> ValueBounds:
    """Return the numbers that a comparison with a number allows."""
    if sign in ("<", "<="):
        return ValueBounds(high=number, below=sign == "<")
    if sign in (">", ">="):
        return ValueBounds(low=number, above=sign == ">")
    return ValueBounds(number, number, outside=sign in ("!=", "<>"))


def shown(value: Any) -> str:
    """Return a value as it is shown in sentences."""
    return f"{value:,.12g}" if isinstance(value, Real) else str(value)


@checked
@dataclass(frozen=True)
class DataCheck:
    """A check of data from the document of a tool.

    Attributes
    ----------
    name
        Its name in the tool.
    sql
        A query whose rows are failures; or of one row, whose column ``value`` is checked, by its
        column ``holds`` if it has one.
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
    warns
        The numbers without a warning; None: nothing warns.
    counts_rows
        True if a row of the answer is a group, whose rows, the column ``n``, are the failures.
    """

    name: str
    sql: str = ""
    bounds: ValueBounds = ValueBounds(high=0)
    is_value: bool = False
    relations: tuple[str, ...] = ()
    refused: str | None = None
    recorded: float | None = None
    warns: ValueBounds | None = None
    counts_rows: bool = False

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
@dataclass(frozen=True, eq=False)
class CheckResult:
    """A check that was run.

    Attributes
    ----------
    check
        The check.
    frame
        Its annotated answer: the failures, or the value.
    """

    check: DataCheck
    frame: AnnotatedFrame | Capture

    @cached_property
    def _answer(self) -> pa.Table:
        return self.frame._captured.memory.answer()

    @cached_property
    def number(self) -> Any:
        """The number of failures, or the value; NaN for NULL.

        Raises
        ------
        CapabilityError
            For a value that is not a number, and is compared with numbers.
        """
        if not self.check.is_value:
            rows = self._answer.column(ROWS).to_pylist() if self.check.counts_rows else ()
            return float(sum(rows) if rows else self._answer.num_rows)
        value = self._answer.column(VALUE)[0].as_py()
        if value is None:
            return math.nan
        if HOLDS in self._answer.column_names:
            return value
        try:
            return float(value)
        except (TypeError, ValueError):
            kind = self._answer.schema.field(VALUE).type
            raise CapabilityError(
                f"The check {self.check.name!r} cannot be asked: its value is of type {kind}, and "
                "it is compared with numbers."
            ) from None

    @cached_property
    def verdict(self) -> Literal["passes", "warns", "fails"]:
        """The verdict of the tool; a check whose value is NULL fails."""
        if isinstance(self.number, float) and math.isnan(self.number):
            return "fails"
        if self.check.is_value and HOLDS in self._answer.column_names:
            return "passes" if self._answer.column(HOLDS)[0].as_py() else "fails"
        if self.check.bounds.side(self.number) is not None:
            return "fails"
        warns = self.check.warns
        return "passes" if warns is None or warns.side(self.number) is None else "warns"

    @property
    def passed(self) -> bool:
        """True if the check passes without a warning."""
        return self.verdict == "passes"

    @property
    def _violated(self) -> ValueBounds:
        is_failure = self.verdict == "fails" or self.check.warns is None
        return self.check.bounds if is_failure else self.check.warns or self.check.bounds

    @property
    def sentence(self) -> str:
        """Return what was found, and what is allowed."""
        kind = "its value" if self.check.is_value else "the number of failures"
        found = f"{kind} is {shown(self.number)}, {self._violated}"
        return f"{self.check.name} {self.verdict}: {found}."

    def why(self, **options: Any) -> Explanation:
        """Explain why the check fails or warns, with options of :meth:`lipstick.Capture.why`.

        Raises
        ------
        CaptureError
            When it passes, when its value is NULL, and when rows are missing rather than wrong.
        """
        if isinstance(self.number, float) and math.isnan(self.number):
            raise CaptureError(f"The value of {self.check.name} is NULL: there are no rows for it.")
        if self.passed:
            raise CaptureError(f"{self.sentence}\nThere is nothing to explain.")
        if self.check.is_value and HOLDS in self._answer.column_names:
            return self.frame.why(HOLDS, **options)
        side = self._violated.side(self.number)
        assert side is not None
        if self.check.is_value:
            bound = self._violated.nearest(side)
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


@dataclass(frozen=True, slots=True)
class WrittenCheck:
    """A check as a document has it, which becomes one check or several when it is read.

    Attributes
    ----------
    read
        Returns the checks; may raise anything, for documents may contain anything.
    """

    name: str
    relations: tuple[str, ...]
    read: Callable[[], DataCheck | Iterable[DataCheck]]

    def checks(self) -> list[DataCheck]:
        """Return the checks; one that is refused by name if reading them raises an error."""
        try:
            checks = self.read()
            return [checks] if isinstance(checks, DataCheck) else list(checks)
        except LipstickError as error:
            reason = str(error)
        except Exception as error:  # One bad check must not take the others.
            reason = f"it is not written as this tool writes it ({type(error).__name__}: {error})"
        return [DataCheck(self.name, relations=self.relations, refused=reason)]


class CheckReader(Protocol):
    """Reads the checks of a tool from the documents that it writes."""

    def read(self, path: Path, relation: str | None) -> Iterable[WrittenCheck]:
        """Return the checks as they are written.

        Parameters
        ----------
        relation
            The relation that checks are about, where documents do not name one.

        Raises
        ------
        CaptureError
            For documents that are not the tool's.
        """


@dataclass(frozen=True, slots=True)
class CheckBuilder:
    """Makes checks of one name over one relation from templates: see :func:`fill`.

    Attributes
    ----------
    columns
        The columns of the check: ``x``, ``x0``, ``x1`` and so on in templates, all of them ``xs``.
    values
        The values of parameters of templates.
    where
        A condition in Spark SQL: the check is about the rows that satisfy it.
    warns
        As in :class:`DataCheck`.
    """

    name: str
    relation: str
    columns: Sequence[str] = ()
    values: Mapping[str, Any] | None = None
    where: str | None = None
    warns: ValueBounds | None = None

    def rows(self, template: str, bounds: ValueBounds = ValueBounds(high=0)) -> DataCheck:
        """Return a check of the number of rows of a query."""
        return self._check(template, bounds)

    def failing(self, condition: str, bounds: ValueBounds = ValueBounds(high=0)) -> DataCheck:
        """Return a check of the number of rows that satisfy a condition."""
        return self._check(f"SELECT * FROM r WHERE {condition}", bounds)

    def duplicates(
        self, bounds: ValueBounds = ValueBounds(high=0), *, among: str = "", rows: str = "count(*)"
    ) -> DataCheck:
        """Return a check of the number of rows that are alike in the columns.

        Parameters
        ----------
        among
            A condition of the rows that are compared.
        rows
            How many rows of a group are failures; empty: groups are counted.
        """
        template = f"SELECT xs, {rows or 'count(*)'} AS {ROWS} FROM r{_where(among)} GROUP BY xs"
        return replace(
            self._check(f"{template} HAVING count(*) > 1", bounds), counts_rows=bool(rows)
        )

    def value(
        self, value: str, bounds: ValueBounds, *, among: str = "", source: str = "r"
    ) -> DataCheck:
        """Return a check of a value over the rows of a source that satisfy a condition.

        Raises
        ------
        CaptureError
            The bounds allow any value.
        """
        if bounds == ValueBounds() and self.warns is None:
            raise CaptureError("it allows any value")
        items = f"{value} AS {VALUE}"
        if not bounds.are_numbers:
            # Spark compares, as it compares other values with such a literal.
            tests = {"low": ">" if bounds.above else ">=", "high": "<" if bounds.below else "<="}
            parts = [
                f"{value} {sign} :{end}"
                for end, sign in tests.items()
                if getattr(bounds, end) is not None
            ]
            items += f", {' AND '.join(parts)} AS {HOLDS}"
        template = f"SELECT {items} FROM {source}{_where(among)}"
        return replace(self._check(template, bounds), is_value=True)

    def _check(self, template: str, bounds: ValueBounds) -> DataCheck:
        columns: dict[str, Any] = {f"x{number}": name for number, name in enumerate(self.columns)}
        if self.columns:
            columns |= {"x": self.columns[0], "xs": self.columns}
        values = {"low": bounds.low, "high": bounds.high, **(self.values or {})}
        sql = fill(template, self.relation, columns, values, self.where)
        return DataCheck(self.name, sql, bounds, relations=(self.relation,), warns=self.warns)


def _where(condition: str) -> str:
    return f" WHERE {condition}" if condition else ""
