"""Files appear whole, also where the file system has no hard links; failures leave no half."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from graphquery.store import Store, StoreError, StoreFiles, fsck
from tests.graphquery.store.workload import Unsynced, add, check


def test_publish(tmp_path: Path) -> None:
    """A file is published once, and no temporary file is left."""
    files = StoreFiles()
    files.publish(tmp_path / "a", b"1")
    with pytest.raises(FileExistsError):
        files.publish(tmp_path / "a", b"2")
    assert (tmp_path / "a").read_bytes() == b"1"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    files.replace(tmp_path / "a", b"3")
    assert (tmp_path / "a").read_bytes() == b"3"


def test_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Renaming does where linking is not possible."""

    def link(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, "no hard links")

    monkeypatch.setattr(os, "link", link)
    store = Store.create(tmp_path / "store")
    with store.writer() as writer:
        with writer.transaction() as transaction:
            add(transaction, 0)
            transaction.commit()
        with pytest.raises(StoreError, match="is being written by process"):
            store.writer().__enter__()
    assert check(store) == 0
    assert fsck(store.path) == []


class Failing(Unsynced):
    """Fails once at a step; counts the steps, without giving back the lock."""

    def __init__(self) -> None:
        self.steps = 0
        self.at = 0

    def step(self, operation: str, path: Path) -> None:
        if (operation, path.name) == ("remove", "lock"):
            return
        self.steps += 1
        if self.steps == self.at:
            raise OSError(errno.ENOSPC, f"No space left: {operation}")


def commit(store: Store, files: Failing, number: int) -> int:
    """The steps of one transaction, which fails where `files` says."""
    files.steps = 0
    writer = Store.open(store.path, files=files).writer()
    with writer, writer.transaction() as transaction:
        add(transaction, number)
        transaction.commit()
    return files.steps


def test_failure_at_every_step(filled: Store) -> None:
    """A commit that fails at any step is wholly there or not at all, and can be done again."""
    files = Failing()
    steps = commit(filled, files, 6)
    last = 6
    outcomes = set()
    for at in range(1, steps):
        files.at = at
        with pytest.raises(OSError, match="No space left"):
            commit(filled, files, last + 1)
        files.at = 0
        version = check(Store.open(filled.path))
        outcomes.add(version - last)
        last = version
        with filled.writer():
            pass
        assert [each for each in fsck(filled.path) if not each.garbage] == []
    assert outcomes == {0, 1}


def test_writer_goes_on_after_a_failure(filled: Store) -> None:
    """After a commit that failed before it was one, the same writer commits again."""
    files = Failing()
    with Store.open(filled.path, files=files).writer() as writer:
        with writer.transaction() as transaction:
            add(transaction, 6)
            files.at = files.steps + 2
            with pytest.raises(OSError, match="No space left"):
                transaction.commit()
        with writer.transaction() as transaction:
            add(transaction, 6)
            transaction.commit()
    assert check(filled) == 6
    assert fsck(filled.path) == []


class Flushed(StoreFiles):
    """Keeps what was done, and flushed, in order."""

    def __init__(self) -> None:
        self.done: list[tuple[str, Path]] = []

    def step(self, operation: str, path: Path) -> None:
        if operation != "sync":
            self.done.append((operation, path))

    def flush(self, path: Path) -> None:
        super().flush(path)
        self.done.append(("flush", path))


def test_what_a_commit_names_is_durable_before_it(tmp_path: Path) -> None:
    """Their content, their names, and the entry of the log; then the name of this one."""
    files = Flushed()
    store = Store.create(tmp_path / "store", files=files)
    with store.writer() as writer, writer.transaction() as transaction:
        add(transaction, 0)
        files.done.clear()
        transaction.commit()
    publish = [operation for operation, _ in files.done].index("publish")
    (folder,) = (path for operation, path in files.done if operation == "move")
    (temporary,) = (path for operation, path in files.done if operation == "write")
    written = set(folder.iterdir())
    moved = files.done.index(("move", folder))
    assert len(written) > 1
    before = {("flush", path) for path in (*written, folder, folder.parent, temporary)}
    assert before <= set(files.done[moved:publish])
    assert ("flush", store.path / "log") in files.done[publish:]
