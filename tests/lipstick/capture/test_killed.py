"""Processes that save and write tables, killed on the way: all or nothing is there.

``python -m tests.damage.kills 0-200`` kills many. Without the `spark` fixture: the processes ask a
Spark Connect server of this test's, or are Spark's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.damage.killed import Place
from tests.damage.kills import Kills, server

pytestmark = [pytest.mark.spark, pytest.mark.classic]

SEEDS = (12, 8)
"""A save, and rows that are added to a table, both killed at a step, however long it takes."""


@pytest.fixture(scope="module")
def kills(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kills]:
    """Kills of clients of one Spark."""
    folder = tmp_path_factory.mktemp("kills")
    with server(folder) as remote:
        yield Kills(Place(folder, remote))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_killed_process_leaves_all_or_nothing(kills: Kills, seed: int) -> None:
    assert kills.kill(seed).rpartition(": ")[2] in ("all", "nothing")


@pytest.mark.slow
def test_a_process_that_is_killed_with_its_spark(tmp_path: Path) -> None:
    """What it was writing may be there in part: then an error says so."""
    kills = Kills(Place(tmp_path, None))
    for seed in (2, 12, 28):
        kills.kill(seed)
    assert kills.outcomes.total() == 3
