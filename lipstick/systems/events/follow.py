"""Files of messages that keep arriving in a folder, reduced as they arrive.

Every commit names the files that were read before it, in their order. A restarted process reads
them again in that order, which restores the state, and continues; earlier commits are not repeated.
Files must be complete when they appear under their names, as the files of
:class:`lipstick.systems.events.Emitter` are, and must not be removed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphquery.store import Store
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.files import event_files
from lipstick.systems.events.formats import MESSAGES
from lipstick.systems.events.reduction import Outcome, Reduction
from lipstick.systems.events.run_settings import Settings, described
from lipstick.systems.events.store import ReducedWriter
from lipstick.systems.events.topic import Progress
from semiring.support.door import checked


@checked
@dataclass(frozen=True, slots=True)
class FolderLook:
    """The result of one scan of the folder.

    Parameters
    ----------
    files
        The number of new files.
    topics
        The progress of every topic so far.
    lag
        Seconds between writing and committing the oldest of the new files.
    """

    files: int
    topics: dict[str, Progress]
    lag: float


@checked
class Follower:
    """Reduces the files of a folder into a store, to be used as a context.

    Parameters
    ----------
    folder
        Of files of messages.
    store
        The folder of a store; made if there is none.
    settings
        For messages.

    Raises
    ------
    EventsError
        When the settings are for another format, the store has something else, or files that were
        read before are gone or have changed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        store: str | os.PathLike[str],
        settings: Settings | None = None,
    ) -> None:
        settings = settings or Settings()
        if settings.format != MESSAGES:
            raise EventsError(
                f"A folder is followed for messages, not {settings.format}: documents and runs are "
                "complete only at their end.\nReduce the files with `reduce_files`."
            )
        path = Path(store)
        opened = Store.open(path) if (path / "format.json").exists() else Store.create(path)
        self._folder = Path(folder)
        self._writer = opened.writer()
        self._writer.__enter__()
        try:
            reduced = ReducedWriter(self._writer)
            letters = path.parent / f"{path.name}.dead.jsonl"
            run: dict[str, Any] = described([], settings) | {"follows": True}
            self._reduction = Reduction(reduced, letters, settings, run)
            self._files: list[Path] = []
            self._seen: set[str] = set()
            before = self._read_before(reduced)
            self._read(before)
        except BaseException:
            self._writer.close()
            raise

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *error: object) -> None:
        self._writer.close()

    def step(self) -> FolderLook:
        """Read the new files, and commit the edges that become final."""
        new = [file for file in self._listed() if self._name(file) not in self._seen]
        oldest = min((file.stat().st_mtime for file in new), default=time.time())
        self._read(new)
        return FolderLook(len(new), self.topics, max(0.0, time.time() - oldest) if new else 0.0)

    def steps(self, interval: float) -> Iterator[FolderLook]:
        """Scan the folder again and again, at intervals in seconds."""
        while True:
            yield self.step()
            time.sleep(interval)

    @property
    def topics(self) -> dict[str, Progress]:
        """The progress of every topic so far."""
        return {name: self._reduction.progress_of(name) for name in self._reduction.topics}

    @property
    def refused(self) -> int:
        """The number of lines refused so far."""
        return self._reduction.dead

    def close(self) -> Outcome:
        """End the input: everything open is closed and committed."""
        return self._reduction.finish(self._files)

    def _listed(self) -> list[Path]:
        if not self._folder.is_dir() or not any(self._folder.iterdir()):
            return []
        try:
            return event_files([self._folder])
        except EventsError:  # there are hidden files alone so far
            return []

    def _name(self, file: Path) -> str:
        return str(file.relative_to(self._folder))

    def _read_before(self, reduced: ReducedWriter) -> list[Path]:
        """Return the files that the last commit names."""
        runs = [topic.get("run", {}).get("files", []) for topic in reduced.topics.values()]
        longest: list[Any] = max(runs, key=len, default=[])
        files = []
        for name, size in longest:
            file = self._folder / name
            if not file.exists() or file.stat().st_size != size:
                raise EventsError(
                    f"{file} was read into the store before, and is gone or has changed: its "
                    "open state cannot be restored.\n"
                    "Put it back, or reduce the remaining files into another store."
                )
            files.append(file)
        return files

    def _read(self, files: list[Path]) -> None:
        for file in files:
            name = self._name(file)
            self._seen.add(name)
            self._files.append(file)
            self._reduction.run["files"].append([name, file.stat().st_size])
            self._reduction.read(file, self._files)
