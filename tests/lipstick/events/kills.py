"""Reductions of files killed at random points, completed, and held against one that was not.

``python -m tests.lipstick.events.kills 0-100 --output FILE`` goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import tempfile
import time
from pathlib import Path

import numpy as np

from graphquery.store import fsck
from lipstick.events.files import Settings, reduce_files
from lipstick.events.letters import read_letters
from tests.graphquery.reduction.jobs import random_job
from tests.lipstick.events.reduced import edges_in
from tests.lipstick.events.sent import send, write


def run(seed: int, folder: Path) -> int:
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
    lines: list[bytes] = []
    for number in range(8):
        job = random_job(rng)
        lines += send(job, rng, functions=False, topic=f"t{number}").lines
    files = write(lines, folder / "in", rng)
    settings = Settings(batch=5, block=1_500)
    started = time.monotonic()
    plain = reduce_files(files, folder / "plain", settings)
    took = time.monotonic() - started
    kills = 0
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        process = context.Process(target=reduce_files, args=(files, folder / "store", settings))
        process.start()
        process.join(float(rng.random() * took))
        if process.is_alive() and process.pid is not None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.join()
    outcome = reduce_files(files, folder / "store", settings)
    assert outcome.topics == plain.topics, f"seed {seed}: other progress"
    assert outcome.dead == plain.dead, f"seed {seed}: other dead letters"
    wanted, found = edges_in(folder / "plain"), edges_in(folder / "store")
    assert sorted(found) == sorted(wanted), f"seed {seed}: another graph"
    damages = [each for each in fsck(folder / "store") if not each.garbage]
    assert not damages, f"seed {seed}: {damages}"
    letters = read_letters(folder / "store.dead.jsonl")
    assert sorted(map(str, letters)) == sorted(
        map(str, read_letters(folder / "plain.dead.jsonl"))
    ), f"seed {seed}: other letters"
    return kills


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", help="FROM-TO")
    parser.add_argument("--output", type=Path, help="where to note what was done")
    given = parser.parse_args()
    first, last = map(int, given.seeds.split("-"))
    if given.output is not None and given.output.exists():
        first = max(first, int(given.output.read_text()))
    kills = 0
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as folder:
            kills += run(seed, Path(folder))
        if given.output is not None:
            given.output.write_text(str(seed + 1))
    print(f"{last - first} runs, {kills} kills: the same stores")


if __name__ == "__main__":
    main()
