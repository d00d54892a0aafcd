"""Adjacency as compressed sparse rows: built from blocks of edges, and read for many nodes at once.

Nodes are integers from 0; of every node its neighbours stand together, in ascending order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from semiring.base import Array

_CHUNK = 1 << 18
"""Number of edges sorted at a time, so that they fit a processor's cache."""

_PORT_BITS = 2
_OTHER_BITS = 32


@dataclass(frozen=True, slots=True)
class Csr:
    """The edges of a graph in one direction.

    Parameters
    ----------
    offsets
        int32 or int64, one more than there are nodes: the neighbours of v are
        ``nodes[offsets[v]:offsets[v + 1]]``, one for every edge.
    nodes
        int32 or int64.
    ports
        uint8: the operand of its target that each edge is; None if all are operand 0.
    """

    offsets: Array
    nodes: Array
    ports: Array | None

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        ports = 0 if self.ports is None else self.ports.nbytes
        return int(self.offsets.nbytes + self.nodes.nbytes + ports)


@dataclass(frozen=True, slots=True)
class EdgeBlock:
    """Edges from nodes of one range to nodes of another.

    Parameters
    ----------
    own, other
        The first node of the range to compress by, and of the other.
    own_ordinals, other_ordinals
        Integer arrays of `count` ordinals within the range, or an integer that is all of them, or
        None for 0, 1, 2 ...
    """

    count: int
    own: int
    own_ordinals: Array | int | None
    other: int
    other_ordinals: Array | int | None
    port: int


def index_type(largest: int) -> np.dtype[np.int32] | np.dtype[np.int64]:
    """Return the smallest type that holds integers up to `largest`."""
    return np.dtype(np.int32) if largest < 2**31 else np.dtype(np.int64)


def compress(size: int, blocks: Sequence[EdgeBlock]) -> Csr:
    """Sort the edges of all blocks by their own end.

    Ranges of different blocks are disjoint or the same, so that what is sorted at a time are the
    edges of a few ranges, in the cache. O(edges · log(edges of a range)) time; beside the result
    one range's edges in 8-byte keys.
    """
    total = sum(block.count for block in blocks)
    with_ports = any(block.port for block in blocks if block.count)
    nodes = np.empty(total, dtype=index_type(size))
    ports = np.empty(total, dtype=np.uint8) if with_ports else None
    offsets = np.zeros(size + 1, dtype=index_type(total))
    start = 0
    for run, aligned in _runs(sorted(blocks, key=lambda block: (block.own, block.other))):
        stop = start + sum(block.count for block in run)
        part = None if ports is None else ports[start:stop]
        degrees = offsets[run[0].own + 1 :]
        if aligned:
            _align(run, nodes[start:stop], part, degrees)
        else:
            _gather(run, nodes[start:stop], part, degrees)
        start = stop
    np.cumsum(offsets, out=offsets)
    return Csr(offsets, nodes, ports)


def positions(csr: Csr, ids: Array) -> tuple[slice | Array, Array]:
    """Return the positions of the edges of some nodes, node by node, and the nodes' degrees.

    Parameters
    ----------
    ids
        Integer array in any order; for a range of consecutive ids the positions are a slice.
    """
    starts = csr.offsets[ids].astype(np.int64)
    degrees = csr.offsets[ids + 1] - starts
    if len(ids) == 0:
        return slice(0, 0), degrees
    first, last = int(ids[0]), int(ids[-1])
    if last - first == len(ids) - 1 and bool((ids[1:] > ids[:-1]).all()):
        return slice(int(starts[0]), int(csr.offsets[last + 1])), degrees
    ends = np.cumsum(degrees)
    spread = np.repeat(starts - ends + degrees, degrees)
    spread += np.arange(len(spread), dtype=np.int64)
    return spread, degrees


def _runs(blocks: list[EdgeBlock]) -> Iterator[tuple[list[EdgeBlock], bool]]:
    """Yield runs of blocks that share no range with another run, and whether each run is aligned.

    Most sets have one edge at every node of a range, and need no sorting then: of a range with k
    such sets, every k-th neighbour is of the same set.
    """
    run: list[EdgeBlock] = []
    count = 0
    for _, group in groupby((block for block in blocks if block.count), lambda block: block.own):
        same = list(group)
        other_ranges = {block.other for block in same}
        aligned = len(other_ranges) == len(same) and all(
            block.own_ordinals is None and block.count == same[0].count for block in same
        )
        if run and (aligned or count >= _CHUNK):
            yield run, False
            run, count = [], 0
        if aligned:
            yield same, True
        else:
            run += same
            count += sum(block.count for block in same)
    if run:
        yield run, False


def _align(run: list[EdgeBlock], nodes: Array, ports: Array | None, degrees: Array) -> None:
    """Write the edges of an aligned run: each set has exactly one edge per node of the range."""
    degrees[: run[0].count] = len(run)
    for offset, block in enumerate(run):
        _fill(nodes[offset :: len(run)], block.other, block.other_ordinals)
        if ports is not None:
            ports[offset :: len(run)] = block.port


def _gather(run: list[EdgeBlock], nodes: Array, ports: Array | None, degrees: Array) -> None:
    """Write the edges of a run that is not aligned, and sort them."""
    owners = np.empty(len(nodes), dtype=np.int64)
    start = 0
    for block in run:
        stop = start + block.count
        _fill(owners[start:stop], block.own - run[0].own, block.own_ordinals)
        _fill(nodes[start:stop], block.other, block.other_ordinals)
        if ports is not None:
            ports[start:stop] = block.port
        start = stop
    counts = np.bincount(owners)
    degrees[: len(counts)] = counts
    _sort(owners, nodes, ports)


def _fill(target: Array, base: int, ordinals: Array | int | None) -> None:
    if ordinals is None:
        target[:] = np.arange(base, base + len(target), dtype=target.dtype)
    elif isinstance(ordinals, int):
        target[:] = base + ordinals
    else:
        np.add(ordinals, base, out=target, dtype=target.dtype, casting="unsafe")


def _sort(owners: Array, nodes: Array, ports: Array | None) -> None:
    """Sort a chunk in place by own end, neighbour and port."""
    if _is_sorted(owners, nodes, ports):
        return
    if int(owners.max()) >= 1 << 29 or int(nodes.max()) >= 1 << _OTHER_BITS:
        keys = (nodes, owners) if ports is None else (ports, nodes, owners)
        order = np.lexsort(keys)
        nodes[:] = nodes[order]
        if ports is not None:
            ports[:] = ports[order]
        return
    # One sort of packed keys is several times faster than sorting positions.
    packed = owners
    packed <<= _OTHER_BITS
    packed |= nodes
    if ports is not None:
        packed <<= _PORT_BITS
        packed |= ports
    packed.sort()
    if ports is not None:
        np.bitwise_and(packed, (1 << _PORT_BITS) - 1, out=ports, casting="unsafe")
        packed >>= _PORT_BITS
    np.bitwise_and(packed, (1 << _OTHER_BITS) - 1, out=nodes, casting="unsafe")


def _is_sorted(owners: Array, nodes: Array, ports: Array | None) -> bool:
    if ports is not None and bool(ports.any()):
        return False
    # A look at the beginning settles it for edges in no order.
    for stop in (min(1024, len(owners)), len(owners)):
        step = owners[1:stop] - owners[: stop - 1]
        ascending = nodes[1:stop] >= nodes[: stop - 1]
        if not bool(((step > 0) | ((step == 0) & ascending)).all()):
            return False
    return True
