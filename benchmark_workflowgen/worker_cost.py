"""The cost of evaluations on Spark's workers, in every semiring, on TPC-H.

A query is captured once; its evaluations are computed whole and written nowhere. A time is the
minimum of some repetitions; evaluations beyond a time limit are reported as such.

    python -m benchmark_workflowgen worker-cost --data DIR --output results.json
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import lipstick
from benchmark_workflowgen import suites
from benchmark_workflowgen.environment import environment
from benchmark_workflowgen.sessions import Sparks
from benchmark_workflowgen.timing import OverLimitError, least_seconds
from lipstick import semirings

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
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--output", type=click.Path(path_type=Path), default=None, help="Results as JSON.")
@click.option("--repetitions", default=2, show_default=True)
@click.option("--limit", default=60.0, show_default=True, help="Seconds for one measurement.")
@click.option("--cores", default=2, show_default=True)
@click.option("--memory", default="6g", show_default=True, help="Heap of the driver.")
def main(
    data: Path, output: Path | None, repetitions: int, limit: float, cores: int, memory: str
) -> None:
    """Measure evaluations on Spark's workers over TPC-H tables in DATA."""
    evaluations = []
    with Sparks(None, None, memory) as sparks:
        spark = sparks.get(cores, 2 * cores)
        with lipstick.session(spark) as ls:
            suites.track(ls, "tpch", data)
            for name, text in QUERIES.items():
                for result in evaluation_times(ls.sql(text), repetitions, limit):
                    evaluations.append({"query": name, **result})
                    click.echo(show(evaluations[-1]))
        if output is not None:
            document = {"environment": environment(spark), "evaluations": evaluations}
            output.write_text(json.dumps(document, indent=1), encoding="utf-8")


def evaluation_times(
    query: lipstick.AnnotatedFrame, repetitions: int, limit: float
) -> Iterator[dict[str, Any]]:
    """Time every semiring that the query has a value in."""
    counts = query.capture.manifest.counts.values()
    members = sum(count.get("members", 0) for count in counts)
    for semiring in semirings.ALL:
        setting = {"semiring": semiring.name, "members": members}
        try:
            writer = query.evaluate(semiring).write.format("noop").mode("overwrite")
            taken = least_seconds(writer.save, repetitions, limit)
        except lipstick.LipstickError as error:
            yield {**setting, "refused": str(error).splitlines()[0]}
        except OverLimitError:
            yield {**setting, "over_seconds": limit}
        else:
            yield {**setting, "seconds": taken}


def show(result: dict[str, Any]) -> str:
    """Return one result as a line."""
    heading = f"{result['query']:<22}{result['semiring']:<20}"
    if "refused" in result:
        return f"{heading} refused: {result['refused']}"
    if "over_seconds" in result:
        return f"{heading} not done after {result['over_seconds']:g} s"
    return f"{heading}{result['members']:>11,} members {result['seconds']:9.2f} s"


if __name__ == "__main__":
    main()
