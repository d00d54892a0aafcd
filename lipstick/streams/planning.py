"""How much a recording takes: the formulas of the thesis (section 6.2), and what is measured."""

from __future__ import annotations

from dataclasses import dataclass

from lipstick.streams.errors import StreamError
from lipstick.streams.stored import Stored


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes that a recording takes.

    Parameters
    ----------
    full
        With the content of all streams: ``SC_unopt``.
    optimised
        With that of sources alone: ``SC_opt``.
    """

    full: float
    optimised: float

    @property
    def saved(self) -> float:
        """The share that the optimised form saves, of 1: ``SS``."""
        return (self.full - self.optimised) / self.full if self.full else 0.0


def storage(events: int, sources: int, others: int, key: float, content: float) -> Storage:
    """The thesis's formulas: every stream has so many events.

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
    if min(events, sources, others, key, content) < 0:
        raise StreamError("A plan has a negative number.\nGive 0 or more of everything.")
    full = (key + content) * events * (sources + others)
    optimised = (key + content) * events * sources + key * events * others
    return Storage(full, optimised)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a stream takes in a store.

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
        """The bytes of the stream when the sources have so many events together."""
        return round(events * self.rate * (self.bytes_per_event or 0.0))


def measured(recording: Stored) -> list[Measured]:
    """What every recorded stream takes, in the order of the graph."""
    graph = recording.graph
    counts = {sid: int(recording.parts(sid).rows.sum()) for sid in graph.recorded}
    total = sum(counts[sid] for sid in graph.sources)
    result = []
    for sid, count in counts.items():
        size = recording.bytes_of(sid)
        rate = count / total if total else 0.0
        result.append(Measured(sid, count, size / count if count else None, rate))
    return result
