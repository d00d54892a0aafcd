"""A run of numbered transactions whose outcome is known, and writers of it that are killed."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from graphquery.errors import StoreError
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store import Snapshot, Store, StoreFiles, Transaction, checkpoint

NOW = timedelta(0)


@dataclass(frozen=True)
class Content:
    """What a snapshot holds, without where it is stored."""

    segments: dict[str, tuple[Any, ...]]
    edges: list[tuple[Any, ...]]
    records: dict[str, Any]


def content(snapshot: Snapshot) -> Content:
    """All there is in a snapshot, read from its files."""
    segments = {
        name: (each.kind, each.count, each.key, snapshot.values(each).to_pydict())
        for name, each in snapshot.segments.items()
    }
    edges = [
        (each.source, each.target, *(end.tolist() for end in snapshot.ordinals(each)))
        for each in snapshot.edges
    ]
    return Content(segments, edges, dict(snapshot.records))


def add(transaction: Transaction, number: int) -> None:
    """What transaction `number` adds: nodes with and without values, edges, records."""
    count = number % 4
    name = f"cars{number}"
    cars = Segment(name, Kind.TOKEN, "", count, key=("car",), file="")
    ids = list(range(count))
    transaction.add_segment(cars, pa.table({"car": pa.array(ids, pa.int64())}))
    transaction.add_segment(Segment(f"sum{number}", Kind.DERIVED, "+", 1))
    transaction.add_edges(
        EdgeSet(name, f"sum{number}", count, Ordinals.ALL, Ordinals.ONE),
    )
    if number:
        before = (number - 1) % 4
        edges = EdgeSet(f"cars{number - 1}", f"sum{number}", before, file="")
        transaction.add_edges(edges, list(range(before)), [0] * before)
    kept = transaction.add_table(pa.table({"state": [number]}), "state")
    if number >= 2:
        transaction.remove_file(transaction.get(f"state{number - 2}"))
        transaction.delete(f"state{number - 2}")
    transaction.put(f"state{number}", kept)
    transaction.put("last", number)


def expected(last: int) -> Content:
    """What the store holds after transactions 0 to `last`; the names of kept files left out."""
    segments: dict[str, tuple[Any, ...]] = {}
    edges: list[tuple[Any, ...]] = []
    for number in range(last + 1):
        ids = list(range(number % 4))
        segments[f"cars{number}"] = (Kind.TOKEN, len(ids), ("car",), {"car": ids})
        segments[f"sum{number}"] = (Kind.DERIVED, 1, (), {})
        edges.append((f"cars{number}", f"sum{number}", ids, [0] * len(ids)))
        if number:
            before = list(range((number - 1) % 4))
            edges.append((f"cars{number - 1}", f"sum{number}", before, [0] * len(before)))
    return Content(segments, edges, {} if last < 0 else {"last": last})


def check(store: Store) -> int:
    """Check that the store holds whole transactions only, and return the last one's number."""
    snapshot = store.snapshot()
    stored = content(snapshot)
    last = stored.records.get("last", -1)
    states = {name: stored.records.pop(name) for name in list(stored.records) if name != "last"}
    assert stored == expected(last)
    assert states.keys() == {f"state{number}" for number in (last - 1, last) if number >= 0}
    for name, file in states.items():
        assert snapshot.read(file).to_pydict() == {"state": [int(name.removeprefix("state"))]}
    return int(last)


class Killing(StoreFiles):
    """Kills its process at a step; if that is the writing of a file, half of it is written."""

    def __init__(self, at: int) -> None:
        self._left = at

    def step(self, operation: str, path: Path) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def write(self, path: Path, data: bytes) -> None:
        if self._left == 1:
            path.write_bytes(data[: len(data) // 2])
        super().write(path, data)


class Unsynced(StoreFiles):
    """Leaves syncing to the system: what a killed process wrote is still written."""

    def flush(self, path: Path) -> None:
        pass


class KillingUnsynced(Killing, Unsynced):
    """Both."""


def run(path: Path, until: int, files: StoreFiles, done: Path, older_than: timedelta = NOW) -> None:
    """Continue the run up to transaction `until`, compacting and vacuuming on the way.

    The number of every transaction that was committed is appended to the file `done`.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "EVERY", 3)
        _run(path, until, files, done, older_than)


def _run(path: Path, until: int, files: StoreFiles, done: Path, older_than: timedelta) -> None:
    with done.open("a", encoding="ascii") as told, Store.open(path, files=files).writer() as writer:
        last = writer.record("last", -1)
        for number in range(last + 1, until + 1):
            with writer.transaction() as transaction:
                add(transaction, number)
                transaction.commit()
            told.write(f"{number}\n")
            told.flush()
            if number % 4 == 3:
                writer.compact()
            if number % 6 == 5:
                writer.vacuum(older_than=older_than)


def killed_at(path: Path, until: int, step: int, done: Path) -> None:
    """Run in a process that kills itself at a step."""
    run(path, until, KillingUnsynced(step), done)


def endless(path: Path, done: Path, older_than: timedelta = NOW) -> None:
    """Run in a process that somebody else kills."""
    run(path, 100_000, Unsynced(), done, older_than)


def race(path: Path, start: Barrier, answers: SimpleQueue[str]) -> None:
    """Try to become the writer when all are ready, and tell; the writer waits for the others."""
    store = Store.open(path, files=Unsynced())
    start.wait(60)
    try:
        with store.writer():
            answers.put("writer")
            start.wait(60)
    except StoreError:
        answers.put("refused")
        start.wait(60)
