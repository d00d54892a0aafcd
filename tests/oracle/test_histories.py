"""Random histories, reenacted and replayed; ``LIPSTICK_HISTORIES=100`` asks for more."""

from __future__ import annotations

import os

from tests.oracle.histories.check import HeldHistories, check_history

HISTORIES = int(os.environ.get("LIPSTICK_HISTORIES", "3"))


def test_histories() -> None:
    """Versions and hypothetical versions are those of statements that really ran."""
    held = HeldHistories()
    for seed in range(HISTORIES):
        check_history(seed, held)
    assert held.asked["changed"] > held.asked["same"] / 2
