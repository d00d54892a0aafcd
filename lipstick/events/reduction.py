"""Events reduced into a store topic by topic: how, what is reduced so far, and what it gave."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import CycleError, Partial, Reducer
from lipstick.events.attempts import Attempts
from lipstick.events.blocks import blocks_of, by_topic
from lipstick.events.cyclic import acyclic
from lipstick.events.errors import EventsError, MessageError
from lipstick.events.letters import append_letters, read_letters
from lipstick.events.message import SCHEMA
from lipstick.events.openlineage import Collector
from lipstick.events.parse import DeadLetter, parse
from lipstick.events.prov import Document, read_documents
from lipstick.events.run_settings import Settings, goes_on
from lipstick.events.store import ReducedWriter
from lipstick.events.topic import Progress, TopicReducer
from lipstick.events.watermark import Watermark


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reduction of files gave.

    Parameters
    ----------
    topics
        By name.
    bytes_in
        Of the files.
    dead
        Lines and documents that were refused.
    unfinished
        Runs that no event ends (OpenLineage).
    """

    topics: dict[str, Progress]
    bytes_in: int
    dead: int
    unfinished: tuple[str, ...] = ()


@dataclass(slots=True)
class TopicState:
    """The reducer of a topic, and how many blocks its raw edges are in."""

    reducer: TopicReducer
    blocks: int = 0


@dataclass(slots=True)
class Reduction:
    """Reducers of all topics of a run, and the store they write into.

    Parameters
    ----------
    writer
        Of the store.
    letters
        The file of refused lines.
    settings, run
        How it is read, and what (`described`).
    """

    writer: ReducedWriter
    letters: Path
    settings: Settings
    run: dict[str, Any]
    topics: dict[str, TopicState] = field(default_factory=dict)
    plain: dict[str, Reducer] = field(default_factory=dict)
    dead: int = 0
    refused: set[tuple[str, int]] | None = None
    unfinished: tuple[str, ...] = ()
    block: int = 0

    def messages(self, files: Sequence[Path]) -> None:
        for file in files:
            self.read(file, files)

    def read(self, file: Path, files: Sequence[Path]) -> None:
        """Reduce the messages of one of some files, a commit a block; those before it are read."""
        for block, _, line in blocks_of([file], self.settings.block):
            parsed = parse(block, str(file), line)
            self.refuse(parsed.dead)
            for name, rows in by_topic(parsed.messages):
                self._take(name, rows, files)
            self.block += 1

    def _take(self, name: str, rows: pa.Table, files: Sequence[Path]) -> None:
        if name not in self.topics:
            self._check_new(name)
            self.topics[name] = TopicState(self._reducer(name, files))
        topic = self.topics[name]
        reducer = topic.reducer
        sealed = reducer.progress.sealed
        if not sealed:
            topic.blocks = self.block
        reducer.add(rows)
        if reducer.progress.sealed and not sealed:
            topic.blocks = self.block + 1
        finals = reducer.take_final()
        # Who looks at the store while it is written sees how far the reduction is.
        if finals or self.run.get("follows"):
            told = {"run": self.run, "progress": asdict(reducer.progress), "oldest": _oldest(rows)}
            self.writer.write(name, finals, batch=self.block, told=told)

    def _reducer(self, name: str, files: Sequence[Path]) -> TopicReducer:
        given = self.settings
        watermark = None
        if given.lateness is not None:
            watermark = Watermark(given.lateness, given.workers)

        def raw() -> pa.Table:
            return _counted(files, name, self.topics[name].blocks, given.block)

        return TopicReducer(
            given.semiring,
            hubs=given.hubs,
            batch=given.batch,
            watermark=watermark,
            overlap=given.overlap,
            raw=raw,
            stored=self.writer.has,
        )

    def documents(self, files: Sequence[Path]) -> None:
        """Read documents; one with a cycle, also by what those before it say, is refused."""
        reducer = self._plain()
        parts: list[tuple[str, Partial]] = []
        for file in files:
            try:
                for document in read_documents(file):
                    if document.edges:
                        document.check_acyclic()
                        parts.append((str(file), document.partial(self.settings.semiring)))
            except (MessageError, CycleError) as error:
                self.refuse([DeadLetter(str(file), 1, str(error), "")])
        good, letters = acyclic(parts, self.settings.semiring, hubs=self.settings.hubs)
        self.refuse(letters)
        for part in good:
            reducer.add(part)

    def lineage(self, files: Sequence[Path]) -> None:
        reducer = self._plain()
        collector = Collector()
        for file in files:
            for number, line in enumerate(file.read_bytes().split(b"\n"), 1):
                if not line.strip():
                    continue
                try:
                    collector.add(json.loads(line))
                except (ValueError, MessageError) as error:
                    text = line.decode("utf-8", "backslashreplace")
                    self.refuse([DeadLetter(str(file), number, str(error), text)])
        told = collector.lineage()
        self.unfinished = told.running
        self._document(reducer, told.document)

    def finish(self, size: int) -> Outcome:
        progress = {}
        for name, topic in self.topics.items():
            topic.reducer.close()
            finals = topic.reducer.take_final()
            progress[name] = topic.reducer.progress
            self._close(name, finals, progress[name])
        for name, plain in self.plain.items():
            plain.seal()
            finals = plain.take_final()
            progress[name] = Progress(plain.report, 0, 0, 0, 0, 0, 0, True)
            self._close(name, finals, progress[name])
        return Outcome(progress, size, self.dead, self.unfinished)

    def _close(self, name: str, finals: list[Any], progress: Progress) -> None:
        told = {
            "run": self.run,
            "progress": asdict(progress),
            "exact": progress.exact,
            "complete": True,
        }
        self.writer.write(name, finals, batch=self.block, told=told)

    def _plain(self) -> Reducer:
        given = self.settings
        self._check_new(given.topic)
        reducer = Reducer(given.semiring, hubs=given.hubs, batch=given.batch)
        self.plain[given.topic] = reducer
        return reducer

    def _document(self, reducer: Reducer, document: Document) -> None:
        if not document.edges:
            return
        reducer.add(document.partial(self.settings.semiring))

    def _check_new(self, topic: str) -> None:
        """Refuse a topic that other files have given already."""
        known = self.writer.topic(topic)
        if known and not goes_on(known.get("run"), self.run):
            raise EventsError(
                f"The store has topic {topic} already, from other files or settings: its edges "
                "would come in twice.\n"
                "Reduce into another store, or give new events another topic."
            )

    def refuse(self, letters: list[DeadLetter]) -> None:
        if not letters:
            return
        self.dead += len(letters)
        if self.refused is None:  # a run before this one may have been stopped
            self.refused = {(each.origin, each.line) for each in read_letters(self.letters)}
        new = [each for each in letters if (each.origin, each.line) not in self.refused]
        append_letters(self.letters, new)


def _oldest(rows: pa.Table) -> int | None:
    """When the oldest of some messages was sent, in microseconds since 1970."""
    oldest: int | None = pc.min(rows.column("event_time")).as_py()
    return oldest


def _counted(files: Sequence[Path], topic: str, blocks: int, size: int) -> pa.Table:
    """The messages of a topic that counted in the first blocks, read again."""
    attempts = Attempts()
    counted = [SCHEMA.empty_table()]
    for number, (block, file, line) in enumerate(blocks_of(files, size)):
        if number == blocks:
            break
        rows = parse(block, str(file), line).messages
        of_topic = rows.filter(pc.equal(rows.column("topic"), topic))
        if len(of_topic):
            counted.append(attempts.take(of_topic).counting)
    return pa.concat_tables(counted)
