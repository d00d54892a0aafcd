"""Graphs on Structured Streaming: what is recorded and answered is what the oracle says."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from graphquery.store import fsck
from lipstick.systems.errors import StreamError
from lipstick.systems.streams.ancestors import ancestors
from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.delays import Fixed
from lipstick.systems.streams.descendants import descendants
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.events import Events
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.properties import Count, TotalDelay
from lipstick.systems.streams.replay import replay
from lipstick.systems.streams.stored import Stored
from lipstick.systems.streams.structured import RunningGraph, start
from semiring.errors import LipstickError
from tests.lipstick.systems.streams import oracle
from tests.lipstick.systems.streams.compared import check_questions, same_events
from tests.lipstick.systems.streams.fed import (
    delay_by_time,
    frames_of,
    given_by_time,
    specs_of,
    write_batch,
)
from tests.lipstick.systems.streams.generated import graph_of, random_inputs
from tests.local_spark import workers_without_packages

BATCHES = 4
pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]
ONCE = {"availableNow": True}


@pytest.mark.many(2)
@pytest.mark.parametrize(("seed", "partitions"), [(1, None), (3, 2), (4, 3)])
def test_random_graphs_started_again(
    seed: int, partitions: int | None, spark: SparkSession, tmp_path: Path
) -> None:
    """Files come between two starts; the recording and its answers are the oracle's."""
    rng = np.random.default_rng(seed)
    specs = specs_of(rng, keyed=partitions is not None)
    inputs = random_inputs(specs, rng, BATCHES, 40)
    expected_events = oracle.run(specs, inputs, delay_by_time(seed))
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
        same_events(seed, spec, recording, expected_events[spec.sid])
    assert check_questions(seed, specs, recording, expected_events, rng) > 0
    assert fsck(store) == []


def _graph(name: str = "q", *, keyed: bool = False) -> Graph:
    graph = Graph(name)
    source = graph.source("s", time="ts", key="k" if keyed else None)
    sums = source.length_window(2, name="w").aggregate({"v": ("sum", "v")}, name="a")
    sums.filter(_positive, name="f")
    return graph


def _positive(table: pa.Table) -> pa.ChunkedArray:
    return pc.greater(table.column("v"), 0)


def _write(folder: Path, number: int, *rows: tuple[int, int, int]) -> None:
    named = [{"id": ts, "ts": ts, "k": k, "v": v} for ts, k, v in rows]
    write_batch(folder / "in", "s", number, named)


def _run(spark: SparkSession, folder: Path, graph: Graph, **given: Any) -> RunningGraph:
    given = {"checkpoint": folder / "checkpoint", "trigger": ONCE, **given}
    return start(graph, frames_of(spark, folder / "in", ["s"]), folder / "store", **given)


@pytest.mark.parametrize("partitions", [None, 2])
def test_results_come_with_their_properties(
    partitions: int | None, spark: SparkSession, tmp_path: Path
) -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    _write(tmp_path, 0, (1, 1, 5), (2, 2, -7), (3, 1, 6))
    tables: list[pa.Table] = []
    running = _run(
        spark,
        tmp_path,
        _graph(keyed=partitions is not None),
        partitions=partitions,
        properties=[TotalDelay(), Count()],
        delays=Fixed(1),
        results={"f": tables.append},
    )
    with running:
        running.finish()
    rows = pa.concat_tables(tables).sort_by("_t").to_pylist()
    if partitions is None:
        assert rows == [{"v": 5, "_n": 1, "_t": 4, "_d": 1, "_total_delay": 3, "_count": 1}]
        return
    first = {"v": 5, "_key": 1, "_n": 1, "_t": 4, "_d": 1, "_total_delay": 3, "_count": 1}
    two = {"v": 11, "_key": 1, "_n": 2, "_t": 6, "_d": 1, "_total_delay": 3, "_count": 2}
    assert rows == [first, two]
    recording = Stored(tmp_path / "store")
    assert ancestors(recording, Events("f", 2, key=1)).numbers("s") == [(1, 1), (1, 2)]
    assert descendants(recording, Events("s", 1, key=2)).numbers("f") == []


@pytest.mark.parametrize("partitions", [None, 2])
def test_a_batch_that_spark_runs_again_is_stored_once(
    partitions: int | None, spark: SparkSession, tmp_path: Path
) -> None:
    """As after a kill between the commit of the store and that of Spark."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    graph = _graph(keyed=partitions is not None)
    for number in (0, 1):
        _write(tmp_path, number, (2 * number, 1, 1), (2 * number + 1, 2, 1))
        with _run(spark, tmp_path, graph, partitions=partitions) as running:
            running.wait()
        for commit in (tmp_path / "checkpoint" / "commits").glob(f"*{number}*"):
            commit.unlink()
    _write(tmp_path, 2, (4, 1, 1))
    with _run(spark, tmp_path, graph, partitions=partitions) as running:
        running.finish()
    recording = Stored(tmp_path / "store")
    assert sorted(recording.whole("s").t.tolist()) == [0, 1, 2, 3, 4]
    assert recording.batches == 4
    assert replay(graph, recording).identical


def test_what_cannot_run_is_refused_before_it_starts(spark: SparkSession, tmp_path: Path) -> None:
    _write(tmp_path, 0, (1, 1, 5))
    stream = frames_of(spark, tmp_path / "in", ["s"])["s"]
    static = spark.read.parquet(str(tmp_path / "in" / "s"))
    floating = stream.withColumn("k", stream.k.cast("double"))
    interval = stream.withColumn("i", F.expr("make_interval(1)"))
    two = _graph(keyed=True)
    two.source("r", time="ts", key="k")
    cases: list[tuple[str, Graph, dict[str, DataFrame], dict[str, Any]]] = [
        ("not a stream", _graph(), {"s": static}, {}),
        ("no source 'x'", _graph(), {"s": stream, "x": stream}, {}),
        ("Source s of graph q has no frame", _graph(), {}, {}),
        ("several columns 'v'", _graph(), {"s": stream.select("ts", "v", "v")}, {}),
        ("cannot be given to operators", _graph(), {"s": interval}, {}),
        ("one process keeps", _graph(), {"s": stream}, {"partitions": 2}),
        ("equal values may be divided", _graph(keyed=True), {"s": floating}, {"partitions": 2}),
        ("has no column 'k'", _graph(keyed=True), {"s": stream.drop("k")}, {"partitions": 2}),
        (
            "different types: s bigint, r int",
            two,
            {"s": stream, "r": stream.withColumn("k", stream.k.cast("int"))},
            {"partitions": 2},
        ),
        ("give 1 or more", _graph(keyed=True), {"s": stream}, {"partitions": 0}),
        ("batch by batch", _graph(), {"s": stream}, {"trigger": {"continuous": "1 second"}}),
        ("no stream 'x'", _graph(), {"s": stream}, {"results": {"x": print}}),
    ]
    for message, graph, frames, given in cases:
        with pytest.raises(StreamError, match=message):
            start(graph, frames, tmp_path / "store", checkpoint=tmp_path / "c", **given)
    assert not (tmp_path / "store").exists()


def test_workers_are_checked_before_a_graph_starts(spark: SparkSession, tmp_path: Path) -> None:
    _write(tmp_path, 0, (1, 1, 5))
    with (
        workers_without_packages(spark),
        pytest.raises(LipstickError, match="set PYSPARK_PYTHON"),
    ):
        _run(spark, tmp_path, _graph(keyed=True), partitions=2)
    assert not (tmp_path / "store").exists()


def test_a_store_and_a_checkpoint_belong_together(spark: SparkSession, tmp_path: Path) -> None:
    _write(tmp_path, 0, (1, 1, 5))
    graph = _graph(keyed=True)
    with _run(spark, tmp_path, graph) as running:
        running.wait()
    running = _run(spark, tmp_path, graph, checkpoint=tmp_path / "other")
    with running, pytest.raises(StreamError, match="came from elsewhere"):
        running.wait()
    with Assertions(tmp_path / "store") as recorder:
        runner = Runner(graph, recorders=[recorder])
        with pytest.raises(StreamError, match="came from elsewhere"):
            runner.push({"s": pa.table({"id": [9], "ts": [9], "k": [1], "v": [1]})})
    with pytest.raises(StreamError, match="has None partitions, and 2 were asked for"):
        _run(spark, tmp_path, graph, partitions=2)
    _write(tmp_path, 1, (2, 1, 5))
    running = _run(spark, tmp_path, _graph("another"))
    with running, pytest.raises(StreamError, match="is at batch 1 of another, but store"):
        running.wait()


@pytest.mark.parametrize("partitions", [None, 2])
def test_an_operator_that_fails_stops_the_graph_and_stores_nothing(
    partitions: int | None, spark: SparkSession, tmp_path: Path
) -> None:
    _write(tmp_path, 0, (1, 1, 5))
    graph = Graph("q")
    source = graph.source("s", time="ts", key="k" if partitions else None)
    source.map(lambda table: {"v": [1, 2, 3]}, name="m")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with (
        _run(spark, tmp_path, graph, partitions=partitions) as running,
        pytest.raises(StreamError, match="gave 3 rows"),
    ):
        running.wait()
    assert Stored(tmp_path / "store").batches == 0


def test_the_documented_graph_runs(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the page on streams says needs a classic session; other pages run in any."""
    page = Path(__file__).parents[5] / "docs" / "systems" / "streams.md"
    (code,) = re.findall(r"^```py\n(.*?)^```$", page.read_text(), re.M | re.S)
    for given, put in (  # Spark was started in another folder
        ('parquet("readings")', f'parquet("{tmp_path}/readings")'),
        ('    "store",', f'    "{tmp_path}/store",'),
        ('checkpoint="checkpoint"', f'checkpoint="{tmp_path}/checkpoint"'),
    ):
        assert code.count(given) == 1
        code = code.replace(given, put)
    (tmp_path / "readings").mkdir()
    table = pa.table({"ts": [1, 2, 3], "sensor": ["a", "b", "a"], "v": [1.0, 2.0, 3.0]})
    pq.write_table(table, tmp_path / "readings" / "0.parquet")
    exec(code, {"spark": spark})
    assert capsys.readouterr().out == "3 means\n"
    assert Stored(tmp_path / "store").ended
