"""Explanations as users see them: predicates and rows with the exact effects of their what-ifs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lipstick.display.markup import never_raises, page, table_html
from lipstick.display.number_text import spelled
from lipstick.errors import CaptureError
from lipstick.questions.asking import evaluating
from lipstick.questions.why.columns import shown
from lipstick.questions.why.fan_out import FanOut
from lipstick.questions.why.measure import Measure, WhyQuestion, rows_with
from lipstick.questions.why.sources import SourceRows, chosen_relation
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.questions.what_if import WhatIf
    from lipstick.questions.why.corrections import Correction, UpdateOf
    from lipstick.questions.why.lost import LostCondition
    from lipstick.questions.why.smallest import SmallestSets

WhatIfOf = Callable[[dict[str, Any]], "WhatIf[Any]"]


@dataclass(frozen=True)
class Cause:
    """A predicate whose tuples explain what was asked about.

    Attributes
    ----------
    relation, text, sql
        The relation, and the condition on its rows for people and as Spark SQL.
    rows
        The number of rows of the relation that satisfy it.
    before, after
        The measure, and what it is without these rows, exactly.
    subject, is_condition
        The name of the measure in sentences, and whether it is a condition's distance from true.
    score
        The gain beyond that of deleting as many rows at random, relative to its deviation.
    """

    relation: str
    text: str
    sql: str
    conditions: int
    rows: int
    before: float
    after: float
    score: float
    keys: pa.Table
    subject: str
    is_condition: bool
    _what_if: WhatIfOf

    @property
    def effect(self) -> float:
        """The difference that deleting these rows makes, of the numbers as they are written."""
        if not np.isfinite(self.after - self.before):
            return self.after - self.before
        return float(Decimal(repr(float(self.after))) - Decimal(repr(float(self.before))))

    def what_if(self) -> WhatIf[Any]:
        """Return the answer without these rows: their keys are deleted."""
        return self._what_if({self.relation: self.keys})

    @property
    def sentence(self) -> str:
        """Return by how much leaving these rows out moves what."""
        without = f"Without the {self.described_rows}, {self.subject}"
        return f"{without} {outcome(self.before, self.after, condition=self.is_condition)}"

    @property
    def described_rows(self) -> str:
        """The number of rows, and the condition on them, for people."""
        number = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        return f"{number} of {self.relation} where {self.text}"

    def __str__(self) -> str:
        return self.sentence


def outcome(before: float, after: float, *, condition: bool) -> str:
    """Return the end of a sentence on the measure in a world where it is another one."""
    if not condition:
        return f"would be {shown_number(after)} instead of {shown_number(before)}."
    if after == 0:
        return "would be true."
    off = f"it is off by {shown_number(after)} instead of {shown_number(before)}"
    return f"would still not be true: {off}."


def shown_number(number: float) -> str:
    """Return a number for people; NaN: the value is gone."""
    return "gone" if np.isnan(number) else spelled(float(number))


@checked
class Explanation:
    """The causes of a value, a difference or a failed check.

    Attributes
    ----------
    question
        The question as a sentence.
    before
        The measure: a value, a difference, the distance of a condition from being true, or a
        number of rows.
    causes
        The predicates, best first.
    together
        The measure without the rows of the first two causes, of the first three, and so on, where
        a number is wanted that no cause alone brings about.
    fan_out
        The rows that a join adds to the value several times; None: it is not so, or not known.
    lost
        Of a number that is too low: conditions on the rows that the query loses.
    complete
        True if the search ended before its budget did; False: these are the best found until then.
    notes
        The limits of the answer.
    """

    def __init__(
        self,
        asked: WhyQuestion,
        causes: Sequence[Cause],
        together: Sequence[float],
        added: FanOut | None,
        lost: Sequence[LostCondition],
        singles: Sequence[str] | None,
        *,
        complete: bool,
    ) -> None:
        self._asked = asked
        self._update: UpdateOf = asked.capture.what_if_updated
        self.question = _text(asked.measure, asked.subject)
        self.before = asked.measure.before
        self.causes = tuple(causes)
        self.together = tuple(together)
        self.fan_out = added
        self.lost = tuple(lost)
        self._singles = singles
        self.complete = complete
        self.notes = tuple(
            f"The rows of {name} were not read: conditions on it are on its key alone."
            for name, each in asked.read.items()
            if not each.whole
        )

    @property
    def table(self) -> pa.Table:
        """The predicates: relation, predicate, sql, rows, before, after, effect, score."""
        causes = self.causes
        return pa.table(
            {
                "relation": pa.array([c.relation for c in causes], pa.string()),
                "predicate": pa.array([c.text for c in causes], pa.string()),
                "sql": pa.array([c.sql for c in causes], pa.string()),
                "rows": pa.array([c.rows for c in causes], pa.int64()),
                "before": pa.array([c.before for c in causes], pa.float64()),
                "after": pa.array([c.after for c in causes], pa.float64()),
                "effect": pa.array([c.effect for c in causes], pa.float64()),
                "score": pa.array([c.score for c in causes], pa.float64()),
            }
        )

    def top(self, limit: int = 10, relation: str | None = None) -> pa.Table:
        """Return the tuples whose deletion, each alone, moves the measure most.

        Parameters
        ----------
        relation
            The relation of the tuples; None: that of the first cause, or the only one.

        Returns
        -------
        pa.Table
            The rows of the relation with their columns, then ``_after``, ``_effect`` and
            ``_shapley``; rows that bring the measure nearer to what it should be come first, by
            how much they do. ``_shapley`` is the Shapley value of the row in the value, in the
            aggregate that a condition compares with a constant, or in the number of rows: shares
            that add up to it. NULL where no closed form is known: for values other than a SUM,
            COUNT, or, over one relation, AVG, MIN, MAX or COUNT(DISTINCT), of one query block, and
            for numbers of groups.

        Raises
        ------
        CaptureError
            When the query reads no such relation; or several, none is named, and no cause is found.
        """
        from lipstick.questions.why.rows import top_rows

        with self._evaluating():
            return top_rows(self._asked.measure, self._source(relation), limit)

    def quarantine(self, relation: str | None = None) -> pa.Table:
        """Return the tuples to set aside: for a check, the sources of its rows.

        For a number that should be 0 (``than=0, too="high"``) they are what adds to it. If the
        check passes, or the number is 0, without the tuples that satisfy predicates of `causes`,
        only these are returned. For another value, a difference or a condition they are the tuples
        that satisfy some predicate of `causes`.

        Returns
        -------
        pa.Table
            The rows of the relation, then ``_reasons``: the predicates of `causes` that each of
            them satisfies.
        """
        from lipstick.questions.why.rows import quarantined_rows

        source = self._source(relation)
        chosen = [cause for cause in self.causes if cause.relation == source.name]
        reasons = [(cause.text, cause.keys) for cause in chosen]
        with self._evaluating():
            return quarantined_rows(self._asked.measure, source, reasons)

    def repairs(self, limit: int = 10, relation: str | None = None) -> SmallestSets:
        """Return the smallest sets of tuples without which nothing is wrong any more.

        Then the check has no row, the condition is true, or the value is as ``than`` asks.

        Parameters
        ----------
        limit
            The number of sets that are returned; all are counted, up to a bound.
        relation
            The relation of the tuples; None: that of the first cause, or the only one.

        Raises
        ------
        CapabilityError
            For values without ``than``, where no deletion suffices, and for conditions other than
            comparisons of one aggregate with a number.
        """
        from lipstick.questions.why.smallest import smallest_sets

        with self._evaluating():
            return smallest_sets(self._asked.measure, self._source(relation), limit)

    def corrections(self) -> list[Correction]:
        """Return other values in rows of `causes` and `lost` by which the measure is more right.

        They are what is usual in the other rows: another power of ten, the other sign, or their
        median; with Spark also their most frequent value of a column that decides which rows are
        joined, selected or grouped. What suffices comes first; each has the measure with the new
        values, exactly, for which Spark runs the query again.

        Raises
        ------
        CapabilityError
            For relations whose rows were not read; and without Spark where no column of numbers is
            read by aggregates alone, in a query of one grouping.
        """
        from lipstick.questions.why.corrections import corrections

        with self._evaluating():
            return corrections(
                self._asked.measure, self._asked.read, self.causes, self._update, lost=self.lost
            )

    def _evaluating(self) -> AbstractContextManager[None]:
        return evaluating(self._asked.measure.engine.manifest, self._asked.capture.engine.spark)

    def _source(self, relation: str | None) -> SourceRows:
        if relation is None and self.causes:
            relation = self.causes[0].relation
        return self._asked.read[chosen_relation(self._asked.read, relation)]

    @property
    def sentences(self) -> list[str]:
        """One sentence per predicate."""
        return [cause.sentence for cause in self.causes]

    def __str__(self) -> str:
        lines = [self.question]
        lines += [] if self.fan_out is None else [self.fan_out.sentence]
        lines += [f"{i}. {text}" for i, text in enumerate(self.sentences, start=1)]
        enough = self._asked.measure.reached(np.array([*self.together]))
        if enough.any():
            number = int(enough.argmax()) + 2
            first = "1 and 2" if number == 2 else f"1 to {number}"
            lines.append(f"Without the rows of {first} together, nothing would be wrong any more.")
        lines += [each.sentence for each in self.lost]
        if not (self.causes or self.lost or self.fan_out):
            common = "No rows that have a condition in common explain it by being left out."
            if self._singles:
                lines += [f"{common} Without single rows it would be:", *self._singles]
            elif self._singles is None:
                lines.append(common)
            else:
                lines.append("No row that is left out alone changes it.")
            if self._asked.measure.is_low:
                lines.append(
                    "Rows that the query loses may: plan.dropped() counts them by operator, and "
                    "why_not() explains one that is not there."
                )
        if not self.complete:
            lines.append("The budget was spent: these are the best found until then.")
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return explanation_html(self)


_BAR = 16
"""The longest bar, in letters."""


@never_raises
def explanation_html(explanation: Explanation) -> str:
    """Return predicates as a table with bars of letters, which need no style of a page."""
    body = f'<div class="t">{escape(explanation.question)}</div>'
    causes = explanation.causes
    largest = max((abs(each.effect) for each in causes if not np.isnan(each.effect)), default=0.0)
    rows = []
    for each in causes:
        share = abs(each.effect) / largest if largest and not np.isnan(each.effect) else 0.0
        what = f"{escape(each.relation)}: <code>{escape(each.text)}</code>"
        after = f"<b>{shown_number(each.after)}</b>"
        rows.append([what, f"{each.rows:,}", after, "\u2588" * round(_BAR * share)])
    if rows:
        before = f"without them, instead of {shown_number(explanation.before)}"
        body += table_html(["rows", "", before, "effect"], rows)
    lines = str(explanation).splitlines()
    multiplied = explanation.fan_out is not None
    rest = [*lines[1 : 1 + multiplied], *lines[1 + multiplied + len(causes) :]]
    return page(body + "".join(f'<div class="m">{escape(line)}</div>' for line in rest))


def only_row(answer: pa.Table, values: Mapping[str, Any]) -> int:
    """Return the place of the one row of an answer that has some values.

    Raises
    ------
    CaptureError
        Where there is none, or are several.
    """
    rows = rows_with(answer, values)
    if len(rows) != 1:
        named = f" with {described(dict(values))}" if values else ""
        advice = "name one by the values of its columns, where={...}"
        if values and not len(rows):
            advice = "why_not explains why a row is not there"
        raise CaptureError(f"The answer has {len(rows):,} rows{named}: {advice}.")
    return int(rows[0])


def described(values: dict[str, Any]) -> str:
    """Return the conditions that name a row."""
    return ", ".join(f"{name} = {shown(value)}" for name, value in values.items())


def _text(measure: Measure, subject: str) -> str:
    number = shown_number(measure.before)
    if measure.is_condition:
        return f"Why is {subject} not true?"
    if measure.is_check:
        return f"Why is {subject} {number}, and not 0?"
    if measure.expected is not None:
        bound = {"high": "at most ", "low": "at least ", None: ""}[measure.direction]
        return f"Why is {subject} {number}, and not {bound}{shown(measure.expected)}?"
    if measure.direction is not None:
        return f"Why is {subject} {number}, which is too {measure.direction}?"
    return f"Why is {subject} {number}?"
