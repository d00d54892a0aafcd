"""A store: a folder with an append-only log of commits and the data files that they name.

Layout::

    format.json             name and version of the format, identity of the store
    log/<version>.json      one commit each, sealed, with the checksum of the one before
    checkpoints/<version>.json   the state after a commit, from which opening starts
    data/<version>-<id>/*.parquet   values of nodes, ordinals of edges, files of records
    staging/                what transactions are still writing
    lock, lock.guard        the one writer

Data files are never changed. A commit moves its files into place and then writes its entry in the
log, which appears whole or not at all: it is what makes a commit one.
"""

from __future__ import annotations

import os
import secrets
import threading
from pathlib import Path

from graphquery.errors import StoreError
from graphquery.store import log
from graphquery.store.file_system import TEMPORARY, StoreFiles
from graphquery.store.format import FOLDERS, FORMAT_FILE, VERSION, Format, check_format
from graphquery.store.lock import GUARD, LOCK
from graphquery.store.snapshot import Snapshot
from graphquery.store.state import StoreState
from graphquery.store.writer import Writer


class Store:
    """A store; use `Store.create` or `Store.open`.

    Any number of processes may read while one writes. A store object may be used by several
    threads.
    """

    def __init__(self, path: str | os.PathLike[str], files: StoreFiles | None = None) -> None:
        self.path = Path(path)
        check_format(self.path)
        self._files = files or StoreFiles()
        self._mutex = threading.Lock()
        self._state: StoreState | None = None
        self._snapshot: Snapshot | None = None

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, files: StoreFiles | None = None) -> Store:
        """Create an empty store in a new or empty folder.

        Raises
        ------
        StoreError
            When the folder has other things in it, or is a store.
        """
        root = Path(path)
        files = files or StoreFiles()
        if root.exists() and not root.is_dir():
            raise StoreError(f"{root} is a file; a store needs a folder.")
        if (root / FORMAT_FILE).exists():
            raise StoreError(f"{root} is a store already: use Store.open(path).")
        if root.is_dir():
            # An interrupted creation leaves empty folders, and can be done again.
            foreign = [each.name for each in root.iterdir() if not _is_remnant(each)]
            if foreign:
                raise StoreError(
                    f"{root} is not empty: it has {sorted(foreign)[0]}.\nGive an empty folder."
                )
        for name in FOLDERS:
            files.make_folder(root / name)
        try:
            files.publish(root / FORMAT_FILE, Format(VERSION, secrets.token_hex(16)).to_bytes())
        except FileExistsError:
            raise StoreError(f"{root} was made a store by another process just now.") from None
        return cls(root, files)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, files: StoreFiles | None = None) -> Store:
        """Open a store that exists.

        Raises
        ------
        StoreError
            When the folder is not a store.
        StoreFormatError
            When its format is of another version.
        """
        return cls(path, files)

    def snapshot(self, version: int | None = None) -> Snapshot:
        """Return the content after a commit, by default after the last one.

        The first call takes time proportional to the store, later ones for the newest version to
        what was added, and a copy of the lists.

        Raises
        ------
        StoreError
            When there is no such version.
        StoreDamagedError
            When the log is damaged.
        """
        if version is not None:
            if version < 0:
                raise StoreError(f"There is no commit {version}; they count from 1.")
            return Snapshot.of(self.path, log.load(self.path, version))
        with self._mutex:
            if self._state is None:
                self._state = log.load(self.path)
            else:
                log.advance(self.path, self._state)
            if self._snapshot is None or self._snapshot.version != self._state.version:
                self._snapshot = Snapshot.of(self.path, self._state)
            return self._snapshot

    def writer(self) -> Writer:
        """Return the writer, to be used as a context; entering it takes the lock.

        The unfinished work of a dead writer is removed then.

        Raises
        ------
        StoreError
            On entering, when another process or thread is writing.
        """
        return Writer(self, self._files)

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"


def _is_remnant(path: Path) -> bool:
    if path.name in FOLDERS:
        return path.is_dir() and not any(path.iterdir())
    return path.name in (LOCK, GUARD) or path.suffix == TEMPORARY
