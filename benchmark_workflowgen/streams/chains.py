"""Chains of operators, and events for them: the workload of the thesis (section 6.3)."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from lipstick.systems.streams import Graph, Stream

SOURCE = "s1"


def chain(kind: str, components: int, work: float = 0.0) -> Graph:
    """Return a source and a chain of operators, as many streams as components.

    Parameters
    ----------
    kind
        ``map``; or ``window 1000``, a time window of so many ticks and the mean of it, twice each.
    work
        Seconds of work for each event in each operator that has a function.
    """
    graph = Graph(f"{kind} {components}".replace(" ", "_"))
    stream = graph.source(SOURCE, time="ts")
    while len(graph.nodes) < components:
        name = f"s{len(graph.nodes) + 1}"
        stream = _next(graph, stream, kind, name, work)
    return graph


def _next(graph: Graph, stream: Stream, kind: str, name: str, work: float) -> Stream:
    if kind == "map":
        return stream.map(worked(work), name=name)
    windows = (node.operator.kind for node in graph.nodes.values() if node.operator is not None)
    if sum(kind == "time_window" for kind in windows) * 2 < len(graph.nodes):
        return stream.time_window(int(kind.split()[1]), name=name)
    return stream.aggregate({"v": ("mean", "v")}, name=name)


def worked(seconds: float) -> Callable[[pa.Table], pa.Table]:
    """Return a function that works for some time per event, and changes nothing."""

    def function(table: pa.Table) -> pa.Table:
        if seconds:
            time.sleep(seconds * table.num_rows)
        return table

    return function


def events(count: int, payload: int, seed: int = 0) -> pa.Table:
    """Return events, one per tick, with a value and a random-looking text of `size` bytes."""
    chance = np.random.default_rng(seed)
    columns = {"ts": pa.array(np.arange(count)), "v": pa.array(chance.random(count))}
    if payload:
        data = pa.py_buffer(chance.bytes(count * payload))
        fixed = pa.binary(payload)
        columns["payload"] = pa.FixedSizeBinaryArray.from_buffers(fixed, count, [None, data])
    return pa.table(columns)
