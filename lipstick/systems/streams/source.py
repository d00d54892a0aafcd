"""Sources: how events get their times and numbers, and how disorder is handled.

The model needs times that are unique and increasing in a stream. Irregular arrivals are handled as
follows, and counted, so that an answer can state where it is not exact:

- *out of order*, within `disorder` ticks: held back and put in order;
- *late*, beyond that: dropped, or taken as if it happened now (``late="admit"``);
- *at the same time* as another: gets the next free tick, in the order of arrival;
- *delivered again*, by the `identity` column: dropped;
- *missing*, by gaps of the `sequence` column: counted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from lipstick.systems.errors import StreamError
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class EventSource:
    """A source of a graph.

    Parameters
    ----------
    time
        The column of the events' times: integers in ticks, or timestamps (ticks are their unit);
        None: the time of arrival in microseconds.
    key
        The column that the stream is keyed by; None: one order of all events.
    identity
        A column that is different for different events; None: nothing is a duplicate. It is
        remembered for `disorder` ticks behind what is still expected: of events that are later
        still, dropped ones need no memory, and admitted ones may be taken twice.
    disorder
        The ticks that an event may be behind the latest one and still be put in order.
    late
        ``drop`` or ``admit``: the treatment of events that are further behind.
    sequence
        A column of the sender's numbers, whose gaps are counted.
    """

    time: str | None = None
    key: str | None = None
    identity: str | None = None
    disorder: int = 0
    late: str = "drop"
    sequence: str | None = None

    def __post_init__(self) -> None:
        if self.late not in ("drop", "admit"):
            raise StreamError(f"late={self.late!r}: late events are either 'drop' or 'admit'.")
        if self.disorder < 0:
            raise StreamError(f"disorder={self.disorder}: give 0 ticks or more.")
        if self.time is None and self.disorder:
            raise StreamError(
                "disorder needs a time column: without one, events have their time of arrival."
            )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the source that a store records, as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Disorder:
    """The counts of irregular events of one source in one batch.

    Parameters
    ----------
    late
        Events beyond the allowed disorder, dropped or admitted.
    duplicates
        Events that came again, dropped.
    collisions
        Events whose time was taken: they are some ticks later.
    missing
        Missing numbers of the sender, by the `sequence` column.
    """

    late: int = 0
    duplicates: int = 0
    collisions: int = 0
    missing: int = 0

    def __bool__(self) -> bool:
        return bool(self.late or self.duplicates or self.collisions or self.missing)


def ticks_of(column: pa.ChunkedArray, sid: str) -> Array:
    """Return times as int64 ticks.

    Raises
    ------
    StreamError
        Times that are NULL, or neither integers nor timestamps.
    """
    if column.null_count:
        raise StreamError(
            f"Source {sid}: {column.null_count} events have no time.\nFilter them out before."
        )
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    if not pa.types.is_integer(column.type):
        raise StreamError(
            f"Source {sid}: times have type {column.type}.\nGive integers or timestamps."
        )
    times: Array = column.cast(pa.int64()).to_numpy()
    return times
