"""Errors of the session; all derive from :class:`semiring.errors.LipstickError`."""

from __future__ import annotations

import re

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
