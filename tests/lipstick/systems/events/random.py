"""Random jobs as files of messages, reduced into stores, held against the sweep of the full graph.

``python -m tests.lipstick.systems.events.random 0-10000 --output FILE`` goes on where it was
stopped.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from lipstick.systems.events.files import reduce_files
from lipstick.systems.events.run_settings import Settings
from tests.graphquery.reduction.jobs import random_job
from tests.graphquery.reduction.oracle import swept
from tests.lipstick.systems.events.reduced import asked, edges_in, pairs_in
from tests.lipstick.systems.events.sent import send, write


def run(seed: int, folder: Path) -> int:
    """Reduce a random job's messages, and hold the store against the sweep of all edges.

    Returns
    -------
    int
        How many messages were late and repaired.

    Raises
    ------
    AssertionError
        Naming the seed.
    """
    rng = np.random.default_rng(seed)
    job = random_job(rng)
    functions = bool(rng.random() < 0.5)
    sent = send(job, rng, functions=functions)
    files = write(sent.lines, folder / "in", rng)
    settings = Settings(
        hubs=bool(rng.random() < 0.5),
        batch=int(rng.choice([1, 5, 1000])),
        lateness=None if rng.random() < 0.4 else int(rng.choice([0, 20, 10_000])),
        overlap=20,
        workers=int(rng.integers(1, 3)),
        block=int(rng.choice([700, 3000, 1 << 20])),
    )
    store = folder / "store"
    outcome = reduce_files(files, store, settings)
    where = f"seed {seed}, functions {functions}, {settings}"
    assert outcome.dead == sent.bad, f"{where}: {outcome.dead} dead letters of {sent.bad}"
    expected = swept({edge[:2] for edge in job.edges}, job.effects, job.causes)
    if not outcome.topics:
        assert not expected, where
        return 0
    progress = outcome.topics["t"]
    pairs_found = pairs_in(store, job.effects, job.causes)
    assert pairs_found == expected, (
        f"{where}: lost {expected - pairs_found}, new {pairs_found - expected}"
    )
    assert replace(progress, refused=0).exact, f"{where}: {progress}"
    assert outcome.exact == progress.exact == (not sent.bad), where
    if not progress.repaired:
        ends = edges_in(store)
        assert len(ends) == len(set(ends)), f"{where}: an edge is stored twice"
        if not settings.hubs:
            inner = {v for pair in ends for v in pair} - job.effects - job.causes
            assert not inner, f"{where}: {inner} are left"
    if not job.kept:
        assert asked(store) == expected, f"{where}: lineage differs"
    return progress.repaired


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", help="FROM-TO")
    parser.add_argument("--output", type=Path, help="where to note what was done")
    given = parser.parse_args()
    first, last = map(int, given.seeds.split("-"))
    if given.output is not None and given.output.exists():
        first = max(first, int(given.output.read_text()))
    started, repaired = time.monotonic(), 0
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as folder:
            repaired += run(seed, Path(folder))
        if given.output is not None:
            given.output.write_text(str(seed + 1))
        if (seed + 1) % 500 == 0:
            print(f"{seed + 1:,}: {time.monotonic() - started:.0f} s", flush=True)
    print(f"{last - first:,} jobs, {repaired:,} late messages repaired: all as the oracle says")


if __name__ == "__main__":
    main()
