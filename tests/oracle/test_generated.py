"""Both oracles over random queries without Spark: captured members in DuckDB, and in memory.

``LIPSTICK_GENERATED`` sets how many where it asks for more than usual, ``LIPSTICK_SEED`` the first
seed (0). A failure names the seed, which ``python -m tests.oracle.generated`` holds again.
"""

from __future__ import annotations

import os

import pytest

from tests.oracle.generated import Held
from tests.oracle.generator import generate

FIRST = int(os.environ.get("LIPSTICK_SEED", "0"))
COUNT = max(24, int(os.environ.get("LIPSTICK_GENERATED", "0")))
FAILED_ONCE = (5096, 5150, 5264)
"""Seeds beyond those of ordinary runs that an error in memory was found by."""

UNKNOWN_AT_MOST = 0.05
REFUSED_AT_MOST = 0.02


@pytest.fixture(scope="module")
def run() -> Held:
    """What the seeds of this run came to so far."""
    return Held()


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_generated_query(run: Held, seed: int) -> None:
    run.hold(generate(seed))


@pytest.mark.parametrize("seed", FAILED_ONCE)
def test_generated_query_that_failed_once(seed: int) -> None:
    Held().hold(generate(seed))


def test_generated_queries_are_telling(run: Held) -> None:
    """Runs after the seeds: most were held, and most deletions changed an answer."""
    total = sum(run.queries.values())
    if total < COUNT:
        pytest.skip("not all seeds have run, or some failed")
    print(run)
    assert run.queries["refused"] <= REFUSED_AT_MOST * total, run
    assert run.queries["not known to DuckDB"] <= UNKNOWN_AT_MOST * total, run.reasons
    assert 2 * run.changed >= run.asked, run
    assert 2 * run.memory["answered"] > run.memory["needs Spark"], run
