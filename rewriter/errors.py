"""Errors of understanding a query: raised before anything runs, with the place in the text."""

from __future__ import annotations

from rewriter.position import Span
from semiring.errors import LipstickError

_CONTEXT = 60


class QueryError(LipstickError):
    """A query that cannot be annotated, or that fails at its rows: a division by zero.

    The message has four parts: what, ``line:column``, an excerpt with a caret under the place,
    and what to do instead. The text of a view that the query reads is not excerpted.

    Attributes
    ----------
    condition
        The name that Spark gives the error (``DIVIDE_BY_ZERO``), if it is Spark's and has one.
    """

    condition: str | None = None

    def __init__(self, problem: str, advice: str, sql: str = "", span: Span | None = None) -> None:
        self.problem = problem
        self.advice = advice
        self.span = span
        self.sql = sql
        super().__init__(self._message())

    def _message(self) -> str:
        where = _place(self.span) if self.span else ""
        lines = [f"{self.problem}{where}"]
        if self.span and self.sql and self.span.view is None:
            lines += _excerpt(self.sql, self.span)
        lines.append(self.advice)
        return "\n".join(lines)


class UnsupportedError(QueryError):
    """An operator that has no rewrite rule (yet)."""


class CorrelationError(UnsupportedError):
    """A reference to the outer query for which the rule that was tried has no place.

    Another rule may have one: who tries the simpler rule first catches this.
    """


class NotUnderstoodError(QueryError):
    """Text that is emitted with another meaning than Spark reads in it."""


class UntrackedError(QueryError):
    """A relation that the session does not track."""


def _place(span: Span) -> str:
    view = f" in view {span.view}" if span.view else ""
    return f"{view} at {span.line}:{span.column}"


def _excerpt(sql: str, span: Span) -> list[str]:
    line = sql.splitlines()[span.line - 1] if sql else ""
    start = max(0, span.column - 1 - _CONTEXT // 2)
    shown = line[start : start + _CONTEXT]
    width = max(1, min(span.end - span.start, len(shown) - (span.column - 1 - start)))
    return [f"  {shown}", "  " + " " * (span.column - 1 - start) + "^" * width]
