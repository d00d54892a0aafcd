"""Ancestors of a whole stream as a job: as those of each event, found without Spark."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.ancestors import ancestors_of_each
from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.events import Events
from lipstick.systems.streams.stored import Stored
from lipstick.systems.streams.structured import ancestors_frame
from tests.lipstick.systems.streams.fed import given_by_time
from tests.lipstick.systems.streams.generated import SCHEMA, graph_of, random_inputs, random_specs

pytestmark = pytest.mark.engines("memory")


def _stored(seed: int, path: Path) -> Stored:
    rng = np.random.default_rng(seed)
    specs = random_specs(rng)
    inputs = random_inputs(specs, rng, 3, 60)
    with Assertions(path, block=5) as recorder:
        runner = Runner(graph_of(specs), delays=given_by_time(seed), recorders=[recorder])
        for number in range(3):
            tables = {
                sid: pa.Table.from_pylist(rows[number], SCHEMA) for sid, rows in inputs.items()
            }
            runner.push(tables, final=number == 2)
    return Stored(path)


def _names(recording: Stored, keys: Any) -> list[tuple[str | None, int]]:
    values = [None] * len(keys)
    if keys.code is not None and len(keys):
        values = list(map(str, recording.codes.decode(keys.code).to_pylist()))
    return list(zip(values, keys.n.tolist(), strict=True))


@pytest.mark.parametrize("seed", [5001, 5003])
def test_ranges_of_all_events(seed: int, spark: SparkSession, tmp_path: Path) -> None:
    recording = _stored(seed, tmp_path / "store")
    graph = recording.graph
    sid = max(
        graph.recorded, key=lambda name: len(recording.whole(name)) * len(graph.node(name).inputs)
    )
    keys, found_by_stream = ancestors_of_each(recording, Events(sid))
    assert len(keys) > 10
    names = _names(recording, keys)
    want = {
        (*names[owner], stream, name[1])
        for stream, (events, owners) in found_by_stream.items()
        for name, owner in zip(_names(recording, events), owners.tolist(), strict=True)
    }
    have = [
        (row["key"], row["n"], row["stream"], n)
        for row in ancestors_frame(spark, recording, sid).collect()
        for n in range(row["first_n"], row["last_n"] + 1)
    ]
    assert len(have) == len(set(have))
    assert set(have) == want


def test_a_stream_that_is_not_there_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    recording = _stored(5001, tmp_path / "store")
    with pytest.raises(StreamError, match="no stream 'x'"):
        ancestors_frame(spark, recording, "x")
    with pytest.raises(StreamError, match="no stream 'y'"):
        ancestors_frame(spark, recording, "s0", within=["y"])
