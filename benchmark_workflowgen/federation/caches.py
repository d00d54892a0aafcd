"""Caches compared: bytes that stores sent, of bytes answered, for the same questions.

What a question asks of stores does not depend on what is kept, so every question is asked once, and
its requests are then put to each cache in the order in which questions would come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from benchmark_workflowgen.federation.stores import GeneratedStores
from benchmark_workflowgen.federation.ways import BATCHED, Network
from graphquery.federation import Federation
from graphquery.federation.members.cache import Cache, Worth
from graphquery.federation.wire.messages import WireMessage

EXPONENTS = (0.8, 1.1)
SHARES = (0.05, 0.2)


@dataclass(frozen=True, slots=True)
class _Request:
    key: bytes
    size: int
    channels: tuple[str, ...]


class _Noted(Cache):
    """Keeps nothing, and notes what is sent."""

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
    """Return the share of the bytes answered that was not kept."""
    for requests in requests_by_target:
        for each in requests:
            if cache.get(each.key) is None:
                cache.put(each.key, _NOTHING, each.size, each.channels)
    return cache.fetched / max(1, cache.answered)


_NOTHING = WireMessage({})
