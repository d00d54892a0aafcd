"""Every question to random federations has the answer that the merged graph has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphquery.store import fsck
from tests.graphquery.federation.oracle import check_federation, check_zoomed
from tests.graphquery.federation.stores import random_stores

FEDERATIONS = int(os.environ.get("LIPSTICK_FEDERATIONS", "1"))
QUESTIONS = 4


@pytest.mark.parametrize("seed", range(FEDERATIONS))
def test_answers_are_those_of_the_merged_graph(seed: int, tmp_path: Path) -> None:
    paths = random_stores(tmp_path, seed)
    assert check_federation(paths, seed, QUESTIONS) > QUESTIONS
    assert all(fsck(path) == [] for path in paths.values())


@pytest.mark.parametrize("seed", range(100, 100 + FEDERATIONS))
def test_zoomed_out_modules_answer_as_in_the_merged_graph(seed: int, tmp_path: Path) -> None:
    check_zoomed(random_stores(tmp_path, seed), seed, 3)
