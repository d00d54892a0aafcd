"""Budgets of seconds and memory for whole questions, whatever code they run.

A thread watches the innermost budget. When it runs out, an exception is raised in the asking
thread, between two of its instructions, as Ctrl-C does. Anytime searches check :func:`spent` and
return what they have found.
"""

from __future__ import annotations

import _thread
import ctypes
import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from semiring.errors import BudgetError

T = TypeVar("T")

MEMORY_SHARE: Final = 0.5
"""The share of the machine's free memory that one question may use."""

_LOOK: Final = 0.1
"""Seconds between two checks of the process's memory."""

AGAIN: Final = 2.0
"""Seconds after which a computation that goes on is interrupted again."""

_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class _BudgetSpent(BaseException):
    """Raised in the middle of a computation whose budget is spent."""


@dataclass(frozen=True, slots=True)
class _Budget:
    ends: float
    seconds: float


_current: ContextVar[_Budget | None] = ContextVar("current", default=None)


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Give the searches inside a budget of seconds; None: only the enclosing budgets.

    Searches check :func:`spent` or :func:`check_budget` as they go. A nested budget ends with the
    enclosing one at the latest.
    """
    token = _current.set(_inner(seconds))
    try:
        yield
    finally:
        _current.reset(token)


def call_within(
    seconds: float | None,
    function: Callable[[], T],
    withdrawn: Callable[[], bool] = lambda: False,
) -> T:
    """Call a function, and interrupt it after a number of seconds; None: never.

    Parameters
    ----------
    withdrawn
        Asked while there is a budget, in another thread: True interrupts the function, too.

    Raises
    ------
    BudgetError
        When the budget is spent, or the call takes more than half of the free memory, or is
        withdrawn.
    """
    budget = _inner(seconds)
    if seconds is None or budget is None:
        return function()
    watch, token = _Watch(budget, withdrawn), _current.set(budget)
    # A context manager would not do: the exception may come when its exit has not begun.
    try:
        try:
            watch.start()
            return function()
        finally:
            watch.stop()
    except (_BudgetSpent, Exception) as error:
        watch.stop()
        # No reason: the budget that is spent is one around this one.
        if watch.reason is None or not _is_of_budget(error):
            raise
        raise BudgetError(watch.reason) from None
    finally:
        _current.reset(token)


def _is_of_budget(error: BaseException | None) -> bool:
    """Return True if an error is that of a spent budget, or was raised while handling one.

    An interrupted Java call may fail during its cleanup.
    """
    while error is not None and not isinstance(error, _BudgetSpent):
        error = error.__context__
    return error is not None


def _inner(seconds: float | None) -> _Budget | None:
    around = _current.get()
    if seconds is None:
        return around
    own = _Budget(time.monotonic() + seconds, seconds)
    return own if around is None or own.ends < around.ends else around


@contextmanager
def uncollected() -> Iterator[None]:
    """Suspend garbage collection while long-lived objects are built, which halves the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def spent() -> bool:
    """Return True if the budget is spent."""
    budget = _current.get()
    return budget is not None and time.monotonic() > budget.ends


def remaining() -> float | None:
    """Return the seconds left of the budget, or None without a budget."""
    budget = _current.get()
    return None if budget is None else max(budget.ends - time.monotonic(), 0.0)


def check_budget() -> None:
    """Raise if the budget is spent.

    Raises
    ------
    BudgetError
        When the budget is spent.
    """
    budget = _current.get()
    if budget is not None and spent():
        raise BudgetError(_too_long(budget))


def _too_long(budget: _Budget) -> str:
    return (
        f"The question was not answered within its budget of {budget.seconds:.3g} seconds.\n"
        "Allow more, budget=, or ask about fewer rows, or for samples where there are any."
    )


class _Watch:
    """A thread that interrupts a computation when its budget is spent.

    Attributes
    ----------
    reason
        The reason that the computation was interrupted, else None.
    """

    def __init__(self, budget: _Budget, withdrawn: Callable[[], bool]) -> None:
        self.reason: str | None = None
        self._budget, self._withdrawn = budget, withdrawn
        self._asking = threading.get_ident()
        # No event: an exception within its methods, which are Python, may leave its lock held.
        self._lock = threading.Lock()
        self._running = threading.Lock()  # held until the watch ends
        self._running.acquire()
        self._stopped = False
        self._most = _memory_limit()

    def start(self) -> None:
        """Start watching."""
        # `Thread.start` would wait for the thread, without an end if an exception for this one
        # came in it: a new thread has the number of the one that starts it for a moment.
        _thread.start_new_thread(self._run, ())

    def stop(self) -> None:
        """Stop watching; no exception is raised afterwards."""
        while not self._stopped:
            try:
                with self._lock:
                    self._stopped = True
                    self._running.release()
                if self.reason is not None:
                    drop_raised()
            except _BudgetSpent:  # it came while this method ran
                continue

    def _run(self) -> None:
        with suppress(_BudgetSpent):  # of a budget around this one, which is raised again
            self._look()

    def _look(self) -> None:
        while not self._waited(min(_LOOK, max(self._budget.ends - time.monotonic(), 0.0))):
            reason = None
            if time.monotonic() >= self._budget.ends:
                reason = _too_long(self._budget)
            elif self._withdrawn():
                reason = "The question was withdrawn."
            elif self._most is not None and (_resident() or 0) > self._most:
                reason = (
                    "The question took more than half of the memory that was free.\n"
                    "Ask about fewer rows, or for samples where there are any."
                )
            if reason is not None:
                break
        while not self._stopped:
            with self._lock:
                if not self._stopped:
                    self.reason = reason
                    raise_in(self._asking, _BudgetSpent)
            # Callbacks of the interpreter ignore exceptions: it is raised until it is noticed.
            self._waited(AGAIN)

    def _waited(self, seconds: float) -> bool:
        """Wait for the end of the watch, at most `seconds`; return True if it came."""
        return self._running.acquire(timeout=seconds) or self._stopped


def raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise an exception in a thread, between two of its instructions."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def drop_raised() -> None:
    """Drop an exception that is pending in this thread, or in one that has ended.

    CPython up to 3.12 considers an exception pending until one was raised, in any thread, and stops
    between all instructions to look for it; with a trace function 3.11 does not get further.
    """
    try:
        while True:  # a thread that this one has just started has its number for a moment
            raise_in(threading.get_ident(), _BudgetSpent)
    except _BudgetSpent:
        return


def _resident() -> int | None:
    """Return the resident bytes of this process, or None if the system does not report them."""
    # A budget may end in here: a file object that is open then would warn of it.
    try:
        statm = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            return int(os.read(statm, 256).split()[1]) * _PAGE
        finally:
            os.close(statm)
    except (OSError, ValueError, IndexError):
        return None


def free_memory() -> int | None:
    """Return the free bytes of the machine, or None if the system does not report them."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * _PAGE
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return None
    return free


def _memory_limit() -> int | None:
    """Return the limit on the process's resident bytes, or None if the system does not report
    it.
    """
    resident, free = _resident(), free_memory()
    return None if resident is None or free is None else resident + int(MEMORY_SHARE * free)
