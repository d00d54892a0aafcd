"""Running graphs killed at random; more: ``python -m tests.lipstick.systems.streams.kills``."""

import pytest

from tests.lipstick.systems.streams import kills
from tests.lipstick.systems.streams.kills import killed


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1000, 1001])
def test_a_killed_graph_goes_on_to_the_same_recording(seed: int) -> None:
    outcome = killed(seed, spark=False)
    assert "FAILED" not in outcome, outcome
    assert int(outcome.split()[0]) > 0


def test_a_graph_that_was_not_killed_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kills, "_started", lambda *_: 0)
    assert "ended before it was killed" in killed(1000, spark=False)
