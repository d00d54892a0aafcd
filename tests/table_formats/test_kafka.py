"""A streaming query over a real broker: killed, started again, and asked."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import lipstick
from tests.table_formats.conftest import JARS
from tests.table_formats.kafka import TOPIC, run_and_kill, running_broker, send, start


@pytest.fixture
def broker(lake: SparkSession, tmp_path: Path) -> Iterator[str]:
    """Return the address of a broker."""
    with running_broker(Path(os.environ[JARS]), tmp_path / "broker") as address:
        yield address


@pytest.fixture
def admin(lake: SparkSession, broker: str) -> Iterator[Any]:
    """Return a client of Kafka that administers the broker."""
    jvm: Any = lake._jvm
    client = jvm.org.apache.kafka.clients.admin.Admin.create({"bootstrap.servers": broker})
    with closing(client):
        yield client


def test_a_query_over_a_broker_is_killed_and_started_again_and_asked(
    lake: SparkSession, ls: lipstick.Session, broker: str, admin: Any, tmp_path: Path
) -> None:
    jvm: Any = lake._jvm
    kafka = jvm.org.apache.kafka
    send(lake, broker, range(120), partitions=2)
    run_and_kill(Path(os.environ[JARS]), broker, tmp_path, batches=1)
    committed = len(list((tmp_path / "checkpoint" / "commits").glob("[0-9]*")))
    assert committed < 3, "it was killed too late"
    more = {TOPIC: kafka.clients.admin.NewPartitions.increaseTo(3)}
    admin.createPartitions(more).all().get()
    send(lake, broker, range(120, 150), partitions=3)
    query = start(ls, broker, tmp_path)
    query.processAllAvailable()
    send(lake, broker, range(600, 601), partitions=1)  # hours later: all windows end
    query.processAllAvailable()
    query.stop()

    # What the topic says: every window that has ended, with each of its records.
    reader = lake.read.format("kafka").option("kafka.bootstrap.servers", broker)
    records = reader.option("subscribe", TOPIC).load()
    event = "from_json(CAST(value AS STRING), 'at TIMESTAMP, sensor STRING, v INT') AS event"
    read = records.selectExpr("partition", "offset", event).select(
        "partition", "offset", "event.sensor", "event.v", F.unix_timestamp("event.at")
    )
    groups: dict[tuple[int, str], list[tuple[str, int]]] = {}
    for partition, offset, sensor, v, at in read.collect():
        key = at // 600 * 600 + 600, sensor
        groups.setdefault(key, []).append((f"readings:{TOPIC}|{partition}|{offset}", v))
    ended = {key: known for key, known in groups.items() if key[0] <= 600 * 20 - 3600}
    expected = Counter(
        (end, sensor, len(known), sum(v for _, v in known))
        for (end, sensor), known in ended.items()
    )
    columns = ["unix_timestamp(end)", "sensor", "n", "s"]
    results = query.results()
    sink = lake.read.schema(results.schema).parquet(str(tmp_path / "sink"))
    assert Counter(map(tuple, sink.selectExpr(*columns).collect())) == expected
    assert Counter(map(tuple, results.df.selectExpr(*columns).collect())) == expected
    for row, polynomial in results.polynomials():
        tokens = {name for name, _ in ended[int(row["end"].timestamp()), row["sensor"]]}
        assert set(map(str, polynomial.tokens)) == tokens
    without = results.what_if(delete={"readings": "partition = 1"})
    left = Counter(map(tuple, without.df.selectExpr(*columns).collect()))
    assert left == Counter(
        (end, sensor, len(kept), sum(kept))
        for (end, sensor), known in ended.items()
        if (kept := [v for name, v in known if "|1|" not in name])
    )
    # Records that Kafka no longer has are an error, not left out.
    admin.deleteRecords({kafka.common.TopicPartition(TOPIC, 0): _before(lake, 5)}).all().get()
    with pytest.raises(Py4JJavaError, match="may have been lost"):
        query.results().df.collect()
    _wait_for_tasks(lake)


def _wait_for_tasks(lake: SparkSession) -> None:
    """Wait for the other tasks of a failed job: without a broker they would wait a minute."""
    tracker = lake.sparkContext._jsc.sc().statusTracker()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if not any(executor.numRunningTasks() for executor in tracker.getExecutorInfos()):
            return
        time.sleep(0.1)


def _before(lake: SparkSession, offset: int) -> Any:
    """Return Kafka's name of the records before an offset (Py4J does not find the method)."""
    jvm: Any = lake._jvm
    loader = jvm.Thread.currentThread().getContextClassLoader()
    name = "org.apache.kafka.clients.admin.RecordsToDelete"
    methods = jvm.java.lang.Class.forName(name, True, loader).getMethods()
    (method,) = (m for m in methods if m.getName() == "beforeOffset" and m.getParameterCount())
    arguments = lake.sparkContext._gateway.new_array(jvm.Object, 1)
    arguments[0] = offset
    return method.invoke(None, arguments)
