"""Ancestors by reverse mapping: no edge is stored, each is computed from keys.

Source: the thesis, section 4.1.2 (``retrieveAncestors``). Its worklist of single keys is replaced
by one step per stream, backwards along the graph, over the union of the wanted ranges; each event
is visited once, and sources end the walk whether named or not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lipstick.systems.streams.events import Events, Found, resolve
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.keys import (
    Keys,
    merge_ranges,
    search,
)
from lipstick.systems.streams.node import StreamNode
from lipstick.systems.streams.operators.merge import trigger_rank
from lipstick.systems.streams.recorded_keys import within_reach
from lipstick.systems.streams.recording import Recording
from semiring.arrays.segments import expand
from semiring.base import Array
from semiring.support.door import checked


@dataclass(frozen=True, slots=True, eq=False)
class EventRanges:
    """Ranges of events of a stream by time, each with an owner, the question that it belongs to.

    Parameters
    ----------
    owner
        Of each range.
    code
        The key's code; None without a key.
    low, high
        The times of the first and the last event.
    """

    owner: Array
    code: Array | None
    low: Array
    high: Array

    @staticmethod
    def of(keys: Keys, owner: Array | None = None) -> EventRanges:
        """Return a range for each key; without owners all belong to one question."""
        owner = np.zeros(len(keys), dtype=np.int64) if owner is None else owner
        return EventRanges(owner, keys.code, keys.t, keys.t)


@dataclass(frozen=True, slots=True, eq=False)
class Visited:
    """The events of a stream that a walk reached.

    Parameters
    ----------
    keys
        Of the parts that were loaded.
    owner, low, high
        Disjoint ranges of positions in them, of each owner.
    """

    keys: Keys
    owner: Array
    low: Array
    high: Array

    def events(self) -> tuple[Keys, Array]:
        """Return the keys, and the owner of each; ascending for each owner."""
        places, ranges = expand(self.low, self.high)
        if len(self.owner) and not self.owner.any():
            return self.keys.take(places), np.zeros(len(places), dtype=np.int64)
        return self.keys.take(places), self.owner[ranges]


@dataclass(frozen=True, slots=True, eq=False)
class StreamLink:
    """Direct dependencies between two streams: output i derives from the positions of range i."""

    sid: str
    source: str
    which: int
    outputs: Keys
    inputs: Keys
    low: Array
    high: Array


@checked
def ancestors(recording: Recording, events: Events, within: Iterable[str] | None = None) -> Found:
    """Return the ancestors of some events.

    Parameters
    ----------
    within
        The streams to search (the *scope*): the walk ends at sources, which are reported when
        reached, and where none of these streams is further up. None: sources.

    Raises
    ------
    StreamError
        The recording has no such stream or event.

    Notes
    -----
    Exact for maps, filters, windows, aggregates and merges; of a join, all events in both windows,
    which may be more than the events that matched. O((r + e) log n) for e events of r ranges.
    """
    keys = resolve(recording, events)
    streams, _ = walk_back(recording, events.sid, EventRanges.of(keys), within)
    return Found(recording, streams, recording.notes())


@checked
def ancestors_of_each(
    recording: Recording, events: Events, within: Iterable[str] | None = None
) -> tuple[Keys, dict[str, tuple[Keys, Array]]]:
    """Return the ancestors of each event separately.

    Returns
    -------
    keys, found
        The events in question, and by stream the ancestors' keys, each with the position in `keys`
        of its descendant.
    """
    keys = resolve(recording, events)
    ranges = EventRanges.of(keys, np.arange(len(keys), dtype=np.int64))
    _, visited = walk_back(recording, events.sid, ranges, within)
    return keys, {sid: visited_stream.events() for sid, visited_stream in visited.items()}


def walk_back(
    recording: Recording,
    sid: str,
    ranges_asked: EventRanges,
    within: Iterable[str] | None = None,
    links: list[StreamLink] | None = None,
) -> tuple[dict[str, Keys], dict[str, Visited]]:
    """Walk from events to their ancestors.

    Parameters
    ----------
    links
        Gets every step's direct dependencies, if given.
    """
    graph = recording.graph
    start = graph.original(sid)
    targets = _targets(recording, within)
    above = _with_targets_above(graph, targets)
    waiting: dict[str, list[EventRanges]] = {start: [ranges_asked]}
    visited: dict[str, Visited] = {}
    for name in reversed(list(graph.nodes)):
        if name not in waiting:
            continue
        node = graph.nodes[name]
        here = _located(recording, name, waiting.pop(name))
        if not node.inputs or (name in targets and name != start):
            visited[name] = here
        if not node.inputs or (name in visited and name not in above):
            continue
        for source, ranges in step_back(recording, node, here, links):
            waiting.setdefault(source, []).append(ranges)
    distinct = {name: seen.events()[0] for name, seen in _distinct(visited).items()}
    named = list(within or [source for source in graph.sources if source in visited])
    covered = {graph.original(name) for name in named}
    named += [name for name in graph.nodes if name in visited and name not in covered]
    streams = {name: distinct.get(graph.original(name)) for name in named}
    return (
        {
            name: Keys.empty(graph.node(name).keyed) if keys is None else keys
            for name, keys in streams.items()
        },
        {name: visited[graph.original(name)] for name in named if graph.original(name) in visited},
    )


def _distinct(visited: dict[str, Visited]) -> dict[str, Visited]:
    """Return the same events without distinguishing owners."""
    result = {}
    for name, seen in visited.items():
        zero = np.zeros(len(seen.owner), dtype=np.int64)
        result[name] = Visited(seen.keys, *merge_ranges(zero, seen.low, seen.high))
    return result


def _targets(recording: Recording, within: Iterable[str] | None) -> frozenset[str]:
    graph = recording.graph
    return frozenset(graph.original(name) for name in within or graph.sources)


def _with_targets_above(graph: Graph, targets: frozenset[str]) -> set[str]:
    """Return the streams that derive from some target, directly or indirectly."""
    above: set[str] = set()
    for name, node in graph.nodes.items():
        if any(source in targets or source in above for source in node.inputs):
            above.add(name)
    return above


def _located(recording: Recording, sid: str, ranges: list[EventRanges]) -> Visited:
    """Return ranges by time as disjoint ranges of positions among the loaded keys."""
    owner = np.concatenate([each.owner for each in ranges])
    low = np.concatenate([each.low for each in ranges])
    high = np.concatenate([each.high for each in ranges])
    codes = [each.code for each in ranges if each.code is not None]
    code = np.concatenate(codes) if codes else None
    keys = recording.load(sid, recording.parts(sid).within(low, high, code))
    start = search(keys.code, keys.t, code, low, "left")
    stop = search(keys.code, keys.t, code, high, "right")
    return Visited(keys, *merge_ranges(owner, start, stop))


def step_back(
    recording: Recording, node: StreamNode, here: Visited, links: list[StreamLink] | None
) -> list[tuple[str, EventRanges]]:
    """Return the ranges of inputs behind outputs of an operator.

    Parameters
    ----------
    links
        Gets the direct dependencies, if given.
    """
    operator = node.operator
    assert operator is not None
    whole = operator.aligned and links is None
    if whole:
        # One output for each input: the union over a run of outputs is one run of inputs.
        positions = np.stack((here.low, here.high - 1), axis=1).ravel()
        owner = here.owner
    else:
        positions, ranges = expand(here.low, here.high)
        owner = here.owner[ranges]
    outputs = here.keys.take(positions)
    rank = trigger_rank(here.keys)[positions] if operator.inputs < 0 else None
    inputs = [
        within_reach(recording, source, outputs, operator.reach(which))
        for which, source in enumerate(node.inputs)
    ]
    result = []
    for which, source in enumerate(node.inputs):
        keys = inputs[which]
        low, high = operator.spans(outputs, inputs, which, rank)
        if links is not None:
            links.append(StreamLink(node.sid, source, which, outputs, keys, low, high))
        if whole:
            low, high = low[0::2], high[1::2]
        there = low < high
        codes = None if keys.code is None else keys.code[low[there]]
        result.append(
            (source, EventRanges(owner[there], codes, keys.t[low[there]], keys.t[high[there] - 1]))
        )
    return result
