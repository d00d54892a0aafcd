"""The cost of explanations beside that of the query that they explain, over many rows and columns.

A relation of 20 columns lies in Parquet files, with two planted errors: one in a thousandth of its
rows, and a large one in fifty. Each question is asked of a capture that is opened anew; figures are
processor seconds, of this process and of Spark, and medians of several runs.

    python -m benchmark_workflowgen explanations --rows 10000000 --data FOLDER

With ``--planted`` it asks instead for a hundred causes planted in the tables of the tests, and in
twenty tables in which nothing is wrong; every effect is carried out by DuckDB.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import lipstick
from benchmark_workflowgen.harness import (
    Row,
    output_option,
    print_rows,
    processor_clock,
    write_results,
)
from benchmark_workflowgen.sessions import Sparks

QUESTIONS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "average": ("SELECT avg(amount) AS v FROM orders", {"column": "v", "too": "high"}),
    "group": (
        "SELECT t1, sum(amount) AS v FROM orders GROUP BY t1",
        {"column": "v", "where": {"t1": "t1-3"}, "too": "high"},
    ),
    "condition": ("SELECT avg(amount) <= 100.2 AS ok FROM orders", {"column": "ok"}),
    "rows": ("SELECT id FROM orders WHERE amount > 900", {}),
}
_FILE: Final = 2_500_000
"""Rows of a file."""


@click.command()
@click.option(
    "--rows",
    type=click.IntRange(min=20_000),
    default=10_000_000,
    show_default=True,
    help="Among fewer there may be none with the rare error.",
)
@click.option("--repetitions", default=3, show_default=True)
@click.option("--data", type=click.Path(path_type=Path), help="Kept from run to run.")
@click.option("--planted", is_flag=True, help="Ask for planted causes; in a checkout.")
@click.option("--seeds", default="0-100", show_default=True, help="Of the planted causes.")
@output_option
@click.option("--cores", default=2, show_default=True)
@click.option("--memory", default="2g", show_default=True, help="Heap of the driver.")
def main(
    rows: int,
    repetitions: int,
    data: Path | None,
    planted: bool,
    seeds: str,
    output: Path | None,
    cores: int,
    memory: str,
) -> None:
    """Measure explanations over 20 columns, with Spark and in memory."""
    if planted:
        try:
            import_module("tests.planted.found").main(seeds)
        except ModuleNotFoundError as error:
            raise click.ClickException(
                f"No module {error.name}: planted causes are among the tests of a checkout."
            ) from error
        return
    if data is None:
        raise click.UsageError("Give --data FOLDER, or --planted.")
    files = data / f"orders-{rows}"
    if not files.exists():
        generate(files, rows)
    with (
        Sparks(None, None, memory) as sparks,
        lipstick.session(sparks.get(cores, 2 * cores)) as ls,
    ):
        ls.track("orders", str(files), key="id")
        found = [measure(ls, data / f"{name}-{rows}", name, repetitions) for name in QUESTIONS]
    print_rows(f"Explanations over {rows:,} rows: processor seconds", found)
    write_results(output, found)


def generate(folder: Path, rows: int) -> None:
    """Write the relation: a key, an amount, 8 texts, 5 integers, 5 floats."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for start in range(0, rows, _FILE):
        count = min(_FILE, rows - start)
        columns: dict[str, Any] = {"id": np.arange(start, start + count)}
        for number in range(8):
            values = pa.array([f"t{number}-{each}" for each in range(4 << number)])
            codes = pa.array(rng.integers(0, len(values), count, dtype=np.int32))
            columns[f"t{number}"] = pa.DictionaryArray.from_arrays(codes, values).cast(pa.string())
        for number in range(5):
            columns[f"n{number}"] = rng.integers(0, 10 ** (number + 1), count)
        for number in range(5):
            columns[f"x{number}"] = np.round(rng.normal(0, 100, count), 2)
        amount = np.round(rng.normal(100, 20, count), 2)
        wide = (columns["n2"] < 8) & (columns["n0"] > 7)
        amount[wide] += 300.0
        few = np.flatnonzero(columns["n4"] < 20)[: 50 * count // rows + 1]
        amount[few] += 50_000.0
        table = pa.table(columns | {"amount": amount})
        pq.write_table(table, folder / f"part-{start // _FILE:05}.parquet", row_group_size=1 << 20)


def measure(ls: lipstick.Session, folder: Path, name: str, repetitions: int) -> Row:
    """Measure a question: the plain query, and its explanation with Spark and in memory."""
    sql, asked = QUESTIONS[name]
    plain = ls.spark.sql(sql.replace("orders", f"`{ls.tracked['orders'].view}`"))
    if not folder.exists():
        ls.sql(sql).save(str(folder))

    def explained(spark: SparkSession | None) -> str:
        capture = lipstick.open(str(folder), spark=spark)
        return next((cause.text for cause in capture.why(**asked, limit=3).causes), "none")

    figures: Row = {"question": name}
    ways: dict[str, Callable[[], object]] = {
        "plain": lambda: plain.write.format("noop").mode("overwrite").save(),
        "with Spark": lambda: explained(ls.spark),
        "in memory": lambda: explained(None),
    }
    for way, run in ways.items():
        times = []
        for _ in range(repetitions + 1):
            started = processor_clock(ls.spark)
            figures["first cause"] = run()
            times.append(processor_clock(ls.spark) - started)
        figures[way] = round(statistics.median(times[1:]), 2)
    figures["ratio"] = round(figures["in memory"] / figures["plain"], 2)
    click.echo(figures)
    return figures
