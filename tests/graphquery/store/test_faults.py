"""Writers killed with SIGKILL: nothing is lost, nothing is half there, and it goes on."""

from __future__ import annotations

import random
import shutil
import signal
import time
from datetime import timedelta
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

import pytest

from graphquery.store import Snapshot, Store, fsck, log
from graphquery.store.lock import LOCK, read_holder
from tests.graphquery.store import workload
from tests.graphquery.store.workload import NOW, Unsynced

LAST = 8
"""The transaction the runs with fault points go up to: compactions, a vacuum and checkpoints."""


def wait(process: ForkServerProcess) -> int:
    process.join(60)
    code = process.exitcode
    process.close()
    assert code in (0, -signal.SIGKILL)
    return code


def wait_for_lock(store: Store, process: ForkServerProcess) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        holder = read_holder(store.path / LOCK)
        if holder is not None and holder.pid == process.pid:
            return
        time.sleep(0.002)
    pytest.fail("the process did not take the lock")


def check_after_kill(store: Store, done: Path, before: int = -1) -> int:
    """Check a store as a killed writer left it, and return its last transaction."""
    last = workload.check(Store.open(store.path))
    told = done.read_text(encoding="ascii").split()
    assert last >= max([before, *map(int, told)])
    damages = fsck(store.path)
    assert [str(damage) for damage in damages if not damage.garbage] == []
    return last


def check_recovery(store: Store, done: Path, until: int) -> None:
    """Check that the run is continued to its end, and that nothing is left over then."""
    workload.run(store.path, until, Unsynced(), done)
    assert workload.check(Store.open(store.path)) == until
    with store.writer() as writer:
        writer.vacuum(older_than=NOW)
    assert fsck(store.path) == []


def kill_at_steps(
    processes: ForkServerContext, folder: Path, first: int, stride: int
) -> tuple[int, int]:
    """Kill at every `stride`-th step from `first`; how often, and how many steps there are."""
    kills = 0
    step = first
    while True:
        path, done = folder / f"store{step}", folder / f"done{step}"
        done.touch()
        store = Store.create(path, files=Unsynced())
        process = processes.Process(target=workload.killed_at, args=(path, LAST, step, done))
        process.start()
        if wait(process) == 0:
            return kills, step
        kills += 1
        check_after_kill(store, done)
        check_recovery(store, done, LAST)
        shutil.rmtree(path)
        step += stride


def kill_at_random(
    processes: ForkServerContext, store: Store, done: Path, kills: int, seed: int
) -> tuple[int, int]:
    """Kill a run that is continued each time; how many kills, and the last transaction."""
    chance = random.Random(seed)
    done.touch()
    last = -1
    for _ in range(kills):
        process = processes.Process(target=workload.endless, args=(store.path, done))
        process.start()
        if chance.random() < 0.8:  # else it may be killed while it takes the lock
            wait_for_lock(store, process)
        time.sleep(chance.uniform(0.0, 0.2))
        process.kill()
        assert wait(process) == -signal.SIGKILL
        last = check_after_kill(store, done, last)
    return kills, last


def test_killed_at_steps(processes: ForkServerContext, tmp_path: Path) -> None:
    """Killed at a sample of all steps, every recovery arrives at the same."""
    kills, steps = kill_at_steps(processes, tmp_path, 5, 26)
    assert kills >= 9
    assert steps > 230


def test_killed_at_random(processes: ForkServerContext, store: Store, tmp_path: Path) -> None:
    """Killed at random times, the run goes on from its last transaction."""
    done = tmp_path / "done"
    _, last = kill_at_random(processes, store, done, kills=11, seed=1)
    assert last > 5
    check_recovery(store, done, last + 3)


def test_readers_while_one_writes(
    processes: ForkServerContext, store: Store, tmp_path: Path
) -> None:
    """Snapshots taken at any time are whole, and stay so while files are merged."""
    done = tmp_path / "done"
    arguments = (store.path, done, timedelta(hours=1))
    process = processes.Process(target=workload.endless, args=arguments)
    process.start()
    held: list[tuple[Snapshot, workload.Content]] = []
    try:
        deadline = time.monotonic() + 60
        while len(held) < 8 and time.monotonic() < deadline:
            last = workload.check(store)
            if last > 3 * len(held):
                snapshot = store.snapshot()
                held.append((snapshot, workload.content(snapshot)))
    finally:
        process.kill()
        wait(process)
    assert len(held) == 8
    for snapshot, content in held:
        assert workload.content(snapshot) == content
    assert {"append", "compact"} <= {
        log.read_entry(store.path, version)[0].operation for version in log.versions(store.path)
    }


@pytest.mark.slow
def test_killed_at_every_step(processes: ForkServerContext, tmp_path: Path) -> None:
    """Killed at each step there is."""
    kills, steps = kill_at_steps(processes, tmp_path, 1, 1)
    print(f"{kills} kills at steps of a run")
    assert kills == steps - 1


@pytest.mark.slow
def test_killed_at_random_times(processes: ForkServerContext, store: Store, tmp_path: Path) -> None:
    """Killed two hundred times in one run."""
    done = tmp_path / "done"
    kills, last = kill_at_random(processes, store, done, kills=200, seed=2)
    print(f"{kills} kills in a run of {last + 1} transactions")
    assert last > 200
    check_recovery(store, done, last + 3)
