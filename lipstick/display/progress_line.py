"""The current work, shown on one line while it runs."""

from __future__ import annotations

import threading
from contextlib import suppress
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lipstick.display.markup import page

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status


_shown = threading.local()
"""By thread, the line through which lines opened inside it speak."""


class ProgressLine:
    """The current work, shown on one line while it runs. Made by :func:`progress`.

    As a context manager the line disappears at the end, and one that is opened inside another
    speaks through the outer one; called without being entered, each message is a line.
    """

    def __init__(self, console: Console, after: float) -> None:
        self._console = console
        self._after = after
        self._message = "working"
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._line: _TerminalLine | _NotebookLine | None = None
        self._above: ProgressLine | None = None
        self._entered = False

    def __call__(self, message: str) -> None:
        """Say what is being done now."""
        if self._above is not None:
            self._above.inner(message)
            return
        if not self._entered:
            if self._console.is_interactive:
                self._console.print(f"{message} …", style="dim", highlight=False, markup=False)
            return
        with self._lock:
            self._message = message
            if self._line is not None:
                self._line.update(message)
            elif self._after <= 0:
                self._open()

    def inner(self, message: str) -> None:
        """Say which part of the last announced step is being done."""
        if self._above is not None:
            self._above.inner(message)
            return
        with self._lock:
            if self._line is not None:
                self._line.update(f"{self._message}: {message}")

    def __enter__(self) -> ProgressLine:
        self._entered = True
        self._above = getattr(_shown, "line", None)
        if self._above is None:
            _shown.line = self
            if self._after > 0:
                self._timer = threading.Timer(self._after, self._late)
                self._timer.daemon = True
                self._timer.start()
        return self

    def _late(self) -> None:
        with self._lock:
            if self._entered and self._line is None:
                self._open()

    def _open(self) -> None:
        with suppress(Exception):  # work goes on whether or not it can be shown
            if self._console.is_jupyter:
                self._line = _NotebookLine(self._message)
            elif self._console.is_interactive:
                self._line = _TerminalLine(self._console, self._message)

    def __exit__(self, *error: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._entered = False
            if self._line is not None:
                self._line.close()
                self._line = None
        if self._above is None:
            _shown.line = None
        self._above = None


class _TerminalLine:
    """A spinner with a message on the last line of a terminal."""

    def __init__(self, console: Console, message: str) -> None:
        self._status: Status = console.status(_plain(message))
        self._status.start()

    def update(self, message: str) -> None:
        self._status.update(_plain(message))

    def close(self) -> None:
        self._status.stop()


class _NotebookLine:
    """A message below a notebook's cell, replaced in place."""

    def __init__(self, message: str) -> None:
        display = import_module("IPython.display").display
        self._handle: Any = display(_mime(message), raw=True, display_id=True)

    def update(self, message: str) -> None:
        with suppress(Exception):
            self._handle.update(_mime(message), raw=True)

    def close(self) -> None:
        with suppress(Exception):
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _mime(message: str) -> dict[str, str]:
    return {"text/plain": f"{message} …", "text/html": page(f"{escape(message)} …")}


def _plain(message: str) -> Any:
    from rich.text import Text

    return Text(f"{message} …")


def progress(after: float = 0.0, console: Console | None = None) -> ProgressLine:
    """Return a callback for ``save(..., progress=...)`` that shows what is being captured.

    Shown on a terminal or in a notebook; silent where standard error is neither.

    Parameters
    ----------
    after
        Seconds before the line appears: short work stays silent. Used as a context manager only.
    console
        Where it is shown; standard error if None.

    Examples
    --------
    >>> with lipstick.display.progress() as line:
    ...     q.save("capture", progress=line)
    """
    from rich.console import Console

    return ProgressLine(console or Console(stderr=True), after)
