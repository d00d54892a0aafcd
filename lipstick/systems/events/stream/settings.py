"""Settings for reducing a stream, and the progress of its batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphquery.reduction import Report
from lipstick.systems.events.attempts import OVERLAP
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.formats import FORMATS, MESSAGES
from lipstick.systems.events.stream.plan import EXECUTION, PARTITIONINGS, TopicPlan
from lipstick.systems.events.topic import Progress
from semiring.base import Semiring


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """Settings for reducing a stream.

    Parameters
    ----------
    semiring, hubs, lateness, overlap, workers
        As for `lipstick.systems.events.Settings`.
    shards
        The number of shards of executions and vertices: the tasks of a batch.
    partitioning
        Of local reducers: by ``execution`` (random, as the paper calls it), ``function``
        (horizontal) or ``worker`` (vertical), which takes another shuffle, or ``source``: as the
        messages come, without a shuffle. Then the stream has a column `partition`, and all
        messages of an execution have one value in it.
    format, topic
        The format of events, and the topic of PROV documents and OpenLineage events.
    log
        Whether counted messages are logged, for repairing late ones. Otherwise late ones are
        reported with the refused lines.
    keep
        In microseconds, how long before the watermark; None: as long as the stream.
    """

    semiring: Semiring[Any] | None = None
    hubs: bool = True
    lateness: int | None = None
    overlap: int = OVERLAP
    workers: int = 1
    shards: int = 2
    partitioning: str = EXECUTION
    log: bool = True
    format: str = MESSAGES
    topic: str = "events"
    keep: int | None = None

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise EventsError(
                f"{self.format!r} is not a format of events: they are {', '.join(FORMATS)}."
            )
        if self.keep is not None and self.lateness is None:
            raise EventsError(
                "Messages are forgotten by time, and no lateness bounds what may still come.\n"
                "Give a lateness, too."
            )
        if self.partitioning not in PARTITIONINGS:
            raise EventsError(
                f"{self.partitioning!r} is not a partitioning: they are {', '.join(PARTITIONINGS)}."
            )

    def document(self) -> dict[str, Any]:
        """Return the settings as JSON, to check that a continued job has the same."""
        labels = None if self.semiring is None else self.semiring.name
        named: tuple[str, ...]
        named = ("hubs", "lateness", "overlap", "workers", "shards", "partitioning", "log")
        if self.format != MESSAGES:
            named = (*named, "format", "topic")
        if self.keep is not None:
            named = (*named, "keep")
        return {name: getattr(self, name) for name in named} | {"labels": labels}


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The progress of a job by one batch.

    Parameters
    ----------
    batch
        Its number.
    topics
        The progress of every topic so far.
    received, bytes
        Edges of this batch, and bytes read.
    seconds
        The duration in seconds.
    lag
        Seconds between writing the oldest input of the batch and its commit; None if unknown.
    """

    batch: int
    topics: dict[str, Progress]
    received: int
    bytes: int
    seconds: float
    lag: float | None


def progress_of(known: TopicPlan, refused: int = 0) -> Progress:
    """Return the progress of a topic, in a job with a number of refused lines."""
    counts = known.counts
    edges, vertices, _ = (sum(size[n] for size in known.sizes.values()) for n in range(3))
    names = ("received", "kept", "dead", "peak_edges", "peak_vertices", "peak_bytes")
    report = Report(
        **{name: counts.get(name, 0) for name in (*names, "excess", "missing", "cyclic")},
        open_edges=edges,
        open_vertices=vertices,
        named=known.named,
    )
    told = ("messages", "repeated", "abandoned", "late", "repaired")
    return Progress(
        report,
        **{name: counts.get(name, 0) for name in told},
        waiting=sum(known.waiting.values()),
        sealed=known.sealed,
        refused=refused,
    )


def size_of(known: TopicPlan) -> int:
    """Return the bytes of a topic's open state."""
    return sum(size[2] for size in known.sizes.values())
