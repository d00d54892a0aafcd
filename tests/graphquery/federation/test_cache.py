"""Caches change costs and no answers; ranks and placements are those of the definitions."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pytest

from graphquery.federation import Federation, FederationError, LocalTransport, Options
from graphquery.federation.copies.gossip import Copies, Net, Placement, nets_of
from graphquery.federation.members.cache import Cache, Worth, lineage_ranks
from graphquery.federation.wire.messages import WireMessage
from tests.graphquery.federation.oracle import check_question
from tests.graphquery.federation.stores import random_stores

WORTHS: tuple[Worth, ...] = ("frequency", "size", "rank", "recent")


@pytest.mark.parametrize("worth", WORTHS)
def test_caches_change_no_answers(worth: Worth, tmp_path: Path) -> None:
    paths = random_stores(tmp_path, WORTHS.index(worth), 4)
    cache = Cache(6_000, worth, bypass=worth != "size")
    transports = {alias: LocalTransport(path) for alias, path in paths.items()}
    options = Options(boundary=False, sketches=False)
    with Federation(transports, options=options, cache=cache) as federation:
        graph = federation.merged()
        for number in range(12):
            # Every question twice, of which the second is answered from the cache at times.
            for _ in range(2):
                state = np.random.default_rng(number)
                check_question(federation, graph, state, f"{worth} {number}")
            assert cache.size <= cache.capacity
    assert 0 < cache.fetched < cache.answered


def test_what_is_worth_the_least_for_its_bytes_is_evicted() -> None:
    def fill(cache: Cache, key: str, size: int) -> None:
        if cache.get(key.encode()) is None:
            cache.put(key.encode(), WireMessage({}), size)

    cache = Cache(100, "frequency", bypass=False)
    for key, size in (("large", 60), ("small", 20), ("small", 20), ("other", 40)):
        fill(cache, key, size)
    assert cache.get(b"large") is None
    assert cache.get(b"small") is not None
    assert cache.get(b"other") is not None
    cache = Cache(100)
    fill(cache, "once", 10)
    assert cache.get(b"once") is None
    fill(cache, "once", 10)
    assert cache.get(b"once") is not None
    fill(cache, "huge", 101)
    fill(cache, "huge", 101)
    assert (cache.size, cache.get(b"huge")) == (10, None)
    with pytest.raises(FederationError, match="0 bytes or more"):
        Cache(-1)


def test_lineage_rank_is_that_of_the_example() -> None:
    edges = {"1": "3", "2": "35", "3": "45", "4": "6"}
    scores, ranks = lineage_ranks(edges)
    expected = [0.15, 0.15, 0.34125, 0.295031, 0.358781, 0.400777]
    assert [scores[str(n)] for n in range(1, 7)] == pytest.approx(expected, abs=1e-6)
    assert ranks["6"] == pytest.approx(0.601165, abs=1e-6)
    with pytest.raises(FederationError, match="cycle"):
        lineage_ranks({"a": "b", "b": "a"})


EXAMPLE = Placement(
    {"a1": "A", "a2": "A", "b1": "B", "b2": "B"},
    {"a1": 4, "a2": 2, "b1": 3, "b2": 1},
    {"A": 4, "B": 4},
    [
        Net("B", frozenset({"a1", "b1"}), 5),
        Net("B", frozenset({"a2", "b2"}), 3),
        Net("A", frozenset({"b1", "b2"}), 3),
    ],
    0.5,
)


@pytest.mark.parametrize("start", [(), (("B", "a2"),)])
def test_passes_find_the_placement_of_the_example(start: tuple[tuple[str, str], ...]) -> None:
    best = frozenset({("B", "a1"), ("A", "b1"), ("A", "b2")})
    assert EXAMPLE.improved(frozenset(start), "AB") == best
    assert EXAMPLE.gain(best) == 4
    assert EXAMPLE.gain(frozenset({("B", "a1")})) == 3
    assert EXAMPLE.gain(frozenset({("B", "a2")})) == 2


def test_placements_fit_gain_and_come_near_the_best() -> None:
    shares = []
    for seed in range(150):
        random = np.random.default_rng(seed)
        placement = _random_placement(random)
        free = [
            (host, unit)
            for host in placement.capacity
            for unit, owner in placement.owners.items()
            if owner != host
        ]
        start = _drawn(placement, free, random)
        settled = placement.settled(start)
        assert placement.fits(settled), seed
        assert placement.gain(settled) >= placement.gain(start), seed
        every = chain.from_iterable(combinations(free, size) for size in range(len(free) + 1))
        best = max(placement.gain(c) for c in map(frozenset, every) if placement.fits(c))
        assert placement.gain(settled) <= best + 1e-9, seed
        if best > 0:
            shares.append(placement.gain(placement.settled()) / best)
    assert np.mean(shares) > 0.9


def _random_placement(random: np.random.Generator) -> Placement:
    hosts = ["A", "B", "C"][: int(random.integers(1, 4))]
    units = {f"u{n}": hosts[int(random.integers(len(hosts)))] for n in range(5)}
    nets = [
        Net(
            hosts[int(random.integers(len(hosts)))],
            frozenset(random.choice(list(units), int(random.integers(1, 4)), replace=False)),
            float(random.integers(1, 9)),
        )
        for _ in range(6)
    ]
    sizes = {unit: int(random.integers(1, 6)) for unit in units}
    return Placement(units, sizes, dict.fromkeys(hosts, 7), nets, float(random.random()))


def _drawn(
    placement: Placement, free: list[tuple[str, str]], random: np.random.Generator
) -> Copies:
    held: Copies = frozenset()
    for each in free:
        if random.random() < 0.4 and placement.fits(held | {each}):
            held |= {each}
    return held


def test_older_questions_count_less() -> None:
    asked_of_hosts = [("A", 0.0, "xy"), ("A", 10.0, "yx"), ("B", 20.0, "x")]
    weights = {(net.host, net.units): net.weight for net in nets_of(asked_of_hosts, 20.0, 10.0)}
    assert weights == {("A", frozenset("xy")): 0.75, ("B", frozenset("x")): 1.0}
    with pytest.raises(FederationError, match="has no owner"):
        Placement({}, {}, {}, [Net("A", frozenset("x"), 1.0)])
