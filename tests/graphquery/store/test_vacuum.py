"""Vacuum: what is deleted, and when."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graphquery.store import Store, StoreDamagedError, StoreError, fsck
from tests.graphquery.store.workload import NOW, Unsynced, check, content


def test_nothing_to_delete(store: Store) -> None:
    """An empty store, and one in which everything is in use, lose nothing."""
    with store.writer() as writer:
        assert writer.vacuum(older_than=NOW) == 0
    assert store.snapshot().version == 0


def test_only_what_is_old(filled: Store) -> None:
    """Files stay for the time given, and for older snapshots as long."""
    before = filled.snapshot()
    held = content(before)
    with filled.writer() as writer:
        writer.compact()
        assert writer.vacuum(older_than=timedelta(hours=1)) == 0
        assert writer.vacuum() == 0
        assert content(before) == held
        # Two merged files replaced eleven; of six files of records, two are in use.
        assert writer.vacuum(older_than=NOW) == 11 + 4
        assert writer.vacuum(older_than=NOW) == 0
    with pytest.raises(StoreDamagedError, match=r"A snapshot older than the last vacuum cannot"):
        content(before)
    assert check(filled) == 5
    assert fsck(filled.path) == []


def test_refused(filled: Store) -> None:
    """Negative times, and open transactions."""
    with filled.writer() as writer:
        with pytest.raises(StoreError, match="give no negative time"):
            writer.vacuum(older_than=timedelta(seconds=-1))
        with writer.transaction(), pytest.raises(StoreError, match="while a transaction is open"):
            writer.vacuum(older_than=NOW)


def test_left_over(filled: Store) -> None:
    """What no commit names is deleted by the next writer; what came out of use is not."""
    with filled.writer() as writer:
        writer.compact()
    folder = filled.path / "data" / "00000099-aaaaaaaa"
    folder.mkdir()
    (folder / "x.parquet").write_text("x")
    (folder.parent / "00000099-bbbbbbbb").mkdir()
    before = set(folder.parent.iterdir()) - {folder, folder.parent / "00000099-bbbbbbbb"}
    (damage,) = fsck(filled.path)
    assert damage.garbage
    with filled.writer():
        assert set(folder.parent.iterdir()) == before
    assert fsck(filled.path) == []


def test_interrupted(filled: Store) -> None:
    """A vacuum that was interrupted after its commit is finished by the next one."""

    class Broken(Unsynced):
        broken = True

        def step(self, operation, path):
            if self.broken and operation == "remove" and path.suffix == ".parquet":
                raise OSError("no more")

    files = Broken()
    with Store.open(filled.path, files=files).writer() as writer:
        writer.compact()
        with pytest.raises(OSError, match="no more"):
            writer.vacuum(older_than=NOW)
        left = fsck(filled.path)
        assert len(left) == 15
        assert all(damage.garbage for damage in left)
        files.broken = False
        assert writer.vacuum(older_than=NOW) == 15
    assert fsck(filled.path) == []
