"""Errors of Spark's parser and analyser about a user's text, as ours in two sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import AnalysisException, PySparkException, PythonException
from pyspark.sql import functions

from lipstick.errors import InvalidQueryError, first_line
from rewriter.errors import QueryError
from rewriter.position import Span, span_at
from semiring.errors import closest

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\]")
_PLACE = re.compile(r"\bline (\d+),? pos (\d+)")
EXPLAIN = "EXPLAIN EXTENDED\n"
"""Before a text that Spark is asked to explain."""

_OF_VIEW = re.compile(r"== SQL of VIEW ")
_WORD = re.compile(r"[\w.]+|`[^`]*`|'[^']*'|\S")
_PART = r"`(?:[^`]|``)*`"
_NAME = re.compile(rf"{_PART}(?:\.{_PART})*")

_CALLED = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
"""A line of a traceback that names a call: file, line and function."""

_KINDS = {
    "UNRESOLVED_COLUMN": "column",
    "UNRESOLVED_FIELD": "field",
    "FIELD_NOT_FOUND": "field",
    "TABLE_OR_VIEW_NOT_FOUND": "table or view",
    "UNRESOLVED_ROUTINE": "function",
    "UNRESOLVABLE_TABLE_VALUED_FUNCTION": "table function",
}
"""Kinds of names that Spark does not know, by the condition of its error."""


@contextmanager
def analysed(sql: str, names: Iterable[str]) -> Iterator[None]:
    """Turn an error of Spark's parser or analyser about a text into ours; see :func:`invalid`."""
    try:
        yield
    except AnalysisException as error:
        raise invalid(error, sql, names) from error
    except Py4JJavaError as error:
        original = error.__context__  # of a format, whose conditions PySpark does not know
        if isinstance(original, Py4JJavaError) and "AnalysisException" in str(original):
            raise invalid(original, sql, names) from error
        raise


def invalid(
    error: PySparkException | Py4JJavaError,
    sql: str,
    names: Iterable[str] = (),
    *,
    written: bool = False,
) -> InvalidQueryError:
    """Return the error of a text that Spark does not accept: what, where, and the nearest names.

    Parameters
    ----------
    names
        Of tracked relations, which may be meant by a name that Spark does not know.
    written
        Spark has read a text that was written for this one.
    """
    text, condition = _message(error)
    kind = _KINDS.get(condition.partition(".")[0])
    unknown = _NAME.search(text)
    advice = "Spark does not accept this text"
    advice += f": its error condition is {condition}." if condition else "."
    problem = first_line(text).rstrip(".")
    place = None if written else _place(text, sql)
    if kind is not None and unknown is not None:
        name = _plain(unknown[0])
        problem = f"There is no {kind} {name!r}"
        tracked = tuple(names) if kind == "table or view" else ()
        others = tracked or (functions.__all__ if kind == "function" else _suggested(text))
        advice = closest(name, others) if others else f"Check the name of the {kind}."
        if name in tracked:
            advice = f"It was dropped after it was tracked: make it again, or untrack({name!r})."
        place = _place_of_name(name, sql) if written else place
    refusal = InvalidQueryError(problem, advice, sql, place)
    refusal.condition = condition or None
    return refusal


@contextmanager
def running(sql: str) -> Iterator[None]:
    """Turn an error of Spark's at the rows of a query into ours; see :func:`failed`."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        of_rows = isinstance(error, PythonException) or _message(error)[1]
        if not of_rows or isinstance(error, AnalysisException):
            raise  # such as of a lost connection, or of the table that is written
        raise failed(error, sql) from error


def failed(error: PySparkException | Py4JJavaError, sql: str = "") -> QueryError:
    """Return the error of a query that failed as it ran, with Spark's or its function's message."""
    text, condition = _message(error)
    advice = f"Spark ran the query and stopped: its error condition is {condition}."
    if isinstance(error, PythonException):
        places = _CALLED.findall(text)
        where = " in {2} (line {1} of {0})".format(*places[-1]) if places else ""
        text = [line for line in map(first_line, text.splitlines()) if line][-1]
        advice = f"Python raised this on a worker of Spark{where}."
    failure = QueryError(first_line(text).rstrip("."), advice, sql)
    failure.condition = condition or None
    return failure


def _message(error: PySparkException | Py4JJavaError) -> tuple[str, str]:
    """Return Spark's message, and the condition of its error, which may be empty."""
    if isinstance(error, PySparkException):
        text, condition = str(error), error.getCondition() or ""
    else:
        text, condition = str(error.java_exception.getMessage()), ""
    found = _CONDITION.match(text)
    return text, found[1] if found else condition


def _suggested(text: str) -> set[str]:
    """Return the names that Spark suggests."""
    found = re.search(r"\?\s*\[(.*?)\]", text, re.DOTALL)
    return set(map(_plain, _NAME.findall(found[1]))) if found else set()


def _plain(name: str) -> str:
    """Return a name of several parts without its backticks."""
    return ".".join(part[1:-1].replace("``", "`") for part in re.findall(_PART, name))


def _place(text: str, sql: str) -> Span | None:
    """Return the word at the place that Spark names, unless this is in the text of a view."""
    found = _PLACE.search(text)
    lines = sql.split("\n")
    if found is None or _OF_VIEW.search(text):
        return None
    above = int(found[1]) - 1 - (f"\n{EXPLAIN}" in text)
    if not 0 <= above < len(lines):
        return None
    start = sum(len(line) + 1 for line in lines[:above]) + int(found[2])
    word = _WORD.match(sql, start)
    return span_at(sql, start, word.end() if word else start + 1)


def _place_of_name(name: str, sql: str) -> Span | None:
    """Return the first place of a name in a text, None if the text has it not."""
    parts = (rf"`?{re.escape(part)}`?" for part in name.split("."))
    whole = r"\s*\.\s*".join(parts)
    found = re.search(rf"(?<![\w`'\"]){whole}(?![\w`'\"])", sql, re.IGNORECASE)
    return span_at(sql, *found.span()) if found else None
