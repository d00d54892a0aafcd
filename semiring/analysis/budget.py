"""A budget of seconds, which searches that may not end look at as they go."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from semiring.errors import ExactnessError

_ends: ContextVar[tuple[float, float] | None] = ContextVar("ends", default=None)


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Let searches inside take so many seconds; None: as many as those around allow.

    A budget inside of another one ends with it at the latest.
    """
    around, own = _ends.get(), None
    if seconds is not None:
        own = time.monotonic() + seconds, seconds
    ends = [budget for budget in (around, own) if budget is not None]
    token = _ends.set(min(ends) if ends else None)
    try:
        yield
    finally:
        _ends.reset(token)


def spent() -> bool:
    """Return True if the budget is spent."""
    ends = _ends.get()
    return ends is not None and time.monotonic() > ends[0]


def check_budget() -> None:
    """Go on as long as there is time.

    Raises
    ------
    ExactnessError
        When the budget is spent.
    """
    ends = _ends.get()
    if ends is not None and spent():
        raise ExactnessError(
            f"The search did not end within its budget of {ends[1]:g} seconds.\n"
            "Allow more, or ask for samples where there are any."
        )
