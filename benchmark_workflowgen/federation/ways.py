"""Ways to ask a federation for paths, and their costs."""

from __future__ import annotations

import contextlib
import io
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphquery.federation import Cache, FederatedCost, Federation, LocalTransport, Options, Verdict
from graphquery.federation.crossings import rows as crossing
from graphquery.federation.crossings.boundary import relation_of_table
from graphquery.federation.crossings.hashing import Hashes, row_hashes
from graphquery.federation.crossings.rows import Rows, difference, union
from graphquery.federation.questions import flow
from graphquery.federation.questions.question import Question
from graphquery.federation.wire import requests as messages
from graphquery.federation.wire.messages import REQUEST, WireMessage, reader, received
from graphquery.federation.wire.transport import Incoming, RequestExchange, StoreTransport
from graphquery.store import Store
from graphquery.store.crossing import exports
from semiring.base import Array

BITS, FUNCTIONS = 116, 4
_BYTES = (BITS + 7) // 8
_TABLE = "released"

Filters = npt.NDArray[np.uint8]
"""Of shape (rows, 15)."""


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedFilters:
    """Filters of some rows, with the interface of `Sketches`."""

    filters: Filters

    def __len__(self) -> int:
        return len(self.filters)

    def take(self, rows: Array) -> ReleasedFilters:
        """Return the filters of some rows."""
        return ReleasedFilters(self.filters[rows])

    def may_contain(self, hashes: Hashes) -> Array:
        """Return a Boolean array: the filters that may contain at least one of some hashes."""
        possible = np.zeros(len(self.filters), dtype=np.bool_)
        for each in filters_of(hashes):
            possible |= ((self.filters & each) == each).all(axis=1)
        return possible


def filters_of(hashes: Hashes) -> Filters:
    """Return the filter of each hash alone."""
    bits = np.zeros((len(hashes), BITS), dtype=np.bool_)
    rows = np.arange(len(hashes))
    for number in range(FUNCTIONS):
        part = (hashes >> np.uint64(16 * number)) & np.uint64(0xFFFF)
        bits[rows, (part % np.uint64(BITS)).astype(np.int64)] = True
    return np.packbits(bits, axis=1)


def filters_of_stores(paths: Mapping[str, Path]) -> dict[str, Filters]:
    """By channel, the filters of its rows' ancestors; of stores whose versions are numbers."""
    waiting = []
    for path in paths.values():
        snapshot = Store.open(path).snapshot()
        waiting += [(int(e.version), c, e, snapshot) for c, e in exports(snapshot.records).items()]
    by_channel: dict[str, Filters] = {}
    for _, channel, export, snapshot in sorted(waiting, key=lambda each: each[0]):
        table = snapshot.read(export.boundary or "")
        relation = relation_of_table(table, export.sources, export.count)
        behind = np.zeros((len(relation.sources), _BYTES), dtype=np.uint8)
        for number, other in enumerate(relation.channels[:-1]):
            chosen = relation.source_channels == number
            rows = relation.sources[chosen]
            behind[chosen] = by_channel[other][rows] | filters_of(row_hashes(other, rows))
        if (relation.source_channels == len(relation.channels) - 1).any():
            raise ValueError("A boundary graph with hubs has no released filters here.")
        filters = np.zeros((export.count, _BYTES), dtype=np.uint8)
        targets, starts = np.unique(relation.targets, return_index=True)
        if len(starts):
            filters[targets] = np.bitwise_or.reduceat(behind, starts, axis=0)
        by_channel[channel] = filters
    return by_channel


class Released:
    """The transport to a store that sends released filters instead of sketches."""

    remote = True

    def __init__(self, origin: StoreTransport, filters: Mapping[str, Filters]) -> None:
        self._origin = origin
        self._filters = filters

    @contextlib.contextmanager
    def exchange(self, request: bytes, timeout: float | None) -> Iterator[Incoming]:
        """See `StoreTransport`."""
        header = received(reader(request), REQUEST).header
        with self._origin.exchange(request, timeout) as incoming:
            if not header.get("sketched"):
                yield incoming
                return
            reply = received(incoming.read)
        channels = reply.header["imported" if header["op"] == "ends" else "channels"]
        table = reply.tables["imports" if header["op"] == "ends" else "rows"]
        rows, _ = crossing.from_table(channels, table)
        parts = [self._filters[channel][numbers] for channel, numbers in rows.items()]
        column = np.concatenate([*parts, np.empty((0, _BYTES), np.uint8)])
        buffers = [None, pa.py_buffer(np.ascontiguousarray(column))]
        array = pa.Array.from_buffers(pa.binary(_BYTES), len(column), buffers)
        tables = {name: each for name, each in reply.tables.items() if name != "sketches"}
        told = WireMessage(reply.header, {**tables, _TABLE: pa.table({"filter": array})})
        yield Incoming(io.BytesIO(told.to_bytes()).read)

    def close(self) -> None:
        """See `StoreTransport`."""
        self._origin.close()


def reading() -> contextlib.AbstractContextManager[object]:
    """Read filters instead of sketches within the context."""
    return patch.object(flow, "_sketches", _column)


def _column(question: Question, reply: WireMessage, rows: Rows) -> ReleasedFilters | None:
    if _TABLE not in reply.tables:
        return None
    array = reply.tables[_TABLE].column("filter").combine_chunks()
    data = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    return ReleasedFilters(data[array.offset * _BYTES :][: len(array) * _BYTES].reshape(-1, _BYTES))


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
    """The transports to some stores, as if they were behind a network.

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
    """The transport to a folder that delays every exchange, and serves one at a time."""

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
    cost: FederatedCost
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


def _naive(federation: Federation, source: str, target: str) -> tuple[Verdict, FederatedCost]:
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
    store = messages.StoreVersion(federation.directory.versions[alias])
    asked = messages.reach(store, names, rows, forwards=False, want=messages.NODES)
    return messages.with_hits(asked, [other] if alias == away else [])
