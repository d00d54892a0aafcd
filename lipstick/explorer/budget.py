"""The time that an answer may take, checked between the steps that make it."""

from __future__ import annotations

import threading
import time

from lipstick.explorer.errors import TooLongError

SECONDS = 20.0
"""The seconds that an answer may take by default."""


class Budget:
    """Time for one answer, which may be taken back.

    Parameters
    ----------
    seconds
        From now on.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Withdraw the question: nobody waits for the answer, and `check` raises from now on."""
        self._cancelled.set()

    def is_cancelled(self) -> bool:
        """Return True once nobody waits for the answer."""
        return self._cancelled.is_set()

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._until - time.monotonic())

    def check(self) -> None:
        """Go on only while there is time, and somebody waits.

        Raises
        ------
        TooLongError
            Otherwise.
        """
        if self.is_cancelled():
            raise TooLongError("The question was withdrawn.")
        if time.monotonic() > self._until:
            raise TooLongError(
                f"The answer would take longer than {self._seconds:g} seconds.\n"
                "Ask for less: another row, fewer rows to remove, or a smaller part of a graph."
            )
