"""The cost of questions to a saved capture, beside reading its bytes and beside running again.

Captures of TPC-H queries are made once with Spark, and asked without it. A time is the minimum of
some repetitions, on both sides of every ratio; evaluations beyond a time limit are reported as
such. Evaluations are compared with the time to add up the same bytes once in memory: the token
columns that they value and the groups that they sum by. Batches of hypothetical deletions on Q1 are
compared with the query run again in Spark on the reduced source.

    python -m benchmark_workflowgen semiring-cost --data DIR --captures DIR --output results.json
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import lipstick
from benchmark_workflowgen import tpch
from benchmark_workflowgen.environment import environment
from benchmark_workflowgen.harness import (
    Row,
    StartsSession,
    evaluation,
    least_seconds,
    member_count,
    output_option,
    seconds,
    tpch_options,
    unmeasured,
    write_results,
)
from lipstick import semirings
from semiring.base import Semiring

NUMERIC: tuple[Semiring[Any], ...] = tuple(
    semiring for semiring in semirings.ALL if semiring.dtype != np.dtype(object)
)
SYMBOLIC: tuple[Semiring[Any], ...] = tuple(
    semiring for semiring in semirings.ALL if semiring not in NUMERIC
)
_ABSENT = {"Boolean": False, "Counting": 0, "Integers": 0, "Worlds": 0}
"""Values of a deleted tuple, in the semirings that are asked with valuations too."""


@click.command()
@tpch_options(memory="6g")
@click.option("--captures", type=click.Path(path_type=Path), required=True, help="Made if missing.")
@output_option
@click.option("--queries", default="1,3,5,9,18", show_default=True)
@click.option("--repetitions", default=5, show_default=True)
@click.option("--limit", default=60.0, show_default=True, help="Seconds for one measurement.")
def main(
    start: StartsSession,
    captures: Path,
    output: Path | None,
    queries: str,
    repetitions: int,
    limit: float,
) -> None:
    """Measure evaluations and batches of what-ifs over captures of TPC-H queries in DATA."""
    numbers = [int(text) for text in queries.split(",")]
    rerun = with_spark(start, captures, numbers)
    click.echo(f"Q1 run again without 1,000 lineitems: {rerun:.2f} s")
    evaluations = []
    for number in numbers:
        capture = lipstick.open(captures / f"q{number}")
        for result in evaluation_times(capture, repetitions, limit):
            evaluations.append({"query": number, **result})
            click.echo(show(evaluations[-1]))
    batches = []
    for batch in batch_times(captures / "q1", rerun, repetitions, limit):
        batches.append(batch)
        click.echo(json.dumps(batch))
    document = {
        "environment": environment(None),
        "rerun_seconds": rerun,
        "evaluations": evaluations,
        "batches": batches,
    }
    write_results(output, document)


def with_spark(start: StartsSession, captures: Path, numbers: Sequence[int]) -> float:
    """Make the captures that are missing; return the seconds of Q1 on a reduced source."""
    with start() as ls:
        for number in {1, *numbers}:
            if not (captures / f"q{number}").exists():
                ls.sql(tpch.query(number)).save(captures / f"q{number}")
        gone = thousand_lineitems(captures / "q1")
        again = ls.sql(tpch.query(1))
        return min(
            seconds(again.what_if({"lineitem": gone}, method="rerun").df.collect) for _ in range(3)
        )


def evaluation_times(
    capture: lipstick.Capture, repetitions: int, limit: float
) -> Iterator[dict[str, Any]]:
    """Time every semiring, beside the reading of the bytes."""
    members = member_count(capture)
    capture.algebra.evaluate(semirings.Counting())
    reading = read_seconds(capture, repetitions)
    tokens = capture.memory.tokens("lineitem")
    for semiring in (*NUMERIC, *SYMBOLIC):
        for given, valuation in _valuations(tokens, semiring):
            setting: Row = {"semiring": semiring.name, "valuation": given, "members": members}
            ask = partial(capture.algebra.evaluate, semiring, valuation)
            setting |= evaluation(ask, repetitions, limit)
            if taken := setting.get("seconds"):
                setting |= {"members_per_second": members / taken, "times_reading": taken / reading}
            yield setting


def thousand_lineitems(capture: Path) -> pa.Table:
    """Return the tokens of 1,000 members of Q1's capture, spread evenly."""
    columns = ["l_orderkey", "l_linenumber"]
    return _thousand(pq.read_table(capture / "b0" / "members", columns=columns))


def _thousand(tokens: pa.Table) -> pa.Table:
    """Return up to 1,000 of some tokens, spread evenly."""
    rows = np.linspace(0, tokens.num_rows - 1, min(1000, tokens.num_rows)).astype(np.int64)
    return tokens.take(pa.array(rows))


def _valuations(tokens: pa.Table, semiring: Semiring[Any]) -> list[tuple[str, Any]]:
    """Return the default; a thousand deleted lineitems; a value, 1, given for each lineitem."""
    valuations: list[tuple[str, Any]] = [("default", None)]
    if semiring.name in _ABSENT:
        for name, some, value in (
            ("1,000 deleted", _thousand(tokens), _ABSENT[semiring.name]),
            ("all valued", tokens, semiring.one),
        ):
            values = pa.array(semiring.full(value, some.num_rows))
            valuations.append((name, {"lineitem": some.append_column("value", values)}))
    return valuations


def read_seconds(capture: lipstick.Capture, repetitions: int) -> float:
    """Return the time to add up the bytes of the members' tokens and keys, held in memory."""
    columns = []
    for block in capture.memory.blocks:
        if block.core is None:
            continue
        names = {name for token in block.tokens for name in token.columns}
        table = ds.dataset(capture.directory / block.name / "members").to_table()
        wanted = [name for name in table.column_names if name in names]
        for column in table.select(wanted).combine_chunks().columns:
            for buffer in column.chunk(0).buffers() if column.num_chunks else ():
                if buffer is not None and buffer.size >= 8:
                    columns.append(np.frombuffer(buffer, np.int64, buffer.size // 8))
        # A group code for each member: ones, since zeros would not be allocated in memory.
        columns.append(np.ones(table.num_rows // 2, dtype=np.int64))
    return least_seconds(lambda: [int(column.sum()) for column in columns], repetitions, 60.0)


def batch_times(
    path: Path, rerun: float, repetitions: int, limit: float
) -> Iterator[dict[str, Any]]:
    """Time batches of scenarios on Q1, which delete one lineitem each, or a thousand."""
    capture = lipstick.open(path)
    tokens = capture.memory.tokens("lineitem").combine_chunks()
    random = np.random.default_rng(1)
    first = seconds(lambda: capture.what_if({"lineitem": tokens.slice(0, 1)}).df)
    for deleted in (1, 1000):
        for count in (1, 64, 4096):
            rows = random.integers(0, tokens.num_rows, count * deleted)
            scenario = pa.array(np.repeat(np.arange(count), deleted))
            table = tokens.take(pa.array(rows)).append_column("scenario", scenario)
            ask = partial(_changes, capture, table)
            each = least_seconds(ask, repetitions, limit) / count
            yield {
                "scenarios": count,
                "deleted_each": deleted,
                "seconds_each": each,
                "cheaper_than_rerun": rerun / each,
                "first_question_seconds": first,
            }


def _changes(capture: lipstick.Capture, table: pa.Table) -> pa.Table:
    return capture.what_if_many({"lineitem": table}).changes


def show(result: dict[str, Any]) -> str:
    """Return one result as a line."""
    heading = f"Q{result['query']:<3}{result['semiring']:<20}{result['valuation']:<15}"
    if (why := unmeasured(result)) is not None:
        return f"{heading} {why}"
    return (
        f"{heading}{result['members']:>11,} members {result['seconds'] * 1e3:9.1f} ms "
        f"{result['members_per_second'] / 1e6:8.1f} M/s {result['times_reading']:7.2f}x reading"
    )
