"""The watermark of a partitioned stream."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.events.message import SEALED


class Watermark:
    """min over partitions of max(event time), less the allowed lateness.

    Spark takes the maximum over partitions, which may be ahead of a slow partition; this watermark
    waits for all.

    Parameters
    ----------
    lateness
        How much earlier than the latest of its partition a message may be, in microseconds.
    partitions
        The number of partitions: before all have sent messages there is no watermark.
    latest
        The latest times of partitions that have sent messages before.
    """

    def __init__(
        self, lateness: int, partitions: int = 1, latest: Mapping[str, int] | None = None
    ) -> None:
        self._lateness = lateness
        self._partitions = partitions
        self.latest = dict(latest or {})
        self._time: int | None = None

    def see(self, messages: pa.Table) -> None:
        """Record the times of messages; a message's partition is its worker.

        A seal belongs to no worker, and does not advance the watermark.
        """
        is_seal = pc.equal(messages.column("kind"), SEALED)
        timed = pc.and_(messages.column("event_time").is_valid(), pc.invert(is_seal))
        with_time = messages.filter(timed)
        workers = pc.fill_null(with_time.column("worker"), "")
        table = pa.table({"worker": workers, "time": with_time.column("event_time")})
        latest = table.group_by("worker").aggregate([("time", "max")]).to_pydict()
        for worker, time in zip(latest["worker"], latest["time_max"], strict=True):
            self.latest[worker] = max(self.latest.get(worker, time), time)

    @property
    def time(self) -> int | None:
        """The time before which no message is expected, or None if unknown.

        It never goes back, even if a message of an unexpected worker arrives.
        """
        if len(self.latest) >= self._partitions and self.latest:
            time = min(self.latest.values()) - self._lateness
            self._time = time if self._time is None else max(time, self._time)
        return self._time
