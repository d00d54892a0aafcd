"""Random jobs through the tasks of the streaming job in this process, with restarts and redelivery.

``python -m tests.lipstick.systems.events.streaming 0-10000 --output FILE`` goes on where it was
stopped.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from graphquery.reduction.hashing import shard_of
from lipstick.systems.events.dead_letters import read_letters
from lipstick.systems.events.parse import parse
from lipstick.systems.events.stream import batches as module
from lipstick.systems.events.stream.batches import Batches
from lipstick.systems.events.stream.plan import PARTITIONINGS, SOURCE
from lipstick.systems.events.stream.settings import StreamSettings
from semiring.semirings import Counting
from tests.graphquery.reduction.jobs import random_job
from tests.graphquery.reduction.oracle import job_labels, labels, swept
from tests.lipstick.systems.events.inline import Line, run_batch, stepped, table_of, tasks_of
from tests.lipstick.systems.events.reduced import asked, edges_in, labelled_in, pairs_in
from tests.lipstick.systems.events.sent import send


def settings_of(rng: np.random.Generator) -> StreamSettings:
    return StreamSettings(
        semiring=Counting() if rng.random() < 0.3 else None,
        hubs=bool(rng.random() < 0.5),
        lateness=None if rng.random() < 0.4 else int(rng.choice([0, 20, 10_000])),
        overlap=20,
        workers=int(rng.integers(1, 3)),
        shards=int(rng.integers(1, 4)),
        partitioning=str(rng.choice(PARTITIONINGS)),
    )


def tables_of(
    lines: list[bytes], first: int, settings: StreamSettings, rng: np.random.Generator, count: int
) -> list[pa.RecordBatch]:
    """Lines as the rows of a batch, in up to three tasks; some of a line a row, some of all."""
    parts: list[list[Line]] = [[] for _ in range(count)]
    for number, line in enumerate(lines, first):
        task = int(rng.integers(len(parts)))
        if settings.partitioning == SOURCE:
            messages = parse(line, "").messages
            execs = messages.column("exec").fill_null("").combine_chunks()
            task = int(shard_of(execs, len(parts))[0]) if len(execs) else 0
        parts[task].append((line.rstrip(b"\n"), "in", number))
    source = settings.partitioning == SOURCE
    return [table_of(rows, number if source else None) for number, rows in enumerate(parts)]


def run(seed: int, folder: Path) -> int:
    """Reduce a random job's messages in batches, and hold the store against the sweep.

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
    small = 0 if rng.random() < 0.5 else module.SMALL
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SMALL", small)  # 0: what is told waits for the next batch
        return _run(seed, rng, folder)


def _run(seed: int, rng: np.random.Generator, folder: Path) -> int:
    job = random_job(rng)
    sent = send(job, rng, functions=bool(rng.random() < 0.5))
    settings = settings_of(rng)
    where = f"seed {seed}, {settings}"
    size = int(rng.choice([3, 20, 1000]))
    store, work = folder / "store", folder / "own"
    state = Batches(store, settings, work).__enter__()
    count = int(rng.integers(1, 4))
    for batch, start in enumerate(range(0, len(sent.lines), size)):
        lines = sent.lines[start : start + size]
        tables = tables_of(lines, start + 1, settings, rng, count)
        if rng.random() < 0.2:  # the process dies before the commit
            tasks_of(state.plan(batch), tables)
            state.__exit__(None, None, None)
            state = Batches(store, settings, work).__enter__()
        run_batch(state, batch, tables, rng)
        if rng.random() < 0.2:  # and after it
            state.__exit__(None, None, None)
            state = Batches(store, settings, work).__enter__()
            assert run_batch(state, batch, tables, rng) is None, where
    progress = state.close(stepped).topics
    state.__exit__(None, None, None)
    letters = read_letters(folder / "store.dead.jsonl")
    assert len({each.line for each in letters}) == len(letters) == sent.bad, f"{where}: {letters}"
    expected = swept({edge[:2] for edge in job.edges}, job.effects, job.causes)
    if not progress:
        assert not expected, where
        return 0
    pairs_found = pairs_in(store, job.effects, job.causes)
    assert pairs_found == expected, (
        f"{where}: lost {expected - pairs_found}, new {pairs_found - expected}"
    )
    known = progress["t"]
    assert replace(known, refused=0).exact, f"{where}: {known}"
    assert known.exact == (not sent.bad), where
    assert not known.report.open_vertices, f"{where}: {known}"
    ends = edges_in(store)
    assert known.report.kept == len(ends), f"{where}: {known}"
    if not known.repaired:
        assert len(ends) == len(set(ends)), f"{where}: an edge is stored twice"
        if not settings.hubs:
            inner = {v for pair in ends for v in pair} - job.effects - job.causes
            assert not inner, f"{where}: {inner} are left"
    if settings.semiring is not None:
        counts = replace(job, labels=(1,) * len(job.edges))
        told = labels(labelled_in(store), job.effects, job.causes, settings.semiring)
        for pair, number in job_labels(counts, settings.semiring).items():
            assert told[pair] == number, f"{where}: {told[pair]} ways of {pair}, not {number}"
    if not job.kept:
        assert asked(store) == expected, f"{where}: lineage differs"
    return known.repaired


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
