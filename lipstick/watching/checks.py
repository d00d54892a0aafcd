"""Checks of libraries that run on Spark: each result tied to the query that made it.

Whatever a library is, its checks are queries that it shows itself. Within a block they are kept
with what they returned, and with the object of the library that asked for each:
`libraries.py` reads that, and the report.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from lipstick.errors import CaptureError
from lipstick.watching.libraries import LibraryVerdict, ReportedResult, asker, reports_of
from lipstick.watching.shown import Shown
from semiring.support.door import checked

if TYPE_CHECKING:
    import pyarrow as pa

    from lipstick.questions.why.answer import Explanation

_CLOSE: Final = 1e-9
"""The relative distance, at most, of a number in a report from that of its query."""


@checked
@dataclass(frozen=True, eq=False)
class LibraryResult:
    """A result of a library, with the query that made it.

    Attributes
    ----------
    verdict
        The verdict of the library.
    query, column
        The query, and the column in its answer that has the number; None: not known.
    reason
        Why there is no query; empty: there is one.
    counts_failures
        True if the query is a ``count`` of the rows that fail.
    """

    verdict: LibraryVerdict
    query: Shown | None = None
    column: str | None = None
    reason: str = ""
    counts_failures: bool = False

    @property
    def name(self) -> str:
        """The name of the check."""
        return self.verdict.name

    @property
    def passed(self) -> bool | None:
        """The verdict of the library: True if the check passes; None: it has none."""
        return self.verdict.passed

    def why(self, **options: Any) -> Explanation:
        """Explain the number of the check, with options of :meth:`lipstick.AnnotatedFrame.why`.

        A number of failures is explained against 0; rows that were counted must not be there.
        """
        query, column = self._asked()
        if self.counts_failures:
            return query.failing().why(**options)
        if self.verdict.failures and not {"than", "too"} & set(options):
            options |= {"than": 0, "too": "high"}
        return query.why(column, **options)

    def quarantine(self, relation: str | None = None, **options: Any) -> pa.Table:
        """Return the rows of a relation to set aside; see :meth:`Explanation.quarantine`."""
        return self.why(**options).quarantine(relation)

    def top(self, k: int = 10, **options: Any) -> pa.Table:
        """Return the input rows that move the number most; :meth:`lipstick.AnnotatedFrame.top`."""
        query, column = self._asked()
        if self.counts_failures:
            return self.why().top(k, **options)
        return query.top(column, k, **options)

    def _asked(self) -> tuple[Shown, str]:
        if self.query is None or self.column is None:
            raise CaptureError(f"{self.name} is tied to no query: {self.reason}")
        return self.query, self.column

    def __repr__(self) -> str:
        states = {True: "passes", False: "fails", None: "has no verdict"}
        tied = self.reason if self.query is None else f"{self.column} of {self.query!r}"
        return f"{self.name} {states[self.passed]}: {tied}"


class AskedQuery(NamedTuple):
    """A query of a block, and who asked for it in a library; None: in none that is known."""

    query: Shown
    by: Any


@checked
class CheckRun:
    """The queries that were run in a block, and the results that they made."""

    def __init__(self, begin: Callable[[Callable[[Shown], None]], Callable[[], None]]) -> None:
        self._begin = begin
        self._asked: list[AskedQuery] = []

    def __enter__(self) -> Self:
        self._end = self._begin(self._keep)
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _keep(self, query: Shown) -> None:
        self._asked.append(AskedQuery(query, asker(sys._getframe(1))))

    @property
    def queries(self) -> tuple[Shown, ...]:
        """The queries that the library has shown, in their order; ``returned`` has their rows."""
        return tuple(each.query for each in self._asked)

    def results(self, report: Any = None) -> list[LibraryResult]:
        """Return the results of the library, each tied to its query.

        Parameters
        ----------
        report
            What the library's own call has returned: a validation result of Great Expectations, a
            scan of Soda, a frame that Pandera has validated; or a list of ``LibraryVerdict``, each
            with its query. None: a result for each number of each query, without a verdict.

        Raises
        ------
        CaptureError
            For a report of another kind.
        """
        if report is None:
            return [
                LibraryResult(
                    LibraryVerdict(f"{each.call} {column}", None, value=value), each, column
                )
                for each in self.queries
                for column, value in _cells(each)
                if _number(value) is not None
            ]
        if isinstance(report, Sequence) and all(isinstance(x, LibraryVerdict) for x in report):
            return [_given(verdict) for verdict in report]
        return [self._tied(each) for each in reports_of(report)]

    def _tied(self, report: ReportedResult) -> LibraryResult:
        """Tie a result to the query that was run for it, if that has its number."""
        verdict = report.verdict
        wanted = _number(verdict.value if verdict.failures is None else verdict.failures)
        own = [
            (query, column, value, counts)
            for query, by in self._asked
            if by is not None
            for cells in [_cells(query)]
            for places, counts in [report.finds(by, len(cells))]
            for column, value in (cells[place] for place in places)
        ]
        if not own:
            return LibraryResult(verdict, reason="no query of it has returned a number")
        found = [each for each in own if wanted is None or _is_close(each[2], wanted)]
        if not found:
            return LibraryResult(verdict, reason="the library computed it from other numbers")
        # Soda counts the rows of a condition, and counts them once more as it shows them.
        found = [each for each in found if each[3]] or found
        if wanted is None and (verdict.value is not None or found[1:]):
            return LibraryResult(verdict, reason="the library reports no number for it")
        if len({column for _, column, _, _ in found}) > 1:
            return LibraryResult(verdict, reason="several numbers of it are equal")
        query, column, _, counts = found[0]
        return LibraryResult(verdict, query, column, counts_failures=counts)


def _given(verdict: LibraryVerdict) -> LibraryResult:
    """Tie a verdict to the query that it has."""
    query = verdict.query
    if query is None:
        return LibraryResult(verdict, reason="the verdict has no query")
    numbers = [column for column, value in _cells(query) if _number(value) is not None]
    if verdict.column is None and len(numbers) != 1:
        said = "several numbers, and the verdict names no column" if numbers else "no number"
        return LibraryResult(verdict, reason=f"its query has {said}")
    column = verdict.column or numbers[0]
    counts = bool(verdict.failures) and query.call == "count()"
    return LibraryResult(verdict, query, column, counts_failures=counts)


def _cells(shown: Shown) -> list[tuple[str, Any]]:
    """Return what a query returned, by column, if it is one row."""
    rows = shown.returned or ()
    return list(rows[0].items()) if len(rows) == 1 else []


def _is_close(value: Any, wanted: float) -> bool:
    number = _number(value)
    return number is not None and math.isclose(number, wanted, rel_tol=_CLOSE)


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return float(value) if is_number else None
