"""The ancestors of events as a table of steps, and as a graph with operators as modules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from graphquery import ProvenanceGraph
from graphquery.model import EdgeSet, Segment
from lipstick.systems.streams.ancestors import Link, Ranges, walk_back
from lipstick.systems.streams.event_nodes import Nodes
from lipstick.systems.streams.events import Events, key_table, resolve
from lipstick.systems.streams.keys import Keys, distinct_keys, expand
from lipstick.systems.streams.recording import Recording
from semiring.base import Array
from semiring.door import checked


@checked
def trace(recording: Recording, events: Events, within: Sequence[str] | None = None) -> pa.Table:
    """Return the steps of a walk as a table: a row for each direct dependency.

    Returns
    -------
    pyarrow.Table
        The event found (`stream`, `key` as text, `n`, `t`), the `operator` that read it, and the
        event that it made (`of`, `of_key`, `of_n`).

    Raises
    ------
    UnknownStreamError
        A stream or event that there is not.
    """
    tables = [_steps(recording, link) for link in _links(recording, events, within)]
    if not tables:
        text, number = pa.string(), pa.int64()
        names = ("stream", "key", "n", "t", "operator", "of", "of_key", "of_n")
        types = (text, text, number, number, text, text, text, number)
        return pa.schema(list(zip(names, types, strict=True))).empty_table()
    return pa.concat_tables(tables)


def _links(recording: Recording, events: Events, within: Sequence[str] | None) -> list[Link]:
    links: list[Link] = []
    walk_back(recording, events.sid, Ranges.of(resolve(recording, events)), within, links)
    return links


def _steps(recording: Recording, link: Link) -> pa.Table:
    places, owners = expand(link.low, link.high)
    causes = key_table(recording, link.source, _rows(link.inputs, places))
    effects = key_table(recording, link.sid, _rows(link.outputs, owners))
    operator = recording.graph.node(link.sid).operator
    assert operator is not None
    kinds = pa.array([operator.kind]).take(pa.array(np.zeros(len(places), dtype=np.int64)))
    table = causes.select(["stream", "key", "n", "t"]).append_column("operator", kinds)
    for name, column in (("of", "stream"), ("of_key", "key"), ("of_n", "n")):
        table = table.append_column(name, effects.column(column))
    return table


def _rows(keys: Keys, places: Array) -> Keys:
    """Keys at any places, also several times: for tables alone."""
    code = None if keys.code is None else keys.code[places]
    return Keys(keys.t[places], keys.n[places], keys.d[places], code)


@checked
def provenance_graph(recording: Recording, events: Events) -> ProvenanceGraph:
    """All that some events were made of, as a graph to zoom, delete in, evaluate and export.

    Events of sources are tokens (``readings:2``), every operator or composed operator is a module
    with one invocation, and the events that leave it are its outputs (``alarms#1/alarms:3``).

    Raises
    ------
    UnknownStreamError
        A stream or event that there is not.
    """
    graph = recording.graph
    keys = resolve(recording, events)
    links: list[Link] = []
    walk_back(recording, events.sid, Ranges.of(keys), None, links)
    parts: dict[str, list[Keys]] = {}
    for link in links:
        places = np.unique(expand(link.low, link.high)[0])
        parts.setdefault(link.source, []).append(link.inputs.take(places))
    met = {sid: distinct_keys(each) for sid, each in parts.items()}
    start = graph.original(events.sid)
    met[start] = keys
    built = _Built()
    nodes = Nodes(recording, built)
    for sid, node in graph.nodes.items():
        if sid in met:
            links_of_node = [link for link in links if link.sid == sid]
            nodes.add(node, met[sid], links_of_node, outward=sid == start)
    return ProvenanceGraph.build(built.segments, built.edge_sets, built.column)


@dataclass(slots=True)
class _Built:
    """Segments and edges in memory, as if they were files of a store."""

    segments: list[Segment] = field(default_factory=list)
    edge_sets: list[EdgeSet] = field(default_factory=list)
    tables: dict[str, pa.Table] = field(default_factory=dict)

    def column(self, file: str, name: str) -> pa.ChunkedArray:
        """Return a column of a table that a store would have as a file."""
        return self.tables[file].column(name)

    def name(self, wanted: str) -> str:
        """See `Sink`: a stream has one piece, so that names are free."""
        return wanted

    def segment(self, segment: Segment, values: pa.Table | None = None) -> None:
        """See `Sink`."""
        if values is not None:
            segment = replace(segment, file=self._file(values))
        self.segments.append(segment)

    def edges(
        self, edges: EdgeSet, sources: Array | None = None, targets: Array | None = None
    ) -> None:
        """See `Sink`."""
        if sources is not None:
            edges = replace(
                edges, file=self._file(pa.table({"source": sources, "target": targets}))
            )
        self.edge_sets.append(edges)

    def _file(self, table: pa.Table) -> str:
        file = str(len(self.tables))
        self.tables[file] = table
        return file
