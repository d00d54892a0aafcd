"""The cost of statements that ls.sql runs on tables of Delta and Iceberg, and of questions.

Two tables have the same rows. Statements run on one by Spark alone, on the other by ``ls.sql``, in
turns: MERGE of 1 % of the rows, UPDATE and DELETE by a predicate. Questions are asked of the
history of the second table. Spark needs the jars of both formats, and a PySpark that they support.
``./dev tables`` makes a folder ``.cache/table-formats/<hash>`` with both:
``PYTHONPATH=<folder>/site python -m benchmark_workflowgen statements --jars <folder>/jars``.
"""

from __future__ import annotations

import re
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import click
import pyspark
from pyspark.sql import SparkSession

import lipstick
from benchmark_workflowgen.environment import environment
from benchmark_workflowgen.harness import (
    Row,
    measured,
    output_option,
    print_rows,
    seconds,
    session_options,
    write_results,
)
from lipstick.engines.spark.local_session import local_builder

_EXTENSIONS: Final = (
    "io.delta.sql.DeltaSparkSessionExtension,"
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
)
_SPARK_LINE: Final = re.compile(r"(?:delta-spark_|iceberg-spark-runtime-)(\d+\.\d+)_")
StartsSpark = Callable[[Path], AbstractContextManager[SparkSession]]
"""Starts Spark with a folder of its own."""
_TABLES: Final = {"delta": "{}", "iceberg": "ice.db.{}"}


def check_jars(jars: Path, version: str) -> None:
    """Refuse jars that were built for another line of Spark than the installed PySpark.

    Raises
    ------
    click.UsageError
    """
    found = (_SPARK_LINE.match(jar.name) for jar in jars.glob("*.jar"))
    built = {match[1] for match in found if match}
    line = ".".join(version.split(".")[:2])
    if built != {line}:
        lines = ", ".join(sorted(built)) or "no line of Spark"
        raise click.UsageError(
            f"The jars of Delta and Iceberg in {jars} are for {lines}, and this is PySpark "
            f"{version}.\nRun ./dev tables once, and this command with PYTHONPATH="
            ".cache/table-formats/<hash>/site and --jars .cache/table-formats/<hash>/jars."
        )


@contextmanager
def table_format_session(home: Path, jars: Path, cores: int, memory: str) -> Iterator[SparkSession]:
    """Start a Spark whose own catalog has tables of Delta, and whose catalog ``ice`` Iceberg."""
    check_jars(jars, pyspark.__version__)
    settings = {
        "spark.driver.memory": memory,
        "spark.hadoop.parquet.hadoop.vectored.io.enabled": "false",  # its bytes are not counted
        "spark.jars": ",".join(map(str, sorted(jars.glob("*.jar")))),
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(home / "ice"),
        "spark.sql.extensions": _EXTENSIONS,
        "spark.sql.legacy.createHiveTableByDefault": "false",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.databricks.delta.snapshotPartitions": "2",
    }
    builder = local_builder("statements", f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    yield session
    session.stop()


table_format_options = session_options(
    table_format_session,
    "4g",
    jars=click.option("--jars", type=click.Path(exists=True, path_type=Path), required=True),
)


@click.command()
@table_format_options
@click.option("--rows", default=1_000_000, show_default=True)
@click.option("--formats", default=",".join(_TABLES), show_default=True)
@click.option("--statements", default=10, show_default=True, help="MERGEs of 1 % of the rows.")
@click.option("--clustered", is_flag=True, help="Each MERGE has keys of one range.")
@output_option
def main(
    start: StartsSpark,
    rows: int,
    formats: str,
    statements: int,
    clustered: bool,
    output: Path | None,
) -> None:
    """Measure statements with and without ls.sql, and questions about their history."""
    with (
        tempfile.TemporaryDirectory(prefix="statements-") as folder,
        start(Path(folder)) as spark,
    ):
        found, asked = list[Row](), list[Row]()
        for format in formats.split(","):
            times, costs = measure(spark, format, rows, statements, clustered=clustered)
            found.append(times)
            asked += costs
        results = {"results": found, "questions": asked, "environment": environment(spark)}
    print_rows(f"Statements over {rows:,} rows: seconds", found)
    print_rows("Questions, and running the statements again", asked)
    write_results(output, results)


def measure(
    spark: SparkSession, format: str, rows: int, statements: int, *, clustered: bool = False
) -> tuple[Row, list[Row]]:
    """Measure the statements over a table of a format, and questions about them."""
    plain, followed = (_TABLES[format].format(name) for name in ("plain", "followed"))
    for table in (plain, followed):
        spark.sql(
            f"CREATE TABLE {table} USING {format} AS SELECT /*+ REPARTITION_BY_RANGE(8, id) */ id, "
            f"id % 1000 AS grp, id * 2 AS amount, concat('customer ', id) AS name "
            f"FROM range({rows})"
        )
    times: dict[str, list[float]] = {}
    again: Row = dict.fromkeys(("wall", "Spark", "Python", "jobs", "MB"), 0)
    with lipstick.session(spark) as ls:
        ls.track("orders", followed, key="id")
        for number in range(statements):
            source = _source(rows, number, statements, clustered=clustered)
            if number:
                ls.untrack("updates")
            ls.track("updates", spark.sql(source).toArrow(), key="id")
            for kind, text in _texts(rows, number, statements, clustered=clustered).items():
                for way in ("plain", "ls.sql") if number % 2 else ("ls.sql", "plain"):
                    run, table = (spark.sql, plain) if way == "plain" else (ls.sql, followed)
                    spent: Row = {}
                    with measured(spark, spent):
                        took = seconds(partial(run, text.format(table)))
                    if way == "plain":
                        again = {name: round(again[name] + spent[name], 1) for name in again}
                    times.setdefault(f"{kind} {way}", []).append(took)
                    processor = spent["Spark"] + spent["Python"]
                    times.setdefault(f"{kind} {way} processor", []).append(processor)
                    click.echo(f"{format} {number} {kind} {way} {took:.2f}")
        last = f"SELECT sum(amount) AS total FROM {plain}"
        spark.sql(last).collect()
        query: Row = {}
        with measured(spark, query):
            spark.sql(last).collect()
        costs = [{"question": "statements again", **again}, {"question": "plain query", **query}]
        costs += _questions(ls, statements)
    figures: Row = {"format": format}
    for kind in ("MERGE", "UPDATE", "DELETE"):
        for unit in ("", " processor"):
            alone, through = (
                statistics.median(times[f"{kind} {way}{unit}"][1:]) for way in ("plain", "ls.sql")
            )
            figures[f"{kind} plain{unit}"] = alone
            figures[f"{kind} ratio{unit}"] = through / (alone or 0.1)
    figures = {name: round(v, 2) if isinstance(v, float) else v for name, v in figures.items()}
    return figures, [{"format": format, **cost} for cost in costs]


def _questions(ls: lipstick.Session, statements: int) -> list[Row]:
    """Measure what-ifs through all statements, an undone statement, and versions of a row."""
    name = "updates@1" if statements > 1 else "updates"
    rows = ls.spark.table(ls.tracked[name].view).select("id").limit(6).collect()
    gone = [row["id"] for row in rows]
    total = ls.sql("SELECT sum(amount) AS total FROM orders")

    def what_if(keys: list[int]) -> None:
        total.what_if(delete={name: keys}).df.collect()

    def undo() -> None:
        total.what_if(undo=["s1"]).df.collect()

    asked: dict[str, Callable[[], object]] = {
        "first what-if": partial(what_if, gone[:3]),
        "what-if of others": partial(what_if, gone[3:]),
        "what-if of the same": partial(what_if, gone[:3]),
        "undo": undo,
        "undo again": undo,
        "first row": partial(ls.history.rows, "orders", gone[0]),
        "row": partial(ls.history.rows, "orders", gone[1]),
    }
    costs = list[Row]()
    for question, ask in asked.items():
        costs.append({"question": question})
        with measured(ls.spark, costs[-1]):
            ask()
        click.echo(" ".join(f"{name} {value}" for name, value in costs[-1].items()))
    return costs


def _source(rows: int, number: int, statements: int, *, clustered: bool) -> str:
    """Return the query of the rows that a MERGE brings: 1 % of the keys, five of them new."""
    first = rows * number // statements
    key = f"{first} + id" if clustered else f"id * 100 + {number}"
    return (
        f"SELECT {key} AS id, 7L AS grp, id AS amount, 'new' AS name FROM range({rows // 100 + 5})"
    )


def _texts(rows: int, number: int, statements: int, *, clustered: bool) -> dict[str, str]:
    first = rows * number // statements
    few = f"id BETWEEN {first} AND {first + rows // 100}" if clustered else f"grp = {number}"
    return {
        "MERGE": (
            "MERGE INTO {} AS t USING updates AS u ON t.id = u.id WHEN MATCHED THEN UPDATE SET "
            "t.amount = t.amount + u.amount WHEN NOT MATCHED THEN INSERT *"
        ),
        "UPDATE": "UPDATE {} SET amount = amount + 1 WHERE " + few,
        "DELETE": "DELETE FROM {} WHERE " + few + " AND amount % 10 = 3",
    }
