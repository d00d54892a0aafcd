"""The tasks of the streaming job pickled by value, for workers that do not have this project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lipstick.systems.events.stream.batches import Batches
from lipstick.systems.events.stream.local_reduction import decide, reduce_local
from lipstick.systems.events.stream.parsed_rows import cut
from lipstick.systems.events.stream.settings import StreamSettings
from lipstick.systems.events.stream.settling import resolve
from semiring.semirings import Counting
from tests.graphquery.reduction.jobs import random_job
from tests.lipstick.systems.events.inline import table_of
from tests.lipstick.systems.events.sent import send

cloudpickle = pytest.importorskip("pyspark.cloudpickle")
pytest.importorskip("lipstick.systems.events.stream.spark")

WORKER = """
import sys, pickle
for name in ("lipstick", "graphquery", "semiring", "rewriter", "sqlglot", "click"):
    sys.modules[name] = None
job = pickle.load(open(sys.argv[1], "rb"))
sys.stdout.write("\\n".join(job()))
"""


def test_a_worker_without_the_project_runs_all_stages(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    sent = send(random_job(rng), rng, functions=True)
    table = table_of([(line, "in", n) for n, line in enumerate(sent.lines, 1)])
    settings = StreamSettings(semiring=Counting(), lateness=10, shards=1, log=False)
    with Batches(tmp_path / "store", settings, tmp_path / "own") as state:
        plan = state.plan(0)

        def job() -> list[str]:
            told = resolve(plan, 0, reduce_local(plan, decide(plan, cut(plan, [table], 0))))
            return [f"{row.kind} {row.topic} {row.shard}" for row in told]

        path = tmp_path / "job.pickle"
        path.write_bytes(cloudpickle.dumps(job))
        here = job()
    done = subprocess.run(
        [sys.executable, "-P", "-c", WORKER, str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(here)
    assert {"decided t 0", "reduced t 0", "resolved t 0"} <= set(here)
