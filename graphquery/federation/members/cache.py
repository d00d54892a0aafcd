"""A cache of stores' replies, which never change for pinned versions.

Replies that are worth the least for their bytes are evicted: GreedyDual (Cao, Irani, *Cost-Aware
WWW Proxy Caching Algorithms*, USITS 1997), where the worth is the number of requests. Replies that
are requested once are passed on and not cached (*bypass*). LineageRank is the worth that Gehani,
Kim, Malik (CLADE 2010, section 4.3) describe: data with many descendants is requested more often.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from graphquery.errors import FederationError
from graphquery.federation.wire.messages import WireMessage

Worth = Literal["frequency", "size", "rank", "recent"]
"""GreedyDual-Size with frequency, without it, or with LineageRank; or least recently used."""

DAMPING = 0.85
_REMEMBERED = 1 << 16
"""Limit on the uncached replies whose requests are counted."""


@dataclass(slots=True)
class Cache:
    """A cache of replies with a capacity in bytes, safe for use by several threads.

    Parameters
    ----------
    capacity
        The capacity in bytes.
    worth
        The measure of a reply's worth.
    bypass
        Whether to cache a reply only after as many bytes of it were passed on.
    ranks
        Ranks of channels, for the worth ``rank``: see `lineage_ranks`.
    answered, fetched
        Bytes of all replies, and of the replies that stores sent.
    """

    capacity: int
    worth: Worth = "frequency"
    bypass: bool = True
    ranks: Mapping[str, float] = field(default_factory=dict)
    answered: int = 0
    fetched: int = 0
    _kept: dict[bytes, _Reply] = field(default_factory=dict)
    _heap: list[tuple[float, int, bytes]] = field(default_factory=list)
    _passed: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    _least: float = 0.0
    _clock: int = 0
    _size: int = 0
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if self.capacity < 0:
            raise FederationError("A cache has a capacity of 0 bytes or more.")

    @property
    def size(self) -> int:
        """The bytes of all cached replies."""
        return self._size

    def get(self, key: bytes) -> WireMessage | None:
        """Return the cached reply to a request, or None."""
        with self._mutex:
            kept = self._kept.get(key)
            if kept is None:
                return None
            self.answered += kept.size
            kept.uses += 1
            self._value(key, kept)
            return kept.message

    def put(
        self, key: bytes, message: WireMessage, size: int, channels: Iterable[str] = ()
    ) -> None:
        """Count a reply that a store sent, and cache it if it is worth its bytes.

        Parameters
        ----------
        key
            The key of the request, the store and its version.
        size
            The number of bytes received.
        channels
            The channels of the request, whose rank is the reply's.
        """
        with self._mutex:
            self.answered += size
            self.fetched += size
            uses, passed = self._passed.pop(key, (0, 0))
            if key in self._kept or size > self.capacity:
                return
            if self.bypass and passed < size:
                self._passed[key] = uses + 1, passed + size
                if len(self._passed) > _REMEMBERED:
                    del self._passed[next(iter(self._passed))]
                return
            rank = max((self.ranks.get(channel, 0.0) for channel in channels), default=0.0)
            reply = _Reply(message, size, uses + 1, max(rank, 1.0 - DAMPING))
            self._kept[key] = reply
            self._size += size
            self._value(key, reply)
            self._evict()

    def _value(self, key: bytes, reply: _Reply) -> None:
        """Update the value of a reply: the value evicted last plus its own worth per byte."""
        self._clock += 1
        score = {"frequency": float(reply.uses), "size": 1.0, "rank": reply.rank}.get(self.worth)
        reply.value = float(self._clock) if score is None else self._least + score / reply.size
        reply.turn = self._clock
        heapq.heappush(self._heap, (reply.value, self._clock, key))

    def _evict(self) -> None:
        while self._size > self.capacity:
            value, turn, key = heapq.heappop(self._heap)
            reply = self._kept.get(key)
            if reply is None or reply.turn != turn:
                continue  # its value has changed since
            self._least = value
            self._size -= reply.size
            del self._kept[key]
        if len(self._heap) > 4 * len(self._kept) + 64:
            self._heap = [(each.value, each.turn, key) for key, each in self._kept.items()]
            heapq.heapify(self._heap)


@dataclass(slots=True)
class _Reply:
    message: WireMessage
    size: int
    uses: int
    rank: float
    value: float = 0.0
    turn: int = 0


def lineage_ranks(
    edges: Mapping[str, Iterable[str]], damping: float = DAMPING
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the LineageRank of the nodes of an acyclic graph.

    LR(v) = (1 - d) + d Σ LR(u) / outdegree(u) over the edges u → v, in one topological pass; the
    rank is LR(v) (1 + depth(v) / (2 · greatest depth)).

    Parameters
    ----------
    edges
        The successors of each node.
    damping
        The damping factor d.

    Returns
    -------
    LR, and the rank, by node.

    Raises
    ------
    FederationError
        The edges form a cycle.
    """
    following = {node: list(targets) for node, targets in edges.items()}
    waiting: dict[str, int] = dict.fromkeys(following, 0)
    for targets in following.values():
        for target in targets:
            waiting[target] = waiting.get(target, 0) + 1
    ready = [node for node, count in waiting.items() if not count]
    given = dict.fromkeys(waiting, 0.0)
    depth = dict.fromkeys(waiting, 0)
    ranks: dict[str, float] = {}
    while ready:
        node = ready.pop()
        ranks[node] = (1 - damping) + damping * given[node]
        targets = following.get(node, [])
        for target in targets:
            given[target] += ranks[node] / len(targets)
            depth[target] = max(depth[target], depth[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    if len(ranks) < len(waiting):
        raise FederationError("Channels form a cycle: they have no ranks.")
    deepest = max(depth.values(), default=0) or 1
    return ranks, {node: each * (1 + depth[node] / (2 * deepest)) for node, each in ranks.items()}
