"""Threads that take turns: exactly one of them works at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait


class StoppedError(Exception):
    """Another participant has failed, or the user has had enough."""


class Turns:
    """The order in which some participants work.

    Parameters
    ----------
    names
        The participants; the first one begins.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._waiting = list(names)
        self._changed = threading.Condition()
        self._stopped = False

    def take(self, name: str) -> None:
        """Wait for a participant's turn.

        Raises
        ------
        StoppedError
            When nobody is to work any more.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._waiting[0] == name)
            if self._stopped:
                raise StoppedError

    def next(self, name: str) -> None:
        """End a participant's turn, and wait for its next one; see :meth:`take`."""
        with self._changed:
            self._waiting.append(self._waiting.pop(0))
            self._changed.notify_all()
        self.take(name)

    def leave(self, name: str) -> None:
        """End a participant's last turn."""
        with self._changed:
            self._waiting.remove(name)
            self._changed.notify_all()

    def stop(self) -> None:
        """Let nobody take a turn any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()


def alternate(works: Mapping[str, Callable[[Turns], None]]) -> None:
    """Run some works in turns; each ends its turn where it calls :meth:`Turns.next`.

    Raises
    ------
    BaseException
        What the first of them raised that failed; the others have stopped at their next turn.
    """
    turns = Turns(tuple(works))

    def run(name: str, work: Callable[[Turns], None]) -> None:
        turns.take(name)
        try:
            work(turns)
        except BaseException:
            turns.stop()
            raise
        finally:
            turns.leave(name)

    with ThreadPoolExecutor(len(works)) as pool:
        running = [pool.submit(run, name, work) for name, work in works.items()]
        try:
            wait(running, return_when=FIRST_EXCEPTION)
        finally:
            turns.stop()
    failures = [future.exception() for future in running]
    for failure in sorted(filter(None, failures), key=lambda f: isinstance(f, StoppedError)):
        raise failure
