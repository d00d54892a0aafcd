"""Errors of systems that the core, or several systems, know by name."""

from __future__ import annotations

from semiring.errors import LipstickError


class MissingSystemError(LipstickError):
    """A call that needs a system, or another folder, which is not installed."""


class StreamError(LipstickError):
    """A stream, a batch, or a question about them that is not well formed."""


class ProgramFailedError(LipstickError):
    """A program that was run for the user and ended with an error of its own.

    Attributes
    ----------
    traceback
        The text that Python shows for it; empty after ``sys.exit``.
    code
        The exit code of its process.
    """

    traceback: str
    code: int
