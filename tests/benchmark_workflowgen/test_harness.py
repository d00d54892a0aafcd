"""Times are the least of some repetitions, and end at a limit."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence

import pytest

from benchmark_workflowgen import harness
from benchmark_workflowgen.harness import OverLimitError, least_seconds


def _taking(monkeypatch: pytest.MonkeyPatch, seconds: Sequence[float]) -> list[float]:
    """Have runs take these times; those that are left when all is done."""
    left = list(seconds)
    monkeypatch.setattr(harness, "seconds", lambda run: left.pop(0))
    return left


def test_least_of_the_repetitions_after_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    left = _taking(monkeypatch, [1.0, 5.0, 2.0, 3.0, 1.0])
    assert least_seconds(lambda: None, 3, 60) == 2.0
    assert left == [1.0]


def test_a_first_one_of_half_the_limit_is_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    left = _taking(monkeypatch, [31.0, 1.0])
    assert least_seconds(lambda: None, 3, 60) == 31.0
    assert left == [1.0]


def test_a_run_past_the_limit_is_ended() -> None:
    def run() -> None:
        for _ in range(500):
            time.sleep(0.01)

    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(OverLimitError):
        least_seconds(run, 3, 0.05)
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
