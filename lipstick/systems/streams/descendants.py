"""Descendants: the outputs with some events among their ancestors, found along the graph."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lipstick.systems.streams.events import Events, Found, resolve
from lipstick.systems.streams.keys import INFINITE, Keys, distinct_keys, search
from lipstick.systems.streams.node import StreamNode
from lipstick.systems.streams.operators.base import Reach, Spans
from lipstick.systems.streams.operators.merge import trigger_rank
from lipstick.systems.streams.recorded_keys import within_reach
from lipstick.systems.streams.recording import Recording
from semiring.base import Array
from semiring.support.door import checked


@checked
def descendants(recording: Recording, events: Events, within: Iterable[str] | None = None) -> Found:
    """Return the direct and indirect descendants of some events.

    Parameters
    ----------
    within
        The streams to search; None: the streams without consumers.
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
        if sid != start:
            streams[name] = reached.get(sid, Keys.empty(graph.node(sid).keyed))
    return Found(recording, streams, recording.notes())


def _step_forth(recording: Recording, node: StreamNode, which: int, given: Keys) -> Keys:
    """Return the outputs of an operator that derive directly from some events of an input."""
    operator = node.operator
    assert operator is not None
    keyed = recording.graph.node(node.inputs[which]).keyed
    codes = given.code if keyed else None
    last = _last_trigger(recording, node.inputs[which], given, operator.reach(which))
    parts = recording.parts(node.sid)
    outputs = recording.load(node.sid, parts.within(given.t, last, codes, of="trigger"))
    rank = trigger_rank(outputs) if operator.inputs < 0 else None
    near = _triggered_within(outputs, codes, given.t, last)
    outputs, rank = outputs.take(near), None if rank is None else rank[near]
    if not len(outputs):
        return outputs
    inputs = [
        within_reach(recording, source, outputs, operator.reach(i))
        for i, source in enumerate(node.inputs)
    ]
    low, high = operator.spans(outputs, inputs, which, rank)
    keys = inputs[which]
    position = search(keys.code, keys.t, codes, given.t)
    known = position < len(keys)
    known[known] = keys.t[position[known]] == given.t[known]
    if keys.code is not None and codes is not None:
        known[known] &= keys.code[position[known]] == codes[known]
    return outputs.take(covering((low, high), position[known]))


def _last_trigger(recording: Recording, sid: str, given: Keys, reach: Reach) -> Array:
    """Return, for each event, the latest time of a trigger whose output may still include it."""
    if reach.count is None:
        return given.t + reach.time
    # Windows of a fixed length no longer include the event after that many later events.
    n = given.n + reach.count
    keys = recording.load(sid, recording.parts(sid).within(n, n, given.code, of="n"))
    index = search(keys.code, keys.n, given.code, n)
    known = index < len(keys)
    known[known] = keys.n[index[known]] == n[known]
    if keys.code is not None and given.code is not None:
        known[known] &= keys.code[index[known]] == given.code[known]
    last = np.full(len(n), INFINITE)
    last[known] = keys.t[index[known]] - 1
    return last


def _triggered_within(outputs: Keys, codes: Array | None, first: Array, last: Array) -> Array:
    """Return the outputs triggered in any of some closed intervals, which ascend per code."""
    own_codes = None if codes is None else outputs.code
    index = search(codes, first, own_codes, outputs.trigger, "right") - 1
    near = np.flatnonzero(index >= 0)
    index = index[near]
    met = last[index] >= outputs.trigger[near]
    if codes is not None and own_codes is not None:
        met &= codes[index] == own_codes[near]
    result: Array = near[met]
    return result


def covering(spans: Spans, positions: Array) -> Array:
    """Return the indices of the ranges that include at least one of some positions, ascending.

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
