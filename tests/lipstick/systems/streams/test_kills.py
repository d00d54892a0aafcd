"""Running graphs killed at random; more: ``python -m tests.lipstick.systems.streams.kills``."""

import pytest

from tests.lipstick.systems.streams.kills import killed


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1000, 1001])
def test_a_killed_graph_goes_on_to_the_same_recording(seed: int) -> None:
    outcome = killed(seed, spark=False)
    assert "FAILED" not in outcome
    assert int(outcome.split()[0]) > 0
