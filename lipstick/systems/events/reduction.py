"""The reduction of events into a store, topic by topic: its state, progress and outcome."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import Partial, Reducer, ReductionCycleError, merge
from lipstick.systems.events.attempts import Attempts
from lipstick.systems.events.cyclic import acyclic, have_cycles, reason_of_cycle
from lipstick.systems.events.dead_letters import (
    append_letters,
    differing_letters,
    letter_of,
    read_letters,
)
from lipstick.systems.events.decoding import MAX_LINE, Unreadable, open_lines
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.formats import OPENLINEAGE
from lipstick.systems.events.message import SCHEMA
from lipstick.systems.events.openlineage import Collector, read_events
from lipstick.systems.events.parse import DeadLetter, Parsed, parse
from lipstick.systems.events.prov import read_documents
from lipstick.systems.events.run_settings import Settings, goes_on
from lipstick.systems.events.store import ReducedWriter
from lipstick.systems.events.topic import Progress, TopicReducer
from lipstick.systems.events.watermark import Watermark
from semiring.base import Semiring
from semiring.support.door import checked


def parsed_blocks(
    files: Sequence[Path], size: int, semiring: Semiring[Any] | None = None
) -> Iterator[Parsed]:
    """Yield the messages in blocks of whole lines of some files.

    A file that cannot be read to its end is reported as a line, and does not end the others.
    """
    for file in files:
        line = 1
        try:
            for block, first in _blocks(file, size):
                yield parse(block, str(file), first, semiring)
                line = first + block.count(b"\n")
        except (OSError, EOFError, zlib.error) as error:
            yield Parsed.refusing(DeadLetter(str(file), line, f"cannot be read: {error}", ""))


def _blocks(file: Path, size: int) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of whole lines of a file, with the number of the first line of each.

    At most `MAX_LINE` of a line that is too long is held.
    """
    line, rest = 1, b""
    with open_lines(file) as source:
        while data := source.read(size):
            if len(rest) > MAX_LINE and b"\n" not in data:
                continue
            if len(rest) > MAX_LINE:
                data = data[data.index(b"\n") :]
            data = rest + data
            end = data.rfind(b"\n") + 1
            block, rest = data[:end], data[end:]
            if block:
                yield block, line
                line += block.count(b"\n")
    if rest:
        yield rest, line


def by_topic(messages: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Yield messages by topic."""
    names = messages.column("topic").unique().to_pylist()
    for name in names:
        whole = len(names) == 1
        yield name, messages if whole else messages.filter(pc.equal(messages["topic"], name))


@checked
@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a reduction of files.

    Parameters
    ----------
    topics
        By name.
    bytes_in
        Of the files.
    dead
        Lines and documents that were refused.
    unfinished
        Runs without an end event (OpenLineage).
    taken
        Accepted documents or events.
    """

    topics: dict[str, Progress]
    bytes_in: int
    dead: int
    unfinished: tuple[str, ...] = ()
    taken: int = 0

    @property
    def exact(self) -> bool:
        """True if nothing was refused or lost."""
        return not self.dead and all(each.exact for each in self.topics.values())


@dataclass(slots=True)
class TopicState:
    """The reducer of a topic, and the number of blocks with its raw edges."""

    reducer: TopicReducer
    blocks: int = 0


@dataclass(slots=True)
class Reduction:
    """The reducers of all topics of a run, and the store they write into.

    Parameters
    ----------
    writer
        Of the store.
    letters
        The file of refused lines.
    settings, run
        The settings, and the description of the files (`described`).
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
    taken: int = 0
    block: int = 0

    def messages(self, files: Sequence[Path]) -> None:
        for file in files:
            self.read(file, files)

    def read(self, file: Path, files: Sequence[Path]) -> None:
        """Reduce the messages of a file, one commit per block; `files` are the files read so
        far.
        """
        for parsed in parsed_blocks([file], self.settings.block, self.settings.semiring):
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
        while reducer.differing:
            self.refuse(differing_letters(reducer.differing.pop()))
        if reducer.progress.sealed and not sealed:
            topic.blocks = self.block + 1
        finals = reducer.take_final()
        # Readers of the store see the progress of the reduction while it is written.
        if finals or self.run.get("follows"):
            told = {
                "run": self.run,
                "progress": asdict(self.progress_of(name)),
                "oldest": _oldest(rows),
            }
            self.writer.write(name, finals, batch=self.block, told=told)

    def _reducer(self, name: str, files: Sequence[Path]) -> TopicReducer:
        given = self.settings
        watermark = None
        if given.lateness is not None:
            watermark = Watermark(given.lateness, given.workers)

        def raw() -> pa.Table:
            blocks = self.topics[name].blocks
            return _counted(files, name, blocks, given.block, given.semiring)

        return TopicReducer(
            Reducer(given.semiring, hubs=given.hubs, batch=given.batch, break_cycles=True),
            watermark=watermark,
            overlap=given.overlap,
            raw=raw,
            stored=self.writer.has,
        )

    def documents(self, files: Sequence[Path]) -> None:
        """Read documents; refuse a document that has a cycle, or closes one with documents
        before it.
        """
        reducer = self._plain()
        parts: list[tuple[tuple[str, int], Partial]] = []
        for file in files:
            for found in read_documents(file):
                if isinstance(found, Unreadable):
                    self.refuse([letter_of(found, str(file))])
                    continue
                try:
                    found.check_acyclic()
                except ReductionCycleError as error:
                    self.refuse([DeadLetter(str(file), found.line, str(error), "")])
                    continue
                self.taken += 1
                if found.edges:
                    parts.append(((str(file), found.line), found.partial(self.settings.semiring)))
        good, letters = acyclic(parts, self.settings.semiring, hubs=self.settings.hubs)
        self.refuse(letters)
        self.taken -= len(letters)
        if good:
            reducer.add(merge(good, self.settings.semiring))

    def lineage(self, files: Sequence[Path]) -> None:
        """Read events of OpenLineage, in any order, and reduce the edges of all together."""
        reducer = self._plain()
        collector = Collector()
        for file in files:
            for found in read_events(file):
                refused = collector.take(found)
                if refused is None:
                    self.taken += 1
                else:
                    self.refuse([letter_of(refused, str(file))])
        told = collector.lineage()
        self.unfinished = told.running
        if told.document.edges:
            reducer.add(told.document.partial(self.settings.semiring))

    def finish(self, files: Sequence[Path]) -> Outcome:
        """Close everything that is open, and commit it."""
        for topic in self.topics.values():
            topic.reducer.close()
        for plain in self.plain.values():
            plain.seal()
        cyclic = {n for n in self.topics if self.progress_of(n).report.cyclic}
        if cyclic:
            self.refuse(cyclic_letters(files, self.settings, cyclic))
        for name, plain in self.plain.items():
            if plain.report.cyclic:
                reason = reason_of_cycle(plain.report.named)
                self.refuse([DeadLetter(f"topic {name}", 0, reason, "")])
        reducers: dict[str, TopicReducer | Reducer] = dict(self.plain)
        reducers |= {name: topic.reducer for name, topic in self.topics.items()}
        progress = {name: self.progress_of(name) for name in reducers}
        for name, reducer in reducers.items():
            self._close(name, reducer.take_final(), progress[name])
        size = sum(file.stat().st_size for file in files)
        return Outcome(progress, size, self.dead, self.unfinished, self.taken)

    def progress_of(self, name: str) -> Progress:
        """Return the progress of a topic so far."""
        if name in self.plain:
            report = self.plain[name].report
            return Progress(report, 0, 0, 0, 0, 0, 0, sealed=True, refused=self.dead)
        return replace(self.topics[name].reducer.progress, refused=self.dead)

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
        # Documents with cycles were refused; in events, runs may read their own outputs.
        breaks = given.format == OPENLINEAGE
        reducer = Reducer(given.semiring, hubs=given.hubs, batch=given.batch, break_cycles=breaks)
        self.plain[given.topic] = reducer
        return reducer

    def _check_new(self, topic: str) -> None:
        """Refuse a topic that other files have written already."""
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


def cyclic_letters(
    files: Sequence[Path], settings: Settings, topics: Set[str] | None = None
) -> list[DeadLetter]:
    """Return the messages of some topics, or of all, with edges of a cycle, as dead letters.

    All messages are read again, and held.
    """
    rows: dict[str, list[pa.Table]] = {}
    places: dict[str, list[tuple[str, int]]] = {}
    for file in files:
        for parsed in parsed_blocks([file], settings.block, settings.semiring):
            of_line = pa.table({"topic": parsed.messages["topic"], "line": parsed.lines})
            for name, messages in by_topic(parsed.messages):
                if topics is None or name in topics:
                    rows.setdefault(name, []).append(messages)
                    lines = of_line.filter(pc.equal(of_line["topic"], name))["line"].to_pylist()
                    places.setdefault(name, []).extend((str(file), line) for line in lines)
    return [
        DeadLetter(*places[name][place], reason_of_cycle(()), "")
        for name, tables in rows.items()
        for place in np.flatnonzero(have_cycles(pa.concat_tables(tables))).tolist()
    ]


def _oldest(rows: pa.Table) -> int | None:
    """Return the time at which the oldest of some messages was sent, in microseconds since 1970."""
    oldest: int | None = pc.min(rows.column("event_time")).as_py()
    return oldest


def _counted(
    files: Sequence[Path], topic: str, blocks: int, size: int, semiring: Semiring[Any] | None
) -> pa.Table:
    """Return the messages of a topic that counted in the first blocks, read again."""
    attempts = Attempts()
    counted = [SCHEMA.empty_table()]
    for parsed in islice(parsed_blocks(files, size, semiring), blocks):
        rows = parsed.messages
        of_topic = rows.filter(pc.equal(rows.column("topic"), topic))
        if len(of_topic):
            counted.append(attempts.take(of_topic).counting)
    return pa.concat_tables(counted)
