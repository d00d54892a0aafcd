"""A hash index that finds the node of an entity in a store by its identifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction.hashing import hashed
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class _Run:
    """Hashes in ascending order, and the number of the node of each."""

    hashes: Array
    nodes: Array


class NodeIndex:
    """Numbers of nodes by identifier, for arrays of identifiers at a time.

    Nodes are numbered in the order they are added. Hashes only find candidates: identifiers are
    compared, so that two of one hash stay two. Runs of hashes are merged as they grow, so that
    there are O(log nodes) of them. About 40 bytes a node, and its identifier.
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._keys: list[pa.Array] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, keys: pa.Array) -> None:
        """Number new identifiers, each once, from the number of those there are."""
        if not len(keys):
            return
        hashes = hashed(keys)
        order = np.argsort(hashes)
        self._runs.append(_Run(hashes[order], order + self._count))
        self._keys.append(keys)
        self._count += len(keys)
        while len(self._runs) > 1 and len(self._runs[-2].hashes) < 2 * len(self._runs[-1].hashes):
            self._merge()

    def find(self, keys: pa.Array) -> Array:
        """The number of each identifier; -1 where it is not there."""
        numbers = np.full(len(keys), -1, dtype=np.int64)
        if not len(keys) or not self._runs:
            return numbers
        hashes = hashed(keys)
        stored = pa.chunked_array(self._keys, pa.string())
        for run in self._runs:
            at = np.searchsorted(run.hashes, hashes)
            waiting = np.flatnonzero(numbers < 0)
            while len(waiting):
                indices = at[waiting]
                inside = indices < len(run.hashes)
                waiting, indices = waiting[inside], indices[inside]
                same = run.hashes[indices] == hashes[waiting]
                waiting, indices = waiting[same], indices[same]
                if not len(waiting):
                    break
                nodes = run.nodes[indices]
                equal = pc.equal(stored.take(pa.array(nodes)), keys.take(pa.array(waiting)))
                hit = np.asarray(equal)
                numbers[waiting[hit]] = nodes[hit]
                waiting = waiting[~hit]
                at[waiting] += 1
        return numbers

    def _merge(self) -> None:
        last, before = self._runs.pop(), self._runs.pop()
        hashes = np.concatenate([before.hashes, last.hashes])
        order = np.argsort(hashes, kind="stable")
        nodes = np.concatenate([before.nodes, last.nodes])
        self._runs.append(_Run(hashes[order], nodes[order]))
