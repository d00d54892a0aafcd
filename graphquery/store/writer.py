"""The one writer of a store: transactions, compaction, vacuum."""

from __future__ import annotations

import contextlib
import threading
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from graphquery.errors import StoreError
from graphquery.model import EdgeSet, Segment
from graphquery.store import checkpoint, log
from graphquery.store.commit import Commit, FileEntry, Json
from graphquery.store.crossing import EXPORT, IMPORT, Export, Import, faults
from graphquery.store.file_system import StoreFiles
from graphquery.store.format import FOLDERS, check_format
from graphquery.store.lock import WriterLock
from graphquery.store.maintenance import (
    SMALL,
    TARGET,
    Compaction,
    merge,
    plan,
    remove_unfinished,
    vacuum,
)
from graphquery.store.snapshot import Snapshot, verify
from graphquery.store.staging import Staging
from graphquery.store.state import StoreState
from graphquery.store.transaction import EdgeLimits, Transaction

if TYPE_CHECKING:
    from graphquery.store.store import Store


class Seals:
    """The sealed segments of a store, kept along with its commits.

    Stores without exports and imports pay nothing: the links between segments are read when the
    first record of one appears, in time proportional to the edge sets; after that a commit takes
    time proportional to itself and to what it seals.
    """

    def __init__(self, store: str, state: StoreState) -> None:
        self._store = store
        self._before: dict[str, set[str]] | None = None
        self._sealed: set[str] = set()
        self._record(state, state.records.items())

    def check(self, state: StoreState, commit: Commit) -> None:
        """Refuse a commit that would change sealed segments.

        Raises
        ------
        StoreError
            Edges into a sealed segment; a record of an export or import that is changed, deleted,
            or does not fit the store.
        """
        for edges in commit.edges:
            if edges.target in self._sealed:
                raise StoreError(
                    f"Edges from {edges.source} to {edges.target}: {edges.target} is sealed, since "
                    "exported rows derive from it, or it was imported.\nThe ancestors of exported "
                    "rows do not change: add a new segment, and export it as a new version."
                )
        for name in commit.dropped:
            if name.startswith((EXPORT, IMPORT)) and name in state.records:
                raise StoreError(f"Record {name} cannot be deleted: others may refer to its rows.")
        added = {segment.name: segment for segment in commit.segments}
        segments = ChainMap(added, state.segments)
        files = ChainMap(dict(commit.files), state.files)
        for name, document in commit.records.items():
            if not name.startswith((EXPORT, IMPORT)):
                continue
            for fault in faults(name, document, self._store, segments, files):
                raise StoreError(f"Record {name} does not fit the store: {fault}")
            if name.startswith(EXPORT) and state.records.get(name, document) != document:
                raise StoreError(
                    f"Record {name} cannot be changed: the dataset was exported before.\n"
                    "Export it as another version."
                )
            if name.startswith(IMPORT):
                _check_import(name, document, state, added.keys(), commit.edges)

    def follow(self, state: StoreState, commit: Commit) -> None:
        """Update the seals after a commit; `state` is the state after it."""
        if self._before is not None:
            for edges in commit.edges:
                self._before.setdefault(edges.target, set()).add(edges.source)
        self._record(state, commit.records.items())

    def _record(self, state: StoreState, records: Iterable[tuple[str, Json]]) -> None:
        for name, document in records:
            if name.startswith(EXPORT):
                self._seal(state, [Export.from_json(document, f"Record {name}").segment])
            elif name.startswith(IMPORT):
                parts = Import.from_json(document, f"Record {name}").parts
                self._seal(state, [part.segment for part in parts])

    def _seal(self, state: StoreState, waiting: list[str]) -> None:
        if self._before is None:
            self._before = {}
            for edges in state.edges:
                self._before.setdefault(edges.target, set()).add(edges.source)
        while waiting:
            name = waiting.pop()
            if name not in self._sealed:
                self._sealed.add(name)
                waiting += self._before.get(name, ())


def _check_import(
    name: str, document: Json, state: StoreState, added: Iterable[str], edges: Iterable[EdgeSet]
) -> None:
    """Check that the new segments of an import's record are added by its commit and have no edges
    into them.
    """
    imported = Import.from_json(document, f"Record {name}")
    before = state.records.get(name)
    known = () if before is None else Import.from_json(before, f"Record {name}").parts
    if imported.parts[: len(known)] != known:
        raise StoreError(f"Record {name} cannot be changed: rows were imported before.")
    fresh = {part.segment for part in imported.parts[len(known) :]}
    if not fresh <= set(added):
        raise StoreError(
            f"Record {name} is of a segment that was there before: rows are imported as new "
            "tokens, in the commit that adds them."
        )
    for each in edges:
        if each.target in fresh:
            raise StoreError(
                f"Edges from {each.source} to {each.target}: imported rows are made in the store "
                "that exported them, and have no edges into them here."
            )


class Writer:
    """The writer of a store; holds the store's lock within its context.

    Several threads may have open transactions; their commits are serialised.
    """

    def __init__(self, store: Store, files: StoreFiles) -> None:
        self._store = store
        self._files = files
        self._lock = WriterLock(store.path, files)
        self._mutex = threading.RLock()
        self._open: set[Transaction] = set()
        self._state: StoreState | None = None
        self._snapshot: Snapshot | None = None
        self._seals: Seals | None = None
        self._failed = False
        self._checkpoint = 0

    def __enter__(self) -> Writer:
        self._lock.__enter__()
        try:
            self._state = log.load(self.root)
            self._seals = Seals(check_format(self.root).store, self._state)
            for name in FOLDERS:  # empty ones are easily lost in copying
                if not (self.root / name).is_dir():
                    self._files.make_folder(self.root / name)
            remove_unfinished(self.root, self._state, self._files)
            self._checkpoint = max(checkpoint.checkpoint_versions(self.root), default=0)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Roll back open transactions and release the lock; do nothing if closed."""
        try:
            for transaction in list(self._open):
                transaction.rollback()
        finally:
            self._state = self._snapshot = self._seals = None
            self._lock.release()

    @property
    def root(self) -> Path:
        """The folder of the store."""
        return self._store.path

    @property
    def version(self) -> int:
        """The version of the last commit; 0 if there is none."""
        return self.state.version

    @property
    def busy(self) -> bool:
        """True if a transaction is open."""
        return bool(self._open)

    @property
    def state(self) -> StoreState:
        """The content of the store, which only commits may change."""
        self.check_open()
        assert self._state is not None  # check_open
        return self._state

    def transaction(self) -> Transaction:
        """Begin a transaction, to be used as a context."""
        with self._mutex:
            transaction = Transaction(self, self.staging())
            self._open.add(transaction)
            return transaction

    def snapshot(self) -> Snapshot:
        """Return the content of the store now."""
        with self._mutex:
            if self._snapshot is None or self._snapshot.version != self.version:
                self._snapshot = Snapshot.of(self.root, self.state)
            return self._snapshot

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[Snapshot]:
        """The content of the store, to which only this thread adds until the block is left."""
        with self._mutex:
            yield self.snapshot()

    def compact(self, *, small: int = SMALL, target: int = TARGET) -> Compaction:
        """Merge data files of fewer than `small` bytes into files of about `target` bytes.

        See `graphquery.store.maintenance`. Other threads may continue their transactions meanwhile.

        Raises
        ------
        StoreDamagedError
            A file does not match its checksum, which merging would conceal.
        """
        with self._mutex:
            groups = plan(self.state, small, target)
            entries = {name: self.state.files[name] for group in groups for name in group}
        for group in groups:
            for name in group:
                verify(self.root / name, entries[name])
            merge(self, group)
        return Compaction(sum(map(len, groups)), len(groups))

    def vacuum(self, *, older_than: timedelta = timedelta(days=1)) -> int:
        """Delete files that came out of use longer ago than ``older_than``."""
        with self._mutex:
            return vacuum(self, self._files, older_than)

    # -- for the modules of this package -----------------------------------------------------

    def check_open(self) -> None:
        """Raise unless the lock is held and every commit so far succeeded."""
        if self._state is None or not self._lock.held:
            raise StoreError(
                f"The writer of {self._store.path} is closed: use it within its block, and in the "
                "process that made it."
            )
        if self._failed:
            raise StoreError(
                f"The writer of {self._store.path} failed to finish a commit.\n"
                "Close it and open another: the store is as it was before that commit or after it."
            )

    def staging(self) -> Staging:
        """Return a new folder for files to be added."""
        return Staging(self.root, self.version, self._files)

    def has_segment(self, name: str) -> bool:
        """Return True if a segment with that name is stored."""
        return name in self.state.segments

    def record(self, name: str, default: Json) -> Json:
        """Return the stored document of that name."""
        return self.state.records.get(name, default)

    def file(self, name: str) -> FileEntry | None:
        """Return the entry of a file in use."""
        return self.state.files.get(name)

    def ended(self, transaction: Transaction, staging: Staging) -> None:
        """Clean up after a transaction."""
        self._open.discard(transaction)
        staging.discard(published=True)

    def commit(
        self,
        staging: Staging,
        commit: Commit,
        edges: Sequence[EdgeLimits] = (),
        kept: Collection[str] = (),
    ) -> int:
        """Write the next commit: files first, then the entry in the log, which makes it atomic.

        Parameters
        ----------
        edges
            The edges to add, with the largest nodes that they name.
        kept
            The names of files that are not to be merged with others.
        """
        entries = staging.close()
        for name in kept:
            entries[name] = replace(entries[name], kept=True)
        with self._mutex:
            state = self.state
            commit = replace(
                commit,
                version=state.version + 1,
                previous=state.checksum,
                time=datetime.now(UTC).isoformat(),
                files=entries,
                edges=[each.edges for each in edges],
            )
            _check(state, commit, edges)
            assert self._seals is not None  # as the state
            self._seals.check(state, commit)
            self._append(staging, commit)
            self._write_checkpoint(state)
            return state.version

    def _append(self, staging: Staging, commit: Commit) -> None:
        try:
            published = staging.publish()
            checksum = log.append(self.root, commit, self._files, published)
            self.state.apply(commit, checksum)
            assert self._seals is not None  # as the state
            self._seals.follow(self.state, commit)
        except BaseException:
            # What has an entry is stored, even if an error came after that was written; then the
            # state here may be behind the log.
            self._failed = log.entry_path(self.root, commit.version).exists()
            staging.discard(published=self._failed)
            raise

    def _write_checkpoint(self, state: StoreState) -> None:
        if checkpoint.is_due(state.version, self._checkpoint):
            # It only saves time: without it the log is read from the one before.
            with contextlib.suppress(OSError):
                checkpoint.write_checkpoint(self.root, state, self._files)
                self._checkpoint = state.version


def _check(state: StoreState, commit: Commit, edges: Sequence[EdgeLimits]) -> None:
    """Check the content of a commit against the state before it."""
    counts = {segment.name: segment.count for segment in commit.segments}
    for segment in commit.segments:
        if segment.name in state.segments:
            raise StoreError(f"The store has a segment {segment.name!r} already; names are unique.")
    for each in edges:
        for name, largest in ((each.edges.source, each.source), (each.edges.target, each.target)):
            stored = state.segments.get(name)
            count = counts.get(name) if stored is None else stored.count
            where = f"Edges from {each.edges.source} to {each.edges.target}"
            if count is None:
                raise StoreError(
                    f"{where}: there is no segment {name!r}.\n"
                    "Add it in the same transaction or before."
                )
            if largest >= count:
                raise StoreError(
                    f"{where}: there is no node {largest} of {name}, which has {count} nodes."
                )
    for name in commit.removed:
        if name not in state.files:
            raise StoreError(
                f"File {name} is not in use any more: it was removed or merged before."
            )
    used: list[Segment | EdgeSet] = [*commit.segments, *commit.edges]
    for part in used:
        if part.file is not None and not (part.file in commit.files or part.file in state.files):
            raise StoreError(
                f"File {part.file} is not in use any more: it was removed or merged with others.\n"
                "Add its rows again, or keep files that are used again with add_file."
            )
    gone = set(commit.removed) - set(commit.moved)
    for part in (*state.parts(), *used) if gone else ():
        if part.file in gone:
            what = f"segment {part.name}" if isinstance(part, Segment) else "a set of edges"
            raise StoreError(f"File {part.file} cannot be removed: {what} is stored in it.")
