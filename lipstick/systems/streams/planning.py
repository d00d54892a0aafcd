"""The cost of a run, by formulas and as measured: bytes in a store, events in memory.

Source: the thesis, sections 6.3 and 6.5. Its formula for memory is ``c * w * AS``, for c operators
that buffer a window of w ticks each; here the parameters of each operator are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.operators import LengthJoin, LengthWindow, TimeJoin, TimeWindow
from lipstick.systems.streams.stored import Stored
from semiring.support.door import checked


@checked
@dataclass(frozen=True, slots=True)
class Storage:
    """The bytes of a recording.

    Parameters
    ----------
    full
        With the content of all streams: ``SC_unopt``.
    optimised
        With the content of sources only: ``SC_opt``.
    """

    full: float
    optimised: float

    @property
    def saved(self) -> float:
        """The share, from 0 to 1, that the optimised form saves: ``SS``."""
        return (self.full - self.optimised) / self.full if self.full else 0.0


@checked
def storage(events: int, sources: int, derived: int, key: float, content: float) -> Storage:
    """Return the thesis's estimate, for equally many events in every stream.

    Parameters
    ----------
    events
        Of each stream (m).
    sources, others
        Recorded streams of either kind (fs, is).
    key, content
        Bytes of an event's key and content (k, e).

    Raises
    ------
    StreamError
        A negative number.
    """
    if min(events, sources, derived, key, content) < 0:
        raise StreamError("A plan cannot have negative numbers.\nGive 0 or more of everything.")
    full = (key + content) * events * (sources + derived)
    optimised = (key + content) * events * sources + key * events * derived
    return Storage(full, optimised)


@dataclass(frozen=True, slots=True)
class StreamSpace:
    """The space of a stream in a store.

    Parameters
    ----------
    stream
        Its name.
    events
        Recorded so far.
    bytes_per_event
        Of the files, shared by rows among the streams that are in one; None: no events.
    rate
        Events for each event of all sources together.
    """

    stream: str
    events: int
    bytes_per_event: float | None
    rate: float

    def predicted(self, events: int) -> int:
        """Return the bytes of the stream for a total number of events of the sources."""
        return round(events * self.rate * (self.bytes_per_event or 0.0))


def measured(recording: Stored) -> list[StreamSpace]:
    """Return the space of every recorded stream, in the order of the graph."""
    graph = recording.graph
    counts = {sid: int(recording.parts(sid).rows.sum()) for sid in graph.recorded}
    total = sum(counts[sid] for sid in graph.sources)
    result = []
    for sid, count in counts.items():
        size = recording.bytes_of(sid)
        rate = count / total if total else 0.0
        result.append(StreamSpace(sid, count, size / count if count else None, rate))
    return result


def held(graph: Graph, rates: Mapping[str, float], keys: float = 1.0) -> dict[str, float]:
    """Return the number of events in memory for each stream, in the buffer of its operator.

    A time window buffers the events of its width, a length window one less than its length per key,
    a join the events of both windows, a source the events to be put in order. Inputs of a join or
    merge are assumed to keep pace; events waiting for another input are not included.

    Parameters
    ----------
    rates
        By stream, events a tick, of all keys together.
    keys
        The number of values that keys have.
    """
    result = {}
    for sid, node in graph.nodes.items():
        if node.twin is not None:
            continue
        own_keys = keys if node.keyed else 1.0
        inputs = [rates[name] for name in node.inputs]
        match node.operator:
            case None:
                result[sid] = rates[sid] * (node.source.disorder if node.source else 0)
            case TimeWindow(width):
                result[sid] = inputs[0] * width + own_keys
            case LengthWindow(length):
                result[sid] = (length - 1) * own_keys
            case TimeJoin(left, right, _):
                result[sid] = inputs[0] * left + inputs[1] * right + 2 * own_keys
            case LengthJoin(left, right, _):
                result[sid] = (left + right) * own_keys
            case _:
                result[sid] = 0.0
    return result


def predicted_held(recording: Stored) -> dict[str, float]:
    """Return `held` for the average rates of the recorded streams."""
    rates = {}
    for sid in recording.graph.recorded:
        parts = recording.parts(sid)
        ticks = int(parts.last_t.max() - parts.first_t.min()) if len(parts) else 0
        rates[sid] = float(parts.rows.sum()) / ticks if ticks else 0.0
    return held(recording.graph, rates, float(len(recording.codes)))


def held_in(recording: Stored) -> dict[str, int]:
    """Return the number of events that each stream's operator held after the last stored batch."""
    result = dict.fromkeys(recording.graph.recorded, 0)
    for state in recording.states():
        for sid in result:
            tables = state[sid].tables if sid in state else {}
            result[sid] += sum(
                len(table) for name, table in tables.items() if name not in _COUNTERS
            )
    return result


_COUNTERS = ("numbering", "times", "sequence", "seen", "done")
"""Tables of a state without events."""
