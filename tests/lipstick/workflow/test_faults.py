"""Runs that are interrupted at any point go on from the last whole invocation."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from graphquery.store import Store, StoreFiles, fsck
from lipstick.workflow import Module, Relation, Specification, StateQuery, Workflow
from tests.lipstick.workflow.test_run import contents

pytestmark = [pytest.mark.spark, pytest.mark.classic]

NUMBERS = Relation("n int", key="n")
INPUTS: list[dict[str, Any]] = [{"In": [(n,)]} for n in range(4)]


def counter() -> Workflow:
    """Two nodes: one remembers every number it was given, the other passes on how many."""
    remember = Specification(
        "remember",
        {"In": NUMBERS},
        {"Out": NUMBERS},
        {"Out": "SELECT n FROM Seen"},
        state={"Seen": NUMBERS},
        query_state=StateQuery(insert={"Seen": "SELECT n FROM In"}),
    )
    count = Specification(
        "count",
        {"Out": NUMBERS},
        {"Total": Relation("total bigint")},
        {"Total": "SELECT count(*) AS total FROM Out"},
    )
    nodes = {"remember": Module("remember", remember), "count": Module("count", count)}
    return Workflow("counter", nodes, [("remember", "count")], "remember", "count")


@pytest.fixture(scope="module")
def whole(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run that nothing interrupts stores."""
    path = tmp_path_factory.mktemp("whole") / "run"
    run = counter().run(spark, INPUTS, store=path)
    assert [run.output(e).collect()[0]["total"] for e in range(4)] == [1, 2, 3, 4]
    return contents(path)


class Interruption(BaseException):
    """What stands for the end of a process."""


@pytest.mark.parametrize("seed", range(3))
def test_an_interrupted_write_is_done_again(
    spark: SparkSession,
    tmp_path: Path,
    whole: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    path, left = tmp_path / "run", random.Random(seed).randrange(20, 120)

    def step(files: StoreFiles, operation: str, file: Path) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Interruption

    with monkeypatch.context() as patch:
        patch.setattr(StoreFiles, "step", step)
        with pytest.raises(Interruption):
            counter().run(spark, INPUTS, store=path)
    assert all(damage.garbage for damage in fsck(path))
    done = len(Store.open(path).snapshot().segments)
    counter().run(spark, INPUTS, store=path)
    assert contents(path) == whole
    assert not fsck(path)
    assert done < len(whole["segments"])


CHILD = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from tests.lipstick.workflow.test_faults import INPUTS, counter

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .getOrCreate()
)
counter().run(spark, INPUTS, store=Path(sys.argv[1]))
"""


def _killed(path: Path, version: int, delay: float) -> bool:
    """Run in a process of its own, and kill it a moment after it has stored so much."""
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYSPARK_PYTHON": sys.executable}
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    log, deadline = path / "log", time.monotonic() + 120
    while child.poll() is None and time.monotonic() < deadline:
        if log.is_dir() and len(list(log.glob("*.json"))) >= version:
            time.sleep(delay)
            break
        time.sleep(0.01)
    alive = child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait()
    return alive


def _check_kill(spark: SparkSession, path: Path, whole: dict[str, Any], seed: int) -> None:
    chance = random.Random(seed)
    assert _killed(path, chance.randrange(1, 9), chance.uniform(0, 0.4)), "it was still running"
    assert all(damage.garbage for damage in fsck(path))
    assert 0 < Store.open(path).snapshot().version < 14
    run = counter().run(spark, INPUTS, store=path)
    assert run.executions == 4
    assert contents(path) == whole
    assert not fsck(path)


@pytest.mark.slow
@pytest.mark.classic
@pytest.mark.parametrize("seed", range(1, 12))
def test_a_run_killed_anywhere_goes_on(
    spark: SparkSession, tmp_path: Path, whole: dict[str, Any], seed: int
) -> None:
    _check_kill(spark, tmp_path / "run", whole, seed)
