"""Errors of systems that the core, or several systems, know by name."""

from __future__ import annotations

from semiring.errors import LipstickError


class StreamError(LipstickError):
    """A stream, a batch, or a question about them that is not well formed."""


class ProgramFailedError(LipstickError):
    """A program that was run for the user and ended with an error of its own.

    Parameters
    ----------
    traceback
        The text that Python shows for it; empty after ``sys.exit``.
    code
        The exit code of its process.
    """

    def __init__(self, message: str, traceback: str, code: int) -> None:
        super().__init__(message)
        self.traceback = traceback
        self.code = code
