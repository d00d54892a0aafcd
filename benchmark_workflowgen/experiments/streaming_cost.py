"""The cost of provenance for a streaming query while it runs, and of questions afterwards.

Events are written as files; the plain query and the annotated one read them, in as many
micro-batches, into Parquet. They take turns at being first, and the ratio is of median wall times.
An annotated query adds nothing to the plan, so that the difference is the thread that records
offsets. Afterwards the results of one micro-batch, and of all, are captured.

    python -m benchmark_workflowgen streaming-cost --output results.json
"""

from __future__ import annotations

import json
import shutil
import statistics
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lipstick
from benchmark_workflowgen.environment import environment
from benchmark_workflowgen.harness import in_turns, output_option, seconds, write_results
from benchmark_workflowgen.sessions import Sparks
from lipstick.systems.streaming.definition import AnnotatedStream

SCHEMA = "id BIGINT, ts TIMESTAMP, sensor INT, v DOUBLE"
QUERIES = {
    "filter": "SELECT id, v FROM events WHERE v > 0.9",
    "window": (
        "SELECT window.end, sensor, count(*) AS n, sum(v) AS total FROM events "
        "GROUP BY window(ts, '10 seconds'), sensor"
    ),
    "sliding window": (
        "SELECT window.end, avg(v) AS mean FROM events "
        "GROUP BY window(ts, '20 seconds', '10 seconds')"
    ),
    "join of streams": (
        "SELECT a.id, b.id AS other FROM events a JOIN alarms b ON a.sensor = b.sensor "
        "AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 SECOND"
    ),
}
_SENSORS = 100
_PER_SECOND = 1_000


@click.command()
@output_option
@click.option("--events", default=400_000, show_default=True)
@click.option("--batches", default=8, show_default=True)
@click.option("--repetitions", default=3, show_default=True)
@click.option("--only", multiple=True, type=click.Choice(list(QUERIES)))
@click.option("--scratch", type=click.Path(path_type=Path), default=Path("/tmp/lipstick-streaming"))
def main(
    output: Path | None,
    events: int,
    batches: int,
    repetitions: int,
    only: tuple[str, ...],
    scratch: Path,
) -> None:
    """Measure annotated streaming queries beside plain ones."""
    shutil.rmtree(scratch, ignore_errors=True)
    _generate(scratch, events, batches)
    document: dict[str, Any] = {"events": events, "batches": batches, "queries": []}
    with Sparks(None, None, "4g") as sparks:
        spark = sparks.get(2, 4)
        with lipstick.session(spark, store=scratch / "store") as ls:
            for name in ("events", "alarms"):
                stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
                frame = stream.parquet(str(scratch / name))
                ls.track(name, frame.withWatermark("ts", "5 seconds"))
            for name in only or QUERIES:
                result = {"query": name, **_measured(ls, name, repetitions, scratch)}
                document["queries"].append(result)
                click.echo(json.dumps(result))
        document["environment"] = environment(spark)
    write_results(output, document)
    shutil.rmtree(scratch, ignore_errors=True)


def _generate(scratch: Path, events: int, batches: int) -> None:
    """Write the files of a stream of readings, and of one of a hundredth as many alarms."""
    chance = np.random.default_rng(0)
    for name, step in (("events", 1), ("alarms", 100)):
        (scratch / name).mkdir(parents=True)
        for batch, ids in enumerate(np.array_split(np.arange(0, events, step), batches)):
            times = ids * (1_000_000 // _PER_SECOND)
            table = pa.table(
                {
                    "id": ids,
                    "ts": pa.array(times, pa.timestamp("us", "UTC")),
                    "sensor": chance.integers(0, _SENSORS, len(ids), dtype=np.int32),
                    "v": chance.random(len(ids)),
                }
            )
            pq.write_table(table, scratch / name / f"{batch:04}.parquet")


def _measured(ls: lipstick.Session, name: str, repetitions: int, scratch: Path) -> dict[str, Any]:
    """Run a query plainly and annotated in turns; ask the last annotated run."""
    sql = QUERIES[name]
    stream = ls.sql(sql)
    assert isinstance(stream, AnnotatedStream)
    folder = scratch / "runs" / name

    def plainly(number: int) -> None:
        _run(ls.spark.sql(sql).writeStream, folder / f"plain-{number}")

    def annotated(number: int) -> None:
        _run(stream.writeStream, folder / f"annotated-{number}")

    times = in_turns({"plain": plainly, "annotated": annotated}, repetitions)
    medians = {kind: statistics.median(each) for kind, each in times.items()}
    checkpoint = folder / f"annotated-{repetitions}" / "checkpoint"
    run = stream.recorded(checkpoint)
    last = run.batches[-1].number
    return {
        **medians,
        "ratio": medians["annotated"] / medians["plain"],
        "kept_bytes": sum(f.stat().st_size for f in (checkpoint / "_lipstick").iterdir()),
        "rows": run.results().df.count(),
        "capture_of_all": seconds(lambda: run.results().capture),
        "capture_of_one_batch": seconds(lambda: run.emitted(last).capture),
    }


def _run(writer: Any, folder: Path) -> None:
    query = (
        writer.option("checkpointLocation", str(folder / "checkpoint"))
        .format("parquet")
        .start(str(folder / "sink"))
    )
    query.processAllAvailable()
    query.stop()
