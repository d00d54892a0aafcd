"""A shard's share of a partial graph, partitioned by vertex.

Every vertex belongs to one shard, by the hash of its identifier. An edge is stored twice: at the
shard of its effect, as a leaving edge, and at the shard of its cause, as a request for the cause's
own causes. Counts of a vertex go to its shard alone, together with its edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.reduction.closure import Evidence, closed
from graphquery.reduction.edges import Edges, joined, no_edges
from graphquery.reduction.hashing import shard_of
from graphquery.reduction.partial import Partial, encoded
from graphquery.reduction.vertices import (
    SEVERAL,
    UNKNOWN,
    VertexRole,
    Vertices,
    has,
    merged,
    unknown,
)
from semiring.base import Array, Semiring


def _nothing() -> Array:
    return np.empty(0, dtype=np.int64)


def _no_pairs() -> Edges:
    return Edges(_nothing(), _nothing())


@dataclass(frozen=True, slots=True)
class Share:
    """The state of a shard, or a message to it.

    Parameters
    ----------
    keys
        Identifiers, each once.
    vertices
        One for every key; vertices of other shards have roles only.
    functions
        Names; scopes of vertices are indices into them.
    leaving
        Edges that leave vertices of the shard.
    settled
        Boolean array: the leaving edges that lead to a staying vertex.
    requests
        Edges that enter vertices of the shard and have not been answered, without labels.
    cancelled
        Requests that are withdrawn, since the requesting vertices have no effects.
    answers
        The staying causes of requested vertices, with labels.
    empty
        Requested vertices without causes.
    """

    keys: pa.Array
    vertices: Vertices
    functions: tuple[str, ...]
    leaving: Edges
    settled: Array
    requests: Edges = field(default_factory=_no_pairs)
    cancelled: Edges = field(default_factory=_no_pairs)
    answers: Edges = field(default_factory=_no_pairs)
    empty: Array = field(default_factory=_nothing)

    @property
    def nbytes(self) -> int:
        """Bytes of keys, edges and counts."""
        edges = (self.leaving, self.requests, self.cancelled, self.answers)
        return int(self.keys.nbytes) + self.vertices.nbytes + sum(each.nbytes for each in edges)

    @property
    def is_empty(self) -> bool:
        """True if the share has no vertices."""
        return len(self.keys) == 0


def empty_share(semiring: Semiring[Any] | None = None) -> Share:
    """Return the state of an empty shard."""
    return Share(
        pa.array([], pa.string()),
        unknown(0),
        (),
        no_edges(semiring),
        np.empty(0, dtype=np.bool_),
        answers=no_edges(semiring),
    )


def split(partial: Partial, count: int) -> list[Share]:
    """Split a partial graph among shards.

    An edge to a declared input is settled at once, and sends no request to its cause. O(edges +
    vertices) time for every shard.
    """
    sides = closed(partial, Evidence(partial=True))
    known = partial.vertices
    is_input = sides.final & sides.leaving & (known.leaving == 0)
    is_input &= ~has(known.roles, VertexRole.KEPT | VertexRole.HUB)
    owner = shard_of(partial.keys, count)
    edges, settled = partial.edges, is_input[partial.edges.dest]
    ends = Edges(edges.source, edges.dest)
    return [
        _share(partial, (owner == shard) & ~is_input, owner == shard, edges, ends, settled)
        for shard in range(count)
    ]


def _share(
    partial: Partial, known: Array, owned: Array, edges: Edges, ends: Edges, settled: Array
) -> Share:
    leaves = owned[edges.source]
    enters = owned[edges.dest] & ~settled
    needed = known.copy()
    for which in (leaves, enters):
        needed[edges.source[which]] = True
        needed[edges.dest[which]] = True
    numbers = np.cumsum(needed) - 1
    return Share(
        partial.keys.filter(pa.array(needed)),
        only(partial.vertices, known).take(needed),
        tuple(partial.functions),
        edges.take(leaves).renumbered(numbers),
        settled[leaves],
        ends.take(enters).renumbered(numbers),
        answers=no_edges(edges.semiring),
    )


def only(vertices: Vertices, known: Array) -> Vertices:
    """Return vertices with the counts and declarations of all but `known` ones erased."""
    nothing = unknown(len(vertices))
    names = ("entering", "leaving", "due_entering", "due_leaving", "roles", "scope", "ended")
    return Vertices(
        *(np.where(known, getattr(vertices, name), getattr(nothing, name)) for name in names)
    )


def joined_shares(parts: Sequence[Share], semiring: Semiring[Any] | None) -> Share:
    """Merge several shares of one shard, adding their counts."""
    parts = [part for part in parts if not part.is_empty] or [empty_share(semiring)]
    if len(parts) == 1:
        return parts[0]
    keys, places = encoded([part.keys for part in parts])
    functions = tuple(dict.fromkeys(name for part in parts for name in part.functions))
    numbers = {name: number for number, name in enumerate(functions)}
    known = []
    for part, numbering in zip(parts, places, strict=True):
        # The last two places are those of SEVERAL and UNKNOWN, which count from the end.
        moved = np.array([*(numbers[name] for name in part.functions), SEVERAL, UNKNOWN])
        known.append((numbering, replace(part.vertices, scope=moved[part.vertices.scope])))

    def all_of(name: str, of: Semiring[Any] | None) -> Edges:
        edges = [
            getattr(p, name).renumbered(numbering)
            for p, numbering in zip(parts, places, strict=True)
        ]
        return joined(edges, of)

    return Share(
        keys,
        merged(len(keys), known),
        functions,
        all_of("leaving", semiring),
        np.concatenate([part.settled for part in parts]),
        all_of("requests", None),
        all_of("cancelled", None),
        all_of("answers", semiring),
        np.concatenate(
            [numbering[part.empty] for part, numbering in zip(parts, places, strict=True)]
        ),
    )
