"""Boundary graphs: which crossing rows are made from which, without anything in between.

A store keeps one increment per export, a Parquet file. Together the increments of
all stores say exactly which crossing rows lead to which, in a few bytes each; they say nothing of
how, and nothing of nodes.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphquery.csr import Block, Csr, compress, positions
from graphquery.federation.errors import WireError
from graphquery.federation.hashing import row_hashes
from graphquery.federation.relation import Relation
from graphquery.federation.relation_code import decoded_edges, encoded_edges
from graphquery.federation.sketches import Sketches, union
from graphquery.operations.reach import unseen
from semiring.base import Array

_PLAIN = pa.schema([("channel", pa.uint16()), ("source", pa.int64()), ("target", pa.int64())])
"""An edge a row: what version 0.2 wrote, and what is too large for the code."""


def relation_table(relation: Relation) -> pa.Table:
    """A relation as a table of one row, its edges in code; its channels are kept in the record."""
    columns = (relation.source_channels, relation.sources, relation.targets)
    data = encoded_edges(len(relation.channels), *columns)
    if data is None:
        return pa.table([pa.array(column) for column in columns], _PLAIN.names).cast(_PLAIN)
    return pa.table({"edges": pa.array([data], pa.binary())})


def relation_of_table(table: pa.Table, channels: Sequence[str], count: int) -> Relation:
    """The inverse of `relation_table`; edges are ordered by target, channel and source.

    Raises
    ------
    WireError
        A table that is no relation of so many channels.
    """
    if table.schema.equals(_PLAIN) and not any(column.null_count for column in table.columns):
        channel, source, target = (column.to_numpy() for column in table.columns)
    elif table.schema.names == ["edges"] and len(table) == 1:
        data = table.column("edges")[0].as_py()
        if not isinstance(data, bytes):
            raise WireError("The edges of a boundary graph are no bytes.")
        channel, source, target = decoded_edges(data, len(channels), count)
    else:
        raise WireError("A table of a boundary graph has edges.")
    if len(channel) and (
        int(channel.max()) >= len(channels) or min(source.min(), target.min()) < 0
    ):
        raise WireError("A boundary graph refers to a channel or row that there is not.")
    if len(target) and int(target.max()) >= count + len(target):
        raise WireError("A boundary graph has more hubs than edges.")
    order = np.lexsort((source, channel, target))
    return Relation(
        tuple(channels),
        count,
        channel[order].astype(np.uint16),
        source[order].astype(np.int64),
        target[order].astype(np.int64),
    )


def relation_bytes(relation: Relation) -> bytes:
    """A relation as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(
        relation_table(relation),
        sink,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
    )
    return sink.getvalue()


def sketches_of(relation: Relation, known: Mapping[str, Sketches], blocks: int) -> Sketches:
    """The sketches of a channel's rows, of those of the rows they are made from.

    Parameters
    ----------
    known
        By channel, the sketches of its rows; of those that are not there, anything may be behind.

    Notes
    -----
    A round per hub on the longest way through hubs.
    """
    last = len(relation.channels) - 1
    is_hub = relation.source_channels == last
    size = int(max(relation.count, relation.targets.max(initial=-1) + 1))
    members = [Sketches.empty(0, blocks)]
    places = np.zeros(len(relation.sources), dtype=np.int64)
    hashes_of_sources = np.zeros(len(relation.sources), dtype=np.uint64)
    start = 0
    for number, channel in enumerate(relation.channels[:-1]):
        of_channel = np.flatnonzero((relation.source_channels == number) & ~is_hub)
        rows, inverse = np.unique(relation.sources[of_channel], return_inverse=True)
        places[of_channel] = start + inverse
        hashes_of_sources[of_channel] = row_hashes(channel, relation.sources[of_channel])
        part = known[channel].take(rows) if channel in known else Sketches.top(len(rows), blocks)
        members.append(part)
        start += len(rows)
    waiting = np.bincount(relation.targets[is_hub], minlength=size)
    place_of = np.full(size, -1, dtype=np.int64)
    done = np.zeros(size, dtype=np.bool_)
    while not bool(done.all()):
        ready = np.flatnonzero(~done & (waiting == 0))
        if len(ready) == 0:
            raise WireError("The hubs of a boundary graph form a cycle.")
        rank = np.full(size, -1, dtype=np.int64)
        rank[ready] = np.arange(len(ready))
        edges = np.flatnonzero(rank[relation.targets] >= 0)
        sources = np.where(
            is_hub[edges], place_of[relation.sources[edges] * is_hub[edges]], places[edges]
        )
        order = np.argsort(rank[relation.targets[edges]], kind="stable")
        edges, sources = edges[order], sources[order]
        column = Sketches.concatenated(members, blocks)
        members = [column]
        united = union(
            len(ready), rank[relation.targets[edges]], column, sources, hashes_of_sources[edges]
        )
        members.append(united)
        place_of[ready] = start + np.arange(len(ready))
        start += len(ready)
        done[ready] = True
        served = is_hub & done[relation.sources * is_hub]
        waiting = np.bincount(relation.targets[is_hub & ~served], minlength=size)
    return Sketches.concatenated(members, blocks).take(place_of[: relation.count])


class BoundaryGraph:
    """The increments of some channels, put together.

    Parameters
    ----------
    relations
        By channel. Rows of other channels may occur as sources; what those are made from is not
        known here.
    """

    def __init__(self, relations: Iterable[Relation]) -> None:
        listed = list(relations)
        self.known = frozenset(relation.channels[-1] for relation in listed)
        sizes: dict[str, int] = {}
        for relation in listed:
            for number, channel in enumerate(relation.channels):
                rows = relation.sources[relation.source_channels == number]
                sizes[channel] = max(sizes.get(channel, 0), int(rows.max(initial=-1)) + 1)
            top = max(relation.count, int(relation.targets.max(initial=-1)) + 1)
            sizes[relation.channels[-1]] = max(sizes[relation.channels[-1]], top)
        self.channels = tuple(sizes)
        self._number = {channel: number for number, channel in enumerate(self.channels)}
        self._bases = np.concatenate([[0], np.cumsum(list(sizes.values()))]).astype(np.int64)
        self._counts = {relation.channels[-1]: relation.count for relation in listed}
        blocks = [block for relation in listed for block in self._blocks(relation)]
        turned = [
            Block(b.count, b.other, b.other_ordinals, b.own, b.own_ordinals, 0) for b in blocks
        ]
        self._forwards = compress(self.size, blocks)
        self._backwards = compress(self.size, turned)

    @property
    def size(self) -> int:
        """How many rows and hubs there are."""
        return int(self._bases[-1])

    @property
    def edge_count(self) -> int:
        """How many edges there are."""
        return len(self._forwards.nodes)

    def reached(self, rows: Mapping[str, Array], forwards: bool) -> dict[str, Array]:
        """The rows at the ends of non-empty ways from some rows, by channel, ascending.

        Rows of channels that are not known are passed over; hubs are left out.
        """
        seen = np.zeros(self.size, dtype=np.bool_)
        csr = self._forwards if forwards else self._backwards
        frontier = self._ids(rows)
        while len(frontier):
            frontier = unseen(_neighbours(csr, frontier), seen)
        return self._rows(np.flatnonzero(seen))

    def _blocks(self, relation: Relation) -> Iterable[Block]:
        own_base = int(self._bases[self._number[relation.channels[-1]]])
        for number, channel in enumerate(relation.channels):
            chosen = relation.source_channels == number
            base = int(self._bases[self._number[channel]])
            yield Block(
                int(chosen.sum()),
                base,
                relation.sources[chosen],
                own_base,
                relation.targets[chosen],
                0,
            )

    def _ids(self, rows: Mapping[str, Array]) -> Array:
        parts = [np.empty(0, dtype=np.int64)]
        for channel, numbers in rows.items():
            if channel in self._number:
                number = self._number[channel]
                base, end = self._bases[number], self._bases[number + 1]
                parts.append(base + numbers[numbers < end - base])
        return np.unique(np.concatenate(parts))

    def _rows(self, ids: Array) -> dict[str, Array]:
        rows_by_channel = {}
        owners = np.searchsorted(self._bases, ids, side="right") - 1
        for number in np.unique(owners).tolist():
            rows = ids[owners == number] - self._bases[number]
            channel = self.channels[number]
            rows = rows[rows < self._counts.get(channel, self.size)]
            if len(rows):
                rows_by_channel[channel] = rows
        return rows_by_channel


def _neighbours(csr: Csr, ids: Array) -> Array:
    indices, _ = positions(csr, ids)
    neighbours: Array = csr.nodes[indices]
    return neighbours
