"""Running streaming queries over files that are written batch by batch."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick.systems.streaming.runs import StreamRun
from tests.lipstick.systems.streaming import shapes
from tests.lipstick.systems.streaming.shapes import Rows, Shape

_MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
DATA: Mapping[str, Sequence[Rows]] = {"readings": shapes.READ, "alerts": shapes.ALERTED}
_SCHEMAS = {"readings": shapes.READINGS, "alerts": shapes.ALERTS}


class Feed:
    """Two streams of files in a folder, less some rows, and a session that tracks them."""

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        without: Mapping[str, Sequence[int]] = {},
        delay: str = "10 minutes",
        distinct: Sequence[str] = (),
        *,
        within: bool = False,
        instead: Mapping[int, tuple[Any, ...]] = {},
        data: Mapping[str, Sequence[Rows]] = DATA,
    ) -> None:
        self.spark = spark
        self.data = data
        self.folder = folder
        self.gone = without
        self.instead = instead
        self.session = lipstick.session(spark, store=folder / "store")
        for name, schema in _SCHEMAS.items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
            time = "ts" if name == "readings" else "at"
            frame = stream.parquet(str(folder / name)).withWatermark(time, delay)
            if distinct and name == "readings":
                frame = _dropping(frame, distinct, within)
            self.session.track(name, frame)
        sensors = spark.createDataFrame(list(shapes.PLACES), shapes.SENSORS)
        self.session.track("sensors", sensors, key="sensor")

    def write(self, batch: int) -> None:
        """Write the files of a batch."""
        write_batch(self.folder, batch, self.gone, self.instead, self.data)

    def run(
        self, shape: Shape, label: str = "run", restarts: Collection[int] = ()
    ) -> tuple[StreamRun, dict[int, list[Any]]]:
        """Run a query to the end; return the run, and the rows that each batch emitted.

        ``restarts`` are the batches of data before which it is stopped and started again; where
        all files wait, the sink fails at these batches, which then are computed anew.
        """
        emitted: dict[int, list[Any]] = {}
        failing = set(restarts)

        def sink(rows: DataFrame, batch: int) -> None:
            emitted[batch] = rows.collect()
            if shape.waiting and batch in failing:
                failing.remove(batch)
                raise OSError("The sink fails.")

        for view in shape.views:
            rows = _dropping(self.spark.sql(view.sql), view.keys, view.within)
            rows.createOrReplaceTempView(view.name)
        count = len(self.data["readings"])
        if shape.waiting:
            for batch in range(count):
                self.write(batch)
        run = self.start(shape, label, sink)
        try:
            for batch in range(0 if shape.waiting else count):
                if batch in restarts:
                    run.stop()
                    run = self.start(shape, label, sink)
                self.write(batch)
                run.processAllAvailable()
            while shape.waiting and failing:
                with contextlib.suppress(StreamingQueryException):
                    run.processAllAvailable()
                run.stop()
                run = self.start(shape, label, sink)
            run.processAllAvailable()
        finally:
            run.stop()
        return run, emitted

    def start(self, shape: Shape, label: str, sink: Callable[[DataFrame, int], None]) -> StreamRun:
        """Start a query, or start it again, over the checkpoint of this name."""
        stream: Any = self.session.sql(shape.sql)
        writer = stream.writeStream.outputMode(shape.mode).foreachBatch(sink)
        started: StreamRun = writer.option("checkpointLocation", str(self.folder / label)).start()
        return started


def _dropping(frame: DataFrame, keys: Sequence[str], within: bool) -> DataFrame:
    drop = frame.dropDuplicatesWithinWatermark if within else frame.dropDuplicates
    return drop(list(keys))


def write_batch(
    folder: Path,
    batch: int,
    without: Mapping[str, Sequence[int]] = {},
    instead: Mapping[int, tuple[Any, ...]] = {},
    data: Mapping[str, Sequence[Rows]] = DATA,
) -> None:
    """Write the files of a batch of all streams, each at once.

    Without rows of some keys, and with others in the place of some readings.
    """
    for name, batches in data.items():
        rows = [row for row in batches[batch] if row[0] not in without.get(name, ())]
        if name == "readings":
            rows = [instead.get(row[0], row) for row in rows]
        hidden = folder / f".{name}-{batch}.parquet"
        pq.write_table(_table(name, rows), hidden)
        os.utime(hidden, (1_800_000_000 + batch, 1_800_000_000 + batch))
        shutil.move(hidden, folder / name / f"{batch}.parquet")


def standing(shape: Shape, emitted: Mapping[int, Sequence[Any]]) -> Counter[Any]:
    """Return the rows that a sink has in the end."""
    batches = [emitted[number] for number in sorted(emitted)]
    if shape.mode == "append":
        return bag([row for rows in batches for row in rows])
    if shape.mode == "complete":
        return bag(batches[-1])
    rows = {tuple(row)[: shape.keys]: row for each in batches for row in each}
    return bag(list(rows.values()))


def bag(rows: Sequence[Any]) -> Counter[Any]:
    """Return rows with their multiplicity."""
    return Counter(repr(tuple(row)) for row in rows)


def _table(name: str, rows: Rows) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
    times = pa.array(
        [_MIDNIGHT + timedelta(minutes=m) for m in columns[1]], pa.timestamp("us", "UTC")
    )
    if name == "readings":
        names, last = ["id", "ts", "sensor", "v"], pa.array(columns[3], pa.float64())
    else:
        names, last = ["aid", "at", "sensor", "level"], pa.array(columns[3], pa.int32())
    key, text = pa.array(columns[0], pa.int64()), pa.array(columns[2], pa.string())
    return pa.Table.from_arrays([key, times, text, last], names=names)
