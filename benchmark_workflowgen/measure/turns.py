"""Threads that take turns: exactly one of them works at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor


class Turns:
    """The order in which some participants work.

    Parameters
    ----------
    names
        The participants, the first of which begins.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._waiting = list(names)
        self._changed = threading.Condition()

    def take(self, name: str) -> None:
        """Wait for a participant's turn."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting[0] == name)

    def next(self, name: str) -> None:
        """End a participant's turn, and wait for its next one."""
        with self._changed:
            self._waiting.append(self._waiting.pop(0))
            self._changed.notify_all()
        self.take(name)

    def leave(self, name: str) -> None:
        """End a participant's last turn."""
        with self._changed:
            self._waiting.remove(name)
            self._changed.notify_all()


def alternate(works: Mapping[str, Callable[[Turns], None]]) -> None:
    """Run some works in turns; each ends its turn where it calls :meth:`Turns.next`.

    Raises
    ------
    BaseException
        What the first of them raised that failed; the others have come to their end.
    """
    turns = Turns(tuple(works))

    def run(name: str, work: Callable[[Turns], None]) -> None:
        turns.take(name)
        try:
            work(turns)
        finally:
            turns.leave(name)

    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(run, name, work) for name, work in works.items()]:
            done.result()
