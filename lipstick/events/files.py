"""Files of events reduced into a store, in one process.

A run that was stopped is started again with the same files: it reads them again, and commits that
are in the store already are not made twice, since every commit has the number of its block.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import CycleError, Partial, Reducer
from graphquery.reduction.reducer import BATCH
from graphquery.store import Store
from lipstick.events.attempts import OVERLAP, Attempts
from lipstick.events.blocks import blocks_of, by_topic
from lipstick.events.cyclic import acyclic
from lipstick.events.errors import EventsError, MessageError
from lipstick.events.formats import FORMATS, MESSAGES, PROV
from lipstick.events.letters import append_letters, read_letters
from lipstick.events.message import SCHEMA
from lipstick.events.openlineage import Collector
from lipstick.events.parse import DeadLetter, parse
from lipstick.events.prov import Document, read_documents
from lipstick.events.store import ReducedWriter
from lipstick.events.topic import Progress, TopicReducer
from lipstick.events.watermark import Watermark
from semiring.base import Semiring

BLOCK = 8 << 20
"""Bytes of lines that are read at a time."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How files are reduced.

    Parameters
    ----------
    format
        ``messages`` (JSONL of the format of this package), ``prov`` or ``openlineage``.
    topic
        Of PROV documents and OpenLineage events; messages say theirs.
    semiring, hubs, batch
        As for `graphquery.reduction.Reducer`.
    lateness
        In microseconds: how much earlier than the latest of its worker a message may be. What is
        older closes, and is forgotten; what comes of it later is repaired from the files. None:
        only declared numbers and seals close, and every execution is remembered.
    overlap
        In microseconds: how much later than the attempt of an execution that counts another ends.
    workers
        How many workers there are; until all were heard of, no time closes anything.
    block
        Bytes of lines that are read, and committed, at a time.
    """

    format: str = MESSAGES
    topic: str = "events"
    semiring: Semiring[Any] | None = None
    hubs: bool = True
    batch: int = BATCH
    lateness: int | None = None
    overlap: int = OVERLAP
    workers: int = 1
    block: int = BLOCK

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise EventsError(
                f"{self.format!r} is no format of events: they are {', '.join(FORMATS)}."
            )

    def document(self) -> dict[str, Any]:
        """The settings as JSON, to see that a run that goes on is the same."""
        names = ("format", "hubs", "batch", "lateness", "overlap", "workers", "block")
        labels = None if self.semiring is None else self.semiring.name
        return {name: getattr(self, name) for name in names} | {"labels": labels}


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


def reduce_files(
    paths: Iterable[str | os.PathLike[str]],
    store: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    dead: str | os.PathLike[str] | None = None,
) -> Outcome:
    """Reduce files of events into a store, one commit for each topic and block.

    Parameters
    ----------
    paths
        Files, or folders of them, that are all there is: what is open at their end is closed.
    store
        The folder of a store; made if there is none. Where a run over the same files with the same
        settings was stopped, this one completes it; where it was completed, nothing changes.
    dead
        A file that refused lines are appended to, each once; by default beside the store.

    Raises
    ------
    EventsError
        When there are no files, the store has something else, or has a topic of other files.
    """
    settings = settings or Settings()
    files = found(paths)
    path = Path(store)
    letters = Path(dead) if dead is not None else path.parent / f"{path.name}.dead.jsonl"
    opened = Store.open(path) if (path / "format.json").exists() else Store.create(path)
    with opened.writer() as writer:
        into = Reduction(ReducedWriter(writer), letters, settings, described(files, settings))
        if settings.format == MESSAGES:
            into.messages(files)
        elif settings.format == PROV:
            into.documents(files)
        else:
            into.lineage(files)
        return into.finish(sum(file.stat().st_size for file in files))


def check_files(
    paths: Iterable[str | os.PathLike[str]], block: int = BLOCK
) -> tuple[int, list[DeadLetter]]:
    """How many messages in files are as the format says, and the lines that are not."""
    good, dead = 0, []
    for data, file, line in blocks_of(found(paths), block):
        parsed = parse(data, str(file), line)
        good += len(parsed.messages)
        dead += parsed.dead
    return good, dead


def found(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The files that some paths mean: themselves, and of folders those that are not hidden.

    Raises
    ------
    EventsError
        When there are none.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = (each for each in path.rglob("*") if each.is_file())
            files += sorted(each for each in inside if not each.name.startswith((".", "_")))
        elif path.exists():
            files.append(path)
        else:
            raise EventsError(f"There is no file {path}.")
    if not files:
        raise EventsError("There are no files of events.\nGive files, or folders that have some.")
    return files


def goes_on(before: Any, now: dict[str, Any]) -> bool:
    """Whether a run reads as another, and the same files first if files may come."""
    if not isinstance(before, dict) or before.get("settings") != now["settings"]:
        return False
    files: list[Any] = before["files"]
    if now.get("follows"):  # it may have read more of them, or be reading them again
        both = min(len(files), len(now["files"]))
        return bool(files[:both] == now["files"][:both])
    return bool(files == now["files"])


def described(files: Sequence[Path], settings: Settings) -> dict[str, Any]:
    """What a run reads and how: one that goes on must read the same."""
    named = [[file.name, file.stat().st_size] for file in files]
    return {"files": named, "settings": settings.document()}


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
