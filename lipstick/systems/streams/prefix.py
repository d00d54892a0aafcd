"""From where on a graph must be run again for some results: the bounded prefix of a replay.

An operator looks back no further than its window, so events before have no part in a result. Two
bounds are kept of each stream: all its events from a time on are needed, and these have triggers
from a time on. Walking back along the graph, triggers less the window are the times of inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.keys import INFINITE, NEVER, Keys, last_of_code, search
from lipstick.systems.streams.operators.base import Reach
from lipstick.systems.streams.recorded_keys import within_reach
from lipstick.systems.streams.recording import Recording


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginning of a replay, by stream; a stream not needed begins at `INFINITE`.

    Parameters
    ----------
    times
        From which time on the events of a stream are right.
    triggers
        From which trigger's time on its outputs are run.
    """

    times: Mapping[str, int]
    triggers: Mapping[str, int]


def whole(graph: Graph, names: Iterable[str]) -> Prefix:
    """Of everything that some streams are made of, from the beginning."""
    begins = dict.fromkeys(graph.nodes, INFINITE) | dict.fromkeys(names, NEVER)
    for name in reversed(list(graph.nodes)):
        if begins[name] == NEVER:
            begins |= dict.fromkeys(graph.nodes[name].inputs, NEVER)
    return Prefix(begins, begins)


def prefix_of(recording: Recording, first: Mapping[str, int], *, counted: bool) -> Prefix:
    """Return the beginning of a replay for the events of some streams from given times on.

    Parameters
    ----------
    first
        By stream, the time of the first event that is asked about.
    counted
        Whether windows of a length may be found by the recorded numbers. They may not where events
        are removed, or come to be: then such a window has others that were before it.
    """
    graph = recording.graph
    times = dict.fromkeys(graph.nodes, INFINITE) | dict(first)
    triggers = dict.fromkeys(graph.nodes, INFINITE)
    for name in reversed(list(graph.nodes)):
        node = graph.nodes[name]
        if times[name] == INFINITE or node.twin is not None:
            continue
        triggers[name] = _first_trigger(recording, name, times[name])
        for which, source in enumerate(node.inputs):
            assert node.operator is not None
            reach = node.operator.reach(which)
            time = _first_time(recording, source, triggers[name], reach, counted=counted)
            times[source] = min(times[source], time)
    return Prefix(times, triggers)


def _first_trigger(recording: Recording, sid: str, time: int) -> int:
    """A time that no trigger of an event from a time on is before."""
    parts = recording.parts(sid)
    later = parts.first_trigger[parts.last_t >= time]
    return min(time, int(later.min(initial=time)))


def _first_time(
    recording: Recording, sid: str, trigger: int, reach: Reach, *, counted: bool
) -> int:
    """The time of the first event that what is triggered from a time on may look back at."""
    if trigger == NEVER:
        return NEVER
    if reach.count is None:
        return max(trigger - reach.time, NEVER + 1)
    if not counted:
        return NEVER
    return _first_counted(recording, sid, trigger, reach)


def _first_counted(recording: Recording, sid: str, trigger: int, reach: Reach) -> int:
    """The least time of the last so many events of any key before a trigger."""
    assert reach.count is not None
    keyed = recording.graph.node(sid).keyed
    if keyed:
        before = recording.parts(sid).within(np.array([NEVER]), np.array([trigger]))
        keys = recording.load(sid, before)
        keys = keys.take(np.flatnonzero(keys.t < trigger))
        ends = last_of_code(keys.code, len(keys))
        counted = keys.t[np.arange(len(keys)) >= ends - reach.count]
        return int(counted.min(initial=trigger))
    triggers = np.array([trigger])
    keys = within_reach(
        recording, sid, Keys(triggers, triggers, np.zeros(1, dtype=np.int64)), reach
    )
    stop = int(search(None, keys.t, None, triggers)[0])
    start = max(stop - reach.count, 0)
    return int(keys.t[start:stop].min(initial=trigger))
