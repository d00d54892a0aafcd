"""Errors of scripts that failed, as they would look without the doors."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path

from lipstick.systems.scripts.errors import ScriptFailedError

_OWN = str(Path(__file__).parent)


def failed(error: BaseException, path: Path, record: Path) -> ScriptFailedError:
    """The error of a run whose script raised another."""
    kept = f"What it did before is recorded in {record}."
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else 1
        said = "" if isinstance(error.code, int) else f"{error.code}\n"
        return ScriptFailedError(f"{path} ended by {shown(error)}.\n{kept}", said, code)
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    where = f", at line {lines[-1]}" if lines else ""
    return ScriptFailedError(
        f"{path} raised {shown(error)}{where}.\n{kept}", _as_python_shows(error), 1
    )


def shown(error: BaseException) -> str:
    """An exception in a line."""
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _as_python_shows(error: BaseException) -> str:
    """The traceback of an exception, without what runs the script and stands at its doors."""
    whole = traceback.TracebackException.from_exception(error)
    for each in _chained(whole):
        frames = [frame for frame in each.stack if not frame.filename.startswith(_OWN)]
        each.stack = traceback.StackSummary.from_list(frames)
    return "".join(whole.format())


def _chained(
    whole: traceback.TracebackException,
) -> Iterator[traceback.TracebackException]:
    """An exception, its causes, and what was being handled when they were raised."""
    waiting = [whole]
    for each in waiting:
        yield each
        waiting += [other for other in (each.__cause__, each.__context__) if other is not None]
        waiting += each.exceptions or []
