"""Sketches omit nothing, whatever becomes of them; filters are Parquet's."""

from __future__ import annotations

import numpy as np
import pytest

from graphquery.errors import FederationError, WireError
from graphquery.federation.crossings import filters
from graphquery.federation.crossings.sketches import BLOOM, EXACT, TOP, Sketches, union


def _hashes(random: np.random.Generator, count: int) -> np.ndarray:
    return random.integers(1, 2**64, count, dtype=np.uint64)


def _random_sets(random: np.random.Generator, count: int, most: int) -> list[np.ndarray]:
    sizes = random.integers(0, most + 1, count)
    return [np.unique(_hashes(random, size)) for size in sizes]


def _sketches(sets: list[np.ndarray], blocks: int) -> Sketches:
    """Sketches of sets, made by unions of exact ones of a hash each."""
    owners = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    hashes = np.concatenate([*sets, np.empty(0, np.uint64)])
    nothing = np.zeros(len(owners), dtype=np.int64)
    return union(len(sets), owners, Sketches.empty(1, blocks), nothing, hashes)


@pytest.mark.parametrize("seed", range(20))
def test_a_union_contains_what_its_members_do(seed: int) -> None:
    random = np.random.default_rng(seed)
    blocks = int(random.choice([1, 2, 8, 64]))
    sets = _random_sets(random, 40, int(random.choice([3, 130, 400])))
    members = _sketches(sets, blocks)
    targets = np.sort(random.integers(0, 30, 90))
    sources = random.integers(0, len(sets), 90)
    own_hashes = np.where(random.random(90) < 0.5, _hashes(random, 90), np.uint64(0))
    united = union(30, targets, members, sources, own_hashes)
    for target in range(30):
        edges = np.flatnonzero(targets == target)
        parts = [sets[source] for source in sources[edges]] + [
            own_hashes[edges][own_hashes[edges] != 0]
        ]
        expected = np.unique(np.concatenate([*parts, np.empty(0, np.uint64)]))
        single = united.take(np.array([target]))
        for each in expected[:: max(1, len(expected) // 20)]:
            assert single.may_contain(np.array([each])).all(), f"seed {seed}, union {target}"
        if united.kinds[target] == BLOOM:
            assert filters.contained(single.filters, expected).all()
        if united.kinds[target] == EXACT:
            assert single.hashes.tolist() == expected.tolist()
        absent = _hashes(random, 20)
        if united.kinds[target] == EXACT:
            assert not single.may_contain(absent).any()


def test_sketches_go_up_the_ladder_by_what_they_hold() -> None:
    random = np.random.default_rng(0)
    sizes = [0, 128, 129, 1000]
    sets = [np.unique(_hashes(random, size)) for size in sizes]
    assert _sketches(sets, 64).kinds.tolist() == [EXACT, EXACT, BLOOM, BLOOM]
    assert _sketches(sets, 8).kinds.tolist() == [EXACT, EXACT, BLOOM, TOP]
    assert Sketches.top(3).may_contain(sets[1][:1]).all()
    assert not Sketches.empty(3).may_contain(sets[1]).any()
    assert not Sketches.top(3).may_contain(np.empty(0, np.uint64)).any()


@pytest.mark.parametrize("blocks", [1, 4, 16, 256])
def test_filters_of_other_sizes_contain_the_same(blocks: int) -> None:
    random = np.random.default_rng(blocks)
    hashes = _hashes(random, 300)
    filter_bits = filters.filters_of(np.zeros(300, dtype=np.int64), hashes, 1, 16)
    assert filters.contained(filters.resized(filter_bits, blocks), hashes).all()
    if blocks <= 16:
        smaller = filters.filters_of(np.zeros(300, dtype=np.int64), hashes, 1, blocks)
        assert filters.resized(filter_bits, blocks).tolist() == smaller.tolist()


def test_false_positives_are_as_few_as_the_size_promises() -> None:
    random = np.random.default_rng(1)
    hashes = _hashes(random, 64 * 256 // 10)
    filter_bits = filters.filters_of(np.zeros(len(hashes), dtype=np.int64), hashes, 1, 64)
    strange = _hashes(random, 20_000)
    assert filters.contained(filter_bits, strange).mean() == pytest.approx(0.013, abs=0.005)


@pytest.mark.parametrize("seed", range(5))
def test_columns_of_sketches_come_back_as_they_were(seed: int) -> None:
    random = np.random.default_rng(seed)
    column = _sketches(_random_sets(random, 30, 300), 8).take(random.permutation(30))
    table = column.to_arrow()
    back = Sketches.from_arrow(table.slice(3, 20), 8)
    assert back.to_arrow().equals(table.slice(3, 20).combine_chunks())
    mixed = Sketches.concatenated([back, Sketches.top(2, 64), Sketches.empty(0)], 64)
    assert mixed.kinds.tolist() == [*back.kinds.tolist(), TOP, TOP]
    with pytest.raises(WireError, match="is none of 16 blocks"):
        Sketches.from_arrow(table, 16)


def test_sizes_are_powers_of_two() -> None:
    with pytest.raises(FederationError, match="A sketch has a power of two of blocks, not 3"):
        Sketches.empty(1, 3)
