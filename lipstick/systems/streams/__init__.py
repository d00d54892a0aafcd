"""Provenance of streams: the input events behind a result, while the stream runs.

A `Graph` has sources and operators over their streams. A `Runner` runs it in memory, `start` on
Structured Streaming. `Assertions` in a store, or `InMemory`, record the keys of all events and the
content of source events, but no edges. `ancestors` and `descendants` find the rest by reverse
mapping, from keys and the operators' parameters alone; `trace` returns every step as a table,
`provenance_graph` a graph to zoom, delete in and evaluate, and `replay` runs the recording again,
also with events corrected, removed or added. A `Property` travels with the events and needs no
recording.

Source: Sansrimahachai, *Tracing Fine-Grained Provenance in Stream Processing Systems using A
Reverse Mapping Method*, 2012. Where its definitions are not exact (delays of joins, equal times,
buffers that consumers share), this implementation differs, and is exact.

Examples
--------
>>> import pyarrow as pa
>>> from lipstick.systems.streams import Events, Graph, InMemory, Runner, ancestors
>>> graph = Graph("sensors")
>>> recent = graph.source("readings", time="ts").time_window(20, name="recent")
>>> _ = recent.aggregate({"v": ("mean", "v")}, name="means")
>>> recording = InMemory()
>>> runner = Runner(graph, recorders=[recording])
>>> _ = runner.push({"readings": pa.table({"ts": [1, 11, 31], "v": [5.0, 7.0, 9.0]})})
>>> ancestors(recording, Events("means", 3)).numbers("readings")
[2, 3]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.ancestors import ancestors, ancestors_of_each
from lipstick.systems.streams.annotations import Annotation
from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.changes import Changes
from lipstick.systems.streams.delays import Delays, Fixed, Given, Measured
from lipstick.systems.streams.descendants import descendants
from lipstick.systems.streams.engine import Pushed, Runner
from lipstick.systems.streams.events import Events, Found
from lipstick.systems.streams.graph import Graph, Stream
from lipstick.systems.streams.pairs import matched_pairs
from lipstick.systems.streams.planning import Storage, storage
from lipstick.systems.streams.properties import (
    Count,
    Custom,
    ProcessingPath,
    Property,
    SourceSet,
    TotalDelay,
    coverage,
)
from lipstick.systems.streams.provenance import provenance_graph, trace
from lipstick.systems.streams.recording import InMemory, Recording
from lipstick.systems.streams.replay import ReplayOutcome, replay
from lipstick.systems.streams.stored import Stored

if TYPE_CHECKING:
    from lipstick.systems.streams.structured import RunningGraph, ancestors_frame, start

__all__ = [
    "Annotation",
    "Assertions",
    "Changes",
    "Count",
    "Custom",
    "Delays",
    "Events",
    "Fixed",
    "Found",
    "Given",
    "Graph",
    "InMemory",
    "Measured",
    "ProcessingPath",
    "Property",
    "Pushed",
    "Recording",
    "ReplayOutcome",
    "Runner",
    "RunningGraph",
    "SourceSet",
    "Storage",
    "Stored",
    "Stream",
    "StreamError",
    "TotalDelay",
    "ancestors",
    "ancestors_frame",
    "ancestors_of_each",
    "coverage",
    "descendants",
    "matched_pairs",
    "provenance_graph",
    "replay",
    "start",
    "storage",
    "trace",
]

_ON_SPARK = ("RunningGraph", "ancestors_frame", "start")


def __getattr__(name: str) -> Any:
    """Import names that need PySpark lazily."""
    if name in _ON_SPARK:
        from lipstick.systems.streams import structured

        return getattr(structured, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
