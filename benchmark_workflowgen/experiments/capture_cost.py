"""The cost of capturing a query's annotations, beside running it, on TPC-H.

Per query the plain result is written to Parquet, the capture with values copied, and the capture
with values by reference. They run in turns and take turns at being first, so that a noisy machine
disturbs all three alike. The ratio is median wall time of the capture over median wall time of the
plain write.

    python -m benchmark_workflowgen capture-cost --data DIR --output results.json
"""

from __future__ import annotations

import json
import math
import shutil
import statistics
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lipstick
from benchmark_workflowgen import tpch
from benchmark_workflowgen.environment import environment
from benchmark_workflowgen.harness import (
    member_count,
    output_option,
    seconds,
    timed,
    tpch_options,
    tpch_session,
    write_results,
)
from benchmark_workflowgen.measure.queries import EAGER, runs
from benchmark_workflowgen.measure.rows import folder_bytes
from lipstick.capture.manifest import KeptValues


@click.command()
@tpch_options(memory="8g")
@output_option
@click.option("--queries", default="1,3,5,6,10,12,18", show_default=True)
@click.option("--repetitions", default=5, show_default=True)
@click.option("--scratch", type=click.Path(path_type=Path), default=Path("/tmp/lipstick-cost"))
def main(
    data: Path,
    output: Path | None,
    queries: str,
    repetitions: int,
    cores: int,
    memory: str,
    scratch: Path,
) -> None:
    """Measure capture cost and what-if time over TPC-H tables in DATA."""
    numbers = [int(text) for text in queries.split(",")]
    with tpch_session(data, cores, memory) as ls:
        document = _measured(ls, numbers, repetitions, scratch)
        write_results(output, document | {"environment": environment(ls.spark)})
    shutil.rmtree(scratch, ignore_errors=True)


def _measured(
    ls: lipstick.Session, numbers: list[int], repetitions: int, scratch: Path
) -> dict[str, Any]:
    """Measure queries, and what-if answers where Q1 is among them; show all of it."""
    results = []
    for number in numbers:
        result = measure(ls, number, repetitions, scratch)
        results.append(result)
        click.echo(show(result))
    click.echo(summary(results))
    what_ifs = []
    if 1 in numbers:
        what_ifs = [what_if_time(ls, values, scratch) for values in ("copy", "reference")]
        for timing in what_ifs:
            click.echo(json.dumps(timing))
    return {"capture": results, "what_if": what_ifs}


def measure(ls: lipstick.Session, number: int, repetitions: int, scratch: Path) -> dict[str, Any]:
    """Time one query three ways, interleaved, after one unmeasured round of each."""
    text = tpch.query(number)
    query = ls.sql(text)
    every = runs(ls, text, query)
    times: dict[str, list[float]] = {name: [] for name in EAGER}
    sizes: dict[str, int] = {}
    members = 0
    for repetition in range(repetitions + 1):
        first = repetition % len(EAGER)
        for name in EAGER[first:] + EAGER[:first]:
            path = scratch / name
            shutil.rmtree(path, ignore_errors=True)
            taken, captured = timed(partial(every[name], path))
            if repetition:
                times[name].append(taken)
            sizes[name] = folder_bytes(path, "*.parquet")
            if isinstance(captured, lipstick.Capture):
                members = member_count(captured)
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {
        "query": number,
        "seconds": medians,
        "all_seconds": times,
        "ratio": {name: medians[name] / medians["plain"] for name in ("copy", "reference")},
        "members": members,
        "bytes_per_member": {name: sizes[name] / max(members, 1) for name in ("copy", "reference")},
    }


def what_if_time(ls: lipstick.Session, values: KeptValues, scratch: Path) -> dict[str, Any]:
    """Time deleting 1,000 lineitems from the saved capture of Q1, against rerunning the query."""
    path = scratch / f"q1-{values}"
    shutil.rmtree(path, ignore_errors=True)
    query = ls.sql(tpch.query(1))
    query.save(path, values=values)
    deleted = thousand_lineitems(Path(path))
    spark = None if values == "copy" else ls.spark
    capture = lipstick.open(path, spark=spark)

    def asked() -> None:
        answer = capture.what_if({"lineitem": deleted}).df
        if not isinstance(answer, pa.Table):
            answer.collect()

    times = [seconds(asked) for _ in range(6)]
    keys = list(zip(*(column.to_pylist() for column in deleted.columns), strict=True))

    def run_again() -> None:
        query.what_if({"lineitem": keys}, method="rerun").df.collect()

    rerun = seconds(run_again)
    return {
        "values": values,
        "engine": "memory" if spark is None else "memory, values looked up by Spark",
        "first_seconds": times[0],
        "seconds": statistics.median(times[1:]),
        "rerun_seconds": rerun,
    }


def thousand_lineitems(capture: Path) -> pa.Table:
    """Return the tokens of 1,000 members of Q1's capture, spread evenly."""
    tokens = pq.read_table(capture / "b0" / "members", columns=["l_orderkey", "l_linenumber"])
    rows = np.linspace(0, tokens.num_rows - 1, 1000).astype(np.int64)
    return tokens.take(pa.array(rows))


def show(result: dict[str, Any]) -> str:
    """Return one result as a line."""
    taken, ratio = result["seconds"], result["ratio"]
    size = result["bytes_per_member"]
    return (
        f"Q{result['query']:<3} plain {taken['plain']:6.2f} s   "
        f"copy {taken['copy']:6.2f} s ({ratio['copy']:.2f}x, {size['copy']:.1f} B/member)   "
        f"reference {taken['reference']:6.2f} s "
        f"({ratio['reference']:.2f}x, {size['reference']:.1f} B/member)   "
        f"{result['members']:,} members"
    )


def summary(results: list[dict[str, Any]]) -> str:
    """Return geometric means and the worst ratios."""
    lines = []
    for name in ("copy", "reference"):
        ratios = [result["ratio"][name] for result in results]
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
        lines.append(f"values by {name}: geometric mean {mean:.2f}, worst {max(ratios):.2f}")
    return "\n".join(lines)
