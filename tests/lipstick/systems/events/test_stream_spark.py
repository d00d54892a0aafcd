"""The streaming job on Spark: random jobs, restarts, redelivery, sources, what tasks emit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from lipstick.cli import main
from lipstick.systems.events import Emitter, EventsError, ReducedGraph, hashtags, reduce_files
from lipstick.systems.events.dead_letters import read_letters
from lipstick.systems.events.message import EDGES, Message
from lipstick.systems.events.stream.settings import BatchProgress, StreamSettings
from lipstick.systems.events.stream.spark import StreamReduction
from lipstick.systems.events.stream.streaming_frames import files_of, messages_of
from lipstick.systems.events.tasks import combine_partitions, map_in_pandas, map_partitions
from semiring.errors import LipstickError
from tests.graphquery.reduction.jobs import random_job
from tests.graphquery.reduction.oracle import swept
from tests.lipstick.systems.events.reduced import edges_in, pairs_in
from tests.lipstick.systems.events.sent import send
from tests.local_spark import workers_without_packages

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]
BY = "wasGeneratedBy"


@pytest.mark.parametrize(
    ("seed", "partitioning", "lateness"), [(1, "execution", None), (2, "worker", 20)]
)
def test_random_jobs_with_restarts_and_redelivery(
    spark: SparkSession, seed: int, partitioning: str, lateness: int | None, tmp_path: Path
) -> None:
    rng = np.random.default_rng(40 + seed)
    job = random_job(rng)
    sent = send(job, rng, functions=True)
    folder, store = tmp_path / "in", tmp_path / "store"
    folder.mkdir()
    settings = StreamSettings(partitioning=partitioning, lateness=lateness, overlap=20)
    told: list[BatchProgress] = []
    for number, part in enumerate(np.array_split(np.arange(len(sent.lines)), 3)):
        (folder / f"{number}.jsonl").write_bytes(b"".join(sent.lines[line] for line in part))
        if number == 0:
            continue
        with StreamReduction(store, settings) as reduction:
            frame = files_of(spark, folder, files_per_batch=1)
            reduction.wait(reduction.start(frame, tell=told.append))
    with StreamReduction(store, settings) as reduction:
        version = reduction.batches._writer.version
        again = StreamReduction.start(reduction, files_of(spark, folder, files_per_batch=1))
        reduction.wait(again)
        assert reduction.batches._writer.version == version  # the checkpoint has all of it
        progress = reduction.close().topics["t"]
    assert [each.batch for each in told] == [0, 1, 2]
    assert sum(each.received for each in told) > 0
    assert all(each.lag is not None for each in told)
    expected = swept({edge[:2] for edge in job.edges}, job.effects, job.causes)
    assert pairs_in(store, job.effects, job.causes) == expected
    letters = read_letters(tmp_path / "store.dead.jsonl")
    assert len(letters) == sent.bad
    assert progress.exact == (not sent.bad)
    assert all(each.origin.endswith(".jsonl") and each.line >= 1 for each in letters)


def test_workers_are_checked_before_a_job_starts(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0.jsonl").write_bytes(b"{}")
    with (
        StreamReduction(tmp_path / "store") as reduction,
        workers_without_packages(spark),
        pytest.raises(LipstickError, match="set PYSPARK_PYTHON"),
    ):
        reduction.start(files_of(spark, tmp_path / "in"))


def test_a_batch_whose_commit_was_made_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """Spark runs a batch again whose end it has not noted."""
    with Emitter(tmp_path / "in", "t") as emitter:
        emitter.record("F", "f", ["i"], ["o"], readers=0, inputs=True)
    for _ in range(2):
        with StreamReduction(tmp_path / "store") as reduction:
            reduction.wait(reduction.start(files_of(spark, tmp_path / "in")))
            version = reduction.batches._writer.version
        noted = tmp_path / "store.stream" / "checkpoint" / "commits"
        for file in noted.iterdir():
            file.unlink()
    assert version == 1
    assert edges_in(tmp_path / "store") == [("o", "i")]


def test_messages_come_in_a_column(spark: SparkSession, tmp_path: Path) -> None:
    with Emitter(tmp_path / "in", "t") as emitter:
        emitter.record("F", "f", ["i"], ["o"], readers=0, inputs=True)
    (tmp_path / "in" / "bad.jsonl").write_text("bad\n")
    lines = spark.readStream.text(str(tmp_path / "in"))
    with StreamReduction(tmp_path / "store", StreamSettings(shards=1)) as reduction:
        reduction.wait(reduction.start(messages_of(lines)))
        reduction.close()
    assert edges_in(tmp_path / "store") == [("o", "i")]
    (letter,) = read_letters(tmp_path / "store.dead.jsonl")
    assert (letter.origin, letter.text) == ("stream", "bad")
    with pytest.raises(EventsError, match="no column 'message' of texts or bytes"):
        messages_of(lines, "message")
    with StreamReduction(tmp_path / "other") as reduction:
        with pytest.raises(EventsError, match="not a stream"):
            reduction.start(messages_of(spark.createDataFrame([("x",)], "value string")))
        with pytest.raises(EventsError, match="other columns"):
            reduction.start(lines)
    with (
        StreamReduction(tmp_path / "third", StreamSettings(partitioning="source")) as reduction,
        pytest.raises(EventsError, match="no column `partition`"),
    ):
        reduction.start(messages_of(lines))


def test_rows_like_those_of_kafka_are_reduced_without_a_shuffle(
    spark: SparkSession, tmp_path: Path
) -> None:
    lines = [
        Message("t", EDGES, name, None, "F", "w", 0, 1, [(name, "i", "used"), (output, name, BY)])
        for name, output in (("f", "o"), ("g", "p"))
    ]
    rows = pa.table(
        {
            "value": [lines[0].line().encode(), lines[1].line().encode(), b"bad"],
            "topic": ["events"] * 3,
            "partition": pa.array([0, 1, 1], pa.int32()),
            "offset": pa.array([5, 7, 8], pa.int64()),
            "timestamp": pa.array([1, 2, 3], pa.timestamp("us", "UTC")),
        }
    )
    (tmp_path / "in").mkdir()
    for number in range(2):
        part = rows.filter(pc.equal(rows.column("partition"), number))
        pq.write_table(part, tmp_path / "in" / f"{number}.parquet")
    kinds = "value binary, topic string, partition int, offset bigint, timestamp timestamp"
    frame = spark.readStream.schema(kinds).parquet(str(tmp_path / "in"))
    with StreamReduction(tmp_path / "store", StreamSettings(partitioning="source")) as reduction:
        reduction.wait(reduction.start(messages_of(frame)))
        assert reduction.close().topics["t"].messages == 2
    assert sorted(edges_in(tmp_path / "store")) == [("o", "i"), ("p", "i")]
    (letter,) = read_letters(tmp_path / "store.dead.jsonl")
    assert (letter.origin, letter.line) == ("events/1", 8)


def test_hashtags_are_counted_and_traced(spark: SparkSession, tmp_path: Path) -> None:
    table = hashtags.tweets(300, seed=2, tags=20)
    pq.write_table(table, tmp_path / "tweets.parquet", row_group_size=100)
    emitter = Emitter(tmp_path / "in", "hashtags")
    counted = hashtags.count_on_spark(spark, tmp_path / "tweets.parquet", emitter).collect()
    plain = hashtags.count_on_spark(spark, tmp_path / "tweets.parquet", None).collect()
    assert sorted(map(tuple, counted)) == sorted(map(tuple, plain))
    assert dict(map(tuple, plain)) == hashtags.count(table)
    arguments = ["events", "reduce", str(tmp_path / "in"), "--store", str(tmp_path / "store")]
    result = CliRunner().invoke(main, [*arguments, "--spark", "local[2]"])
    assert result.exit_code == 0, result.output
    assert "0 dead ends" in result.output
    graph = ReducedGraph.open(tmp_path / "store")
    rows = table.to_pylist()
    for tag, _ in counted:
        tweets = [row["tweet"] for row in rows if tag in row["text"].split()]
        assert graph.lineage(tag) == sorted(tweets)


def test_functions_of_rdds_and_of_pandas_emit(spark: SparkSession, tmp_path: Path) -> None:
    emitter = Emitter(tmp_path / "in", "words")
    lines = spark.sparkContext.parallelize([("l1", "a b"), ("l2", "b"), ("l3", "")], 2)
    words = lines.mapPartitions(
        map_partitions(
            emitter,
            "split",
            lambda line: [(word, f"{line[0]}/{word}") for word in line[1].split()],
            source=lambda line: line[0],
            result=lambda word: word[1],
            readers=1,
            inputs=True,
        )
    )
    counts = words.partitionBy(2).mapPartitions(
        combine_partitions(
            emitter,
            "count",
            lambda word, group: (word, len(group)),
            key=lambda record: record[0],
            source=lambda record: record[1],
            result=lambda count: count[0],
        )
    )
    assert sorted(counts.collect()) == [("a", 1), ("b", 2)]

    def doubled(frame: Any) -> Any:
        return frame.assign(id=frame["word"] + '"2')

    frame = spark.createDataFrame([("a",), ("b",)], "word string")
    emits = map_in_pandas(emitter, "double", doubled, result="id", origin="word", readers=0)
    assert len(frame.mapInPandas(emits, "word string, id string").collect()) == 2
    outcome = reduce_files([tmp_path / "in"], tmp_path / "store")
    assert outcome.topics["words"].exact
    graph = ReducedGraph.open(tmp_path / "store")
    assert graph.lineage('b"2') == ["l1", "l2"]
    assert graph.descendants("l1") == ['a"2', 'b"2']


def test_a_task_that_failed_does_not_count(tmp_path: Path) -> None:
    """What is emitted counts when the iterator of a task was read to its end."""
    from lipstick.systems.events import tasks

    class Context:
        number = 0

        def partitionId(self) -> int:  # noqa: N802
            return 0

        def attemptNumber(self) -> int:  # noqa: N802
            return self.number

        def getLocalProperty(self, name: str) -> None:  # noqa: N802
            del name

    context = Context()
    emitter = Emitter(tmp_path / "in", "t")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks.TaskContext, "get", staticmethod(lambda: context))
        run = tasks.map_in_arrow(
            emitter, "F", lambda batch: batch, result="id", origin="of", readers=0, inputs=True
        )
        first = pa.record_batch({"id": ["o"], "of": ["i"]})
        with pytest.raises(ZeroDivisionError):
            list(run(iter_failing(pa.record_batch({"id": ["x"], "of": ["y"]}))))
        context.number = 1
        assert [batch.num_rows for batch in run(iter([first]))] == [1]
    reduce_files([tmp_path / "in"], tmp_path / "store")
    assert edges_in(tmp_path / "store") == [("o", "i")]


def iter_failing(batch: pa.RecordBatch) -> Any:
    yield batch
    raise ZeroDivisionError
