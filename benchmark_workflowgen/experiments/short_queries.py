"""The cost of annotations of short queries: one operator each, over relations of few rows.

Per query the plain result is written to Parquet, and the capture; they take turns in being the
first. The ratio is median wall time of ``sql()`` and the capture over median wall time of the plain
write; beside it stands that of the processor seconds of this process and Spark, for a machine that
others use too. Questions to a capture are timed over relations of a hundred rows.

    python -m benchmark_workflowgen short-queries --output results.json
"""

from __future__ import annotations

import math
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import lipstick
from benchmark_workflowgen.environment import environment
from benchmark_workflowgen.harness import output_option, processor_clock, write_results
from benchmark_workflowgen.sessions import Sparks

_NORTH = "SELECT customer FROM customers WHERE region = 'north'"
_HIS = "SELECT 1 FROM customers c WHERE c.customer = o.customer AND c.region = 'north'"

QUERIES: Final = {
    "projection": "SELECT id, price * 2 AS doubled FROM orders",
    "filter": "SELECT * FROM orders WHERE price > 500",
    "CASE": "SELECT id, CASE WHEN price > 500 THEN 'high' ELSE 'low' END AS level FROM orders",
    "inner join": "SELECT o.id, c.name FROM orders o JOIN customers c USING (customer)",
    "left join": "SELECT o.id, c.name FROM orders o LEFT JOIN customers c USING (customer)",
    "full join": "SELECT o.id, c.name FROM orders o FULL JOIN customers c USING (customer)",
    "semi join": "SELECT * FROM orders o LEFT SEMI JOIN customers c USING (customer)",
    "IN": f"SELECT * FROM orders WHERE customer IN ({_NORTH})",
    "NOT IN": f"SELECT * FROM orders WHERE customer NOT IN ({_NORTH})",
    "EXISTS": f"SELECT * FROM orders o WHERE EXISTS ({_HIS})",
    "NOT EXISTS": f"SELECT * FROM orders o WHERE NOT EXISTS ({_HIS})",
    "scalar subquery": "SELECT id FROM orders WHERE price > (SELECT AVG(price) FROM orders)",
    "correlated subquery": (
        "SELECT c.customer, (SELECT SUM(price) FROM orders o WHERE o.customer = c.customer) AS paid"
        " FROM customers c"
    ),
    "SUM": "SELECT region, SUM(price) AS total FROM orders GROUP BY region",
    "MIN, MAX": "SELECT region, MIN(price) AS low, MAX(price) AS high FROM orders GROUP BY region",
    "AVG of all": "SELECT AVG(price) AS mean FROM orders",
    "COUNT DISTINCT": (
        "SELECT region, COUNT(DISTINCT customer) AS buyers FROM orders GROUP BY region"
    ),
    "HAVING": (
        "SELECT customer, SUM(price) AS paid FROM orders GROUP BY customer"
        " HAVING SUM(price) > 60000"
    ),
    "ROLLUP": (
        "SELECT region, product, SUM(price) AS total FROM orders GROUP BY ROLLUP (region, product)"
    ),
    "DISTINCT": "SELECT DISTINCT region, product FROM orders",
    "UNION ALL": (
        "SELECT id FROM orders WHERE region = 'north'"
        " UNION ALL SELECT id FROM orders WHERE region = 'south'"
    ),
    "UNION": (
        "SELECT product FROM orders WHERE region = 'north'"
        " UNION SELECT product FROM orders WHERE region = 'south'"
    ),
    "EXCEPT": (
        "SELECT customer FROM customers EXCEPT SELECT customer FROM orders WHERE price > 990"
    ),
    "LIMIT": "SELECT id, price FROM orders ORDER BY price DESC, id LIMIT 10",
    "window": (
        "SELECT id, RANK() OVER (PARTITION BY customer ORDER BY price DESC) AS place FROM orders"
    ),
}

_FEW: Final = 100
_REGIONS: Final = np.array(["north", "south", "east", "west"])


@click.command()
@click.option("--rows", default=100_000, show_default=True, help="Of the orders.")
@click.option("--repetitions", default=5, show_default=True)
@click.option("--queries", default=None, help="Names, by commas.  [default: all]")
@output_option
@click.option("--cores", default=2, show_default=True)
@click.option("--memory", default="2g", show_default=True, help="Heap of the driver.")
def main(
    rows: int, repetitions: int, queries: str | None, output: Path | None, cores: int, memory: str
) -> None:
    """Measure captures of one-operator queries, and what sql() and a what-if take."""
    names = list(QUERIES) if queries is None else [name.strip() for name in queries.split(",")]
    unknown = sorted(set(names) - set(QUERIES))
    if unknown:
        raise click.UsageError(f"There is no query {unknown[0]!r}; there are: {', '.join(QUERIES)}")
    with Sparks(None, None, memory) as sparks:
        spark = sparks.get(cores, 2 * cores)
        document = measure(spark, names, rows, repetitions)
        click.echo(summary(document))
        write_results(output, document | {"environment": environment(spark)})


def measure(
    spark: SparkSession, names: Sequence[str], rows: int, repetitions: int
) -> dict[str, Any]:
    """Measure captures of queries over so many rows, and questions over a hundred; show each."""
    document: dict[str, Any] = {"rows": rows, "capture": [], "question": []}
    with tempfile.TemporaryDirectory(prefix="short-queries-") as folder:
        scratch = Path(folder)
        for kind, count, times_of, line in (
            ("capture", rows, capture_times, _capture_line),
            ("question", _FEW, question_times, _question_line),
        ):
            with lipstick.session(spark, scratch / f"{kind}-store") as ls:
                _track(ls, scratch / kind, count)
                for name in names:
                    times = times_of(ls, name, repetitions, scratch)
                    document[kind].append(times)
                    click.echo(line(times))
    return document


def _track(ls: lipstick.Session, folder: Path, rows: int) -> None:
    """Write and track orders and customers; one in eleven customers of the orders is not listed."""
    folder.mkdir()
    random = np.random.default_rng(1)
    customers = max(rows // 50, 10)
    orders = {
        "id": np.arange(rows),
        "customer": random.integers(0, customers + customers // 10, rows),
        "region": _REGIONS[random.integers(0, 4, rows)],
        "product": random.integers(0, 50, rows),
        "price": random.integers(1, 1000, rows),
    }
    people = {
        "customer": np.arange(customers),
        "name": [f"customer {number}" for number in range(customers)],
        "region": _REGIONS[random.integers(0, 4, customers)],
    }
    for name, columns, key in (("orders", orders, "id"), ("customers", people, "customer")):
        path = folder / f"{name}.parquet"
        pq.write_table(pa.table(columns), path)
        ls.track(name, path, key=key)


def capture_times(
    ls: lipstick.Session, name: str, repetitions: int, scratch: Path
) -> dict[str, Any]:
    """Time a plain write, ``sql()`` and a capture, after one unmeasured round."""
    text = QUERIES[name]
    times: dict[str, list[float]] = {"plain": [], "sql": [], "capture": []}
    processor: dict[str, list[float]] = {"plain": [], "captured": []}

    def plain(path: Path) -> None:
        with _timed(times["plain"]):
            ls.spark.sql(text).write.parquet(str(path))

    def captured(path: Path) -> None:
        with _timed(times["sql"]):
            query = ls.sql(text)
        with _timed(times["capture"]):
            query.save(path)

    ways: list[Callable[[Path], None]] = [plain, captured]
    for repetition in range(repetitions + 1):
        for way in ways if repetition % 2 else ways[::-1]:
            before = processor_clock(ls.spark)
            way(scratch / way.__name__)
            processor[way.__name__].append(processor_clock(ls.spark) - before)
            shutil.rmtree(scratch / way.__name__)
    medians = _medians(processor)
    return {
        "query": name,
        "seconds": _medians(times),
        "processor_ratio": medians["captured"] / medians["plain"],
    }


def question_times(
    ls: lipstick.Session, name: str, repetitions: int, scratch: Path
) -> dict[str, Any]:
    """Time ``spark.sql()``, ``sql().df`` and a what-if of a capture that is there already."""
    text = QUERIES[name]
    times: dict[str, list[float]] = {"plain": [], "df": [], "what_if": []}
    capture = ls.sql(text).capture
    relation = next(iter(capture.manifest.relations))
    for number in range(repetitions + 1):
        with _timed(times["plain"]):
            ls.spark.sql(text)
        with _timed(times["df"]):
            _ = ls.sql(text).df
        with _timed(times["what_if"]):
            capture.what_if({relation: [number]}).df.collect()
    return {"query": name, "seconds": _medians(times)}


@contextmanager
def _timed(times: list[float]) -> Iterator[None]:
    """Add the seconds of a block to a list."""
    started = time.perf_counter()
    yield
    times.append(time.perf_counter() - started)


def _medians(times: Mapping[str, list[float]]) -> dict[str, float]:
    """Return medians without the first time."""
    return {name: statistics.median(values[1:]) for name, values in times.items()}


def ratio(times: Mapping[str, Any]) -> float:
    """Return how long a capture takes beside the plain write, from the text on."""
    seconds = times["seconds"]
    return float((seconds["sql"] + seconds["capture"]) / seconds["plain"])


def _capture_line(times: Mapping[str, Any]) -> str:
    ms = {name: 1000 * value for name, value in times["seconds"].items()}
    return (
        f"{times['query']:20} plain {ms['plain']:6.0f} ms   sql() {ms['sql']:5.0f} ms   "
        f"capture {ms['capture']:6.0f} ms   {ratio(times):.2f}x   "
        f"processor {times['processor_ratio']:.2f}x"
    )


def _question_line(times: Mapping[str, Any]) -> str:
    ms = {name: 1000 * value for name, value in times["seconds"].items()}
    return (
        f"{times['query']:20} spark.sql() {ms['plain']:5.0f} ms   sql().df {ms['df']:5.0f} ms   "
        f"what_if {ms['what_if']:5.0f} ms"
    )


def figures(document: Mapping[str, Any]) -> dict[str, float]:
    """Return the geometric mean and the worst ratio of captures, and medians of questions."""
    ratios = [ratio(times) for times in document["capture"]]
    of_processor = [times["processor_ratio"] for times in document["capture"]]
    of_questions = [times["seconds"] for times in document["question"]]
    return {
        "geometric_mean": math.exp(statistics.fmean(map(math.log, ratios))),
        "worst": max(ratios),
        "processor_geometric_mean": math.exp(statistics.fmean(map(math.log, of_processor))),
        "processor_worst": max(of_processor),
        "df_seconds": statistics.median(seconds["df"] for seconds in of_questions),
        "what_if_seconds": statistics.median(seconds["what_if"] for seconds in of_questions),
    }


def summary(document: Mapping[str, Any]) -> str:
    """Return the figures as a line."""
    of_all = figures(document)
    return (
        f"sql() and capture over plain write, {document['rows']:,} rows: "
        f"geometric mean {of_all['geometric_mean']:.2f}, worst {of_all['worst']:.2f}; "
        f"of processor seconds {of_all['processor_geometric_mean']:.2f}, worst "
        f"{of_all['processor_worst']:.2f}; "
        f"over {_FEW} rows: sql().df {1000 * of_all['df_seconds']:.0f} ms, "
        f"what_if {1000 * of_all['what_if_seconds']:.0f} ms"
    )
