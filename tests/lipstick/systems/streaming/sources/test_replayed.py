"""Streams that are not files, by the oracle of what their batches emitted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick import Session
from lipstick.errors import SourceError, UnsupportedError
from lipstick.systems.streaming.runs import StreamRun
from lipstick.systems.streaming.sources import rate
from tests.lipstick.systems.streaming.running import bag
from tests.lipstick.systems.streaming.sources.counting import Counting, SimpleCounting

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]

WINDOWS = (
    "SELECT window.end, count(*) AS n, max(value) AS last FROM numbers "
    "GROUP BY window(timestamp, '{}')"
)
BY_KEY = "SELECT window.end, k, count(*) AS n FROM numbers GROUP BY window(ts, '10 minutes'), k"


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    made = lipstick.session(spark, store=tmp_path / "store")
    yield made
    made.close()


def run(
    session: Session, sql: str, folder: Path, *, endless: bool = False
) -> tuple[StreamRun, dict[int, list[Any]]]:
    """Run a query until some batches emitted rows, or it has read all; return what they emitted."""
    emitted: dict[int, list[Any]] = {}

    def sink(rows: DataFrame, batch: int) -> None:
        emitted[batch] = rows.collect()

    stream: Any = session.sql(sql)
    writer = stream.writeStream.option("checkpointLocation", str(folder)).foreachBatch(sink)
    started = writer.start()
    if endless:
        ends = time.monotonic() + 60
        while sum(map(bool, emitted.values())) < 3 and time.monotonic() < ends:
            time.sleep(0.2)
    else:
        started.processAllAvailable()
    started.stop()
    return started, emitted


def hold(started: StreamRun, emitted: dict[int, list[Any]]) -> None:
    """Hold what was recorded against what was emitted: in all, and by batch."""
    committed = {batch.number for batch in started.batches}
    rows = {number: own for number, own in emitted.items() if number in committed}
    assert any(rows.values())
    results = started.results()
    assert bag(results.df.collect()) == bag([row for own in rows.values() for row in own])
    for number in [number for number, own in rows.items() if own][:2]:
        assert bag(started.emitted(number).df.collect()) == bag(rows[number])


@pytest.mark.slow
def test_numbers_of_a_rate_are_computed_again(
    spark: SparkSession, session: Session, tmp_path: Path
) -> None:
    source = spark.readStream.format("rate").option("rowsPerSecond", 7).option("rampUpTime", "3s")
    session.track("numbers", source.load().withWatermark("timestamp", "1 second"))
    started, emitted = run(session, WINDOWS.format("1 second"), tmp_path / "windows", endless=True)
    hold(started, emitted)
    state: Any = spark._jvm
    spark_own = state.org.apache.spark.sql.execution.streaming.sources.RateStreamProvider
    for second in (0, 1, 2, 3, 4, 9):
        assert rate.numbers_until(second, 7, 3) == spark_own.valueAtSecond(second, 7, 3)


@pytest.mark.slow
def test_numbers_of_batches_are_computed_again(
    spark: SparkSession, session: Session, tmp_path: Path
) -> None:
    options = {"rowsPerBatch": "4", "advanceMillisPerBatch": "60000", "startTimestamp": "5000"}
    source = spark.readStream.format("rate-micro-batch").options(**options)
    session.track("numbers", source.load().withWatermark("timestamp", "1 minute"))
    started, emitted = run(session, WINDOWS.format("2 minutes"), tmp_path / "windows", endless=True)
    hold(started, emitted)
    last = max(number for number, rows in emitted.items() if rows and number < len(started.batches))
    results = started.results(last)
    [(row, polynomial), *_] = sorted(results.polynomials(), key=lambda known: known[0]["end"])
    assert str(polynomial).count("numbers:") == row["n"]
    assert results.what_if({"numbers": "value = 1"}).df.orderBy("end").head()[1] == row["n"] - 1


@pytest.mark.slow
@pytest.mark.parametrize("source", [SimpleCounting, Counting], ids=["simple", "partitioned"])
def test_python_sources_read_again(
    spark: SparkSession, session: Session, tmp_path: Path, source: type[SimpleCounting]
) -> None:
    """With late rows; the first of equal rows is known where one task reads a batch."""
    spark.dataSource.register(source)
    read = spark.readStream.format(source.name()).options(rows="6", all="20").load()
    session.track("numbers", read.withWatermark("ts", "5 minutes"))
    started, emitted = run(session, BY_KEY, tmp_path / "keys")
    hold(started, emitted)
    results = started.results()
    assert results.polynomials()
    without = results.what_if({"numbers": "id IN (6, 18)"})
    assert without.method == "rerun"
    spark.table("numbers").dropDuplicates(["k"]).createOrReplaceTempView("firsts")
    started, emitted = run(session, "SELECT id, k FROM firsts", tmp_path / "firsts")
    if source is SimpleCounting:
        hold(started, emitted)
    else:
        with pytest.raises(UnsupportedError, match="in an order that only Spark knows"):
            started.results()


def test_sources_that_cannot_be_read_again_are_refused_by_name(
    spark: SparkSession, session: Session
) -> None:
    socket = spark.readStream.format("socket").options(host="localhost", port="9").load()
    with pytest.raises(SourceError, match=r"socket\w*, whose rows cannot be read again"):
        session.track("lines", socket)
    numbers = spark.readStream.format("rate").load()
    session.track("one", numbers)
    session.track("other", spark.readStream.format("rate").load())
    with pytest.raises(UnsupportedError, match="are indistinguishable streams of one source"):
        session.sql("SELECT a.value FROM one a JOIN other b ON a.value = b.value")
