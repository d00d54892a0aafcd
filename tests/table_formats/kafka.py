"""A broker of Kafka in one process, and a streaming query over it in another, to be killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

import lipstick
from tests.local_spark import local_spark

TOPIC = "readings"
SAME = {"spark.sql.legacy.createHiveTableByDefault": "false"}
"""Settings of the tests' session that micro-batches are held against."""
_QUICK = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SECONDS = 60
_CLUSTER = "meta.properties", "version=1\ncluster.id=lipsticklipsticklipst1\nnode.id=1\n"
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{1}
listeners=PLAINTEXT://127.0.0.1:{0},CONTROLLER://127.0.0.1:{1}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={2}
num.partitions=2
log.cleaner.enable=false
"""


@contextmanager
def running_broker(jars: Path, home: Path) -> Iterator[str]:
    """Start a broker that is its own controller (KRaft); yield its address.

    Parameters
    ----------
    jars
        The folder of Spark's connector and the client, beside that of the broker.
    """
    broker, controller = _free_ports(2)
    data = home / "data"
    data.mkdir(parents=True)
    (data / _CLUSTER[0]).write_text(_CLUSTER[1])
    properties = home / "server.properties"
    properties.write_text(_PROPERTIES.format(broker, controller, data))
    folders = [jars.parent / "broker", jars, Path(pyspark.__file__).parent / "jars"]
    classes = os.pathsep.join(f"{folder}/*" for folder in folders)
    command = ["java", *_QUICK, "-cp", classes, "kafka.Kafka", str(properties)]
    java = Path(os.environ.get("JAVA_HOME", "/usr")) / "bin" / "java"
    with (home / "log").open("w") as log:
        process = subprocess.Popen([str(java), *command[1:]], cwd=home, stdout=log, stderr=log)
    try:
        _wait_for(process, broker, home / "log")
        yield f"127.0.0.1:{broker}"
    finally:
        process.kill()
        process.wait()


def _free_ports(count: int) -> list[int]:
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    ends = time.monotonic() + _SECONDS
    while time.monotonic() < ends and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"The broker did not start:\n{log.read_text()[-4000:]}")


def start(session: lipstick.Session, address: str, folder: Path) -> Any:
    """Start the query, or start it again: readings of a topic, counted and summed by window."""
    stream = session.spark.readStream.format("kafka").options(
        **{"kafka.bootstrap.servers": address, "subscribe": TOPIC},
        startingOffsets="earliest",
        maxOffsetsPerTrigger="40",
    )
    event = "from_json(CAST(value AS STRING), 'at TIMESTAMP, sensor STRING, v INT') AS event"
    columns = ["topic", "partition", "offset", "event.*"]
    rows = stream.load().selectExpr("topic", "partition", "offset", event).select(*columns)
    session.track("readings", rows.withWatermark("at", "1 hour"))
    sums = session.sql(
        "SELECT window.end, sensor, count(*) AS n, sum(v) AS s FROM readings "
        "GROUP BY window(at, '10 minutes'), sensor"
    )
    writer = sums.writeStream.format("parquet").outputMode("append")
    return writer.option("checkpointLocation", str(folder / "checkpoint")).start(
        str(folder / "sink")
    )


def run_and_kill(jars: Path, address: str, folder: Path, batches: int) -> None:
    """Run the query in a process that is killed once it has committed so many micro-batches."""
    search = os.pathsep.join([str(Path(pyspark.__file__).parent.parent), str(Path.cwd())])
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.table_formats.kafka", str(jars), address, str(folder)],
        env={**os.environ, "PYTHONPATH": search},
        start_new_session=True,
    )
    ends = time.monotonic() + _SECONDS
    try:
        while not (folder / "checkpoint" / "commits" / str(batches - 1)).exists():
            assert process.poll() is None, "the process ended by itself"
            assert time.monotonic() < ends, "the query makes no progress"
            time.sleep(0.05)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def connector(jars: Path) -> str:
    """Return the jars of Spark's connector, as the setting `spark.jars` has them."""
    names = ("spark-*kafka*", "kafka-clients-*", "commons-pool2-*")
    return ",".join(str(path) for name in names for path in jars.glob(f"{name}.jar"))


def main() -> None:
    """Run the query until the process is killed."""
    jars, address, folder = sys.argv[1:]
    options = {"spark.jars": connector(Path(jars)), **SAME}
    with (
        tempfile.TemporaryDirectory() as home,
        local_spark(Path(home), options=options) as spark,
    ):
        start(lipstick.session(spark), address, Path(folder)).awaitTermination()


def send(spark: SparkSession, address: str, numbers: range, partitions: int) -> None:
    """Send readings, three a minute, one after another to the partitions, in their order."""
    rows = spark.range(numbers.start, numbers.stop, numbers.step, 1).selectExpr(
        f"'{TOPIC}' AS topic",
        f"CAST(id % {partitions} AS INT) AS partition",
        "to_json(named_struct('at', timestamp_seconds(id * 20), 'sensor', "
        "substr('abc', CAST(id % 3 AS INT) + 1, 1), 'v', CAST(id * 7 % 11 AS INT))) AS value",
    )
    rows.write.format("kafka").option("kafka.bootstrap.servers", address).save()


if __name__ == "__main__":
    main()
