"""Reduced event graphs as rows that other stores may import, and as PROV events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from graphquery.federation import export_dataset
from graphquery.model import EdgeSet, Kind, Segment
from graphquery.store import Snapshot, Store, Writer
from lipstick.systems.events.emit import Emitter
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.store import LABEL, NodeIndex, check_reduced
from semiring.arrays.arrow import whole

if TYPE_CHECKING:
    from graphquery import ProvenanceGraph
    from lipstick.capture.capture import Capture


def export_outputs(
    store: str | Path,
    topic: str,
    name: str,
    version: str,
    folder: str | Path,
    *,
    rows: pa.Table | None = None,
    column: str = "id",
) -> str:
    """Export the outputs of a topic that was fully reduced.

    Their origins are then sealed: later repairs of edges are refused.

    Parameters
    ----------
    name, version
        Of the dataset that the outputs are.
    folder
        A new one, for the rows as a Parquet file with the manifest beside it.
    rows
        The data of some outputs, identified by `column`; None: only the identifiers of all.

    Returns
    -------
    str
        The identity of the channel.

    Raises
    ------
    EventsError
        The topic is unknown, has no outputs, or is, like one that it joins, still being reduced; or
        a row is none of its outputs.
    graphquery.federation.FederationError
        The folder is not empty, or the version was exported with different data.
    """
    segment = f"{name}@{version}"
    with Store.open(store).writer() as writer:
        snapshot = writer.snapshot()
        _check_complete(snapshot, topic)
        parts = _outputs(snapshot, topic)
        keys = pa.concat_arrays([whole(snapshot.values(part).column("id")) for part in parts])
        wanted = keys if rows is None else _ids(rows, column)
        index = NodeIndex()
        index.add(keys)
        places = index.find(wanted)
        if (places < 0).any():
            strange = wanted[int(np.flatnonzero(places < 0)[0])]
            raise EventsError(
                f"{strange} is not an output of {topic}, as the reduced graph has them."
            )
        if segment not in snapshot.segments:
            _add(writer, topic, parts, wanted, places, segment)
        data = pa.table({"id": wanted}) if rows is None else rows
        return export_dataset(writer, segment, name, version, folder, rows=data)


def _check_complete(snapshot: Snapshot, topic: str) -> None:
    topics = check_reduced(snapshot)
    if topic not in topics:
        raise EventsError(
            f"The store {snapshot.root} has no topic {topic!r}.\nIt has {', '.join(topics)}."
        )
    going = [each for each, told in topics.items() if not told.get("complete")]
    if going:
        raise EventsError(
            f"{', '.join(going)} is still being reduced: ancestors of its outputs may still "
            "arrive.\nExport when it is complete; `lipstick events stats` shows that."
        )


def _outputs(snapshot: Snapshot, topic: str) -> list[Segment]:
    """Return the segments of the outputs that have origins."""
    outputs = [
        segment
        for segment in snapshot.segments.values()
        if segment.relation == topic and segment.label == LABEL and "/outputs." in segment.name
    ]
    if not outputs:
        raise EventsError(f"Topic {topic!r} has no outputs to export.")
    return outputs


def _ids(rows: pa.Table, column: str) -> pa.Array:
    if column not in rows.column_names:
        raise EventsError(
            f"The rows have no column {column!r} of identifiers.\nSay which has them."
        )
    ids = whole(rows.column(column)).cast(pa.string())
    if ids.null_count:
        raise EventsError(f"A row has no identifier in column {column!r}.")
    return ids


def _add(
    writer: Writer,
    topic: str,
    parts: list[Segment],
    keys: pa.Array,
    places: np.ndarray,
    segment: str,
) -> None:
    """Add the exported segment: a node for each row."""
    bases = np.cumsum([0, *(part.count for part in parts)])
    with writer.transaction() as transaction:
        exported = Segment(
            segment, Kind.DERIVED, "+", len(keys), relation=topic, key=("id",), file=""
        )
        transaction.add_segment(exported, pa.table({"id": keys}))
        for part, start, end in zip(parts, bases, bases[1:], strict=False):
            there = np.flatnonzero((places >= start) & (places < end))
            if len(there):
                edges = EdgeSet(part.name, segment, len(there), file="")
                transaction.add_edges(edges, places[there] - start, there)
        transaction.commit()


TOGETHER = 5_000
"""Edges of a message."""


def emit_capture(capture: Capture, emitter: Emitter, name: str, key: Sequence[str] = ()) -> int:
    """Emit the derivations of a captured query's rows from the tuples in their annotations.

    Tuples are named by their tokens (``cars:C2``), so that rows join with the events of other
    captures and jobs.

    Parameters
    ----------
    capture
        See `lipstick.open`.
    name
        The name of the query: rows are identified as ``name:`` and their key.
    key
        Columns that identify rows; none: rows are identified by their number in the answer.

    Returns
    -------
    int
        The number of rows.
    """
    number = 0
    for number, (row, annotation) in enumerate(capture.polynomials(None), 1):
        identity = "|".join(str(row[column]) for column in key) if key else str(number)
        uses = sorted(map(str, annotation.tokens))
        emitter.record(name, f"{name}/{identity}", uses, [f"{name}:{identity}"])
    return number


def emit_graph(graph: ProvenanceGraph, emitter: Emitter, name: str) -> int:
    """Emit the edges of a provenance graph, for example of a workflow run, between its nodes.

    Nodes are identified by their names. Values are not emitted.

    Parameters
    ----------
    name
        The name of the edges' function.

    Returns
    -------
    int
        The number of edges.

    Raises
    ------
    EventsError
        When the graph is zoomed.
    """
    if graph.zoomed:
        raise EventsError(
            "A zoomed graph hides nodes whose edges are needed.\nZoom in, and emit it then."
        )
    storage = graph.storage
    causes = np.repeat(np.arange(storage.count), np.diff(storage.outgoing.offsets))
    effects = storage.outgoing.nodes
    seen = np.ones(storage.count, dtype=np.bool_)
    if graph.visible is not None:
        seen = graph.visible[: storage.count]
    shown = seen[causes] & seen[effects]
    causes, effects = causes[shown], effects[shown]
    encode = json.JSONEncoder(ensure_ascii=False).encode
    for number, start in enumerate(range(0, len(causes), TOGETHER)):
        part = slice(start, start + TOGETHER)
        pairs = zip(graph.names(effects[part]), graph.names(causes[part]), strict=True)
        edges = encode([[effect, cause, "wasDerivedFrom"] for effect, cause in pairs])
        emitter.send(name, f"{name}/{number}", edges)
    return len(causes)
