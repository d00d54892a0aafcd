"""Errors of the session; all derive from :class:`semiring.errors.LipstickError`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from rewriter.errors import NotUnderstoodError, QueryError, UnsupportedError, UntrackedError
from semiring.errors import CapabilityError, LipstickError, ValuationError

__all__ = [
    "CapabilityError",
    "CaptureDamagedError",
    "CaptureError",
    "CaptureNotHereError",
    "InternalError",
    "InvalidQueryError",
    "LipstickError",
    "NotHeldError",
    "NotUnderstoodError",
    "QueryError",
    "SourceChangedError",
    "SourceError",
    "StatementError",
    "TrackingError",
    "UncheckedWarning",
    "UnknownKeyWarning",
    "UnsupportedError",
    "UntrackedError",
    "ValuationError",
    "VersionGoneError",
]


_OF_SPARK = re.compile(
    r"^\[[A-Z][A-Z0-9_.]+\] |\s*SQLSTATE: \w{5}.*|;? \(?line \d+,? pos \d+.*|\. Please, .*"
)
"""Parts of an error that Spark adds to its sentence: the condition, the state, and the place."""


def first_line(error: Exception | str) -> str:
    """Return the first line of an error's message, without the marks that Spark adds."""
    return _OF_SPARK.sub("", str(error).strip().partition("\n")[0])


_UNREAD_TYPE = re.compile(
    r"^\[(?:CANNOT_PARSE_DATATYPE\] .* (\w+(?:\(.+?\))?)\.*$"
    r"|UNSUPPORTED_OPERATION\] data type (\w+) )"
)
"""The errors of classic sessions, and of those over Spark Connect."""


@contextmanager
def readable_types() -> Iterator[None]:
    """Name the type of a column where PySpark, which has it of Spark, cannot read its name.

    Raises
    ------
    UnsupportedError
    """
    try:
        yield
    except Exception as error:
        found = _UNREAD_TYPE.match(str(error))
        if found is None:
            raise
        name = found[1] or found[2]
        problem = f"a column has the type {name}, which this version of PySpark cannot read"
        advice = "Cast it where it is read; CAST(x AS TIMESTAMP_NTZ) keeps its microseconds."
        if "timestamp" not in name:
            advice = "Cast it to another type where it is read."
        raise UnsupportedError(problem, advice) from error


class InvalidQueryError(QueryError):
    """A text that Spark's parser or analyser does not accept."""


class TrackingError(LipstickError):
    """A relation that cannot be tracked as asked, or a question about one that is not tracked."""


class SourceError(TrackingError):
    """A source that cannot be read, or whose rows cannot be named stably."""


class StatementError(LipstickError):
    """A statement of a history that cannot be reenacted, or that would fail over other rows."""


class SourceChangedError(LipstickError):
    """A source that has changed since it was tracked."""


class VersionGoneError(SourceChangedError):
    """A version of a table that cannot be read any more, or never was there."""


class InternalError(UnsupportedError):
    """A query whose reading ended in an error of this project's own: a defect, to be reported."""

    is_defect = True


class CaptureError(LipstickError):
    """A capture that cannot be written, read, or asked this question."""


class NotHeldError(CaptureError, AttributeError):
    """A question that annotated queries answer, and captures do not."""


class NeedsSparkError(CaptureError):
    """A question to a capture in memory that only Spark can answer."""


class CaptureDamagedError(CaptureError):
    """Files of a capture, or of a table's provenance, that are not what was written."""


class CaptureNotHereError(CaptureError):
    """A capture whose upstream provenance is missing from the path in it or in its bundle."""


class UncheckedWarning(UserWarning):
    """A capture of an older version, whose files have no checksums to check them by."""


class UnknownKeyWarning(UserWarning):
    """Keys in a question that name no row: a typing error would otherwise prove what it should."""


def without_columns(sql: str = "") -> UnsupportedError:
    """Return the refusal of an answer that has no columns."""
    advice = "Select a column, or the number of rows: count(*)."
    return UnsupportedError("an answer without columns is not supported", advice, sql)
