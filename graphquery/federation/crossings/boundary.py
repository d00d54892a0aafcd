"""Boundary graphs: the derivations among crossing rows, without the nodes in between.

A store keeps one increment per export, a Parquet file. Together the increments of
all stores say exactly which crossing rows lead to which, in a few bytes each; they say nothing of
how, and nothing of nodes.

In an increment the sources are numbered through all channels. Of each row and hub it has the number
of sources, as compressed bytes, and the gaps between them as Golomb-Rice codes: the low bits as
they are, the rest in unary. Rows with about as many sources share a code. For gaps of a random set
a code takes about half a bit more than the least possible.

References
----------
Rice, Plaunt, *Adaptive Variable-Length Coding for Efficient Compression of Spacecraft Television
Data*, IEEE Transactions on Communication Technology 19(6), 1971; for graphs, Boldi and Vigna, *The
WebGraph Framework I*, WWW 2004.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphquery.csr import Csr, EdgeBlock, compress, positions
from graphquery.errors import WireError
from graphquery.federation.crossings.hashing import row_hashes
from graphquery.federation.crossings.relation import BoundaryRelation
from graphquery.federation.crossings.sketches import Sketches, union
from graphquery.operations.reach import unseen
from semiring.arrays.segments import ascending, index_of, mask_of
from semiring.base import Array

_GAPS_HEAD = struct.Struct("<IB")
LARGEST = 1 << 62
"""Upper bound on sums of encoded integers."""


def encode_gaps(gaps: Array) -> bytes:
    """Encode non-negative integers; their number is not part of the bytes.

    Raises
    ------
    OverflowError
        More bits than 32 bits can count.

    Notes
    -----
    O(n) time, and as many bytes of memory as there are bits.
    """
    width = _width(gaps)
    quotients = gaps >> width
    unary = mask_of(np.cumsum(quotients + 1) - 1, int(quotients.sum()) + len(gaps))
    if len(unary) >= 1 << 32:
        raise OverflowError("too many integers for one code")
    low = ((gaps[:, None] >> np.arange(width, dtype=np.int64)) & 1).astype(np.bool_)
    head = _GAPS_HEAD.pack(len(unary), width)
    return head + np.packbits(low.ravel()).tobytes() + np.packbits(unary).tobytes()


def decode_gaps(data: bytes, start: int, count: int) -> tuple[Array, int]:
    """Decode what `encode_gaps` wrote; return the integers (int64) and the place after them.

    Raises
    ------
    WireError
        Bytes that are not what `encode_gaps` writes.
    """
    first = start + _GAPS_HEAD.size
    if len(data) < first:
        raise WireError("A sequence of integers is cut off.")
    length, width = _GAPS_HEAD.unpack_from(data, start)
    middle = first + (count * width + 7) // 8
    end = middle + (length + 7) // 8
    if width > 62 or count > length or len(data) < end:
        raise WireError("A sequence of integers is shorter than its header declares.")
    bits = np.unpackbits(np.frombuffer(data, np.uint8, end - middle, middle), count=length)
    ends = np.flatnonzero(bits)
    if len(ends) != count or (count and int(ends[-1]) != length - 1):
        raise WireError("A sequence of integers does not have the count that its header declares.")
    packed = np.frombuffer(data, np.uint8, middle - first, first)
    low = np.unpackbits(packed, count=count * width).reshape(count, width)
    quotients = np.diff(ends, prepend=-1) - 1
    rest = np.zeros(count, dtype=np.int64)
    for place in range(width):
        rest |= low[:, place].astype(np.int64) << place
    if float((quotients.astype(np.float64) * 2.0**width + rest).sum()) >= LARGEST:
        raise WireError("A sequence of integers has one that is too large.")
    gaps: Array = (quotients << width) | rest
    return gaps, end


def _width(gaps: Array) -> int:
    """Return the number of low bits that gives integers the shortest code."""
    if not len(gaps):
        return 0
    about = int(np.log2(max(1.0, float(gaps.mean()))))
    tried = range(max(0, about - 3), about + 2)
    return min(tried, key=lambda width: len(gaps) * width + int((gaps >> width).sum()))


_EDGES_HEAD = struct.Struct("<II")
_MANY = 255
"""The degree byte of a row with at least as many sources, whose degree is written separately."""


def encoded_edges(
    channels: int, source_channels: Array, sources: Array, targets: Array
) -> bytes | None:
    """Return edges encoded as bytes, or None if their numbers exceed the format's limits.

    Parameters
    ----------
    channels
        The number of channels; `source_channels` are smaller.
    """
    sizes = np.zeros(channels, dtype=np.int64)
    np.maximum.at(sizes, source_channels, sources + 1)
    if max(int(sizes.max(initial=0)), int(targets.max(initial=0)), 8 * len(sources)) >= 1 << 32:
        return None
    bases = np.cumsum(sizes) - sizes
    numbers = bases[source_channels] + sources
    order = np.lexsort((numbers, targets))
    numbers, degrees = numbers[order], np.bincount(targets).astype(np.int64)
    gaps = np.diff(numbers, prepend=0)
    starts = (np.cumsum(degrees) - degrees)[degrees > 0]
    gaps[starts] = numbers[starts]
    if float(gaps.astype(np.float64).sum()) >= LARGEST:
        return None
    told = np.minimum(degrees, _MANY).astype(np.uint8).tobytes()
    told = pa.Codec("zstd").compress(told, asbytes=True)
    many = degrees[degrees >= _MANY].astype("<i8").tobytes()
    classes = _classes(degrees)
    of_edge = np.repeat(classes, degrees)
    parts = [
        encode_gaps(gaps[of_edge == each]) for each in ascending(classes[classes > 0]).tolist()
    ]
    head = _EDGES_HEAD.pack(len(degrees), len(told))
    return b"".join([head, sizes.astype("<u4").tobytes(), told, many, *parts])


def decoded_edges(data: bytes, channels: int, most: int) -> tuple[Array, Array, Array]:
    """Return the inverse of `encoded_edges`: channels, sources and targets, ordered by the last
    first.

    Parameters
    ----------
    most
        The number of rows, without hubs.

    Raises
    ------
    WireError
        Bytes that are not what `encoded_edges` writes.
    """
    place = _EDGES_HEAD.size + 4 * channels
    if len(data) < place:
        raise WireError("The edges of a boundary graph are cut off.")
    count, length = _EDGES_HEAD.unpack_from(data)
    sizes = np.frombuffer(data, "<u4", channels, _EDGES_HEAD.size).astype(np.int64)
    if count > most + 8 * len(data) or len(data) < place + length:
        raise WireError("A boundary graph has more hubs than edges, or is cut off.")
    degrees, place = _degrees(data, place, count, length)
    total = int(degrees.sum())
    if total > 8 * len(data):
        raise WireError("A boundary graph has more edges than bits for them.")
    classes = _classes(degrees)
    of_edge = np.repeat(classes, degrees)
    gaps = np.zeros(total, dtype=np.int64)
    for each in ascending(classes[classes > 0]).tolist():
        chosen = of_edge == each
        gaps[chosen], place = decode_gaps(data, place, int(chosen.sum()))
    if place != len(data) or float(gaps.astype(np.float64).sum()) >= LARGEST:
        raise WireError("A boundary graph is followed by something else.")
    ends = np.concatenate([[0], np.cumsum(gaps)])
    starts = np.cumsum(degrees) - degrees
    numbers = ends[1:] - np.repeat(ends[starts], degrees)
    if total and int(numbers.max()) >= int(sizes.sum()):
        raise WireError("A boundary graph refers to rows that there are not.")
    bounds = np.cumsum(sizes)
    channel = np.searchsorted(bounds, numbers, side="right")
    targets = np.repeat(np.arange(count, dtype=np.int64), degrees)
    return channel, numbers - (bounds - sizes)[channel], targets


def _classes(degrees: Array) -> Array:
    """Return, by row, the number of bits of its number of sources."""
    return np.ceil(np.log2(degrees.astype(np.float64) + 1)).astype(np.int64)


def _degrees(data: bytes, place: int, count: int, length: int) -> tuple[Array, int]:
    """Decode the number of sources of each row; return it and the offset of the next bytes."""
    try:
        told = pa.Codec("zstd").decompress(data[place : place + length], count, asbytes=True)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise WireError(f"The edges of a boundary graph cannot be read: {error!r}.") from error
    degrees = np.frombuffer(told, np.uint8).astype(np.int64)
    place += length
    many = np.flatnonzero(degrees == _MANY)
    if len(degrees) != count or len(data) < place + 8 * len(many):
        raise WireError("The edges of a boundary graph are cut off.")
    degrees[many] = np.frombuffer(data, "<i8", len(many), place)
    if len(many) and not _MANY <= int(degrees[many].min()) <= int(degrees.max()) < 8 * len(data):
        raise WireError("A boundary graph has more edges than bits for them.")
    return degrees, place + 8 * len(many)


_PLAIN = pa.schema([("channel", pa.uint16()), ("source", pa.int64()), ("target", pa.int64())])
"""One edge per row: the form of version 0.2, and of relations too large for the code."""


def relation_table(relation: BoundaryRelation) -> pa.Table:
    """Return a relation as a table of one row of encoded edges; the record has its channels."""
    columns = (relation.source_channels, relation.sources, relation.targets)
    data = encoded_edges(len(relation.channels), *columns)
    if data is None:
        return pa.table([pa.array(column) for column in columns], _PLAIN.names).cast(_PLAIN)
    return pa.table({"edges": pa.array([data], pa.binary())})


def relation_of_table(table: pa.Table, channels: Sequence[str], count: int) -> BoundaryRelation:
    """Return the inverse of `relation_table`; edges are ordered by target, channel and source.

    Raises
    ------
    WireError
        A table that is not a relation of that number of channels.
    """
    if table.schema.equals(_PLAIN) and not any(column.null_count for column in table.columns):
        channel, source, target = (column.to_numpy() for column in table.columns)
    elif table.schema.names == ["edges"] and len(table) == 1:
        data = table.column("edges")[0].as_py()
        if not isinstance(data, bytes):
            raise WireError("The edges of a boundary graph are not bytes.")
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
    return BoundaryRelation(
        tuple(channels),
        count,
        channel[order].astype(np.uint16),
        source[order].astype(np.int64),
        target[order].astype(np.int64),
    )


def relation_bytes(relation: BoundaryRelation) -> bytes:
    """Return a relation as a Parquet file."""
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


def sketches_of(relation: BoundaryRelation, known: Mapping[str, Sketches], blocks: int) -> Sketches:
    """Return sketches of a channel's rows, merged from the rows that they derive from.

    Parameters
    ----------
    known
        By channel, the sketches of its rows; the rows of other channels may have any ancestor.

    Notes
    -----
    One round per hub on the longest path of hubs.
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
        rank = index_of(ready, size)
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
    """The union of the increments of some channels.

    Parameters
    ----------
    relations
        By channel. Rows of other channels may occur as sources; their own sources are unknown.
    """

    def __init__(self, relations: Iterable[BoundaryRelation]) -> None:
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
            EdgeBlock(b.count, b.other, b.other_ordinals, b.own, b.own_ordinals, 0) for b in blocks
        ]
        self._forwards = compress(self.size, blocks)
        self._backwards = compress(self.size, turned)

    @property
    def size(self) -> int:
        """The number of rows and hubs."""
        return int(self._bases[-1])

    @property
    def edge_count(self) -> int:
        """The number of edges."""
        return len(self._forwards.nodes)

    def reached(self, rows: Mapping[str, Array], forwards: bool) -> dict[str, Array]:
        """Return the rows at the ends of non-empty paths from some rows, by channel, ascending.

        Rows of unknown channels are skipped, and hubs are left out.
        """
        seen = np.zeros(self.size, dtype=np.bool_)
        csr = self._forwards if forwards else self._backwards
        frontier = self._ids(rows)
        while len(frontier):
            frontier = unseen(_neighbours(csr, frontier), seen)
        return self._rows(np.flatnonzero(seen))

    def _blocks(self, relation: BoundaryRelation) -> Iterable[EdgeBlock]:
        own_base = int(self._bases[self._number[relation.channels[-1]]])
        for number, channel in enumerate(relation.channels):
            chosen = relation.source_channels == number
            base = int(self._bases[self._number[channel]])
            yield EdgeBlock(
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
        return ascending(np.concatenate(parts))

    def _rows(self, ids: Array) -> dict[str, Array]:
        rows_by_channel = {}
        owners = np.searchsorted(self._bases, ids, side="right") - 1
        for number in ascending(owners).tolist():
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
