"""One writer at a time: who holds the lock, and when it is taken over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from multiprocessing.context import ForkServerContext

import pytest

from graphquery.errors import StoreError
from graphquery.store import Store
from graphquery.store.lock import LOCK, Holder, is_dead, read_holder
from tests.graphquery.store import workload
from tests.graphquery.store.workload import add, check


def leave_lock(store: Store, holder: Holder) -> None:
    """Write the lock of another process."""
    (store.path / LOCK).write_text(json.dumps(asdict(holder)))


def dead_process() -> int:
    """The number of a process that was."""
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as process:
        process.wait()
    return process.pid


def test_second_writer(store: Store) -> None:
    """A second writer is refused, of the same process too, and told who is writing."""
    with store.writer():
        with (
            pytest.raises(
                StoreError, match=rf"written by process {os.getpid()} on .*\nWait .*, delete"
            ),
            Store.open(store.path).writer(),
        ):
            pass
        assert (store.path / LOCK).exists()
    assert not (store.path / LOCK).exists()
    with store.writer():
        pass


def test_writer_outside_its_block(store: Store) -> None:
    """A writer works within its block only, and a transaction within the writer's."""
    writer = store.writer()
    with pytest.raises(StoreError, match=r"is closed: use it within its block"):
        writer.transaction()
    with writer:
        transaction = writer.transaction()
        transaction.put("a", 1)
    with pytest.raises(StoreError, match="The transaction is over"):
        transaction.commit()
    writer.close()
    assert store.snapshot().version == 0
    assert list((store.path / "staging").iterdir()) == []


def test_lock_of_dead_process(store: Store) -> None:
    """The lock of a process of this machine that is no more is taken over."""
    myself = Holder.myself()
    for dead in (
        replace(myself, pid=dead_process()),
        replace(myself, started=(myself.started or 0) - 1),
        replace(myself, boot="another start/" + (myself.boot or "/").split("/")[1]),
    ):
        leave_lock(store, dead)
        assert is_dead(dead)
        with store.writer():
            holder = read_holder(store.path / LOCK)
            assert holder is not None
            assert holder.pid == os.getpid()


def test_lock_that_may_be_alive(store: Store) -> None:
    """A lock is never taken over when it cannot be told whether its process lives."""
    myself = Holder.myself()
    assert myself.boot is not None
    for unknown in (
        myself,
        replace(myself, host="elsewhere", pid=1),
        replace(myself, boot=myself.boot.split("/")[0] + "/other", pid=1),
        replace(myself, boot=None, pid=dead_process()),
    ):
        leave_lock(store, unknown)
        assert not is_dead(unknown)
        with pytest.raises(StoreError, match=f"process {unknown.pid} on {unknown.host}"):
            store.writer().__enter__()
    (store.path / LOCK).write_text("{")
    with pytest.raises(StoreError, match=r"written by somebody\.\nWait"):
        store.writer().__enter__()


def test_lock_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the start of machine and process cannot be told, the process number decides."""
    monkeypatch.setattr("graphquery.store.lock._boot", lambda: None)
    monkeypatch.setattr("graphquery.store.lock._started", lambda pid: None)
    myself = Holder.myself()
    assert not is_dead(myself)
    assert is_dead(replace(myself, pid=dead_process()))


def test_takeover_by_many(store: Store, processes: ForkServerContext) -> None:
    """Of several processes that find a stale lock at once, one becomes the writer."""
    for _ in range(3):
        leave_lock(store, replace(Holder.myself(), pid=dead_process()))
        start, answers = processes.Barrier(4), processes.SimpleQueue()
        arguments = (store.path, start, answers)
        racers = [processes.Process(target=workload.race, args=arguments) for _ in range(4)]
        for racer in racers:
            racer.start()
        assert sorted(answers.get() for _ in racers) == ["refused"] * 3 + ["writer"]
        for racer in racers:
            racer.join(60)
            assert racer.exitcode == 0
            racer.close()


def test_lock_in_forked_process(store: Store) -> None:
    """A forked process neither writes nor gives the lock back."""
    with store.writer() as writer:
        transaction = writer.transaction()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            with pytest.raises(StoreError, match="in the process that made it"):
                transaction.put("a", 1)
            writer._lock.release()
        assert (store.path / LOCK).exists()


def test_writer_over_damage(filled: Store) -> None:
    """A damaged log is not written to, and the lock is given back."""
    (filled.path / "log" / f"{2:020d}.json").unlink()
    with pytest.raises(StoreError, match="Commit 2 is missing"):
        filled.writer().__enter__()
    assert not (filled.path / LOCK).exists()


def test_without_lock(filled: Store) -> None:
    """Where somebody removed the lock and wrote, the first writer is stopped."""
    with filled.writer() as writer:
        (filled.path / LOCK).unlink()
        other = Store.open(filled.path).writer()
        with other, other.transaction() as transaction:
            add(transaction, 6)
            transaction.commit()
        with writer.transaction() as transaction:
            add(transaction, 6)
            with pytest.raises(StoreError, match=r"has a commit 7 already: another writer is at"):
                transaction.commit()
        with pytest.raises(StoreError, match=r"failed to finish a commit\.\nClose it"):
            writer.transaction()
    assert check(Store.open(filled.path)) == 6
