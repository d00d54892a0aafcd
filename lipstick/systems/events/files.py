"""Files of events reduced into a store, in one process.

An interrupted run is started again with the same files: it reads them again, and does not repeat
commits that are in the store, since every commit has the number of its block.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from graphquery.store import Store
from lipstick.systems.events.dead_letters import read_letters
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.formats import MESSAGES, PROV
from lipstick.systems.events.parse import DeadLetter
from lipstick.systems.events.reduction import Outcome, Reduction, cyclic_letters, parsed_blocks
from lipstick.systems.events.run_settings import BLOCK, Settings, described
from lipstick.systems.events.store import ReducedWriter
from semiring.support.door import checked


@checked
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
        Files, or folders of them, which are the whole input: everything is closed at their end.
    store
        The folder of a store, created if missing. If a run over the same files with the same
        settings was interrupted, this one completes it; if it was completed, nothing changes.
    dead
        A file to which refused lines are appended, each once; by default beside the store.

    Raises
    ------
    EventsError
        When there are no files, the store has something else, or has a topic of other files.
    """
    settings = settings or Settings()
    files = event_files(paths)
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
        return into.finish(files)


@checked
def check_files(
    paths: Iterable[str | os.PathLike[str]], block: int = BLOCK, *, format: str = MESSAGES
) -> tuple[int, list[DeadLetter]]:
    """Return the number of messages, documents or events in files, and the refused ones.

    Refusing cycles requires holding all edges.
    """
    files = event_files(paths)
    settings = Settings(format=format, block=block)
    good, dead = 0, list[DeadLetter]()
    if format == MESSAGES:
        for parsed in parsed_blocks(files, block):
            good += len(parsed.messages)
            dead += parsed.dead
        cyclic = cyclic_letters(files, settings)
        return good - len(cyclic), dead + cyclic
    with tempfile.TemporaryDirectory() as folder:
        letters = Path(folder) / "refused.jsonl"
        outcome = reduce_files(files, Path(folder) / "store", settings, dead=letters)
        return outcome.taken, read_letters(letters)


def event_files(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Return the files of some paths: the paths themselves, and the files, not hidden, in folders.

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
