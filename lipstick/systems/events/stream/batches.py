"""A job's batches, each one commit of the store with the number of the batch and the state in it.

A batch that is repeated after its commit changes nothing. A batch that was interrupted before
begins again from the state of the last commit: its earlier files, which no commit names, are
removed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Set
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphquery.store import Store, Writer
from lipstick.systems.events.cyclic import reason_of_cycle
from lipstick.systems.events.dead_letters import (
    NONE_KEPT,
    SOME_FORGOTTEN,
    append_letters,
    late_letters,
    read_letters,
)
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.message import SCHEMA
from lipstick.systems.events.parse import DeadLetter
from lipstick.systems.events.store import ReducedWriter
from lipstick.systems.events.stream.gathered import Gathered, added, gather
from lipstick.systems.events.stream.openlineage_runs import take_events, tell_runs
from lipstick.systems.events.stream.plan import LOG, STATE, BatchPlan, TopicPlan
from lipstick.systems.events.stream.settings import (
    BatchProgress,
    StreamSettings,
    progress_of,
    size_of,
)
from lipstick.systems.events.stream.settling import (
    Settling,
    cyclic_letters,
    logged,
    may_lack_documents,
    resettled,
)
from lipstick.systems.events.stream.task_messages import Row
from lipstick.systems.events.stream.wire import concatenated, table_bytes
from lipstick.systems.events.topic import Progress, mend
from lipstick.systems.events.watermark import Watermark

SMALL = 8 << 20
"""Size in bytes of a topic's open state up to which it is fully resolved after every batch, in
the driver: a step of a job costs more. Larger state is resolved further with the next batch.
"""


@dataclass
class Batches:
    """The store of a job, and the job's progress; to be used as a context.

    Parameters
    ----------
    store
        The folder of a store; made if there is none.
    settings
        The same for all batches.
    folder
        The folder of the job's own files; by default beside the store. Workers read and write it.

    Raises
    ------
    EventsError
        When the store has something else, or was written with other settings.
    """

    store: Path
    settings: StreamSettings
    folder: Path
    labels: tuple[int, ...] = ()
    query: str | None = None
    batch: int = -1
    topics: dict[str, TopicPlan] = field(default_factory=dict)
    dead: int = 0
    _refused: set[tuple[str, int]] | None = field(default=None, init=False)
    _writer: Writer = field(init=False)
    _reduced: ReducedWriter = field(init=False)

    def __enter__(self) -> Batches:
        exists = (self.store / "format.json").exists()
        opened = Store.open(self.store) if exists else Store.create(self.store)
        self._writer = opened.writer()
        self._writer.__enter__()
        try:
            self._reduced = ReducedWriter(self._writer)
            self._go_on()
            sweep_state(self.folder, self._needed)
            sweep_log(self.folder, self.batch)
        except BaseException:
            self._writer.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._writer.close()

    @property
    def letters(self) -> Path:
        """The file of refused lines."""
        return self.store.parent / f"{self.store.name}.dead.jsonl"

    def plan(self, batch: int) -> BatchPlan:
        """Return the plan for the tasks of a batch."""
        given = self.settings
        return BatchPlan(
            str(self.folder.absolute()),
            batch,
            given.shards,
            self.labels or tuple(range(given.shards)),
            given.partitioning,
            given.log,
            given.overlap,
            given.semiring,
            given.hubs,
            given.format,
            given.topic,
            self.topics,
        )

    def begin(self, query: str) -> None:
        """Bind the numbering of batches to a query.

        Raises
        ------
        EventsError
            The store has batches of a different query.
        """
        if self.query is not None and self.query != query:
            raise EventsError(
                f"The store {self.store} has batches of another checkpoint: those of this one have "
                "the same numbers.\nGo on with its checkpoint, or reduce into another store."
            )
        self.query = query

    def commit(self, batch: int, received: Iterable[Row]) -> BatchProgress | None:
        """Commit the results of a batch's tasks; return None if it was committed before."""
        if batch <= self.batch:
            return None
        began = time.time()
        plan = self.plan(batch)
        before = sum(known.edges for known in self.topics.values())
        gathered = gather(plan, received)
        for topic in gathered.topics:
            if topic not in self.topics and self._reduced.topic(topic):
                raise EventsError(
                    f"The store has topic {topic} already, from files: its edges would come in "
                    "twice.\nReduce into another store, or give new events another topic."
                )
        take_events(plan, gathered, gathered.events)
        self._refuse(gathered.letters)
        for topic in list(gathered.topics):
            self._advance(gathered, topic, batch)
            self._refuse(tell_runs(plan, gathered, topic))
            self._settle(plan, gathered, topic, small=SMALL)
        self._write(batch, gathered)
        now = time.time()
        lag = None if gathered.oldest is None else max(0.0, now - gathered.oldest / 1e6)
        came = sum(known.edges for known in self.topics.values()) - before
        return BatchProgress(batch, self.progress, came, gathered.bytes, now - began, lag)

    def close(self, step: Callable[[BatchPlan], Iterable[Row]] | None = None) -> BatchProgress:
        """End the input: everything open is closed and committed.

        Parameters
        ----------
        step
            Takes a step of all shards, if they are too large for one process.
        """
        began = time.time()
        self.topics = {name: replace(known, sealed=True) for name, known in self.topics.items()}
        gathered = Gathered(dict(self.topics))
        going = step is not None
        while going and step is not None:
            going = any(size_of(known) > 8 * SMALL for known in gathered.topics.values())
            if going:
                plan = self.plan(self.batch).with_topics(gathered.topics)
                stepped = gather(plan, step(plan))
                for topic, finals in stepped.finals.items():
                    gathered.finals.setdefault(topic, []).extend(finals)
                going = any(known.told for known in stepped.topics.values())
                gathered.topics = stepped.topics
        plan = self.plan(self.batch)
        for topic in list(gathered.topics):
            self._refuse(tell_runs(plan, gathered, topic))
            self._settle(plan, gathered, topic, small=None)
        self._write(self.batch, gathered, complete=True)
        return BatchProgress(self.batch, self.progress, 0, 0, time.time() - began, None)

    @property
    def progress(self) -> dict[str, Progress]:
        """The progress of every topic."""
        return {name: progress_of(known, self.dead) for name, known in self.topics.items()}

    def _advance(self, gathered: Gathered, topic: str, batch: int) -> None:
        """Advance a topic's watermark, and seal it if as many edges arrived as its seal
        declared.
        """
        known = gathered.topics[topic]
        given = self.settings
        if given.lateness is not None:
            watermark = Watermark(given.lateness, given.workers, known.latest)
            times = [time for time in (known.watermark, watermark.time) if time is not None]
            known = replace(known, watermark=max(times, default=None))
        if known.due is not None and known.edges >= known.due:
            known = replace(known, sealed=True)
        gathered.topics[topic] = forgetting(known, batch, given)

    def _settle(self, plan: BatchPlan, gathered: Gathered, topic: str, small: int | None) -> None:
        """Repair late messages, and resolve a topic fully if it is small."""
        late, fresh = gathered.late.pop(topic, []), gathered.fresh.pop(topic, None)
        known = gathered.topics[topic]
        if late and not self.settings.log:
            gathered.topics[topic] = self._report(known, late)
            late = []
        known = gathered.topics[topic]
        going = bool(known.told) or known != self.topics.get(topic) or small is None
        if not late and fresh is None and (not going or size_of(known) > (small or size_of(known))):
            return
        settling = Settling(plan, known)
        if late:
            self._mend(plan, gathered, topic, settling, late)
        if fresh is not None:
            settling.deliver(fresh)
        settling.settle()
        if small is None:
            if may_lack_documents(self.settings, known) and not settling.is_resolved:
                settling, letters = resettled(plan, topic, known)
                self._refuse(letters)
            if not settling.is_resolved:
                settling.break_cycles()
                self._refuse(cyclic_letters(plan, topic, settling.known))
        gathered.finals.setdefault(topic, []).extend(settling.finals)
        gathered.topics[topic] = settling.write()

    def _mend(
        self,
        plan: BatchPlan,
        gathered: Gathered,
        topic: str,
        settling: Settling,
        late: list[pa.Table],
    ) -> None:
        known = settling.known
        was_sealed = self.topics.get(topic, TopicPlan()).sealed
        raw = logged(plan, topic)
        final = [each.keys for each in gathered.finals.get(topic, [])]
        fresh = pa.chunked_array(final, pa.string())

        def stored(keys: pa.Array) -> Any:
            return self._reduced.has(keys) | pc.is_in(keys, fresh).to_numpy(zero_copy_only=False)

        still_open = None if was_sealed else settling.open_keys
        mended = mend(concatenated(late, SCHEMA), raw, still_open, stored, plan.semiring)
        number = len(mended.late)
        settling.known = added(
            known,
            repeated=mended.repeated,
            abandoned=mended.abandoned,
            late=number,
            repaired=0 if known.kept_from else number,
        )
        if known.kept_from:
            self._refuse(late_letters(mended.late, SOME_FORGOTTEN))
        if mended.cyclic:
            settling.known = added(settling.known, cyclic=1)
            self._refuse(late_letters(mended.late, reason_of_cycle(())))
        if mended.added is not None:
            received = pc.sum(pc.list_value_length(mended.late.column("edges"))).as_py() or 0
            settling.known = added(settling.known, received=received)
            plan.write_log(table_bytes(mended.late), topic, "late")
            settling.deliver(mended.added)

    def _report(self, known: TopicPlan, late: list[pa.Table]) -> TopicPlan:
        """Add late messages to the refused lines."""
        self._refuse(letters := late_letters(concatenated(late, SCHEMA), NONE_KEPT))
        return added(known, late=len(letters))

    def _refuse(self, letters: list[DeadLetter]) -> None:
        if not letters:
            return
        if self._refused is None:  # a job before this one may have been stopped
            self._refused = {(each.origin, each.line) for each in read_letters(self.letters)}
        new = {(each.origin, each.line): each for each in letters}
        new = {
            letter_key: each for letter_key, each in new.items() if letter_key not in self._refused
        }
        append_letters(self.letters, new.values())
        self._refused |= set(new)
        self.dead += len(new)

    def _write(self, batch: int, gathered: Gathered, *, complete: bool = False) -> None:
        topics = {}
        for name, known in list(gathered.topics.items()):
            finals = gathered.finals.get(name, [])
            before = self._reduced.topic(name)
            is_same = known == self.topics.get(name) and not finals
            is_same &= before.get("progress", {}).get("refused", 0) == self.dead
            if is_same and (before.get("complete", False) or not complete):
                continue
            now = added(known, kept=sum(len(final.edges) for final in finals))
            gathered.topics[name] = now
            progress = progress_of(now, self.dead)
            told = {
                "batch": batch,
                "progress": asdict(progress),
                "exact": progress.exact,
                "complete": complete or known.sealed,
                "stream": now.document(),
            }
            topics[name] = (finals, told)
        stream: dict[str, Any] = {"batch": batch, "query": self.query, "dead": self.dead}
        stream |= {"settings": self.settings.document(), "oldest": gathered.oldest}
        if topics or batch != self.batch:
            self._reduced.write_all(topics, stream)
        self.batch, self.topics = batch, gathered.topics
        sweep_state(self.folder, self._needed)
        if self.settings.keep is not None:
            prune(self.plan(batch))

    @property
    def _needed(self) -> set[str]:
        return {name for known in self.topics.values() for name in known.files}

    def _go_on(self) -> None:
        """Read the progress from the store."""
        (self.folder / STATE).mkdir(parents=True, exist_ok=True)
        stream = self._reduced.stream
        if stream is None:
            if self._reduced.topics:
                raise EventsError(
                    f"The store {self.store} has events that were reduced without Spark.\n"
                    "Reduce into another store."
                )
            return
        if stream["settings"] != self.settings.document():
            raise EventsError(
                f"The store {self.store} was reduced with other settings: {stream['settings']}.\n"
                "Go on with those, or reduce into another store."
            )
        self.batch, self.query, self.dead = stream["batch"], stream["query"], stream["dead"]
        self.topics = {
            name: TopicPlan.of(topic["stream"])
            for name, topic in self._reduced.topics.items()
            if "stream" in topic
        }


def forgetting(known: TopicPlan, batch: int, settings: StreamSettings) -> TopicPlan:
    """Return a topic after a batch, with the first batch whose messages are still retained.

    No message of a batch is later than the latest that had arrived with it.
    """
    if settings.keep is None or known.watermark is None or not known.latest:
        return known
    logged = {**known.logged, batch: max(known.latest.values())}
    horizon = known.watermark - settings.keep
    gone = [number for number, latest in logged.items() if latest < horizon]
    return replace(
        known,
        logged={number: latest for number, latest in logged.items() if latest >= horizon},
        kept_from=max([known.kept_from, *(number + 1 for number in gone)]),
    )


def prune(plan: BatchPlan) -> None:
    """Remove the messages that the last commit does not retain."""
    for topic, known in plan.topics.items():
        for file in plan.log_of(topic).glob("[0-9]*.arrow"):
            if int(file.name.partition("-")[0]) < known.kept_from:
                file.unlink()


def sweep_state(folder: Path, needed: Set[str]) -> None:
    """Remove state files that the last commit does not name: of earlier batches and attempts."""
    for file in (folder / STATE).iterdir():
        if file.name not in needed:
            file.unlink(missing_ok=True)


def sweep_log(folder: Path, last: int) -> None:
    """Remove messages of batches after the last committed one."""
    for file in folder.glob(f"{LOG}/*/*"):
        if file.name.startswith(".") or int(file.name.partition("-")[0]) > last:
            file.unlink()
