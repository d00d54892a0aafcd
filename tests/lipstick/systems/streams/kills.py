"""Kill a running graph at random points and start it again, until all of its input is recorded.

``python -m tests.lipstick.systems.streams.kills 100 --output FILE`` goes on after the graphs in
FILE, and holds each recording against the oracle: complete, nothing twice, same answers. With
``--spark`` graphs run on Structured Streaming, every other one divided by key. A kill is SIGKILL to
the process and all that it started. In memory it comes after a random number of batches, within the
next one; on Spark at a random time after the graph was started. A graph that ends without a kill is
reported as a failure: it shows nothing.
"""

import argparse
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from graphquery.store import Store, fsck
from graphquery.store.format import FORMAT_FILE
from graphquery.store.streams import queries
from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.stored import Stored
from tests.lipstick.systems.streams import oracle
from tests.lipstick.systems.streams.compared import DisagreementError, check_questions, same_events
from tests.lipstick.systems.streams.fed import delay_by_time, given_by_time, specs_of, write_batch
from tests.lipstick.systems.streams.generated import Rows, graph_of, random_inputs
from tests.lipstick.systems.streams.oracle import Spec

READY = "running"
LONG = 600.0
"""Seconds in which a graph ends that is not killed."""
STARTS = 200
"""More starts than that of one graph are a fault: it does not get on."""


def main() -> int:
    """Kill so many times; return how many graphs were not recorded as they should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9, help="After these kill no more.")
    parser.add_argument("--child", nargs=2, metavar=("SEED", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        seed, folder = given.child
        (run_on_spark if given.spark else run_in_memory)(int(seed), Path(folder))
        return 0
    ends = time.monotonic() + given.seconds
    lines = given.output.read_text().splitlines() if given.output.exists() else []
    while sum(int(line.split()[1]) for line in lines) < given.kills and time.monotonic() < ends:
        seed = len(lines)
        lines.append(f"{seed} {killed(seed, ends, spark=given.spark)}")
        with given.output.open("a") as file:
            file.write(f"{lines[-1]}\n")
    failed = sum("FAILED" in line for line in lines)
    total = sum(int(line.split()[1]) for line in lines)
    events = sum(int(line.split()[3]) for line in lines if "FAILED" not in line)
    print(f"{len(lines)} graphs, {total} kills, {events} events, {failed} graphs that differ")
    return failed


def workload(seed: int, *, spark: bool) -> tuple[list[Spec], dict[str, list[Rows]], int]:
    """The graph of a seed, its input, and how many batches that is."""
    rng = np.random.default_rng(seed)
    batches = 12 if spark else 60
    specs = specs_of(rng, keyed=spark and bool(seed % 2))
    return specs, random_inputs(specs, rng, batches, 120), batches


def run_in_memory(seed: int, folder: Path) -> None:
    """Go on with the graph of a seed, from files."""
    specs, inputs, batches = workload(seed, spark=False)
    if _ended(folder):
        return
    with Assertions(folder / "store") as recorder:
        runner = Runner(graph_of(specs), delays=given_by_time(seed), recorders=[recorder])
        print(READY, flush=True)
        for number in range(runner.number, batches):
            tables = {
                sid: pq.read_table(folder / "in" / sid / f"{number:04d}.parquet") for sid in inputs
            }
            runner.push(tables, final=number == batches - 1)
            print(READY, flush=True)


def run_on_spark(seed: int, folder: Path) -> None:
    """Go on with the graph of a seed on Structured Streaming."""
    from lipstick.systems.streams.structured import start
    from tests.lipstick.systems.streams.fed import frames_of
    from tests.local_spark import local_spark

    specs, inputs, _ = workload(seed, spark=True)
    if _ended(folder):
        return
    home = Path(tempfile.mkdtemp(dir=folder))
    with (
        local_spark(home) as spark,
        start(
            graph_of(specs),
            frames_of(spark, folder / "in", list(inputs)),
            folder / "store",
            checkpoint=folder / "checkpoint",
            partitions=2 if seed % 2 else None,
            delays=given_by_time(seed),
            trigger={"availableNow": True},
        ) as running,
    ):
        print(READY, flush=True)
        running.finish()


def _ended(folder: Path) -> bool:
    """Whether the process was killed after all was recorded."""
    if not (folder / "store" / FORMAT_FILE).exists():
        return False
    known = queries(Store.open(folder / "store").snapshot().records)
    return bool(known) and Stored(folder / "store").ended


def killed(seed: int, ends: float = math.inf, *, spark: bool) -> str:
    """Run the graph of a seed, killing it; return kills and events, or what is wrong.

    Parameters
    ----------
    ends
        The time of the monotonic clock after which it is left to end.
    """
    chance = random.Random(seed)
    kills = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        _, inputs, batches = workload(seed, spark=spark)
        for sid, each in inputs.items():
            for number, rows in enumerate(each):
                write_batch(folder / "in", sid, number, rows)
        for _ in range(STARTS):
            # The first start has as many batches again before it when it is killed.
            passed = 0 if spark else chance.randrange(batches // 2)
            seconds = chance.uniform(0.0, 8.0 if spark else 0.02)
            if time.monotonic() > ends:
                passed, seconds = 0, LONG
            code = _started(seed, folder, passed, seconds, spark)
            if code is not None:
                break
            kills += 1
        if code != 0:
            logged = (folder / "log").read_text(errors="replace")[-1000:].replace("\n", " ")
            return f"{kills} kills FAILED the process ended with {code}: {logged}"
        if not kills and time.monotonic() < ends:
            return "0 kills FAILED the process ended before it was killed"
        try:
            return f"{kills} kills {_checked(seed, folder, batches, spark)} events"
        except (DisagreementError, AssertionError) as error:
            return f"{kills} kills FAILED {error}".replace("\n", " ")


def _as_read(folder: Path, inputs: dict[str, list[Rows]]) -> dict[str, list[Rows]]:
    """The input by micro-batches, as the checkpoint tells them.

    A file that was listed when the process was killed, before the batch that was to read it was
    written down, is read by the next one together with the file after it: then the larger of both
    comes first, as Spark divides files among tasks.
    """
    # Of another system, which need not be installed for other tests.
    from lipstick.systems.streaming.checkpoint import read_checkpoint

    read: dict[str, list[Rows]] = {sid: [] for sid in inputs}
    for batch in read_checkpoint(folder / "checkpoint"):
        paths = [Path(file.path.removeprefix("file://")) for each in batch.files for file in each]
        paths.sort(key=lambda path: (-path.stat().st_size, path))
        for sid, files in inputs.items():
            numbers = [int(path.stem) for path in paths if path.parent.name == sid]
            read[sid].append([row for number in numbers for row in files[number]])
    return read


def _started(seed: int, folder: Path, passed: int, seconds: float, spark: bool) -> int | None:
    """Run the process until it ends, and return its code; None if it was killed before.

    It is killed so many seconds after it has done so many batches.
    """
    command = [sys.executable, "-m", "tests.lipstick.systems.streams.kills", "0", "--output", "-"]
    command += ["--child", str(seed), str(folder), *(["--spark"] if spark else [])]
    with (
        (folder / "log").open("ab") as log,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, start_new_session=True
        ) as child,
    ):
        assert child.stdout is not None
        for _ in range(passed + 1):
            while READY.encode() not in (line := child.stdout.readline()) and line:
                pass
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return None


def _checked(seed: int, folder: Path, batches: int, spark: bool) -> int:
    """Hold the recording of a seed against the oracle; return how many events it has."""
    specs, inputs, _ = workload(seed, spark=spark)
    if spark:
        inputs = _as_read(folder, inputs)
        batches = len(next(iter(inputs.values())))
    expected_events = oracle.run(specs, inputs, delay_by_time(seed))
    recording = Stored(folder / "store")
    count = 0
    for spec in specs:
        same_events(seed, spec, recording, expected_events[spec.sid])
        recorded = len(recording.whole(spec.sid))
        assert recorded == len(expected_events[spec.sid]), (
            f"{spec.sid} has {recorded} events, some twice"
        )
        count += recorded
    expected = batches + spark  # the end of the input is a batch of its own
    assert recording.batches == expected, f"{recording.batches} batches, not {expected}"
    check_questions(seed, specs, recording, expected_events, np.random.default_rng(seed))
    damage = [each for each in fsck(folder / "store") if not each.garbage]
    assert not damage, damage
    return count


if __name__ == "__main__":
    sys.exit(bool(main()))
