"""The edges of a boundary graph's increment in few bytes.

Sources are numbered through all channels. Of each row and hub is written how many sources it has,
as bytes that are compressed, and the gaps between them; gaps of rows with about as many sources
have a Golomb-Rice code of their own. Random sources take some tenths of a bit more than they must.
"""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa

from graphquery.federation.errors import WireError
from graphquery.federation.gaps import LARGEST, decoded, encoded
from semiring.base import Array

_HEAD = struct.Struct("<II")
_MANY = 255
"""A byte that says that so many sources are written apart."""


def encoded_edges(
    channels: int, source_channels: Array, sources: Array, targets: Array
) -> bytes | None:
    """Edges as bytes; None where they are too many for its numbers.

    Parameters
    ----------
    channels
        How many; those of sources are below.
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
    parts = [encoded(gaps[of_edge == each]) for each in np.unique(classes[classes > 0]).tolist()]
    head = _HEAD.pack(len(degrees), len(told))
    return b"".join([head, sizes.astype("<u4").tobytes(), told, many, *parts])


def decoded_edges(data: bytes, channels: int, most: int) -> tuple[Array, Array, Array]:
    """The inverse of `encoded_edges`: channels, sources and targets, ordered by the last first.

    Parameters
    ----------
    most
        How many rows there are, beside hubs.

    Raises
    ------
    WireError
        Bytes that are not what `encoded_edges` writes.
    """
    place = _HEAD.size + 4 * channels
    if len(data) < place:
        raise WireError("The edges of a boundary graph are cut off.")
    count, length = _HEAD.unpack_from(data)
    sizes = np.frombuffer(data, "<u4", channels, _HEAD.size).astype(np.int64)
    if count > most + 8 * len(data) or len(data) < place + length:
        raise WireError("A boundary graph has more hubs than edges, or is cut off.")
    degrees, place = _degrees(data, place, count, length)
    total = int(degrees.sum())
    if total > 8 * len(data):
        raise WireError("A boundary graph has more edges than bits for them.")
    classes = _classes(degrees)
    of_edge = np.repeat(classes, degrees)
    gaps = np.zeros(total, dtype=np.int64)
    for each in np.unique(classes[classes > 0]).tolist():
        chosen = of_edge == each
        gaps[chosen], place = decoded(data, place, int(chosen.sum()))
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
    """By row, how many bits its number of sources has."""
    return np.ceil(np.log2(degrees.astype(np.float64) + 1)).astype(np.int64)


def _degrees(data: bytes, place: int, count: int, length: int) -> tuple[Array, int]:
    """How many sources rows have, and where what says so ends."""
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
