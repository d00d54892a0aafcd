"""The bounded prefix of a replay: the times from which a graph must be run again.

An operator looks back no further than its window, so earlier events do not affect a result. Each
stream has two bounds: the time from which all its events are needed, and the time from which these
have their triggers. Walking back along the graph, inputs have the times of triggers, less the
window.
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
    """The beginning of a replay, by stream; an unneeded stream begins at `INFINITE`.

    Parameters
    ----------
    times
        By stream, the time from which its events are correct.
    triggers
        By stream, the time of triggers from which its outputs are computed.
    """

    times: Mapping[str, int]
    triggers: Mapping[str, int]


def whole(graph: Graph, names: Iterable[str]) -> Prefix:
    """Return the prefix that replays some streams and all their ancestors from the beginning."""
    begins = dict.fromkeys(graph.nodes, INFINITE) | dict.fromkeys(names, NEVER)
    for name in reversed(list(graph.nodes)):
        if begins[name] == NEVER:
            begins |= dict.fromkeys(graph.nodes[name].inputs, NEVER)
    return Prefix(begins, begins)


def prefix_of(recording: Recording, first: Mapping[str, int], *, counted: bool) -> Prefix:
    """Return the beginning of a replay of the events of some streams from given times on.

    Parameters
    ----------
    first
        By stream, the time of the first event in question.
    counted
        Whether length windows may be found by the recorded numbers. They may not if events are
        removed or added: then such a window includes earlier events.
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
    """Return a lower bound on the triggers of events from a time on."""
    parts = recording.parts(sid)
    later = parts.first_trigger[parts.last_t >= time]
    return min(time, int(later.min(initial=time)))


def _first_time(
    recording: Recording, sid: str, trigger: int, reach: Reach, *, counted: bool
) -> int:
    """Return a lower bound on the times of events behind outputs triggered from a time on."""
    if trigger == NEVER:
        return NEVER
    if reach.count is None:
        return max(trigger - reach.time, NEVER + 1)
    if not counted:
        return NEVER
    return _first_counted(recording, sid, trigger, reach)


def _first_counted(recording: Recording, sid: str, trigger: int, reach: Reach) -> int:
    """Return the least time among each key's last `reach.count` events before a trigger."""
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
