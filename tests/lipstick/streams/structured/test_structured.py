"""Graphs on Structured Streaming: what is recorded and answered is what the oracle says."""

from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from graphquery.store import fsck
from lipstick.streams.graph import Graph
from lipstick.streams.stored import Stored
from lipstick.streams.structured import start
from tests.lipstick.streams import oracle
from tests.lipstick.streams.compared import check_questions, same_events
from tests.lipstick.streams.generated import graph_of, random_inputs
from tests.lipstick.streams.structured.fed import (
    delay_by_time,
    frames_of,
    given_by_time,
    specs_of,
    write_batch,
)

BATCHES = 4
pytestmark = pytest.mark.classic
ONCE = {"availableNow": True}


@pytest.mark.parametrize(("seed", "partitions"), [(1, None), (2, None), (3, 2), (4, 3), (5, 2)])
def test_random_graphs_started_again(
    seed: int, partitions: int | None, spark: SparkSession, tmp_path: Path
) -> None:
    """Files come between two starts; the recording and its answers are the oracle's."""
    rng = np.random.default_rng(seed)
    specs = specs_of(rng, keyed=partitions is not None)
    inputs = random_inputs(specs, rng, BATCHES, 40)
    made = oracle.run(specs, inputs, delay_by_time(seed))
    store, checkpoint = tmp_path / "store", tmp_path / "checkpoint"
    for first in range(0, BATCHES, 2):
        for sid, batches in inputs.items():
            for number in (first, first + 1):
                write_batch(tmp_path / "in", sid, number, batches[number])
        running = start(
            graph_of(specs),
            frames_of(spark, tmp_path / "in", list(inputs)),
            store,
            checkpoint=checkpoint,
            partitions=partitions,
            delays=given_by_time(seed),
            trigger=ONCE,
        )
        with running:
            running.wait()
            if first + 2 == BATCHES:
                running.finish()
    recording = Stored(store)
    for spec in specs:
        same_events(seed, spec, recording, made[spec.sid])
    assert check_questions(seed, specs, recording, made, rng) > 0
    assert fsck(store) == []
