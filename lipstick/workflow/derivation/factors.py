"""What the members of a block are made of: the factors of their annotations."""

from __future__ import annotations

import numpy as np

from lipstick.workflow.derivation.nodes import Nodes, Trace
from semiring.base import Array


class Factors:
    """The factors of some members.

    Parameters
    ----------
    count
        The number of members.
    parts
        Per factor the members that have it, and its node in each.
    """

    def __init__(self, count: int, parts: tuple[tuple[Array, Nodes], ...]) -> None:
        self._count = count
        self.parts = parts
        self.counts = np.zeros(count, dtype=np.int64)
        for rows, _ in parts:
            self.counts[rows] += 1

    @property
    def single(self) -> Nodes | None:
        """The nodes of members that have one factor each; None if some have not."""
        if not bool((self.counts == 1).all()):
            return None
        rows = [rows for rows, _ in self.parts]
        if not rows:
            return Nodes.concatenated([])
        nodes = Nodes.concatenated([nodes for _, nodes in self.parts])
        return nodes.take(np.argsort(np.concatenate(rows), kind="stable"))

    def order(self, first: Array) -> Array:
        """The members by an integer each, then by their factors."""
        keys = []
        for rows, nodes in self.parts:
            for values in (nodes.ordinals, nodes.pools):
                column = np.full(self._count, -1, dtype=np.int64)
                column[rows] = values
                keys.append(column)
        return np.lexsort((*keys, first))

    def take(self, order: Array) -> Factors:
        """The factors of the members in another order."""
        places = np.empty(self._count, dtype=np.int64)
        places[order] = np.arange(self._count)
        parts = []
        for rows, nodes in self.parts:
            moved = places[rows]
            by_place = np.argsort(moved, kind="stable")
            parts.append((moved[by_place], nodes.take(by_place)))
        return Factors(self._count, tuple(parts))

    def multiply(self, trace: Trace, pool: int, targets: Array) -> None:
        """Add the edges of products; one of nothing is there because the invocation is."""
        for rows, nodes in self.parts:
            trace.edges(nodes, pool, targets[rows])
        empty = np.flatnonzero(self.counts == 0)
        m_node = Nodes.of(trace.invocation, np.zeros(len(empty), dtype=np.int64))
        trace.edges(m_node, pool, targets[empty])
