"""The cost of an erasure: planned, applied and verified over a pipeline of tables.

Customers and their orders, a join of both, and sums of the join. Some customers are erased with
their orders, once in place. For each step: wall seconds, processor seconds of Spark and of this
process, and Spark's jobs. Spark needs the jars of both formats, and a PySpark that they support:
``PYTHONPATH=.cache/table-formats/site python -m benchmark_workflowgen erasure --jars
.cache/table-formats/jars``, once ``./dev tables`` has made that folder.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import click
from pyspark.sql import SparkSession

import lipstick
from benchmark_workflowgen.environment import environment
from benchmark_workflowgen.experiments.statements import StartsSpark, table_format_options
from benchmark_workflowgen.harness import (
    Row,
    measured,
    output_option,
    print_rows,
    write_results,
)

_TABLES: Final = {"delta": "delta_{}", "iceberg": "ice.db.{}", "parquet": "parquet_{}"}


@click.command()
@table_format_options
@click.option("--rows", default=1_000_000, show_default=True, help="Orders.")
@click.option("--erased", default=10, show_default=True, help="Customers, of one in ten orders.")
@click.option("--formats", default="delta,iceberg", show_default=True)
@output_option
@click.option("--steps", is_flag=True, help="Print each step of the work.")
def main(
    start: StartsSpark,
    rows: int,
    erased: int,
    formats: str,
    output: Path | None,
    steps: bool,
) -> None:
    """Measure the erasure of customers from a pipeline of tables."""
    found: list[Row] = []
    with (
        tempfile.TemporaryDirectory(prefix="erasure-") as folder,
        start(Path(folder)) as spark,
    ):
        for format in formats.split(","):
            found += measure(spark, format, rows, erased, Path(folder), show=steps)
        results = {"results": found, "environment": environment(spark)}
    print_rows(f"Erasures of {erased} customers from {rows:,} orders", found)
    write_results(output, results)


def _queries(names: Mapping[str, str], rows: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return the queries of the tables that are generated, and of those derived from them."""
    return {
        "customers": "SELECT 10000000 + id AS id, concat('user', id, '@example.org') AS email, "
        f"concat('city', id % 1000) AS city FROM range({rows // 10})",
        "orders": f"SELECT id, 10000000 + id * 7 % {rows // 10} AS customer, id % 1000 AS cents, "
        f"concat('note ', id) AS note FROM range({rows})",
    }, {
        "joined": "SELECT o.id, o.customer, c.email, c.city, o.cents, o.note "
        f"FROM {names['orders']} o JOIN {names['customers']} c ON o.customer = c.id",
        "totals": "SELECT city, count(*) AS n, sum(cents) AS cents "
        f"FROM {names['joined']} GROUP BY city",
    }


def measure(
    spark: SparkSession, format: str, rows: int, erased: int, folder: Path, *, show: bool
) -> Iterator[Row]:
    """Yield the figures of each step of an erasure from tables of a format."""
    names = {n: _TABLES[format].format(n) for n in ("customers", "orders", "joined", "totals")}
    create = f"CREATE TABLE {{}} USING {format} AS {{}}"
    sources, queries = _queries(names, rows)
    for name, query in sources.items():
        spark.sql(create.format(names[name], query))
    started = time.perf_counter()
    for name, query in queries.items():
        spark.sql(create.format(names[name], query))
    plain = time.perf_counter() - started
    last = [time.perf_counter()]

    def on_step(step: str) -> None:
        if show:
            click.echo(f"  +{time.perf_counter() - last[0]:.1f} s: {' '.join(step.split())[:120]}")
        last[0] = time.perf_counter()

    with lipstick.session(spark) as ls:
        for name in ("customers", "orders"):
            ls.track(names[name], names[name], key="id")
        figures: Row = {"format": format, "step": "plan", "queries": round(plain, 1)}
        with measured(spark, figures):
            plan = ls.erase(
                {
                    names["customers"]: f"id < {10_000_000 + erased}",
                    names["orders"]: f"customer < {10_000_000 + erased}",
                },
                {names[name]: query for name, query in queries.items()},
                key={names["joined"]: "id", names["totals"]: "city"},
                in_place=True,
                on_step=on_step,
            )
        yield figures
        figures = {"format": format, "step": "apply"}
        with measured(spark, figures):
            plan.apply(on_step)
        yield figures
        figures = {"format": format, "step": "verify"}
        with measured(spark, figures):
            receipt = plan.verify(folder / "key", on_step=on_step)
        document = receipt.document
        figures |= {"files": document["files"], "MB": round(document["bytes"] / 1e6)}
        figures |= {"verdict": receipt.verdict, "findings": len(receipt.findings)}
        yield figures
