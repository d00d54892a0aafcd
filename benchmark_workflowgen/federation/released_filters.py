"""Sketches of the size that SPADE's public sources have: 116 bits a row, whatever is behind it.

The released filters have a false-positive rate of 0.1 at 20 elements, four hash functions and 116
bits, and never grow. Theirs cut lineage at a depth of 20 and so deny some ancestors; these do not,
and have the same hashes as ours. They are put in the place of a store's own sketches where its
replies are sent, and read in the place of these where replies are read.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphquery.federation.crossings import rows as crossing
from graphquery.federation.crossings.boundary import relation_of_table
from graphquery.federation.crossings.hashing import Hashes, row_hashes
from graphquery.federation.crossings.rows import Rows
from graphquery.federation.questions import flow
from graphquery.federation.questions.question import Question
from graphquery.federation.wire.messages import REQUEST, WireMessage, reader, received
from graphquery.federation.wire.transport import Incoming, StoreTransport
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
    """Filters of some rows, to be asked as `Sketches` are."""

    filters: Filters

    def __len__(self) -> int:
        return len(self.filters)

    def take(self, rows: Array) -> ReleasedFilters:
        """Return the filters of some rows."""
        return ReleasedFilters(self.filters[rows])

    def may_contain(self, hashes: Hashes) -> Array:
        """Boolean array: which filters may contain any of some hashes."""
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
    """To a store that sends released filters where it would send sketches."""

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
    """Within the context, filters are read in the place of sketches."""
    return patch.object(flow, "_sketches", _column)


def _column(question: Question, reply: WireMessage, rows: Rows) -> ReleasedFilters | None:
    if _TABLE not in reply.tables:
        return None
    array = reply.tables[_TABLE].column("filter").combine_chunks()
    data = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    return ReleasedFilters(data[array.offset * _BYTES :][: len(array) * _BYTES].reshape(-1, _BYTES))
