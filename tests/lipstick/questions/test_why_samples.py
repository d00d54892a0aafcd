"""Samples of the rows that explanations look at."""

from __future__ import annotations

import numpy as np
import pytest

from lipstick.questions.why.deletions import drawn

ROWS = 200_000


@pytest.mark.parametrize("seed", range(4))
def test_samples_are_independent_of_data_made_with_a_small_seed(seed: int) -> None:
    """Columns that are the first numbers of such a generator are in it as in all rows."""
    values = np.random.default_rng(seed).integers(0, 4, ROWS, dtype=np.int32)
    chosen, weights = drawn(np.full(ROWS, 1 / ROWS), 20_000)
    counts = np.bincount(values[chosen], weights, 4)
    assert np.abs(counts / ROWS - 0.25).max() < 0.02
    rest = np.random.default_rng(seed).random(ROWS, dtype=np.float32)
    assert abs(rest[chosen].mean() - 0.5) < 0.02
