"""Calls on deeply nested data, repeated in a thread with a large stack if needed.

Queries, plans and expressions are trees, and most functions over them recurse. Python's limit of
1,000 calls protects the stack of a thread; a thread with a larger stack may go deeper.
"""

from __future__ import annotations

import _thread
import contextvars
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from semiring.errors import DepthError
from semiring.support.budget import AGAIN, drop_raised, raise_in

T = TypeVar("T")

CALLS = 40_000
"""Limit on the depth of recursion of a repeated call."""
_STACK = 512 * 2**20
"""Size of the stack in bytes; the system allocates the used part, some 13 KB per call."""

_LOOK = 0.005
"""Seconds between two checks whether a thread has ended."""

_calls = threading.local()
_lock = threading.Lock()


def deeply(function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """Call a function; if it exhausts the recursion limit, repeat the call with a larger stack.

    The outermost of nested calls is repeated: it holds none of our locks that another thread needs.

    Raises
    ------
    DepthError
        When the call recurses more than `CALLS` deep.
    """
    if is_inside():
        return function(*args, **kwargs)
    _calls.inside = True
    try:
        return function(*args, **kwargs)
    except DepthError:
        raise
    except RecursionError:
        pass
    finally:
        _calls.inside = False
    return _in_thread(function, args, kwargs)


@contextmanager
def recursion_limit(least: int) -> Iterator[None]:
    """Let calls of this process be nested at least so deep."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, least))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def is_inside() -> bool:
    """Return True in a thread that is in a call of a public function."""
    return getattr(_calls, "inside", False)


class _Thread:
    """A thread that is joined even if the wait is interrupted.

    An interrupted `Thread.join` would consider the thread ended (CPython issue 45274), and the
    recursion limit must not fall below the depth of a running thread. `Thread.start` waits without
    a limit: an exception meant for the starting thread may be raised in the new one, which at first
    has the same number, and end it.
    """

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._gate = threading.Lock()
        self._cancelled = False
        self._ident: int | None = None

    def run_to_its_end(self) -> None:
        """Run the call; a signal or a budget that interrupts the wait ends it."""
        interruption: BaseException | None = None
        started, ended, again = False, False, 0.0
        while not ended:
            try:
                if not started:
                    started = True
                    _thread.start_new_thread(self._run, ())
                elif interruption is not None:
                    with self._gate:  # whether it has begun is not known
                        self._cancelled = True
                    if self._ident is not None and time.monotonic() >= again:
                        again = time.monotonic() + AGAIN  # not while it unwinds
                        raise_in(self._ident, KeyboardInterrupt)
                time.sleep(_LOOK)
                ended = self._has_ended()
            except BaseException as error:
                interruption = interruption or error
        if interruption is not None:
            drop_raised()
            raise interruption

    def _has_ended(self) -> bool:
        if self._ident is None:
            return self._cancelled
        return self._ident not in sys._current_frames()

    def _run(self) -> None:
        with self._gate:
            if self._cancelled:
                return
            self._ident = threading.get_ident()
        self._call()


def _in_thread(function: Callable[..., T], args: Any, kwargs: Any) -> T:
    outcome: list[Any] = []
    context = contextvars.copy_context()

    def run() -> None:
        threading.stack_size(size)  # of other threads
        _calls.inside = True
        try:
            outcome.extend((True, context.run(lambda: function(*args, **kwargs))))
        except RecursionError as error:
            problem = DepthError(
                f"This is nested too deeply: reading it takes more than {CALLS:,} nested calls.\n"
                "Divide it into parts, such as temporary views."
            )
            problem.__cause__ = error
            outcome.extend((False, problem))
        except BaseException as error:
            outcome.extend((False, error))

    with _lock:  # the limit is the process's, and so is the size of new stacks
        size = threading.stack_size(_STACK)
        try:
            with recursion_limit(CALLS):
                _Thread(run).run_to_its_end()
        finally:
            threading.stack_size(size)
    done, value = outcome
    if not done:
        raise value
    return value  # type: ignore[no-any-return]
