"""The least time of some repetitions, within a limit."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class OverLimitError(Exception):
    """A measurement took longer than it may."""


def least_seconds(run: Callable[[], object], repetitions: int, limit: float) -> float:
    """Return the shortest time of several repetitions, after a warm-up.

    Parameters
    ----------
    limit
        Seconds in all, after which no repetition begins; a first one that takes half of them is
        the measurement.

    Raises
    ------
    OverLimitError
        If the first one takes longer than `limit`.
    """
    with _within(limit):
        first = seconds(run)
    if first > limit / 2:
        return first
    times: list[float] = []
    ends = time.perf_counter() + limit - first
    while len(times) < repetitions and time.perf_counter() < ends:
        times.append(seconds(run))
    return min(times)


def seconds(run: Callable[[], object]) -> float:
    """Return the time of one run."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


@contextmanager
def _within(limit: float) -> Iterator[None]:
    """Raise OverLimitError in this thread after some seconds, as soon as Python is back in charge.

    By a signal, so it works in the main thread alone.
    """

    def over(number: int, frame: FrameType | None) -> None:
        raise OverLimitError

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
