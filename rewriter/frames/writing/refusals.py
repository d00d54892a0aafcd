"""Refusals of what no text says: rows that are not tracked, or that Python makes of rows."""

from __future__ import annotations

from rewriter.errors import UnsupportedError, UntrackedError
from rewriter.frames.writing.errors import unsupported


def untracked(kind: str) -> UntrackedError:
    """Return the error of a scan of what is not tracked."""
    return UntrackedError(
        f"this data frame reads rows that are not tracked ({kind})",
        'Track the frame or table that it is made of: ls.track("name", frame, ...).',
    )


def rows_of_python(name: str) -> UnsupportedError:
    """Return the error of a method whose Python function makes rows of rows."""
    return unsupported(
        f"{name} makes rows of which nothing says what they came from",
        "Use expressions, a udf() of one row, or in SQL a table function of partitions, "
        "f(TABLE(t) PARTITION BY k); or track the frame that it returns.",
    )
