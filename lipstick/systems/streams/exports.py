"""Events of a recorded stream as rows that other stores may import.

A recording stores no edges, but rows that cross between stores have to be nodes. With an export,
the events so far of the stream, and of all streams behind it, become nodes of the recording's own
store: each event once, so that later exports continue from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.federation import export_dataset
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store import Store, StoreDamagedError, Transaction, Writer
from lipstick.systems.errors import StreamError
from lipstick.systems.streams.ancestors import StreamLink, Visited, step_back
from lipstick.systems.streams.keys import Keys
from lipstick.systems.streams.provenance import Piece, StreamNodes
from lipstick.systems.streams.stored import Stored
from lipstick.tracking.naming import free_name
from semiring.base import Array

RECORD = "events of streams/"
"""Records of the events of a query that are nodes, and of the exported ones."""

KEY, NUMBER, TIME = "event_key", "event", "event_time"
"""The columns that identify a row's event."""


def export_stream(
    store: str | Path,
    sid: str,
    name: str,
    version: str,
    folder: str | Path,
    *,
    query: str | None = None,
) -> str:
    """Export the events of a recorded stream that are new since earlier exports under this name.

    Parameters
    ----------
    store
        The store of the recording; nobody else may write to it meanwhile.
    sid
        The stream.
    name, version
        Of the dataset that the events are: a version has the events that are new since the
        versions before.
    folder
        A new one, for the rows as a Parquet file with the manifest beside it: the columns `event`,
        `event_time` and `event_key`, and the content of the events where it was recorded.
    query
        The name of the recorded graph; None if the store has only one.

    Returns
    -------
    str
        The identity of the channel.

    Raises
    ------
    StreamError
        A stream that is inside of a composed operator, without new events, or whose content has a
        column of the names above.
        There is no such stream or query.
    graphquery.federation.FederationError
        The folder is not empty, or the version was exported with different data.

    Notes
    -----
    Events that are nodes already are not looked at again, apart from the events that new ones
    were made of.
    """
    path = Path(store)
    segment = f"{name}@{version}"
    with Store.open(path).writer() as writer:
        recording = Stored(path, query)
        known = _Known.read(writer, recording)
        if segment not in writer.snapshot().segments:
            _add(writer, recording, known, recording.graph.original(sid), name, segment)
            known = _Known.read(writer, recording)
        first, last = known.exported[name][segment]
        keys = recording.load(sid, np.arange(first, last))
        return export_dataset(
            writer, segment, name, version, folder, rows=_rows(recording, sid, keys)
        )


@dataclass(slots=True)
class _Known:
    """The parts of a query that are nodes in a store.

    Parameters
    ----------
    invocations
        As of `StreamNodes`.
    pieces
        By stream, how many of its recorded parts each piece has, how many events, its segments.
    exported
        By name of a dataset and segment, the range of parts.
    streams
        By name of a dataset, the stream.
    """

    invocations: dict[str, str]
    pieces: dict[str, list[dict[str, Any]]]
    exported: dict[str, dict[str, list[int]]]
    streams: dict[str, str]

    @classmethod
    def read(cls, writer: Writer, recording: Stored) -> _Known:
        document = writer.snapshot().records.get(RECORD + recording.graph.name) or {}
        names = ("invocations", "pieces", "exported", "streams")
        return cls(*(document.get(each, {}) for each in names))

    def parts(self, sid: str) -> int:
        """Return the number of recorded parts of a stream that are nodes."""
        return sum(piece["parts"] for piece in self.pieces.get(sid, ()))


@dataclass(slots=True)
class _Added:
    """A sink of nodes that adds them to a transaction."""

    transaction: Transaction
    taken: set[str]

    def name(self, wanted: str) -> str:
        """See `Sink`."""
        name = free_name(self.taken, wanted)
        self.taken.add(name)
        return name

    def segment(self, segment: Segment, values: pa.Table | None = None) -> None:
        """See `Sink`."""
        self.transaction.add_segment(segment, values)

    def edges(
        self, edges: EdgeSet, sources: Array | None = None, targets: Array | None = None
    ) -> None:
        """See `Sink`."""
        self.transaction.add_edges(edges, sources, targets)


def _add(
    writer: Writer, recording: Stored, known: _Known, sid: str, name: str, segment: str
) -> None:
    """Add nodes for all events so far, and a segment of the events new to a dataset."""
    if known.streams.setdefault(name, sid) != sid:
        raise StreamError(
            f"{name} was exported of the stream {known.streams[name]}.\nGive another name."
        )
    exported = known.exported.setdefault(name, {})
    first = max((last for _, last in exported.values()), default=0)
    last = len(recording.parts(sid))
    keys = recording.load(sid, np.arange(first, last))
    if not len(keys):
        raise StreamError(f"The stream {sid} has no events that were not exported as {name}.")
    with writer.transaction() as transaction:
        sink = _Added(transaction, set(writer.snapshot().segments))
        nodes = StreamNodes(recording, sink, dict(known.invocations), _pieces(recording, known))
        for each in _upstream(recording, sid):
            _grow(nodes, known, each, outward=each == sid)
        if nodes.pieces[sid][0].outside is None:
            module = recording.graph.node(sid).module
            raise StreamError(f"The stream {sid} is inside of {module}.\nExport what leaves that.")
        _add_version(nodes, sid, keys, segment)
        exported[segment] = [first, last]
        for stream, pieces in nodes.pieces.items():
            for document, piece in zip(known.pieces[stream], pieces, strict=True):
                document["inputs"] = piece.inputs
        document = {
            "invocations": nodes.invocations,
            "pieces": known.pieces,
            "exported": known.exported,
            "streams": known.streams,
        }
        transaction.put(RECORD + recording.graph.name, document)
        transaction.commit()


def _upstream(recording: Stored, sid: str) -> list[str]:
    """Return a stream and its direct and indirect inputs, each after its own inputs."""
    graph = recording.graph
    needed = {sid}
    for name in reversed(list(graph.nodes)):
        if name in needed:
            needed.update(graph.original(source) for source in graph.node(name).inputs)
    return [name for name in graph.nodes if name in needed]


def _pieces(recording: Stored, known: _Known) -> dict[str, list[Piece]]:
    """Return the existing pieces, with their keys."""
    pieces: dict[str, list[Piece]] = {}
    for sid, documents in known.pieces.items():
        start = 0
        for document in documents:
            parts = np.arange(start, start + document["parts"])
            start += document["parts"]
            keys = recording.load(sid, parts)
            if len(keys) != document["count"]:
                raise StoreDamagedError(
                    f"The recording of {sid} has {len(keys)} events where {document['count']} are "
                    "nodes: run fsck on the store."
                )
            names = (document["inside"], document["outside"], dict(document["inputs"]))
            pieces.setdefault(sid, []).append(Piece(keys, *names))
    return pieces


def _grow(nodes: StreamNodes, known: _Known, sid: str, *, outward: bool) -> None:
    """Add nodes for the events of a stream that have none."""
    recording = nodes.recording
    first, last = known.parts(sid), len(recording.parts(sid))
    nodes.pieces.setdefault(sid, [])
    documents = known.pieces.setdefault(sid, [])
    if first == last:
        return
    keys = recording.load(sid, np.arange(first, last))
    node = recording.graph.node(sid)
    links: list[StreamLink] = []
    if node.inputs:
        owner = np.zeros(1, dtype=np.int64)
        step_back(recording, node, Visited(keys, owner, owner, owner + len(keys)), links)
    leaves = outward or any(piece.outside is not None for piece in nodes.pieces[sid])
    piece = nodes.add(node, keys, links, outward=leaves)
    documents.append(
        {
            "parts": last - first,
            "count": len(keys),
            "inside": piece.inside,
            "outside": piece.outside,
        }
    )


def _add_version(nodes: StreamNodes, sid: str, keys: Keys, segment: str) -> None:
    """Add the exported segment: a node for each of some events."""
    names = pa.table(_names(nodes.recording, keys))
    key = (KEY, NUMBER) if keys.code is not None else (NUMBER,)
    exported = Segment(segment, Kind.DERIVED, "+", len(keys), relation=sid, key=key, file="")
    nodes.sink.segment(exported, names)
    for piece, ordinals, places in nodes.located(sid, keys.code, keys.t):
        assert piece.outside is not None  # checked
        if len(ordinals) == len(piece.keys) == len(keys):
            whole = EdgeSet(piece.outside, segment, len(keys), Ordinals.ALL, Ordinals.ALL)
            nodes.sink.edges(whole)
        else:
            edges = EdgeSet(piece.outside, segment, len(ordinals), file="")
            nodes.sink.edges(edges, ordinals, places)


def _names(recording: Any, keys: Keys) -> Mapping[str, Any]:
    columns: dict[str, Any] = {NUMBER: keys.n, TIME: keys.t}
    if keys.code is not None:
        columns[KEY] = recording.codes.decode(keys.code)
    return columns


def _rows(recording: Stored, sid: str, keys: Keys) -> pa.Table:
    """Return the rows of exported events: names, and content if it was recorded."""
    table = pa.table(_names(recording, keys))
    if not recording.has_content(sid):
        return table
    content = recording.content(sid, keys)
    for name in content.column_names:
        if name in (KEY, NUMBER, TIME):
            raise StreamError(f"The content of {sid} has a reserved column {name}: rename it.")
        table = table.append_column(name, content.column(name))
    return table
