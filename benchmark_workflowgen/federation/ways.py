"""Ways to ask a federation for paths, and what each costs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphquery.federation import Cache, Cost, Federation, LocalTransport, Options, Verdict
from graphquery.federation import requests as messages
from graphquery.federation.rows import difference, union
from graphquery.federation.transport import Exchange
from graphquery.federation.wire import Message, Read
from semiring.base import Array

BATCHED = "batched per store and round"
SKETCHES = "sketches"
BOUNDARY = "boundary graph"
NAIVE = "a request per crossing row"
OPTIONS: Mapping[str, Options] = {
    BATCHED: Options(sketches=False, boundary=False),
    SKETCHES: Options(boundary=False),
    BOUNDARY: Options(),
}


class Delayed(LocalTransport):
    """A folder as if it were behind a network: every exchange waits first."""

    remote = True

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__(path)
        self._seconds = seconds

    @contextlib.contextmanager
    def exchange(self, request: bytes, timeout: float | None) -> Iterator[Read]:
        """See `LocalTransport`."""
        time.sleep(self._seconds)
        with super().exchange(request, timeout) as read:
            yield read


@dataclass(frozen=True, slots=True)
class Asked:
    """What one question came to."""

    way: str
    verdict: str
    cost: Cost
    seconds: float
    on_the_way: int
    """Stores that a path goes through, where there is one."""


def opened(
    paths: Mapping[str, Path],
    way: str,
    home: str | None = None,
    latency: float = 0.0,
    cache: Cache | None = None,
) -> Federation:
    """A federation to be asked in a way."""
    transports = {
        alias: Delayed(path, latency) if latency else LocalTransport(path)
        for alias, path in paths.items()
    }
    options = OPTIONS.get(way, OPTIONS[BATCHED])
    return Federation(transports, options=options, home=home, cache=cache)


def ask(federation: Federation, way: str, source: str, target: str) -> Asked:
    """Ask for paths between two nodes."""
    started = time.perf_counter()
    if way == NAIVE:
        verdict, cost = _naive(federation, source, target)
        return Asked(way, verdict.value, cost, time.perf_counter() - started, 0)
    found = federation.paths(source, target, 1)
    seconds = time.perf_counter() - started
    stores = {name.partition("::")[0] for path in found.paths for name in path}
    return Asked(way, found.verdict.value, found.cost, seconds, len(stores))


def _naive(federation: Federation, source: str, target: str) -> tuple[Verdict, Cost]:
    """Walk back from a node with a request for every crossing row, until the other is reached."""
    directory = federation.directory
    exchange: Exchange = federation._exchange
    before = exchange.cost
    (home, name), (away, other) = target.split("::", 1), source.split("::", 1)
    seen: dict[str, Array] = {}
    batch: list[tuple[str, Message]] = [(home, _step(federation, home, [name], {}, away, other))]
    found = False
    while batch and not found:
        replies = exchange.round(batch)
        reached: list[dict[str, Array]] = []
        for reply in replies:
            assert isinstance(reply, Message)
            found |= bool(reply.header["hit"])
            rows, numbers = reply.header["channels"], reply.tables["rows"]
            place = numbers.column("channel").to_numpy()
            row = numbers.column("row").to_numpy()
            reached.append({c: np.unique(row[place == n]) for n, c in enumerate(rows)})
        fresh = difference(union(reached), seen)
        seen = union([seen, fresh])
        batch = [
            (alias, _step(federation, alias, [], {channel: np.array([row])}, away, other))
            for channel, rows in fresh.items()
            for alias in [directory.exporters[channel]]
            for row in rows.tolist()
        ]
    return (Verdict.YES if found else Verdict.NO), exchange.cost - before


def _step(
    federation: Federation,
    alias: str,
    names: list[str],
    rows: Mapping[str, Array],
    away: str,
    other: str,
) -> Message:
    return messages.reach(
        federation.directory.versions[alias],
        names,
        rows,
        forwards=False,
        want=messages.NODES,
        hits=[other] if alias == away else (),
    )
