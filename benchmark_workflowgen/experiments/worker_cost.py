"""The cost of evaluations on Spark's workers, in every semiring, on TPC-H.

A query is captured once; its evaluations are computed whole and written nowhere. A time is the
minimum of some repetitions; evaluations beyond a time limit are reported as such.

    python -m benchmark_workflowgen worker-cost --data DIR --output results.json
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import lipstick
from benchmark_workflowgen.environment import environment
from benchmark_workflowgen.harness import (
    Row,
    StartsSession,
    evaluation,
    member_count,
    output_option,
    tpch_options,
    unmeasured,
    write_results,
)
from lipstick import semirings
from semiring.base import Semiring

QUERIES = {
    "rows of three tuples": """
        SELECT o_orderkey, l_linenumber, l_extendedprice
        FROM orders
        JOIN lineitem ON o_orderkey = l_orderkey
        JOIN customer ON c_custkey = o_custkey
    """,
    "groups by customer": """
        SELECT o_custkey, count(*)
        FROM orders JOIN lineitem ON o_orderkey = l_orderkey
        GROUP BY o_custkey
    """,
}


@click.command()
@tpch_options(memory="6g")
@output_option
@click.option("--repetitions", default=2, show_default=True)
@click.option("--limit", default=60.0, show_default=True, help="Seconds for one measurement.")
def main(start: StartsSession, output: Path | None, repetitions: int, limit: float) -> None:
    """Measure evaluations on Spark's workers over TPC-H tables in DATA."""
    evaluations = []
    with start() as ls:
        for name, text in QUERIES.items():
            for result in evaluation_times(ls.sql(text), repetitions, limit):
                evaluations.append({"query": name, **result})
                click.echo(show(evaluations[-1]))
        document = {"environment": environment(ls.spark), "evaluations": evaluations}
        write_results(output, document)


def evaluation_times(
    query: lipstick.AnnotatedFrame, repetitions: int, limit: float
) -> Iterator[Row]:
    """Time every semiring that the query has a value in."""
    members = member_count(query.capture)
    for semiring in semirings.ALL:

        def run(semiring: Semiring[Any] = semiring) -> None:
            query.algebra.evaluate(semiring).write.format("noop").mode("overwrite").save()

        setting = {"semiring": semiring.name, "members": members}
        yield {**setting, **evaluation(run, repetitions, limit)}


def show(result: dict[str, Any]) -> str:
    """Return one result as a line."""
    heading = f"{result['query']:<22}{result['semiring']:<20}"
    if (why := unmeasured(result)) is not None:
        return f"{heading} {why}"
    return f"{heading}{result['members']:>11,} members {result['seconds']:9.2f} s"
