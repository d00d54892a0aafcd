"""Lipstick's own records, emitted as events: captures, and graphs of workflow runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lipstick.systems.events.emit import Emitter
from lipstick.systems.events.errors import EventsError

if TYPE_CHECKING:
    from graphquery import ProvenanceGraph
    from lipstick.capture.capture import Capture

TOGETHER = 5_000
"""Edges of a message."""


def emit_capture(capture: Capture, emitter: Emitter, name: str, key: Sequence[str] = ()) -> int:
    """Emit that rows of a captured query came from the tuples that their annotations name.

    Tuples are called by their tokens (``cars:C2``), so that rows join with what other captures,
    and other jobs, say of them.

    Parameters
    ----------
    capture
        See `lipstick.open`.
    name
        Of the query: rows are called ``name:`` and their key.
    key
        Columns that identify rows; none: rows are called by their place in the answer.

    Returns
    -------
    int
        How many rows there are.
    """
    number = 0
    for number, (row, annotation) in enumerate(capture.polynomials(None), 1):
        identity = "|".join(str(row[column]) for column in key) if key else str(number)
        uses = sorted(map(str, annotation.tokens))
        emitter.record(name, f"{name}/{identity}", uses, [f"{name}:{identity}"])
    return number


def emit_graph(graph: ProvenanceGraph, emitter: Emitter, name: str) -> int:
    """Emit the edges of a provenance graph, for example of a workflow run, between its nodes.

    Nodes are called by their names. Values are not emitted.

    Parameters
    ----------
    name
        Of the function that the edges are of.

    Returns
    -------
    int
        How many edges there are.

    Raises
    ------
    EventsError
        When the graph is zoomed.
    """
    if graph.zoomed:
        raise EventsError(
            "Edges of a zoomed graph are those of what it hides, too.\nZoom in, and emit it then."
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
