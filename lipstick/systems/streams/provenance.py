"""The ancestors of events as a table of steps, and as a graph with a node per event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from graphquery import ProvenanceGraph
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from lipstick.systems.streams.ancestors import EventRanges, StreamLink, walk_back
from lipstick.systems.streams.events import Events, key_table, resolve
from lipstick.systems.streams.keys import Keys, distinct_keys, search
from lipstick.systems.streams.node import StreamNode
from lipstick.systems.streams.operators.base import Spans, at_trigger
from lipstick.systems.streams.recording import Recording
from semiring.arrays.segments import ascending, expand
from semiring.base import Array
from semiring.support.door import checked

_WINDOWS = ("time_window", "length_window")
_JOINS = ("time_join", "length_join")


class Sink(Protocol):
    """A destination of segments and edges."""

    def name(self, wanted: str) -> str:
        """Return a free name for a segment, as similar as possible to the given one."""
        ...

    def segment(self, segment: Segment, values: pa.Table | None = None) -> None:
        """Add nodes."""
        ...

    def edges(
        self, edges: EdgeSet, sources: Array | None = None, targets: Array | None = None
    ) -> None:
        """Add edges."""
        ...


@dataclass(slots=True)
class Piece:
    """Some events of a stream, and the segments with their nodes.

    Parameters
    ----------
    keys
        Of the events; node i of each segment is event i.
    inside, outside
        The events inside the module, and as they leave it; None: they do not.
    inputs
        By module, the events as they enter it.
    """

    keys: Keys
    inside: str
    outside: str | None
    inputs: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class StreamNodes:
    """Adds the nodes of events, stream by stream along the graph.

    Parameters
    ----------
    invocations
        By module, the segment of its one invocation.
    pieces
        By stream, its pieces.
    """

    recording: Recording
    sink: Sink
    invocations: dict[str, str] = field(default_factory=dict)
    pieces: dict[str, list[Piece]] = field(default_factory=dict)

    def add(
        self, node: StreamNode, keys: Keys, links: Sequence[StreamLink], *, outward: bool
    ) -> Piece:
        """Add events of a stream, and their direct ancestors.

        Parameters
        ----------
        links
            Of the events, whose inputs are in pieces that were added before.
        outward
            Whether they leave their module in any case.
        """
        piece = self._piece(node, keys, links, outward)
        self.pieces.setdefault(node.sid, []).append(piece)
        return piece

    def _piece(
        self, node: StreamNode, keys: Keys, links: Sequence[StreamLink], outward: bool
    ) -> Piece:
        sid = node.sid
        if node.operator is None:
            name = self._segment(sid, Kind.TOKEN, "", keys, sid, None)
            return Piece(keys, name, name)
        module = node.module
        invocation = self._invocation(module)
        consumers = [
            self.recording.graph.node(each).module for each in self.recording.graph.consumers(sid)
        ]
        leaves = outward or not consumers or any(each != module for each in consumers)
        label = "·" if node.operator.kind in (*_WINDOWS, *_JOINS) else "+"
        derived = self._derived(
            f"{invocation}/{sid}.{node.operator.kind}", label, len(keys), module
        )
        self._operands(node, links, derived)
        if not leaves:
            return Piece(keys, derived, None)
        name = self._segment(f"{invocation}/{sid}", Kind.OUTPUT, "·", keys, sid, module)
        self._whole(derived, name, len(keys))
        self._whole(invocation, name, len(keys), Ordinals.ONE)
        return Piece(keys, derived, name)

    def _operands(self, node: StreamNode, links: Sequence[StreamLink], derived: str) -> None:
        operator = node.operator
        assert operator is not None
        if operator.kind in _WINDOWS:
            (link,) = links
            self._edges(node, link, at_trigger(link.outputs, link.inputs), derived)
            self._delta(node, link, derived)
        elif operator.kind in _JOINS:
            count = len(links[0].outputs)
            ticks = self._derived(f"{derived}.tick", "+", count, node.module)
            for link in links:
                self._edges(node, link, at_trigger(link.outputs, link.inputs), ticks)
                self._delta(node, link, derived)
            self._whole(ticks, derived, count)
        else:
            for link in links:
                self._edges(node, link, (link.low, link.high), derived)

    def _delta(self, node: StreamNode, link: StreamLink, derived: str) -> None:
        """Add δ of the sum of a window's events, as a factor of its output."""
        count = len(link.outputs)
        name = self._derived(f"{derived}.δ{link.which}", "δ", count, node.module)
        self._edges(node, link, (link.low, link.high), name)
        self._whole(name, derived, count)

    def _edges(self, node: StreamNode, link: StreamLink, spans: Spans, target: str) -> None:
        places, targets = expand(*spans)
        code = None if link.inputs.code is None else link.inputs.code[places]
        for piece, ordinals, chosen in self.located(link.source, code, link.inputs.t[places]):
            edges = EdgeSet(self._input(node, link.source, piece), target, len(ordinals), file="")
            self.sink.edges(edges, ordinals, targets[chosen])

    def located(
        self, sid: str, code: Array | None, t: Array
    ) -> Iterator[tuple[Piece, Array, Array]]:
        """Yield the pieces with some events: the ordinals there, and the positions among the
        events.
        """
        for piece in self.pieces[sid]:
            positions = search(piece.keys.code, piece.keys.t, code, t)
            there = positions < len(piece.keys)
            there[there] = piece.keys.t[positions[there]] == t[there]
            if code is not None and piece.keys.code is not None:
                there[there] &= piece.keys.code[positions[there]] == code[there]
            chosen = np.flatnonzero(there)
            if len(chosen):
                yield piece, positions[chosen], chosen

    def _input(self, node: StreamNode, source: str, piece: Piece) -> str:
        """Return the segment from which an operator reads a piece: an input of its module, or
        inside.
        """
        graph = self.recording.graph
        if graph.node(source).module == node.module and graph.node(source).inputs:
            return piece.inside
        if node.module not in piece.inputs:
            assert piece.outside is not None  # another module reads it
            invocation = self._invocation(node.module)
            count = len(piece.keys)
            wanted = f"{invocation}/{source}.in"
            name = self._segment(wanted, Kind.INPUT, "·", piece.keys, source, node.module)
            self._whole(piece.outside, name, count)
            self._whole(invocation, name, count, Ordinals.ONE)
            piece.inputs[node.module] = name
        return piece.inputs[node.module]

    def _invocation(self, module: str) -> str:
        if module not in self.invocations:
            name = self.sink.name(f"{module}#1")
            self.sink.segment(Segment(name, Kind.INVOCATION, module, 1, module, 1, 0))
            self.invocations[module] = name
        return self.invocations[module]

    def _derived(self, wanted: str, label: str, count: int, module: str) -> str:
        name = self.sink.name(wanted)
        self.sink.segment(Segment(name, Kind.DERIVED, label, count, module, 1, 0))
        return name

    def _segment(
        self, wanted: str, kind: Kind, label: str, keys: Keys, sid: str, module: str | None
    ) -> str:
        name = self.sink.name(wanted)
        columns = {"n": keys.n, "t": keys.t, "d": keys.d}
        if keys.code is not None:
            columns["key"] = self.recording.codes.decode(keys.code)
        key = ("n",) if keys.code is None else ("key", "n")
        number, execution = (None, None) if module is None else (1, 0)
        self.sink.segment(
            Segment(name, kind, label, len(keys), module, number, execution, sid, key, ""),
            pa.table(columns),
        )
        return name

    def _whole(
        self, source: str, target: str, count: int, sources: Ordinals = Ordinals.ALL
    ) -> None:
        self.sink.edges(EdgeSet(source, target, count, sources, Ordinals.ALL))


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
    StreamError
        A stream or event that there is not.
    """
    tables = [_steps(recording, link) for link in _links(recording, events, within)]
    if not tables:
        text, number = pa.string(), pa.int64()
        names = ("stream", "key", "n", "t", "operator", "of", "of_key", "of_n")
        types = (text, text, number, number, text, text, text, number)
        return pa.schema(list(zip(names, types, strict=True))).empty_table()
    return pa.concat_tables(tables)


def _links(recording: Recording, events: Events, within: Sequence[str] | None) -> list[StreamLink]:
    links: list[StreamLink] = []
    walk_back(recording, events.sid, EventRanges.of(resolve(recording, events)), within, links)
    return links


def _steps(recording: Recording, link: StreamLink) -> pa.Table:
    places, owners = expand(link.low, link.high)
    causes = key_table(recording, link.source, link.inputs.take(places))
    effects = key_table(recording, link.sid, link.outputs.take(owners))
    operator = recording.graph.node(link.sid).operator
    assert operator is not None
    kinds = pa.array([operator.kind]).take(pa.array(np.zeros(len(places), dtype=np.int64)))
    table = causes.select(["stream", "key", "n", "t"]).append_column("operator", kinds)
    for name, column in (("of", "stream"), ("of_key", "key"), ("of_n", "n")):
        table = table.append_column(name, effects.column(column))
    return table


@checked
def provenance_graph(recording: Recording, events: Events) -> ProvenanceGraph:
    """Return the ancestors of some events as a graph to zoom, delete in, evaluate and export.

    Events of sources are tokens (``readings:2``), every operator or composed operator is a module
    with one invocation, and the events that leave it are its outputs (``alarms#1/alarms:3``).

    Raises
    ------
    StreamError
        A stream or event that there is not.
    """
    graph = recording.graph
    keys = resolve(recording, events)
    links: list[StreamLink] = []
    walk_back(recording, events.sid, EventRanges.of(keys), None, links)
    parts: dict[str, list[Keys]] = {}
    for link in links:
        places = ascending(expand(link.low, link.high)[0])
        parts.setdefault(link.source, []).append(link.inputs.take(places))
    met = {sid: distinct_keys(each) for sid, each in parts.items()}
    start = graph.original(events.sid)
    met[start] = keys
    built = _Built()
    nodes = StreamNodes(recording, built)
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
        """Return a column of a table that stands for a file of a store."""
        return self.tables[file].column(name)

    def name(self, wanted: str) -> str:
        """See `Sink`: a stream has one piece, so the name is free."""
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
