"""The graph of one store with crossing nodes for its exports and imports.

Before every imported token stands a node for the channel's row, and behind every exported node one
for the row that others may import. Crossing rows are then reached, deleted and evaluated as all
nodes are; these *crossing nodes* are in no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from graphquery.federation.crossings.relation import imported_rows
from graphquery.federation.crossings.rows import Rows
from graphquery.federation.crossings.sketches import Sketches
from graphquery.graph import ProvenanceGraph
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store.crossing import Export, Import, exports, imports
from graphquery.store.snapshot import Snapshot
from semiring.arrays.segments import ascending
from semiring.base import Array

_IN = "\0in "
_OUT = "\0out "


@dataclass(frozen=True, slots=True, eq=False)
class Crossings:
    """Crossing nodes of one direction.

    Parameters
    ----------
    channels
        By number.
    bases
        By number, the first index of each channel's rows in `rows` and `ids`; then their length.
    rows
        Row numbers, ascending within a channel.
    ids
        The node of each row.
    """

    channels: tuple[str, ...]
    bases: Array
    rows: Array
    ids: Array

    def nodes(self, rows: Rows) -> tuple[Array, Array]:
        """Return the nodes of some rows, and for each node the index of its row.

        Indices count through the rows of all channels, one after the other. A row may have several
        nodes, or none.
        """
        node_ids, places = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        start = 0
        for channel, numbers in rows.items():
            if channel in self.channels:
                number = self.channels.index(channel)
                part = slice(int(self.bases[number]), int(self.bases[number + 1]))
                low = np.searchsorted(numbers, self.rows[part])
                there = low < len(numbers)
                there[there] = numbers[low[there]] == self.rows[part][there]
                node_ids.append(self.ids[part][there])
                places.append(start + low[there])
            start += len(numbers)
        return np.concatenate(node_ids), np.concatenate(places)

    def rows_of(self, ids: Array) -> dict[str, Array]:
        """Return the rows of crossing nodes, by channel; other nodes are skipped."""
        chosen = np.isin(self.ids, ids)
        rows_by_channel = {}
        for number, channel in enumerate(self.channels):
            part = slice(int(self.bases[number]), int(self.bases[number + 1]))
            rows = ascending(self.rows[part][chosen[part]])
            if len(rows):
                rows_by_channel[channel] = rows
        return rows_by_channel


class Site:
    """A snapshot of a store as a graph with crossing nodes."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.exports: dict[str, Export] = exports(snapshot.records)
        self.imports: dict[str, Import] = imports(snapshot.records)
        self.first = sum(segment.count for segment in snapshot.segments.values())
        """The first crossing node; nodes of the store are before it."""
        self._sketches: dict[str, Sketches] = {}

    @cached_property
    def graph(self) -> ProvenanceGraph:
        """The graph."""
        segments = joined_segments(self.snapshot, self.imports)
        edge_sets = list(self.snapshot.edges)
        for channel, name in self._parts():
            count = self.snapshot.segments[name].count
            node = Segment(f"{_IN}{channel} {name}", Kind.TOKEN, "", count)
            segments.append(node)
            edge_sets.append(EdgeSet(node.name, name, count, Ordinals.ALL, Ordinals.ALL))
        for channel, export in self.exports.items():
            node = Segment(f"{_OUT}{channel}", Kind.DERIVED, "+", export.count)
            segments.append(node)
            ends = (export.segment, node.name, export.count, Ordinals.ALL, Ordinals.ALL)
            edge_sets.append(EdgeSet(*ends))
        return ProvenanceGraph.build(segments, edge_sets, self.snapshot.column)

    @cached_property
    def incoming(self) -> Crossings:
        """The nodes of imported rows."""
        numbers = {
            (channel, part.segment): imported_rows(self.snapshot, part.segment, part.rows)
            for channel, each in self.imports.items()
            for part in each.parts
        }
        bases, rows, ids = [0], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        start = self.first
        for channel, each in self.imports.items():
            nodes_of_parts = [numbers[channel, part.segment] for part in each.parts]
            count = sum(len(part) for part in nodes_of_parts)
            order = np.argsort(np.concatenate(nodes_of_parts), kind="stable")
            rows.append(np.concatenate(nodes_of_parts)[order])
            ids.append(start + order)
            start += count
            bases.append(bases[-1] + count)
        return Crossings(
            tuple(self.imports), np.array(bases), np.concatenate(rows), np.concatenate(ids)
        )

    @cached_property
    def outgoing(self) -> Crossings:
        """The nodes of exported rows."""
        counts = [export.count for export in self.exports.values()]
        bases = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        rows = [np.arange(count, dtype=np.int64) for count in counts]
        start = self.first + len(self.incoming.ids)
        ids = start + np.arange(bases[-1], dtype=np.int64)
        return Crossings(
            tuple(self.exports), bases, np.concatenate([np.empty(0, np.int64), *rows]), ids
        )

    def sketches(self, channel: str) -> Sketches | None:
        """Return the sketches of a channel's rows, cached, or None."""
        if channel not in self._sketches:
            record = self.exports.get(channel) or self.imports.get(channel)
            if record is None or record.sketches is None:
                return None
            table = self.snapshot.read(record.sketches)
            self._sketches[channel] = Sketches.from_arrow(table, record.blocks)
        return self._sketches[channel]

    def own(self, graph: ProvenanceGraph, ids: Array) -> Array:
        """Return those among `ids` that are nodes of the store or of its zoomed invocations."""
        nodes: Array = ids[(ids < self.first) | (ids >= graph.storage.count)]
        return nodes

    def resolve(self, graph: ProvenanceGraph, names: Iterable[str]) -> Array:
        """Return the ids of nodes by their names, in the same order.

        Raises
        ------
        UnknownNameError
            The graph has no such node.
        """
        # Names of crossing nodes begin with a character that nobody writes.
        return graph.ordered([name.replace("\0", "") for name in names])

    def _parts(self) -> list[tuple[str, str]]:
        return [
            (channel, part.segment) for channel, each in self.imports.items() for part in each.parts
        ]


def joined_segments(snapshot: Snapshot, taken: Mapping[str, Import]) -> list[Segment]:
    """Return the segments of a store, with the label `+` for segments of imported rows.

    An imported token then has one edge into it, from the exported row, and takes its annotation.
    """
    imported = {part.segment for each in taken.values() for part in each.parts}
    return [
        replace(segment, label="+") if segment.name in imported else segment
        for segment in snapshot.segments.values()
    ]
