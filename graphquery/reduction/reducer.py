"""A reducer: merges partial graphs, reduces them in batches, and reports statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.errors import GraphError
from graphquery.reduction.closure import Evidence
from graphquery.reduction.partial import Partial, merge
from graphquery.reduction.reduce import Final, reduce
from semiring.base import Semiring

BATCH = 20_000
"""Number of raw edges reduced at a time, as the paper's local batch size."""

NAMED = 10
"""Limit on the vertices with too many or too few edges that a report names."""


@dataclass(frozen=True, slots=True)
class Report:
    """Statistics of a reducer.

    Parameters
    ----------
    received, kept
        Edges received, and edges emitted in flushes and as final.
    dead
        Edges dropped since they lead to no output or come from no input.
    open_edges, open_vertices
        The open edges and vertices after the last reduction.
    peak_edges, peak_vertices, peak_bytes
        The peak before a reduction: the state, and the edges received since the last.
    excess, missing
        The number of vertices with more edges than declared, or sealed with fewer. If there are
        any, the stream contradicts its declarations and the graph may lack pairs.
    cyclic
        The number of vertices on cycles.
    named
        The first few of these vertices.
    """

    received: int = 0
    kept: int = 0
    dead: int = 0
    open_edges: int = 0
    open_vertices: int = 0
    peak_edges: int = 0
    peak_vertices: int = 0
    peak_bytes: int = 0
    excess: int = 0
    missing: int = 0
    cyclic: int = 0
    named: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """True if all edges were as declared, and no vertex was on a cycle."""
        return not (self.excess or self.missing or self.cyclic)


class Reducer:
    """Reduces a stream of partial graphs, exactly, whatever their order and sizes.

    Parameters
    ----------
    semiring
        Of labels; None for reachability alone.
    hubs, break_cycles
        See `reduce`.
    batch
        Raw edges to wait for before a reduction. A reduction takes time proportional to the state
        as well, so one also waits for as many as are held: the cost of an edge stays constant.
    partial
        Whether counts of the same vertices go to other reducers, too: see `Evidence`.
    key_type
        Of the identifiers.
    """

    def __init__(
        self,
        semiring: Semiring[Any] | None = None,
        *,
        hubs: bool = True,
        batch: int = BATCH,
        partial: bool = False,
        break_cycles: bool = False,
        key_type: pa.DataType | None = None,
    ) -> None:
        self.semiring = semiring
        self._hubs = hubs
        self._batch = batch
        self._break_cycles = break_cycles
        self._evidence = Evidence(partial=partial)
        self._empty = Partial.about({}, key_type or pa.string(), semiring)
        self._state = self._empty
        self._pending: list[Partial] = []
        self._waiting = 0
        self._final: list[Final] = []
        self.report = Report()

    @property
    def state(self) -> Partial:
        """The open part of the graph, after a reduction of everything received."""
        self.reduce()
        return self._state

    def add(self, part: Partial) -> None:
        """Add a partial graph.

        Raises
        ------
        GraphError
            The stream was sealed; later edges are late.
        """
        if self._evidence.sealed:
            raise GraphError(
                "The stream is sealed, and more edges came.\n"
                "Repair the reduced graph from the raw edges with `repair`."
            )
        self._pending.append(part)
        self._waiting += len(part.edges)
        self.report = replace(self.report, received=self.report.received + len(part.edges))
        if self._waiting >= max(self._batch, len(self._state.edges)):
            self.reduce()

    def mend(self, part: Partial) -> None:
        """Add the edges that repair late ones (see `late.repair`), even after the stream was
        sealed.
        """
        self._pending.append(part)
        self.report = replace(self.report, received=self.report.received + len(part.edges))
        self.reduce()

    def advance(self, watermark: int) -> None:
        """Advance the watermark: no later edge is older than it, in microseconds since 1970."""
        before = self._evidence.watermark
        if before is None or watermark > before:
            self._evidence = replace(self._evidence, watermark=watermark)
            self._pending.append(self._empty)

    def seal(self) -> None:
        """End the stream: everything is closed and reduced."""
        self._evidence = replace(self._evidence, sealed=True)
        self._pending.append(self._empty)
        self.reduce()

    def reduce(self) -> None:
        """Reduce everything received so far.

        Raises
        ------
        CycleError
            When a cycle leads through closed vertices and is not broken. The reducer cannot go on
            then.
        """
        if not self._pending:
            return
        merged = merge([self._state, *self._pending], self.semiring)
        self._pending, self._waiting = [], 0
        reduced = reduce(merged, self._evidence, hubs=self._hubs, break_cycles=self._break_cycles)
        self._state = reduced.state
        if len(reduced.final.edges):
            self._final.append(reduced.final)
        held = self._state
        now = self.report
        named = pa.chunked_array([reduced.excess, reduced.missing, reduced.cyclic], held.keys.type)
        names = [*now.named, *map(str, named.slice(0, NAMED).to_pylist())]
        self.report = replace(
            now,
            kept=now.kept + len(reduced.final.edges),
            dead=now.dead + reduced.dead,
            open_edges=len(held.edges),
            open_vertices=len(held.keys),
            peak_edges=max(now.peak_edges, len(merged.edges)),
            peak_vertices=max(now.peak_vertices, len(merged.keys)),
            peak_bytes=max(now.peak_bytes, merged.nbytes),
            excess=now.excess + len(reduced.excess),
            missing=now.missing + len(reduced.missing),
            cyclic=now.cyclic + len(reduced.cyclic),
            named=tuple(dict.fromkeys(names))[:NAMED],
        )

    def take_final(self) -> list[Final]:
        """Reduce, and take out the final edges."""
        self.reduce()
        final, self._final = self._final, []
        return final

    def flush(self) -> Partial:
        """Take out the open part, edges and counts together, for another reducer."""
        self.reduce()
        flushed, self._state = self._state, self._empty
        now = self.report
        self.report = replace(
            now, kept=now.kept + len(flushed.edges), open_edges=0, open_vertices=0
        )
        return flushed


def final_table(finals: list[Final], key_type: pa.DataType | None = None) -> pa.Table:
    """Return final edges as a table: `source`, `dest`, and `label` if there are labels."""
    columns: dict[str, list[pa.Array]] = {"source": [], "dest": []}
    labels = []
    for final in finals:
        columns["source"].append(final.keys.take(pa.array(final.edges.source)))
        columns["dest"].append(final.keys.take(pa.array(final.edges.dest)))
        if final.edges.label is not None and final.edges.semiring is not None:
            labels.append(final.edges.semiring.to_arrow(final.edges.label))
    kind = finals[0].keys.type if finals else key_type or pa.string()
    table = pa.table({name: pa.chunked_array(parts, kind) for name, parts in columns.items()})
    if labels:
        table = table.append_column("label", pa.chunked_array(labels))
    return table


def pairs(finals: list[Final]) -> set[tuple[Any, Any]]:
    """Return final edges as pairs of keys; for tests and small graphs."""
    edge_keys: set[tuple[Any, Any]] = set()
    for final in finals:
        keys = np.array(final.keys.to_pylist(), dtype=object)
        edge_keys.update(zip(keys[final.edges.source], keys[final.edges.dest], strict=True))
    return edge_keys
