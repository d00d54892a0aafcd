"""Check a benchmark's queries against both oracles, and keep the outcomes.

    python -m tests.scoreboard tpcds --data DIR --output DIR

``python -m tests.scoreboard spark`` does so with files of statements: see ``command.py`` there.
Queries whose outcome the output has already are not run again, so a run that was stopped goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import lipstick
from lipstick import Session
from lipstick.engines.spark.local_session import local_builder
from tests.oracle.database import Database
from tests.oracle.plain import PlainSpark, few_rows
from tests.oracle.suites import TPCDS, TPCH, Suite
from tests.scoreboard.check import check
from tests.scoreboard.outcome import append, read, table
from tests.scoreboard.spark.command import spark as spark_command

SUITES = {suite.name: suite for suite in (TPCH, TPCDS)}


@click.group()
def main() -> None:
    """Put queries of benchmarks, or files of statements, to the oracles."""


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--output", type=click.Path(path_type=Path), required=True)
@click.option("--query", "queries", type=int, multiple=True, help="All, unless some are named.")
@click.option("--deletions", default=5, show_default=True, help="Sets of deleted tuples a query.")
@click.option("--again", is_flag=True, help="Check also what has an outcome already.")
@click.pass_context
def benchmark(
    context: click.Context,
    data: Path,
    output: Path,
    queries: Sequence[int],
    deletions: int,
    again: bool,
) -> None:
    """Put the queries of a benchmark to both oracles, over its tables in DATA."""
    name = str(context.info_name)
    suite = SUITES[name]
    outcomes = output / f"{name}.jsonl"
    done = {} if again else read(outcomes)
    left = [number for number in queries or suite.numbers if number not in done]
    if left:
        _run(suite, left, data, output, deletions)
    text = table(read(outcomes).values())
    (output / f"{name}.md").write_text(text)
    print(text)


def _run(suite: Suite, numbers: Sequence[int], data: Path, output: Path, deletions: int) -> None:
    spark = (
        local_builder("scoreboard", "local[2]")
        .config("spark.driver.memory", "6g")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    loaded = suite.load(data)
    with few_rows(spark), _sessions(spark, loaded) as usual:
        for number in numbers:
            database = suite.database(number, loaded)
            with nullcontext(usual) if database is loaded else _sessions(spark, database) as both:
                outcome = check(*both, number, suite.query(number), deletions, output / "failures")
            append(output / f"{suite.name}.jsonl", outcome)
            print(f"query {number}: {outcome.verdict}", file=sys.stderr, flush=True)
    spark.stop()


@contextmanager
def _sessions(spark: SparkSession, database: Database) -> Iterator[tuple[Session, PlainSpark]]:
    """Give a session that tracks the relations as files, and plain Spark over the same."""
    with (
        TemporaryDirectory(prefix="scoreboard-") as folder,
        closing(PlainSpark(spark, database)) as plain,
        lipstick.session(spark) as ls,
    ):
        for relation in database.relations.values():
            path = str(Path(folder, f"{relation.name}.parquet"))
            pq.write_table(relation.data, path)
            source = spark.read.schema(relation.schema).parquet(path)
            ls.track(relation.name, source, key=list(relation.key))
        yield ls, plain


for _name in SUITES:
    main.add_command(benchmark, _name)
main.add_command(spark_command, "spark")

if __name__ == "__main__":
    main()
