"""Runs killed with SIGKILL at any point: whole invocations are stored, and the run goes on.

Without Spark: see :mod:`tests.lipstick.workflow.without_spark`. Kills of runs on Spark are in
`test_faults.py`, and those of the store alone in `tests/graphquery/store/test_faults.py`.
"""

from __future__ import annotations

import multiprocessing
import random
import signal
import time
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest

from graphquery.store import Store, fsck
from graphquery.store.lock import LOCK, read_holder
from tests.graphquery.store.workload import Unsynced
from tests.lipstick.workflow import without_spark
from tests.lipstick.workflow.test_run import contents

WORKLOAD = "tests.lipstick.workflow.without_spark"


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Processes that start quickly."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pandas", "tests.graphquery.store.workload", WORKLOAD])
    return context


@pytest.fixture(scope="module")
def whole(processes: ForkServerContext, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run that nothing interrupts stores."""
    path = tmp_path_factory.mktemp("whole") / "run"
    Store.create(path, files=Unsynced())
    assert _ran(processes, path, None) == 0
    return contents(path)


def _ran(processes: ForkServerContext, path: Path, delay: float | None) -> int:
    """Run or continue in a process, killed a moment after it has begun; its exit code."""
    process = processes.Process(target=without_spark.run, args=(path,))
    process.start()
    if delay is not None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.is_alive():
            holder = read_holder(path / LOCK)
            if holder is not None and holder.pid == process.pid:
                break
            time.sleep(0.002)
        time.sleep(delay)
        process.kill()
    process.join(120)
    code = process.exitcode
    process.close()
    assert code in (0, -signal.SIGKILL)
    return code


def _check(path: Path, whole: dict[str, Any]) -> None:
    """What is stored is whole invocations of the run, in their order, and nothing is damaged."""
    assert [str(damage) for damage in fsck(path) if not damage.garbage] == []
    stored = contents(path)
    for part in ("segments", "values", "records"):
        assert stored[part].items() <= whole[part].items()
    assert all(edges in whole["edges"] for edges in stored["edges"])
    done = [name for name in whole["records"] if name in stored["records"]]
    for name in done:
        segments = [s for s in whole["segments"] if s.partition("/")[0] == name]
        assert set(segments) <= set(stored["segments"])
    for number in range(1, without_spark.EXECUTIONS + 1):
        assert f"count#{number}" not in done or f"remember#{number}" in done


def _kill(
    processes: ForkServerContext, folder: Path, whole: dict[str, Any], kills: int, seed: int
) -> int:
    """Kill runs, each continued until it is done; how many came to their end."""
    chance, ended = random.Random(seed), 0
    path = folder / "run0"
    Store.create(path, files=Unsynced())
    while kills:
        code = _ran(processes, path, chance.uniform(0.0, 0.7))
        _check(path, whole)
        kills -= code != 0
        if code == 0:
            ended += 1
            assert contents(path) == whole
            path = folder / f"run{ended}"
            Store.create(path, files=Unsynced())
    assert _ran(processes, path, None) == 0
    assert contents(path) == whole
    assert fsck(path) == []
    return ended + 1


def test_killed_at_random(
    processes: ForkServerContext, tmp_path: Path, whole: dict[str, Any]
) -> None:
    _kill(processes, tmp_path, whole, kills=2, seed=1)


@pytest.mark.slow
def test_killed_at_random_times(
    processes: ForkServerContext, tmp_path: Path, whole: dict[str, Any]
) -> None:
    """Two hundred times."""
    ended = _kill(processes, tmp_path, whole, kills=200, seed=2)
    print(f"200 kills in {ended} runs")
