"""The cost of random questions to one federation, averaged over every mode and latency."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import lgamma, log
from pathlib import Path
from typing import Any, get_args

import numpy as np

from benchmark_workflowgen.federation.stores import GeneratedStores
from benchmark_workflowgen.federation.ways import (
    BATCHED,
    BOUNDARY,
    NAIVE,
    OPTIONS,
    Asked,
    Network,
    ask,
    stores_on_paths,
)
from graphquery.federation import Federation
from graphquery.federation.crossings.boundary import relation_of_table
from graphquery.federation.crossings.relation import BoundaryRelation
from graphquery.federation.members.cache import Cache, Worth
from graphquery.federation.wire.messages import WireMessage
from graphquery.store import Store
from graphquery.store.crossing import exports, imports

WAYS = (NAIVE, *OPTIONS)
_DRAWN = 200
"""Pairs drawn for a question of each verdict, at most."""


@dataclass(frozen=True, slots=True)
class QuestionPair:
    """A question, its answer, and the number of stores with a node on a path."""

    source: str
    target: str
    verdict: str
    stores: int


def measured(
    exchange: GeneratedStores, *, questions: int, naive: int, latency: Sequence[float]
) -> list[dict[str, Any]]:
    """Measure questions to stores, with a row for every mode, verdict and latency.

    Parameters
    ----------
    exchange
        The stores, which are generated if they are not there.
    questions
        The number of questions of each verdict; fewer if the draws yield fewer.
    naive
        The number of these that are also asked with a request per crossing row.
    """
    started = time.perf_counter()
    paths = exchange.paths() if exchange.is_there() else exchange.run()
    built = time.perf_counter() - started
    network = Network(paths)
    federations = {way: network.federation(way) for way in WAYS}
    at_hand = federations[BOUNDARY].cost.bytes - federations[BATCHED].cost.bytes
    pairs = list(_pairs(exchange, federations, questions))
    common = {
        "stores": exchange.stores,
        "nodes": exchange.nodes,
        **summary_bytes(paths),
        "boundary_bytes_sent": at_hand,
        "made_seconds": round(built, 1),
    }
    rows = []
    for wait in latency:
        for way, federation in federations.items():
            network.seconds = wait
            by_verdict: dict[str, list[tuple[QuestionPair, Asked]]] = {}
            for pair in pairs:
                if way != NAIVE or len(by_verdict.get(pair.verdict, ())) < naive:
                    answered = ask(federation, way, pair.source, pair.target)
                    assert answered.verdict == pair.verdict, (way, pair)
                    by_verdict.setdefault(pair.verdict, []).append((pair, answered))
            for verdict, each in sorted(by_verdict.items()):
                rows.append({**common, "way": way, "latency": wait, **_row(verdict, each)})
    return rows


def _pairs(
    exchange: GeneratedStores, federations: dict[str, Federation], questions: int
) -> Iterator[QuestionPair]:
    """Yield pairs of a node of the first two epochs and one of the last, equally many per
    verdict.
    """
    random = np.random.default_rng(exchange.seed)
    left = {"yes": questions, "no": questions}
    for _ in range(_DRAWN * questions):
        source = f"S{random.integers(exchange.stores)}::e{random.integers(2)}/inner"
        source += f"[{random.integers(exchange.rows * exchange.inner)}]"
        target = f"S{random.integers(exchange.stores)}::e{exchange.epochs - 1}/out"
        target += f"[{random.integers(exchange.rows)}]"
        verdict = ask(federations[BOUNDARY], BOUNDARY, source, target).verdict
        if left[verdict]:
            left[verdict] -= 1
            on_paths = stores_on_paths(federations[BATCHED], source, target)
            yield QuestionPair(source, target, verdict, on_paths)
        if not any(left.values()):
            return


def _row(verdict: str, answers: Sequence[tuple[QuestionPair, Asked]]) -> dict[str, Any]:
    requests = [answered.cost.requests for _, answered in answers]
    kilobytes = [answered.cost.bytes / 1000 for _, answered in answers]
    return {
        "verdict": verdict,
        "questions": len(answers),
        "requests": round(float(np.mean(requests)), 1),
        "p95": int(np.percentile(requests, 95)),
        "rounds": round(float(np.mean([answered.cost.rounds for _, answered in answers])), 1),
        "most_rounds": max(answered.cost.rounds for _, answered in answers),
        "kB": round(float(np.mean(kilobytes)), 1),
        "p95_kB": round(float(np.percentile(kilobytes, 95)), 1),
        "seconds": round(float(np.mean([answered.seconds for _, answered in answers])), 3),
        "stores_on_paths": round(float(np.mean([pair.stores for pair, _ in answers])), 1),
        "beyond": max(answered.cost.requests - pair.stores for pair, answered in answers),
    }


def summary_bytes(paths: dict[str, Path]) -> dict[str, float]:
    """Return the stored bytes of summaries per exported row, and their lower bound."""
    rows = boundary = sketches = 0
    least = 0.0
    for path in paths.values():
        snapshot = Store.open(path).snapshot()
        known = exports(snapshot.records) | imports(snapshot.records)
        for each in exports(snapshot.records).values():
            rows += each.count
            boundary += snapshot.files[each.boundary or ""].size
            sketches += snapshot.files[each.sketches or ""].size
            table = snapshot.read(each.boundary or "")
            sources = sum(known[channel].count for channel in each.sources[:-1])
            least += least_bytes(relation_of_table(table, each.sources, each.count), sources)
    return {
        "exported_rows": rows,
        "boundary_bytes_per_row": round(boundary / rows, 2),
        "least_bytes_per_row": round(least / rows, 2),
        "sketch_bytes_per_row": round(sketches / rows, 2),
    }


def least_bytes(relation: BoundaryRelation, sources: int) -> float:
    """Return a lower bound on the bytes that identify the random parents of each row.

    That is log2 of the number of ways to choose them, if their number is known.
    """
    degrees, rows = np.unique(np.bincount(relation.targets), return_counts=True)
    bits = 0.0
    for degree, count in zip(degrees.tolist(), rows.tolist(), strict=True):
        ways = lgamma(sources + 1) - lgamma(degree + 1) - lgamma(sources - degree + 1)
        bits += count * ways / log(2)
    return bits / 8


EXPONENTS = (0.8, 1.1)
SHARES = (0.05, 0.2)


@dataclass(frozen=True, slots=True)
class _Request:
    key: bytes
    size: int
    channels: tuple[str, ...]


class _Noted(Cache):
    """A cache that stores nothing, and records the requests."""

    def __init__(self) -> None:
        super().__init__(0)
        self.requests: list[_Request] = []

    def put(self, key: bytes, message: WireMessage, size: int, channels: Any = ()) -> None:
        """See `Cache`."""
        self.requests.append(_Request(key, size, tuple(channels)))


def compared(
    exchange: GeneratedStores, paths: Mapping[str, Path], targets: int, questions: int, seed: int
) -> list[dict[str, Any]]:
    """Return the bytes that each cache fetches for ancestors of rows, drawn by a Zipf distribution.

    Parameters
    ----------
    targets, questions
        The number of distinct rows, and the number of questions about them.
    """
    random = np.random.default_rng(seed)
    noted = _Noted()
    with Network(paths).federation(BATCHED, noted) as federation:
        requests_by_target = [_asked(federation, noted, exchange, random) for _ in range(targets)]
    ranks = noted.ranks
    whole = sum({r.key: r.size for each in requests_by_target for r in each}.values())
    rows = []
    for exponent in EXPONENTS:
        weights = np.arange(1, targets + 1) ** -exponent
        order = random.choice(targets, questions, p=weights / weights.sum()).tolist()
        for share in SHARES:
            for worth in get_args(Worth):
                for bypass in (False, True):
                    cache = Cache(int(whole * share), worth, bypass, ranks)
                    rows.append(
                        {
                            "stores": len(paths),
                            "nodes": exchange.nodes,
                            "questions": questions,
                            "zipf": exponent,
                            "capacity": f"{share:.0%}",
                            "worth": worth,
                            "bypass": bypass,
                            "fetched": round(
                                _fetched(cache, [requests_by_target[n] for n in order]), 3
                            ),
                        }
                    )
    return rows


def _asked(
    federation: Federation, noted: _Noted, exchange: GeneratedStores, random: np.random.Generator
) -> list[_Request]:
    noted.requests = []
    store, epoch = random.integers(exchange.stores), random.integers(1, exchange.epochs)
    federation.ancestors(f"S{store}::e{epoch}/out[{random.integers(exchange.rows)}]")
    return noted.requests


def _fetched(cache: Cache, requests_by_target: Sequence[Sequence[_Request]]) -> float:
    """Return the share of the answered bytes that was not cached."""
    for requests in requests_by_target:
        for each in requests:
            if cache.get(each.key) is None:
                cache.put(each.key, _NOTHING, each.size, each.channels)
    return cache.fetched / max(1, cache.answered)


_NOTHING = WireMessage({})
