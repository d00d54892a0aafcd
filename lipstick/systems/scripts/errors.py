"""Errors of the provenance of scripts; all derive from :class:`semiring.errors.LipstickError`."""

from __future__ import annotations

from lipstick.systems.errors import ProgramFailedError
from semiring.errors import LipstickError

__all__ = [
    "FactsError",
    "InferenceError",
    "RunScriptError",
    "ScriptError",
    "ScriptFailedError",
    "ScriptNameError",
]


class ScriptError(LipstickError):
    """A script without an answer to what was asked about its provenance."""


class ScriptNameError(ScriptError):
    """A variable, output, file or line that the script does not have."""


class FactsError(ScriptError):
    """Facts about calls that cannot be read, or contradict what a fact may say."""


class InferenceError(ScriptError):
    """Views from whose times no provenance can be inferred."""


class RunScriptError(ScriptError):
    """A script that cannot be run with provenance, or raised something itself."""


class ScriptFailedError(RunScriptError, ProgramFailedError):
    """A script that raised something itself, which is the cause.

    Parameters
    ----------
    traceback
        What Python would have shown; empty where it ended by `sys.exit`.
    code
        What the process would have ended with.
    """

    def __init__(self, message: str, traceback: str, code: int) -> None:
        super().__init__(message)
        self.traceback = traceback
        self.code = code
