"""Kill a running streaming query at random points and start it again, until it has read all.

``python -m tests.lipstick.systems.streaming.kills 100 --output FILE`` goes on after the runs in
FILE. A run is one of the shapes over files that are all there, so that every start goes on where
the last was killed; Spark retains the offsets of three batches alone, so that the others are those
that were kept. In the end the micro-batches must be told without a gap, and the results be what the
sink has. A kill is SIGKILL to the process and all that it started, at a random time after the query
began.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.lipstick.systems.streaming.running import Feed, write_batch
from tests.lipstick.systems.streaming.shapes import READ, SHAPES, Shape
from tests.local_spark import local_spark

READY = "running"
NAMES = ("tumbling, waiting", "union", "sliding, waiting", "first rows", "join of streams in time")
"""Of shapes in output mode append, whose sink is a folder."""
MOST = 6
"""Kills of one run."""
_RETAINED = {"spark.sql.streaming.minBatchesToRetain": "3", "spark.log.level": "ERROR"}


def main() -> int:
    """Kill so many times; return how many runs did not end as they should."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=1e9, help="Begin no run after these.")
    parser.add_argument("--child", nargs=2, metavar=("SEED", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        run(int(given.child[0]), Path(given.child[1]))
        return 0
    ends = time.monotonic() + given.seconds
    lines = given.output.read_text().splitlines() if given.output.exists() else []
    while sum(int(line.split()[1]) for line in lines) < given.kills and time.monotonic() < ends:
        lines.append(f"{len(lines)} {killed(len(lines))}")
        with given.output.open("a") as file:
            file.write(f"{lines[-1]}\n")
    failed = sum("FAILED" in line for line in lines)
    total = sum(int(line.split()[1]) for line in lines)
    print(f"{len(lines)} runs, {total} kills, {failed} runs that differ")
    return failed


def run(seed: int, folder: Path) -> None:
    """Go on with the query of a seed; at its end hold its results against its sink."""
    shape = _shape(seed)
    with (
        tempfile.TemporaryDirectory() as home,
        local_spark(Path(home), options=_RETAINED) as spark,
    ):
        feed = Feed(spark, folder, {}, shape.delay, shape.distinct)
        query = (
            feed.session.sql(shape.sql)
            .writeStream.option("checkpointLocation", str(folder / "checkpoint"))
            .format("parquet")
            .start(str(folder / "sink"))
        )
        print(READY, flush=True)
        query.processAllAvailable()
        query.stop()
        batches = query.batches
        numbers = [batch.number for batch in batches]
        files = [file for batch in batches for source in batch.files for file in source]
        results = sorted(map(repr, query.results().df.collect()))
        sink = spark.read.schema(query.results().schema).parquet(str(folder / "sink"))
        same = results == sorted(map(repr, sink.collect()))
        once = len(set(files)) == len(files) and numbers == list(range(len(numbers)))
        verdict = {"same": same, "once": once, "batches": len(batches), "rows": len(results)}
        (folder / "verdict.json").write_text(json.dumps(verdict))


def killed(seed: int) -> str:
    """Kill and start the query of a seed until it ends; return what came of it."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        kills = 0
        while not (folder / "verdict.json").exists():
            patience = chance.uniform(0.1, 3) if kills < MOST else 600
            kills += _start(seed, folder, patience)
        verdict = json.loads((folder / "verdict.json").read_text())
    good = verdict["same"] and verdict["once"]
    outcome = "" if good else " FAILED"
    return f"{kills} kills {verdict['batches']} batches {verdict['rows']} rows{outcome}"


def write(folder: Path) -> None:
    """Write all files of the streams."""
    for name in ("readings", "alerts"):
        (folder / name).mkdir()
    for batch in range(len(READ)):
        write_batch(folder, batch)


def _shape(seed: int) -> Shape:
    name = NAMES[seed % len(NAMES)]
    return next(shape for shape in SHAPES if shape.name == name)


def _start(seed: int, folder: Path, patience: float) -> int:
    """Start the query; return 1 if it was killed before it ended."""
    command = [sys.executable, "-m", "tests.lipstick.systems.streaming.kills", "0"]
    command += ["--output", "-", "--child", str(seed), str(folder)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == READY:
            break
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return 1
    finally:
        process.stdout.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
