"""Ways to ask a federation for paths, and what each costs."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmark_workflowgen.federation.released_filters import Released, filters_of_stores, reading
from graphquery.federation import Cache, Federation, LocalTransport, Options, QuestionCost, Verdict
from graphquery.federation.crossings.rows import difference, union
from graphquery.federation.wire import requests as messages
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.transport import Incoming, RequestExchange, StoreTransport
from semiring.base import Array

BATCHED = "batched per store and round"
RELEASED = "sketches as released"
SKETCHES = "sketches"
BOUNDARY = "boundary graph"
NAIVE = "a request per crossing row"
OPTIONS: Mapping[str, Options] = {
    BATCHED: Options(sketches=False, boundary=False),
    RELEASED: Options(boundary=False),
    SKETCHES: Options(boundary=False),
    BOUNDARY: Options(),
}


class Network:
    """The ways to some stores, as if these were behind a network.

    Attributes
    ----------
    seconds
        That every exchange waits.
    """

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self.seconds = 0.0
        self._working = threading.Lock()
        self._paths = paths
        self._stores = {alias: LocalTransport(path) for alias, path in paths.items()}

    def federation(self, way: str, cache: Cache | None = None) -> Federation:
        """Return a federation to be asked in a way; stores are read once for all of them."""
        transports: dict[str, StoreTransport] = {
            alias: _Delayed(store, self, self._working) for alias, store in self._stores.items()
        }
        if way == RELEASED:
            filters = filters_of_stores(self._paths)
            transports = {alias: Released(each, filters) for alias, each in transports.items()}
        return Federation(transports, options=OPTIONS.get(way, OPTIONS[BATCHED]), cache=cache)


@dataclass(slots=True)
class _Delayed:
    """To a folder: every exchange waits first, and one at a time is answered."""

    store: LocalTransport
    network: Network
    working: threading.Lock
    remote: bool = True

    @contextlib.contextmanager
    def exchange(self, request: bytes, timeout: float | None) -> Iterator[Incoming]:
        """See `StoreTransport`."""
        time.sleep(self.network.seconds)
        with self.working, self.store.exchange(request, timeout) as incoming:
            yield incoming

    def close(self) -> None:
        """See `StoreTransport`."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The outcome of one question."""

    verdict: str
    cost: QuestionCost
    seconds: float


def ask(federation: Federation, way: str, source: str, target: str) -> Asked:
    """Ask for a path between two nodes; the store of the target is the one that asks."""
    federation._exchange.home = target.partition("::")[0]
    started = time.perf_counter()
    if way == NAIVE:
        verdict, cost = _naive(federation, source, target)
        return Asked(verdict.value, cost, time.perf_counter() - started)
    with reading() if way == RELEASED else contextlib.nullcontext():
        answer = federation.paths(source, target, 1)
    return Asked(answer.verdict.value, answer.cost, time.perf_counter() - started)


def stores_on_paths(federation: Federation, source: str, target: str) -> int:
    """Return the number of stores with a node on a path, ends included, by both closures."""
    behind, ahead = federation.ancestors(target).nodes, federation.descendants(source).nodes
    stores = {each.partition("::")[0] for each in (source, target)}
    for alias in behind.keys() & ahead.keys():
        for place, ordinals in behind[alias].ordinals.items():
            if len(np.intersect1d(ordinals, ahead[alias].ordinals.get(place, ()))):
                stores.add(alias)
    return len(stores)


def _naive(federation: Federation, source: str, target: str) -> tuple[Verdict, QuestionCost]:
    """Walk back from a node with a request for every crossing row, until the other is reached."""
    directory = federation.directory
    exchange: RequestExchange = federation._exchange
    before = exchange.cost
    (home, name), (away, other) = target.split("::", 1), source.split("::", 1)
    seen: dict[str, Array] = {}
    batch: list[tuple[str, WireMessage]] = [
        (home, _step(federation, home, [name], {}, away, other))
    ]
    hit = False
    while batch and not hit:
        replies = exchange.round(batch)
        reached: list[dict[str, Array]] = []
        for reply in replies:
            assert isinstance(reply, WireMessage)
            hit |= bool(reply.header["hit"])
            rows, numbers = reply.header["channels"], reply.tables["rows"]
            channels = numbers.column("channel").to_numpy()
            row = numbers.column("row").to_numpy()
            reached.append({c: np.unique(row[channels == n]) for n, c in enumerate(rows)})
        fresh = difference(union(reached), seen)
        seen = union([seen, fresh])
        batch = [
            (alias, _step(federation, alias, [], {channel: np.array([row])}, away, other))
            for channel, rows in fresh.items()
            for alias in [directory.exporters[channel]]
            for row in rows.tolist()
        ]
    return (Verdict.YES if hit else Verdict.NO), exchange.cost - before


def _step(
    federation: Federation,
    alias: str,
    names: list[str],
    rows: Mapping[str, Array],
    away: str,
    other: str,
) -> WireMessage:
    return messages.reach(
        federation.directory.versions[alias],
        names,
        rows,
        forwards=False,
        want=messages.NODES,
        hits=[other] if alias == away else (),
    )
