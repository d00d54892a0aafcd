"""``python -m benchmark_workflowgen events``: the figures of the paper measured again."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from benchmark_workflowgen.events import accuracy, partitions, queries, state
from benchmark_workflowgen.events.jobs import hashtag_count
from benchmark_workflowgen.harness import (
    Row,
    output_option,
    preset_values,
    print_rows,
    write_results,
)

Rows = list[Row]


def accuracy_rows(given: dict[str, Any], folder: Path) -> Rows:
    """Recall and precision under disorder."""
    del folder
    executions = hashtag_count(given["tweets"], given["workers"])
    return [
        row
        for displacement in given["displacements"]
        for fraction in given["fractions"]
        for row in accuracy.measure(executions, fraction, displacement, given["seed"])
    ]


def partition_rows(given: dict[str, Any], folder: Path) -> Rows:
    """Edges emitted by local reducers."""
    del folder
    executions = hashtag_count(given["tweets"], given["workers"])
    return [
        partitions.measure(executions, name, size, given["workers"])
        for name in partitions.PARTITIONINGS
        for size in given["batches"]
    ]


def ratio_rows(given: dict[str, Any], folder: Path) -> Rows:
    """Table I, for shares of tweets without hashtags."""
    del folder
    rows: Rows = []
    for bare in given["bare"]:
        executions = hashtag_count(given["tweets"], given["workers"], bare=bare)
        for row in partitions.table_one(executions, given["batch"], given["workers"]):
            rows.append({"tweets without tags": bare} | row)
    return rows


def query_rows(given: dict[str, Any], folder: Path) -> Rows:
    """Questions to the full and the reduced graph."""
    executions = hashtag_count(given["tweets"], 4)
    return queries.measure(executions, folder, given["questions"])


def state_rows(given: dict[str, Any], folder: Path) -> Rows:
    """Return the peak of the open state, by the length of the stream."""
    del folder
    executions = hashtag_count(given["tweets"], 4)
    return [state.measure(executions, number, given["batch"]) for number in given["computations"]]


def speed_rows(given: dict[str, Any], folder: Path) -> Rows:
    """Return the streaming job over so many cores, in so many shards, by every partitioning.

    Beside it the whole command, whose session of Spark starts with it.
    """
    from benchmark_workflowgen.events import streaming_job

    source = folder / "in"
    streaming_job.emitted(given["tweets"], source, given["files"])
    local = [master for master in given["masters"] if master.startswith("local")]
    rows: Rows = streaming_job.commands(source, folder, [None, *local])
    for master in given["masters"]:
        with (
            streaming_job.started(master, folder / "cluster") as url,
            streaming_job.session(url) as spark,
        ):
            for partitioning in given["partitionings"]:
                for warm in (True, False):
                    row = streaming_job.reduced(
                        spark,
                        source,
                        folder / "out",
                        given["files_per_batch"],
                        partitioning=partitioning,
                        shards=given["shards"],
                        log=given["log"],
                    )
                    if not warm:
                        rows.append({"master": master, "partitioning": partitioning} | row)
    return rows


def overhead_rows(given: dict[str, Any], folder: Path) -> Rows:
    """Return the overhead of emitting events in a Spark job."""
    from benchmark_workflowgen.events import streaming_job

    with streaming_job.session(given["master"]) as spark:
        return [streaming_job.overhead(spark, given["tweets"], folder, given["rounds"])]


def latency_rows(given: dict[str, Any], folder: Path) -> Rows:
    """From a file's end to its commit."""
    from benchmark_workflowgen.events import streaming_job

    source = folder / "in"
    streaming_job.emitted(given["tweets"], source, given["files"])
    with streaming_job.session(given["master"]) as spark:
        return [streaming_job.latency(spark, source, folder / "out", given["interval"])]


EXPERIMENTS: dict[str, Callable[[dict[str, Any], Path], Rows]] = {
    "accuracy": accuracy_rows,
    "partitions": partition_rows,
    "ratio": ratio_rows,
    "queries": query_rows,
    "state": state_rows,
    "speed": speed_rows,
    "overhead": overhead_rows,
    "latency": latency_rows,
}


@click.command()
@click.option("--only", multiple=True, type=click.Choice(list(EXPERIMENTS)))
@click.option("--tweets", type=click.IntRange(min=100), help="In place of the preset's.")
@click.option("--master", help="Of Spark, in place of the preset's.")
@output_option
def main(only: Sequence[str], tweets: int | None, master: str | None, output: Path | None) -> None:
    """Streams of provenance events reduced, by the preset `events`, beside the paper's figures."""
    parameters = preset_values("events")
    results: dict[str, Rows] = {}
    for name, measure in EXPERIMENTS.items():
        if only and name not in only:
            continue
        given = parameters[name]
        if tweets is not None:
            given["tweets"] = tweets
        if master is not None and "master" in given:
            given["master"] = master
        if master is not None and "masters" in given:
            given["masters"] = [master]
        folder = Path(tempfile.mkdtemp())
        try:
            results[name] = measure(given, folder)
        finally:
            shutil.rmtree(folder)
        print_rows(f"{given['title']}. In the paper: {given['paper']}", results[name])
        write_results(output, results)
