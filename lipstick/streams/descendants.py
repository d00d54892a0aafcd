"""Descendants: the outputs that have one of some events as an ancestor, found along the graph."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lipstick.streams.ancestors import within_reach
from lipstick.streams.events import Events, Found, resolve
from lipstick.streams.graph import Node
from lipstick.streams.keys import INFINITE, Keys, distinct_keys, search
from lipstick.streams.operators.base import Spans
from lipstick.streams.operators.merge import trigger_rank
from lipstick.streams.recording import Recording
from semiring.base import Array


def descendants(recording: Recording, events: Events, within: Iterable[str] | None = None) -> Found:
    """The events that were made of some events, directly or not.

    Parameters
    ----------
    within
        The streams to look in; None: those that nothing is made of.
    """
    graph = recording.graph
    keys = resolve(recording, events)
    start = graph.original(events.sid)
    reached: dict[str, Keys] = {start: keys}
    for sid, node in graph.nodes.items():
        if node.operator is None or node.twin is not None:
            continue
        parts = [
            _step_forth(recording, node, which, reached[source])
            for which, source in enumerate(node.inputs)
            if source in reached and len(reached[source])
        ]
        parts = [part for part in parts if len(part)]
        if parts:
            before = [reached[sid]] if sid in reached else []
            reached[sid] = distinct_keys([*before, *parts])
    if within is None:
        within = [sid for sid in graph.recorded if not graph.consumers(sid)]
    streams = {}
    for name in within:
        sid = graph.original(name)
        if sid in reached and sid != start:
            streams[name] = reached[sid]
    return Found(recording, streams, recording.notes())


def _step_forth(recording: Recording, node: Node, which: int, given: Keys) -> Keys:
    """The outputs of an operator that have one of some events of an input as an ancestor."""
    operator = node.operator
    assert operator is not None
    reach = operator.reach(which)
    parts = recording.parts(node.sid)
    last = given.t + reach.time if reach.count is None else np.full(len(given), INFINITE)
    outputs = recording.load(node.sid, parts.within(given.t, last, of="trigger"))
    if not len(outputs):
        return outputs
    rank = trigger_rank(outputs) if operator.inputs < 0 else None
    inputs = [
        within_reach(recording, source, outputs, operator.reach(i))
        for i, source in enumerate(node.inputs)
    ]
    low, high = operator.spans(outputs, inputs, which, rank)
    keys = inputs[which]
    codes = None if keys.code is None else given.code
    position = search(keys.code, keys.t, codes, given.t)
    known = position < len(keys)
    known[known] = keys.t[position[known]] == given.t[known]
    if keys.code is not None and given.code is not None:
        known[known] &= keys.code[position[known]] == given.code[known]
    return outputs.take(covering((low, high), position[known]))


def covering(spans: Spans, positions: Array) -> Array:
    """Which ranges have at least one of some positions, ascending.

    Parameters
    ----------
    spans
        Ranges ``[low, high)`` in any order, some of them empty.
    positions
        Ascending.
    """
    low, high = spans
    first = np.searchsorted(positions, low, "left")
    stop = np.searchsorted(positions, high, "left")
    return np.flatnonzero(first < stop)
