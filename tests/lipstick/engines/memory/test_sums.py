"""Sums in chunks are the sums of the members left."""

from __future__ import annotations

import numpy as np
import pytest

from lipstick.engines.memory.sums import ChunkedSums


@pytest.mark.parametrize(
    ("groups", "members"), [(1, 5_000), (3, 5_000), (2_000, 5_000), (1, 200_000), (2, 200_000)]
)
def test_sums_are_those_of_the_members_left(groups: int, members: int) -> None:
    random = np.random.default_rng(groups)
    codes = random.integers(-1, groups, members)
    # Eighths add up exactly in any order.
    values = random.integers(-1000, 1000, members) / 8
    lost = np.flatnonzero((random.random(members) < 0.1) & (codes >= 0))
    sums = ChunkedSums(values, codes, groups)
    kept = np.where(np.isin(np.arange(members), lost), 0.0, values)
    wanted = np.unique(codes[lost])
    expected = [kept[codes == group].sum() for group in wanted]
    owners = np.searchsorted(wanted, codes[lost])
    assert sums.without(wanted, owners, lost).tolist() == expected


def test_a_group_may_lose_other_members_each_time() -> None:
    values, codes = np.arange(6) / 8, np.array([0, 0, 1, 0, 1, 0])
    sums = ChunkedSums(values, codes, 2)
    owners, lost = np.array([0, 2, 2]), np.array([3, 0, 5])
    sums_left = sums.without(np.array([0, 1, 0]), owners, lost)
    assert (sums_left * 8).tolist() == [0 + 1 + 5, 2 + 4, 1 + 3]


def test_nan_goes_with_its_member() -> None:
    sums = ChunkedSums(np.array([1.0, np.nan, 2.0]), np.array([0, 0, 0]), 1)
    assert np.isnan(sums.without(np.array([0]), np.array([0]), np.array([0]))[0])
    assert sums.without(np.array([0]), np.array([0]), np.array([1])).tolist() == [3.0]
