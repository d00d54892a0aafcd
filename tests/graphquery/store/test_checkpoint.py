"""Checkpoints: opening from one is the same as reading the whole log."""

from __future__ import annotations

import pytest

from graphquery.store import Store, StoreDamagedError, checkpoint, fsck, log
from graphquery.store.state import StoreState
from tests.graphquery.store.workload import add, check


@pytest.fixture
def checkpointed(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Ten transactions with a checkpoint every three commits."""
    monkeypatch.setattr(checkpoint, "EVERY", 3)
    with store.writer() as writer:
        for number in range(10):
            with writer.transaction() as transaction:
                add(transaction, number)
                transaction.commit()
            if number == 4:
                writer.compact()
    return store


def replayed(store: Store, version: int) -> StoreState:
    """The state from the log alone."""
    state = StoreState(checkpoint.read_checkpoint(store.path, version).checksum)
    first, _ = log.read_entry(store.path, 1)
    state.checksum = first.previous
    log.advance(store.path, state, version)
    return state


def test_checkpoint_agrees_with_log(checkpointed: Store) -> None:
    """The last two checkpoints are kept, and hold what the log says."""
    versions = checkpoint.checkpoint_versions(checkpointed.path)
    assert versions == [9, 12]
    for version in versions:
        stored = checkpoint.read_checkpoint(checkpointed.path, version)
        assert stored == replayed(checkpointed, version)
    assert check(Store.open(checkpointed.path)) == 9


def test_checkpoint_is_used(checkpointed: Store) -> None:
    """Commits before a checkpoint are not read."""
    for version in range(1, 10):
        log.entry_path(checkpointed.path, version).unlink()
    assert check(Store.open(checkpointed.path)) == 9


def test_log_that_lost_its_end(checkpointed: Store) -> None:
    """A log that ends before a checkpoint is damaged, and not written to."""
    log.entry_path(checkpointed.path, 12).unlink()
    message = r"has lost its end: there is a checkpoint of commit 12, but no such commit\.\nRest"
    with pytest.raises(StoreDamagedError, match=message):
        Store.open(checkpointed.path).snapshot()
    with pytest.raises(StoreDamagedError, match="has lost its end"):
        checkpointed.writer().__enter__()
    assert check_version(checkpointed, 11)


def check_version(store: Store, version: int) -> bool:
    """Whether an older version can still be read."""
    return store.snapshot(version).version == version


def test_damaged_checkpoint_is_passed_over(checkpointed: Store) -> None:
    """A checkpoint that was truncated does not matter, nor that there is none."""
    path = checkpoint.checkpoint_path(checkpointed.path, 12)
    path.write_bytes(path.read_bytes()[:100])
    assert checkpoint.latest_checkpoint(checkpointed.path) == replayed(checkpointed, 9)
    assert check(Store.open(checkpointed.path)) == 9
    path.unlink()
    checkpoint.checkpoint_path(checkpointed.path, 9).unlink()
    assert checkpoint.latest_checkpoint(checkpointed.path) is None
    assert check(Store.open(checkpointed.path)) == 9
    assert fsck(checkpointed.path) == []


def test_distance_of_checkpoints() -> None:
    """Every 64 commits at first, then after a sixteenth of the log."""
    assert not checkpoint.is_due(63, 0)
    assert checkpoint.is_due(64, 0)
    assert not checkpoint.is_due(16_000, 15_001)
    assert checkpoint.is_due(16_000, 15_000)


def test_checkpoint_that_cannot_be_written(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit stands without its checkpoint, and the next one writes it."""
    monkeypatch.setattr(checkpoint, "EVERY", 1)
    folder = store.path / "checkpoints"
    with store.writer() as writer:
        folder.rmdir()
        folder.write_text("in the way")
        with writer.transaction() as transaction:
            add(transaction, 0)
            assert transaction.commit() == 1
        folder.unlink()
        folder.mkdir()
        with writer.transaction() as transaction:
            add(transaction, 1)
            transaction.commit()
    assert checkpoint.checkpoint_versions(store.path) == [2]
    assert check(store) == 1
