"""Checks of libraries that run on Spark: each result tied to the query that made it.

Whatever a library is, its checks are queries that it shows itself. Within a block they are kept
with what they returned. A result is tied to a query by the number that both have; where several
queries have returned it, by the columns that they read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, Self

from lipstick.errors import CaptureError
from lipstick.outer import resolve
from lipstick.watching.shown import Shown
from semiring.support.door import checked

if TYPE_CHECKING:
    import pyarrow as pa

    from lipstick.questions.why.answer import Explanation

_TOTALS: Final = ("row_count", "values_count")
_BRANCH: Final = re.compile(r"^[\s:+|-]+")
_HANDED_ON: Final = re.compile(r"(?<=[\[ ])\w+(?=[,\]])")
_LEAVES: Final = ("Data", "Local", "Logical", "Relation", "SubqueryAlias", "View")
"""The beginnings of lines, in the text of a plan, of relations and their names."""
_LIMITED: Final = re.compile(r"count\s.{0,40}?GlobalLimit")
"""The beginning of counts of the first rows, such as of samples of failures."""
_CHOOSES: Final = re.compile(r"\b(?:CASE|Filter|filter)\b")
"""Words in the expressions of numbers of failures, which values of all rows do not have."""


@dataclass(frozen=True, slots=True)
class LibraryVerdict:
    """The verdict of a library on a check.

    Attributes
    ----------
    passed
        None: the library has none, such as for a check that could not run.
    failures
        The number of failures that it found; None: the check is about a value.
    value
        The value that it found; None: it reports none.
    columns, words
        The columns that the check is about, and words that the expression of its query has.
    text
        The expression in SQL that the library computed the number by; None: it names none.
    ordered
        True if the library reports verdicts in the order of its queries.
    one
        True if the library asked whether there is a failure, and not for their number.
    """

    name: str
    passed: bool | None
    failures: float | None = None
    value: Any = None
    columns: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    text: str | None = None
    ordered: bool = False
    one: bool = False


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
    """

    verdict: LibraryVerdict
    query: Shown | None = None
    column: str | None = None
    reason: str = ""

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
        if self._counts:
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
        if self._counts:
            return self.why().top(k, **options)
        return query.top(column, k, **options)

    @property
    def _counts(self) -> bool:
        """True if the query counts rows that must not be there."""
        return bool(self.verdict.failures) and self.column == "count"

    def _asked(self) -> tuple[Shown, str]:
        if self.query is None or self.column is None:
            raise CaptureError(f"{self.name} is tied to no query: {self.reason}")
        return self.query, self.column

    def __repr__(self) -> str:
        states = {True: "passes", False: "fails", None: "has no verdict"}
        tied = self.reason if self.query is None else f"{self.column} of {self.query!r}"
        return f"{self.name} {states[self.passed]}: {tied}"


@checked
class CheckRun:
    """The queries that were run in a block, and the results that they made."""

    def __init__(self, begin: Callable[[list[Shown]], Callable[[], None]]) -> None:
        self._begin = begin
        self._queries: list[Shown] = []

    def __enter__(self) -> Self:
        self._end = self._begin(self._queries)
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def queries(self) -> tuple[Shown, ...]:
        """The queries that the library has shown, in their order; ``returned`` has their rows."""
        return tuple(self._queries)

    def results(self, report: Any = None) -> list[LibraryResult]:
        """Return the results of the library, each tied to its query.

        Parameters
        ----------
        report
            What the library's own call has returned: a validation result of Great Expectations, a
            scan of Soda, a frame that Pandera has validated; or a list of ``LibraryVerdict``. None:
            a result for each number of each query, without a verdict.

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
                for each in self._queries
                for column, value in _numbers(each)
            ]
        verdicts = verdicts_of(report)
        return [self._tied(verdict, verdicts) for verdict in verdicts]

    def _tied(self, verdict: LibraryVerdict, verdicts: Sequence[LibraryVerdict]) -> LibraryResult:
        wanted = verdict.failures if verdict.failures is not None else verdict.value
        if not _is_number(wanted):
            return LibraryResult(verdict, reason="the library reports no number for it")
        found = [
            (each, column, each.expression(column))
            for each in self._queries
            for column, value in _numbers(each)
            if value == wanted
        ]
        if not found:
            return LibraryResult(verdict, reason="no query has returned its number")
        if verdict.text is not None:
            stated = [each for each in found if _plain(each[1]) == _plain(verdict.text)]
            found = stated or found
        words = [*verdict.columns, *verdict.words]
        about = [each for each in found if all(_reads(word, each[2]) for word in words)]
        if not about:
            return LibraryResult(verdict, reason="the queries that returned its number read others")
        chooses = verdict.failures is not None
        whole = [each for each in about if verdict.one or not _LIMITED.match(each[2])] or about
        alike = [each for each in whole if bool(_CHOOSES.search(each[2])) == chooses] or whole
        meanings = {text: (each, column) for each, column, text in alike}
        if len(meanings) > 1 and verdict.ordered:
            same = [each for each in verdicts if _question(each) == _question(verdict)]
            if len(same) == len(meanings):
                at = next(n for n, each in enumerate(same) if each is verdict)
                meanings = dict([list(meanings.items())[at]])
        if len(meanings) > 1:
            return LibraryResult(verdict, reason="several queries have returned its number")
        ((query, column),) = meanings.values()
        return LibraryResult(verdict, query, column)


def _question(verdict: LibraryVerdict) -> tuple[Any, ...]:
    """Return what the verdicts have in common between which their order decides."""
    return verdict.columns, verdict.words, verdict.failures, verdict.value


def _plain(text: str) -> str:
    """Return an expression without what Spark writes in another way in names of columns."""
    return re.sub(r"[\s()`]", "", text).lower()


def _reads(word: str, expression: str) -> bool:
    """Return True if an expression decides by a word, such as the name of a column.

    Columns that relations have, and projections hand on, decide nothing.
    """
    lines = (_BRANCH.sub("", line) for line in expression.split("\n"))
    deciding = (
        _HANDED_ON.sub("", line) if line.startswith("Project") else line
        for line in lines
        if not line.startswith(_LEAVES)
    )
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", "\n".join(deciding)) is not None


def _numbers(shown: Shown) -> Iterable[tuple[str, Any]]:
    """Yield the numbers in what a query returned, with their columns, if it is one row."""
    rows = shown.returned or ()
    if len(rows) == 1:
        for column, value in rows[0].items():
            if _is_number(value):
                yield column, value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_LIBRARIES: Final = {
    "great_expectations": "lipstick.watching.checks:_of_great_expectations",
    "pandera": "lipstick.watching.checks:_of_pandera",
    "soda": "lipstick.watching.checks:_of_soda",
}
"""The readers of reports, by the package of a report."""


def verdicts_of(report: Any) -> list[LibraryVerdict]:
    """Return the verdicts in a report of a library.

    Raises
    ------
    CaptureError
        For one of another kind.
    """
    if isinstance(report, Sequence) and all(isinstance(each, LibraryVerdict) for each in report):
        return list(report)
    package = type(report).__module__.partition(".")[0]
    if hasattr(report, "pandera"):
        package = "pandera"
    if package not in _LIBRARIES:
        raise CaptureError(
            f"A report of {package} is not known: those of {', '.join(_LIBRARIES)} are.\nGive its "
            "verdicts, as lipstick.LibraryVerdict has them."
        )
    read: Callable[[Any], Iterable[LibraryVerdict]] = resolve(_LIBRARIES[package])
    return list(read(report))


def _of_great_expectations(report: Any) -> Iterable[LibraryVerdict]:
    """Yield the verdicts of a validation result, of version 0.18 or 1."""
    for result in getattr(report, "results", [report]):
        config = result.expectation_config
        kind = getattr(config, "type", None) or config.expectation_type
        given = [config.kwargs.get(name) for name in ("column", "column_A", "column_B")]
        columns = [*(name for name in given if name), *config.kwargs.get("column_list", ())]
        found = result.result or {}
        raised = (result.exception_info or {}).get("raised_exception", False)
        yield LibraryVerdict(
            f"{kind}({', '.join(columns)})",
            None if raised else bool(result.success),
            found.get("unexpected_count"),
            found.get("observed_value"),
            tuple(columns),
        )


def _of_soda(scan: Any) -> Iterable[LibraryVerdict]:
    """Yield the verdicts of a scan of Soda Core."""
    for check in scan._checks:
        outcome = getattr(check.outcome, "value", None)
        column = getattr(getattr(check, "check_cfg", None), "column_name", None)
        value: Any = getattr(check, "check_value", None)
        failing = re.search(r"(missing|invalid|duplicate)_|failed rows", check.name)
        metrics = list(check.metrics.values())
        for metric in list(metrics):  # a percentage is computed from numbers
            formula = getattr(metric, "derived_formula", None)
            parts = getattr(formula, "metric_dependencies", {})
            metrics += [part for name, part in parts.items() if name not in _TOTALS]
        text = None
        for metric in metrics:
            stated = getattr(metric, "get_sql_aggregation_expression", None)
            with suppress(Exception):  # of what Soda computes by other queries
                text = (stated() if stated is not None else None) or text
            if "percent" in check.name and text is not None:
                value = metric.value
        number = float(value) if isinstance(value, Decimal) else value
        number = number if _is_number(number) else None
        yield LibraryVerdict(
            check.name,
            None if outcome is None else outcome == "pass",
            number if failing else None,
            None if failing else number,
            (column,) if column else (),
            text=text,
        )


def _of_pandera(frame: Any) -> Iterable[LibraryVerdict]:
    """Yield the failures of a frame that Pandera has validated: it reports no others."""
    for group in frame.pandera.errors.values():
        for errors in group.values():
            for error in errors:
                check = str(error.get("check"))
                column = error.get("column")
                words = ("isnull",) if check == "not_nullable" else ("NOT",)
                columns = (str(column),) if column else ()
                yield LibraryVerdict(
                    f"{column}: {check}", False, 1, None, columns, words, None, True, True
                )
