"""Reductions killed at random points, completed, and held against one that was not.

``python -m tests.lipstick.systems.events.kills 0-100 --form files --output FILE`` goes on where it
was stopped. Forms: ``files``, a reduction of files in one process; ``tasks``, the tasks and commits
of the streaming job in one process; ``spark``, the streaming job.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.store import fsck
from lipstick.systems.events.dead_letters import read_letters
from lipstick.systems.events.files import reduce_files
from lipstick.systems.events.run_settings import Settings
from lipstick.systems.events.stream.batches import Batches
from lipstick.systems.events.stream.settings import StreamSettings
from tests.graphquery.reduction.jobs import random_job
from tests.lipstick.systems.events.inline import stepped, tasks_of
from tests.lipstick.systems.events.reduced import edges_in
from tests.lipstick.systems.events.sent import send, write

SETTINGS = StreamSettings(lateness=20, overlap=20, workers=2)


def lines_of(rng: np.random.Generator) -> list[bytes]:
    lines: list[bytes] = []
    for number in range(8):
        lines += send(random_job(rng), rng, functions=False, topic=f"t{number}").lines
    return lines


def through_files(folder: Path, store: Path) -> Any:
    return reduce_files([folder], store, Settings(batch=5, block=1_500)).topics


def through_tasks(folder: Path, store: Path) -> Any:
    """A batch a file, in the order of their names, as the file source of Spark has them."""
    with Batches(store, SETTINGS, store.parent / f"{store.name}.stream") as state:
        for batch, file in enumerate(sorted(folder.iterdir())):
            if batch > state.batch:
                columns = {
                    "value": pa.array([file.read_bytes()], pa.binary()),
                    "origin": [f"file:{file}"],
                    "line": pa.array([1], pa.int64()),
                    "time": pa.nulls(1, pa.int64()),
                }
                table = pa.RecordBatch.from_pydict(columns)
                state.commit(batch, tasks_of(state.plan(batch), [table]))
        return state.close(stepped).topics


def through_spark(folder: Path, store: Path) -> Any:
    """The streaming job, in this process; says when Spark is up."""
    from lipstick.systems.events.stream.spark import StreamReduction
    from lipstick.systems.events.stream.streaming_frames import files_of
    from tests.local_spark import local_spark

    home = Path(tempfile.mkdtemp(dir=store.parent))
    try:
        with local_spark(home) as spark:
            print("up", flush=True)
            with StreamReduction(store, SETTINGS) as reduction:
                reduction.wait(reduction.start(files_of(spark, folder, files_per_batch=1)))
                return reduction.close().topics
    finally:
        shutil.rmtree(home, ignore_errors=True)


FORMS: dict[str, Callable[[Path, Path], Any]] = {
    "files": through_files,
    "tasks": through_tasks,
    "spark": through_spark,
}


def run(seed: int, folder: Path, form: str = "files") -> int:
    """Kill a reduction at a random moment up to three times, complete it, and compare.

    Returns
    -------
    int
        How often it was killed before it was done.

    Raises
    ------
    AssertionError
        Naming the seed.
    """
    rng = np.random.default_rng(seed)
    lines = lines_of(rng)
    source = folder / "in"
    if form == "files":
        write(lines, source, rng)
    else:
        source.mkdir()
        for number, part in enumerate(np.array_split(np.arange(len(lines)), 6)):
            file = source / f"{number}.jsonl"
            file.write_bytes(b"".join(lines[line] for line in part))
            os.utime(file, (number, number))  # Spark reads the oldest first
    started = time.monotonic()
    plain = (through_files if form == "files" else through_tasks)(source, folder / "plain")
    took = time.monotonic() - started
    kills = sum(_killed(form, source, folder / "store", took, rng) for _ in range(3))
    topics = FORMS[form](source, folder / "store")
    other = {name: (topics.get(name), told) for name, told in plain.items()}
    other = {name: both for name, both in other.items() if both[0] != both[1]}
    assert topics.keys() == plain.keys(), f"seed {seed}: other topics"
    assert not other, f"seed {seed}: other progress: {other}"
    wanted, edges_found = edges_in(folder / "plain"), edges_in(folder / "store")
    assert sorted(edges_found) == sorted(wanted), f"seed {seed}: another graph"
    damages = [each for each in fsck(folder / "store") if not each.garbage]
    assert not damages, f"seed {seed}: {damages}"
    letters = {name: read_letters(folder / f"{name}.dead.jsonl") for name in ("plain", "store")}
    texts = [sorted((each.line, each.text) for each in letters[name]) for name in letters]
    assert texts[0] == texts[1], f"seed {seed}: other letters"
    return kills


def _killed(form: str, source: Path, store: Path, took: float, rng: np.random.Generator) -> bool:
    """Start a reduction, and kill it at a random moment; whether it was not done before."""
    if form == "spark":
        return _killed_spark(source, store, rng)
    process = multiprocessing.get_context("fork").Process(target=FORMS[form], args=(source, store))
    process.start()
    process.join(float(rng.random() * took))
    killed = process.is_alive() and process.pid is not None
    if killed:
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    return bool(killed)


def _killed_spark(source: Path, store: Path, rng: np.random.Generator) -> bool:
    """The same of a job of Spark, in a process of its own, once Spark is up; its JVM with it."""
    command = [sys.executable, "-m", "tests.lipstick.systems.events.kills", "0-0"]
    with subprocess.Popen(
        [*command, "--child", str(source), str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        try:
            process.wait(float(rng.random() * 12))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return True
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", help="FROM-TO")
    parser.add_argument("--form", choices=list(FORMS), default="files")
    parser.add_argument("--output", type=Path, help="where to note what was done")
    parser.add_argument("--child", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        through_spark(*given.child)
        return
    first, last = map(int, given.seeds.split("-"))
    if given.output is not None and given.output.exists():
        first = max(first, int(given.output.read_text()))
    kills = 0
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as folder:
            kills += run(seed, Path(folder), given.form)
        if given.output is not None:
            given.output.write_text(str(seed + 1))
            print(f"{seed}: {kills} kills", flush=True)
    print(f"{last - first} runs, {kills} kills: the same stores")


if __name__ == "__main__":
    main()
