"""``python -m benchmark_workflowgen inference-scale``: inference at the size of a cluster's tables.

One Spark job infers the inputs of all outputs, ten inputs each; single outputs are then inferred
from the same tables without Spark.
"""

from __future__ import annotations

import json
import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmark_workflowgen.harness import seconds, timed
from benchmark_workflowgen.measure.eventlog import SETTINGS, EventLog
from lipstick.engines.spark.local_session import local_builder
from lipstick.systems.scripts.inference import (
    Distribution,
    ProcessingElement,
    StoredView,
    infer_output,
)
from lipstick.systems.scripts.inference.on_spark import infer_ranges

WINDOW, GAP = 30, 3
INPUTS_PER_OUTPUT = WINDOW // GAP

ELEMENT = ProcessingElement(WINDOW, WINDOW, Distribution(np.full(3, 1 / 3)), origin=0)
"""An aggregate of tumbling windows with a delay of 0, 1 or 2, on a known grid of triggers."""

_ROW_GROUP_BYTES = 2 << 20


def views(spark: SparkSession, outputs: int) -> tuple[DataFrame, DataFrame]:
    """Inputs at irregular times, three units apart on average, and an output per window."""
    jitter = F.pmod(F.xxhash64("id"), F.lit(GAP))
    inputs = spark.range(outputs * INPUTS_PER_OUTPUT).select(
        (F.col("id") * GAP + jitter).alias("txn_time"), F.col("id").alias("seq")
    )
    delay = F.pmod(F.xxhash64(F.col("id") + 1), F.lit(3))
    results = spark.range(outputs).select(
        ((F.col("id") + 1) * WINDOW + delay).alias("txn_time"), F.col("id").alias("seq")
    )
    return inputs, results


def measure_job(spark: SparkSession, folder: Path, log: EventLog, outputs: int) -> dict[str, Any]:
    """Infer all outputs and write them: seconds, bytes shuffled, memory, and how many are right."""
    for name, frame in zip(("inputs", "outputs"), views(spark, outputs), strict=True):
        writer = frame.write.mode("overwrite").option("parquet.block.size", _ROW_GROUP_BYTES)
        writer.parquet(str(folder / name))
    inputs, results = (spark.read.parquet(str(folder / name)) for name in ("inputs", "outputs"))
    began = time.time()
    inferred = infer_ranges(ELEMENT, inputs, results).write.mode("overwrite")
    taken = seconds(lambda: inferred.parquet(str(folder / "ranges")))
    usage = log.usage(began, time.time())
    exact = (F.col("count") == INPUTS_PER_OUTPUT) & (
        F.col("first") == F.col("output") * INPUTS_PER_OUTPUT
    )
    right = spark.read.parquet(str(folder / "ranges")).where(exact).count()
    return {
        "outputs": outputs,
        "inputs": outputs * INPUTS_PER_OUTPUT,
        "seconds": round(taken, 1),
        "shuffle_bytes": usage.shuffle_bytes,
        "execution_memory_bytes": usage.execution_memory,
        "exact": right / outputs,
    }


def measure_outputs(folder: Path, outputs: int, repeats: int = 200) -> dict[str, Any]:
    """Infer single outputs from the stored inputs: milliseconds per output."""
    random = np.random.default_rng(1)
    view = StoredView(folder / "inputs")
    milliseconds = []
    for number in random.integers(0, outputs, repeats):
        wanted = (int(number) + 1) * WINDOW + 1
        taken, answer = timed(partial(infer_output, ELEMENT, view, wanted))
        milliseconds.append(1000 * taken)
        assert answer.sequences[0] == number * INPUTS_PER_OUTPUT
    middle, late = np.percentile(milliseconds, [50, 99])
    return {"median_ms": round(float(middle), 2), "p99_ms": round(float(late), 2)}


@click.command()
@click.option("--outputs", default=100_000, show_default=True)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, resolve_path=True),
    required=True,
    help="For the tables.",
)
@click.option("--memory", default="4g", show_default=True, help="Of the driver.")
@click.option("--partitions", default=16, show_default=True, help="Of shuffles.")
def main(outputs: int, folder: Path, memory: str, partitions: int) -> None:
    """Infer the inputs of many outputs as one Spark job, and of single ones without."""
    logs = folder / "events"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    settings: dict[str, Any] = {
        **SETTINGS,
        "spark.eventLog.dir": logs.as_uri(),
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.local.dir": str(folder / "local"),
        "spark.log.level": "ERROR",
    }
    spark = local_builder("inference").config(map=settings).getOrCreate()
    try:
        job = measure_job(spark, folder, EventLog(logs), outputs)
    finally:
        spark.stop()
    click.echo(json.dumps({"job": job, "single": measure_outputs(folder, outputs)}, indent=1))
