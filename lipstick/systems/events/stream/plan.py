"""The plan of a batch: settings, and the files with the state of each topic."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from graphquery.reduction import Evidence, FunctionCounts
from lipstick.systems.events.formats import MESSAGES
from semiring.base import Semiring

EXECUTION, FUNCTION, WORKER, SOURCE = "execution", "function", "worker", "source"
PARTITIONINGS = (EXECUTION, FUNCTION, WORKER, SOURCE)

STATE, LOG = "state", "log"
"""Folders of a job: open state, and counted messages."""


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """The state of a topic at the last commit. Files are names in the folder of state.

    Parameters
    ----------
    held, done
        By partition, the messages of attempts that have not ended, and the finished attempts.
    open, told
        By shard, its state, and the files sent to it since.
    functions
        The counts of functions, by name.
    latest
        By worker, the time of its latest message.
    watermark
        See `Watermark`.
    due, edges
        The total number of edges of the topic, if a seal declared it, and of counted edges.
    sealed
        Whether it is finished.
    waiting
        By partition, the number of held messages.
    sizes
        By shard, the numbers of open edges, vertices and bytes.
    counts
        Numbers of messages and edges by their fate so far.
    named
        Some of the vertices that were not as declared.
    runs
        The runs in events of OpenLineage.
    logged, kept_from
        By batch the latest time that had arrived with it, and the first batch whose messages are
        retained.
    """

    held: Mapping[int, str] = field(default_factory=dict)
    done: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    open: Mapping[int, str] = field(default_factory=dict)
    told: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    functions: Mapping[str, FunctionCounts] = field(default_factory=dict)
    latest: Mapping[str, int] = field(default_factory=dict)
    watermark: int | None = None
    due: int | None = None
    edges: int = 0
    sealed: bool = False
    waiting: Mapping[int, int] = field(default_factory=dict)
    sizes: Mapping[int, tuple[int, int, int]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    runs: str | None = None
    logged: Mapping[int, int] = field(default_factory=dict)
    kept_from: int = 0

    @property
    def evidence(self) -> Evidence:
        """The evidence beside counts: the watermark, and whether the topic is sealed."""
        return Evidence(watermark=self.watermark, sealed=self.sealed)

    @property
    def files(self) -> set[str]:
        """The needed files."""
        runs = () if self.runs is None else (self.runs,)
        several = [runs, *self.done.values(), *self.told.values()]
        return {*self.held.values(), *self.open.values(), *(n for names in several for n in names)}

    def document(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return asdict(self) | {"functions": functions_document(self.functions)}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> TopicPlan:
        """Return the plan of a `document`."""
        given = dict(document)
        for name in ("held", "open", "waiting", "logged"):
            given[name] = {int(number): value for number, value in given.get(name, {}).items()}
        for name in ("done", "told", "sizes"):
            given[name] = {int(number): tuple(values) for number, values in given[name].items()}
        given["functions"] = functions_of(given["functions"])
        given["named"] = tuple(given["named"])
        return cls(**given)


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """The plan for all tasks of a batch.

    Parameters
    ----------
    folder
        Of the job's files; all workers can read and write it.
    batch
        Its number.
    shards
        How many there are, of executions as of vertices.
    labels
        By partition, a number that Spark's hash sends there.
    partitioning
        Of local reducers.
    log
        Whether counted messages are logged, for repairing late ones.
    overlap, semiring, hubs
        See `Settings`.
    format, events_topic
        The format of events, and the topic of documents and events in other formats than ours.
    topics
        By name.
    """

    folder: str
    batch: int
    shards: int
    labels: tuple[int, ...]
    partitioning: str = EXECUTION
    log: bool = True
    overlap: int = 0
    semiring: Semiring[Any] | None = None
    hubs: bool = True
    format: str = MESSAGES
    events_topic: str = "events"
    topics: Mapping[str, TopicPlan] = field(default_factory=dict)

    def topic(self, name: str) -> TopicPlan:
        """Return the state of a topic, an empty one if it is new."""
        return self.topics.get(name, TopicPlan())

    def document(self) -> dict[str, Any]:
        """The plan as plain values, without the semiring."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        topics = {name: known.document() for name, known in self.topics.items()}
        return plain | {"semiring": None, "topics": topics}

    @classmethod
    def of(cls, document: Mapping[str, Any], semiring: Semiring[Any] | None) -> BatchPlan:
        """Return the plan of a `document`."""
        topics = {name: TopicPlan.of(each) for name, each in document["topics"].items()}
        return cls(**{**document, "semiring": semiring, "topics": topics})

    def with_topics(self, topics: Mapping[str, TopicPlan]) -> BatchPlan:
        """Return the plan with different topics."""
        return replace(self, topics=topics)

    def write(self, data: bytes, kind: str, suffix: str = "arrow") -> str:
        """Write a state file durably; return its name."""
        name = f"{self.batch:09}-{kind}-{uuid.uuid4().hex}.{suffix}"
        self._write(Path(self.folder) / STATE / name, data)
        return name

    def read(self, name: str) -> memoryview:
        """Read a state file."""
        return memoryview((Path(self.folder) / STATE / name).read_bytes())

    def write_log(self, data: bytes, topic: str, part: str) -> None:
        """Log messages, replacing the ones of an earlier attempt of this batch."""
        folder = self.log_of(topic)
        folder.mkdir(parents=True, exist_ok=True)
        self._write(folder / f"{self.batch:09}-{part}.arrow", data)

    def log_of(self, topic: str) -> Path:
        """Return the folder of the messages of a topic that counted."""
        return Path(self.folder) / LOG / hashlib.sha256(topic.encode()).hexdigest()[:20]

    def _write(self, path: Path, data: bytes) -> None:
        hidden = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        with hidden.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        hidden.rename(path)


def functions_document(functions: Mapping[str, FunctionCounts]) -> dict[str, Any]:
    """Return functions as JSON."""
    return {
        name: asdict(each) | {"read_by": None if each.read_by is None else sorted(each.read_by)}
        for name, each in functions.items()
    }


def functions_of(document: Mapping[str, Any]) -> dict[str, FunctionCounts]:
    """Return the functions of a `functions_document`."""
    return {
        name: FunctionCounts(
            **each | {"read_by": None if each["read_by"] is None else frozenset(each["read_by"])}
        )
        for name, each in document.items()
    }
