"""Refusals of what a plan has and no query says."""

from __future__ import annotations

from rewriter.errors import UnsupportedError

ADVICE = "Compute it before tracking, or write this part as a query for sql()."


def unsupported(problem: str, advice: str = ADVICE) -> UnsupportedError:
    """Return the refusal of a part of a data frame."""
    return UnsupportedError(f"in this data frame, {problem}", advice)
