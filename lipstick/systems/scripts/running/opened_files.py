"""Files that a script opens by other means than data frames, from Python's audit events."""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from types import FrameType
from typing import Any

from lipstick.systems.scripts.running.record import version_of, versions_of
from lipstick.systems.scripts.running.recorder import Recorder

_NOT_DATA = tuple(
    os.path.realpath(path)
    for path in {*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, "/proc", "/dev"}
)
_CODE = (".py", ".pyc", ".so")

_listening: list[OpenedFiles] = []
"""The runs that go on; the last one gets the events, since hooks cannot be taken away."""

_hooked: list[bool] = []


class OpenedFiles:
    """Records what a script opens until :meth:`close`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._opened: dict[tuple[str, bool], tuple[tuple[str, int], ...]] = {}
        self._written: dict[int, str] = {}
        _listening.append(self)
        if not _hooked:
            _hooked.append(True)
            sys.addaudithook(_hook)

    def opened(self, path: str, *, writes: bool) -> None:
        """A file is opened."""
        full = os.path.realpath(path)
        if full.startswith(_NOT_DATA) or full.endswith(_CODE) or os.path.isdir(full):  # noqa: PTH112
            return
        if full.startswith(os.path.realpath(self._recorder.directory)):
            return
        if _is_of_spark(full):
            return
        if (full, writes) in self._opened:
            return
        self._opened[full, writes] = ()
        places = self._recorder.places()
        if not places:
            return
        if writes:
            # What will be in it is known when the script has ended.
            event = self._recorder.add("write", "python", path, inferred=NOT_FOLLOWED)
            self._opened[full, writes] = event.places
            self._written[event.number] = full
        else:
            with self._recorder.at_work():
                version = version_of(full)
            self._recorder.add("read", "python", path, files=(version,), inferred=NOT_FOLLOWED)

    def close(self) -> None:
        """Stop, and look at what was written."""
        _listening.remove(self)
        for number, path in self._written.items():
            event = self._recorder.events[number - 1]
            self._recorder.change(event, files=versions_of(path))


def _is_of_spark(path: str) -> bool:
    """Return True if a file is one by which PySpark and the JVM exchange rows."""
    temporary = os.path.realpath(tempfile.gettempdir())
    if not path.startswith(temporary):
        return False
    first = path[len(temporary) :].lstrip("/").split("/")
    if any(part.startswith(("spark-", "blockmgr-", "pyspark-", "hsperfdata")) for part in first):
        return True
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if "/pyspark/" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


NOT_FOLLOWED = "what Python code does with a file is not followed row by row"


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _listening:
        return
    path, mode, flags = arguments
    current = _listening[-1]
    if not isinstance(path, str) or current._recorder.busy:
        return
    if mode is None:
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
    else:
        writes = any(letter in mode for letter in "wax+")
    with_importing = sys._getframe(1)
    while with_importing is not None:
        if "importlib" in with_importing.f_code.co_filename:
            return
        with_importing = with_importing.f_back  # type: ignore[assignment]
    current.opened(path, writes=writes)
