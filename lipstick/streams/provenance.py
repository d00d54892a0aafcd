"""The ancestors of events as a table of steps, and as a provenance graph with operators as modules.

A window's event is there when its trigger is, and δ of the sum of all in the window; a join's when
an event of its tick is, and δ of both windows' sums. Of a join all events in the windows are meant,
since keys do not say which pairs matched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from graphquery import ProvenanceGraph
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from lipstick.streams.ancestors import Link, Ranges, walk_back
from lipstick.streams.events import Events, key_table, resolve
from lipstick.streams.keys import Keys, distinct_keys, expand, search
from lipstick.streams.node import Node
from lipstick.streams.operators.base import Spans, at_trigger
from lipstick.streams.recording import Recording
from semiring.base import Array

_WINDOWS = ("time_window", "length_window")
_JOINS = ("time_join", "length_join")


def trace(recording: Recording, events: Events, within: Sequence[str] | None = None) -> pa.Table:
    """Which event came from which step: a row for each direct dependency of a walk.

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
    found = key_table(recording, link.source, _rows(link.inputs, places))
    made = key_table(recording, link.sid, _rows(link.outputs, owners))
    operator = recording.graph.node(link.sid).operator
    assert operator is not None
    kinds = pa.array([operator.kind]).take(pa.array(np.zeros(len(places), dtype=np.int64)))
    table = found.select(["stream", "key", "n", "t"]).append_column("operator", kinds)
    for name, column in (("of", "stream"), ("of_key", "key"), ("of_n", "n")):
        table = table.append_column(name, made.column(column))
    return table


def _rows(keys: Keys, places: Array) -> Keys:
    """Keys at any places, also several times: for tables alone."""
    code = None if keys.code is None else keys.code[places]
    return Keys(keys.t[places], keys.n[places], keys.d[places], code)


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
    made = _Made(recording, links)
    start = graph.original(events.sid)
    made.events[start] = keys
    for sid, node in graph.nodes.items():
        if sid in made.events:
            made.add(node, outward=sid == start)
    return ProvenanceGraph.build(made.segments, made.edges, made.column)


@dataclass(slots=True)
class _Made:
    """Segments and edges put together, stream by stream along the graph."""

    recording: Recording
    links: Sequence[Link]
    events: dict[str, Keys] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)
    edges: list[EdgeSet] = field(default_factory=list)
    tables: dict[str, pa.Table] = field(default_factory=dict)
    inside: dict[str, str] = field(default_factory=dict)
    outside: dict[str, str] = field(default_factory=dict)
    entered: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts: dict[str, list[Keys]] = {}
        for link in self.links:
            places = np.unique(expand(link.low, link.high)[0])
            parts.setdefault(link.source, []).append(link.inputs.take(places))
        for sid, each in parts.items():
            self.events[sid] = distinct_keys(each)

    def column(self, file: str, name: str) -> pa.ChunkedArray:
        """A column of what would be a file of a store."""
        return self.tables[file].column(name)

    def add(self, node: Node, *, outward: bool) -> None:
        """Add the events of a stream, and what they were made of directly."""
        sid, keys = node.sid, self.events[node.sid]
        if node.operator is None:
            self._segment(sid, Kind.TOKEN, "", keys, sid, None)
            self.inside[sid] = self.outside[sid] = sid
            return
        module = node.module
        invocation = f"{module}#1"
        if invocation not in {segment.name for segment in self.segments}:
            self.segments.append(Segment(invocation, Kind.INVOCATION, module, 1, module, 1, 0))
        graph = self.recording.graph
        consumers = [graph.node(each).module for each in graph.consumers(sid)]
        leaves = outward or not consumers or any(each != module for each in consumers)
        made = f"{invocation}/{sid}.{node.operator.kind}"
        label = "·" if node.operator.kind in (*_WINDOWS, *_JOINS) else "+"
        self.segments.append(Segment(made, Kind.DERIVED, label, len(keys), module, 1, 0))
        self._operands(node, made)
        self.inside[sid] = made
        if leaves:
            name = f"{invocation}/{sid}"
            self._segment(name, Kind.OUTPUT, "·", keys, sid, module)
            self._whole(made, name, len(keys))
            self._whole(invocation, name, len(keys), Ordinals.ONE)
            self.outside[sid] = name

    def _operands(self, node: Node, made: str) -> None:
        operator = node.operator
        assert operator is not None
        links = [link for link in self.links if link.sid == node.sid]
        if operator.kind in _WINDOWS:
            (link,) = links
            self._edges(node, link, at_trigger(link.outputs, link.inputs), made)
            self._delta(node, link, made)
        elif operator.kind in _JOINS:
            ticks = f"{made}.tick"
            count = len(links[0].outputs)
            self.segments.append(Segment(ticks, Kind.DERIVED, "+", count, node.module, 1, 0))
            for link in links:
                self._edges(node, link, at_trigger(link.outputs, link.inputs), ticks)
                self._delta(node, link, made)
            self._whole(ticks, made, count)
        else:
            for link in links:
                self._edges(node, link, (link.low, link.high), made)

    def _delta(self, node: Node, link: Link, made: str) -> None:
        """δ of the sum of a window's events, as a factor of its output."""
        name = f"{made}.δ{link.which}"
        count = len(link.outputs)
        self.segments.append(Segment(name, Kind.DERIVED, "δ", count, node.module, 1, 0))
        self._edges(node, link, (link.low, link.high), name)
        self._whole(name, made, count)

    def _edges(self, node: Node, link: Link, spans: Spans, target: str) -> None:
        places, targets = expand(*spans)
        found = self.events[link.source]
        inputs = _rows(link.inputs, places)
        sources = search(found.code, found.t, inputs.code, inputs.t)
        file = f"edges/{len(self.tables)}"
        self.tables[file] = pa.table({"source": sources, "target": targets})
        source = self._input(node, link.source)
        self.edges.append(EdgeSet(source, target, len(places), file=file))

    def _input(self, node: Node, source: str) -> str:
        """The segment that an operator reads a stream from: of its module's inputs, or inside."""
        graph = self.recording.graph
        if graph.node(source).module == node.module and graph.node(source).inputs:
            return self.inside[source]
        known = self.entered.get((node.module, source))
        if known is not None:
            return known
        name = f"{node.module}#1/{source}.in"
        keys = self.events[source]
        self._segment(name, Kind.INPUT, "·", keys, source, node.module)
        self._whole(self.outside[source], name, len(keys))
        self._whole(f"{node.module}#1", name, len(keys), Ordinals.ONE)
        self.entered[node.module, source] = name
        return name

    def _segment(
        self, name: str, kind: Kind, label: str, keys: Keys, sid: str, module: str | None
    ) -> None:
        file = f"events/{len(self.tables)}"
        columns = {"n": keys.n, "t": keys.t, "d": keys.d}
        if keys.code is not None:
            columns["key"] = self.recording.codes.decode(keys.code)
        table = pa.table(columns)
        key = ("n",) if keys.code is None else ("key", "n")
        self.tables[file] = table
        number, execution = (None, None) if module is None else (1, 0)
        self.segments.append(
            Segment(name, kind, label, len(keys), module, number, execution, sid, key, file)
        )

    def _whole(
        self, source: str, target: str, count: int, sources: Ordinals = Ordinals.ALL
    ) -> None:
        self.edges.append(EdgeSet(source, target, count, sources, Ordinals.ALL))
