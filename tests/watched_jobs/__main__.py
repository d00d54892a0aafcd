"""Run the jobs under a watch, and print which of their tables go back to the first files.

``python -m tests.watched_jobs [--rows N] [NAME ...]``; with the jars of Delta and Iceberg in
``LIPSTICK_TABLE_FORMATS`` all twenty, else those that need none. ``--cost 5`` asks nothing: it runs
each job five times plainly and five times watched, in turns, and prints the ratio of the medians.
``--shown`` does so for calls that show rows: of a table of ``--rows``, and a thousand small ones.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

import lipstick
from tests.local_spark import local_spark
from tests.watched_jobs.checks import Report, check, seconds
from tests.watched_jobs.jobs import JOBS, Job


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.watched_jobs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="jobs; none: all")
    parser.add_argument("--rows", type=int, default=1_000, help="first rows of each job")
    parser.add_argument(
        "--cost", type=int, default=0, metavar="TIMES", help="runs to compare, and no questions"
    )
    parser.add_argument("--shown", action="store_true", help="compare calls that show rows alone")
    given = parser.parse_args(arguments)
    with_lake = "LIPSTICK_TABLE_FORMATS" in os.environ
    chosen = [JOBS[name] for name in given.names] or list(JOBS.values())
    left_out = [job.name for job in chosen if job.lake and not with_lake]
    chosen = [job for job in chosen if with_lake or not job.lake]
    reports = []
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "spark").mkdir()
        if with_lake:
            from tests.table_formats.conftest import lake_session as session
        else:
            session = local_spark
        with session(Path(home) / "spark") as spark:
            if given.shown:
                return compare_shown(spark, Path(home), given.rows)
            if given.cost:
                return compare(spark, chosen, Path(home), given.rows, given.cost)
            for job in chosen:
                try:
                    report = check(spark, job, Path(home), given.rows)
                except Exception as error:
                    traceback.print_exc()
                    problem = f"{type(error).__name__}: {str(error)[:300]}"
                    report = Report(job.name, dict.fromkeys(job.outputs), wrong=[problem])
                print(described(report), flush=True)
                reports.append(report)
    outputs = [found for report in reports for found in report.followed.values()]
    followed = sum(found is not None for found in outputs)
    wrong = sum(len(report.wrong) for report in reports)
    made = sum(len(report.made) for report in reports)
    print(
        f"{len(reports)} jobs, {len(outputs)} tables: {followed} followed back to their first rows "
        f"({followed / max(len(outputs), 1):.0%}; {made} of them to rows made in Python), "
        f"{wrong} answers wrong"
    )
    if left_out:
        print(f"left out, as they need Delta and Iceberg: {', '.join(left_out)}")
    return 1 if wrong or followed < 0.9 * len(outputs) else 0


def compare(spark: SparkSession, jobs: Sequence[Job], home: Path, count: int, times: int) -> int:
    """Print what a watch costs: each job is run plainly and watched in turns."""
    plain_sum = watched_sum = 0.0
    for job in jobs:
        seconds(spark, job, home, count, watched=False)  # Spark compiles what it has not run yet
        plain, watched = [], []
        for _ in range(times):
            plain.append(seconds(spark, job, home, count, watched=False))
            watched.append(seconds(spark, job, home, count, watched=True))
        without, under = median(plain), median(watched)
        plain_sum, watched_sum = plain_sum + without, watched_sum + under
        print(
            f"{job.name}: plain {without:.2f} s, watched {under:.2f} s, {under / without:.2f} "
            f"times as long",
            flush=True,
        )
    print(
        f"{len(jobs)} jobs, {count:,} rows: plain {plain_sum:.1f} s, watched {watched_sum:.1f} s, "
        f"{watched_sum / plain_sum:.2f} times as long"
    )
    return 0


def compare_shown(spark: SparkSession, home: Path, count: int) -> int:
    """Print what a watch costs calls that show rows, in turns of a plain and a watched one."""
    numbers = spark.range(count).selectExpr("id", "id % 97 AS k", "uuid() AS text")
    numbers.write.parquet(f"{home}/numbers")
    spark.range(100).write.parquet(f"{home}/few")
    rows, few = spark.read.parquet(f"{home}/numbers"), spark.read.parquet(f"{home}/few")
    groups = rows.groupBy("k").count()
    kinds: dict[str, tuple[int, Callable[[], object]]] = {
        f"collect() of {count:,} rows": (15, rows.collect),
        f"toPandas() of {count:,} rows": (15, rows.toPandas),
        f"a group-by of {count:,} rows, collect()": (40, groups.collect),
        "1,000 small collects": (500, lambda: few.where("id = 7").collect()),
    }
    for title, (times, call) in kinds.items():
        plain, watched = [], []
        for turn in range(-times // 5, times):
            for taken, door in ((plain, nullcontext), (watched, partial(lipstick.watch, spark))):
                with door():
                    begun = time.perf_counter()
                    call()
                    if turn >= 0:
                        taken.append(time.perf_counter() - begun)
        without, under = median(plain), median(watched)
        sums = sum(plain), sum(watched)
        print(
            f"{title}: medians {without * 1e3:.2f} and {under * 1e3:.2f} ms, {under / without:.3f} "
            f"times as long; sums {sums[0]:.2f} and {sums[1]:.2f} s",
            flush=True,
        )
    return 0


def described(report: Report) -> str:
    """Return a report as lines."""
    followed = sum(found is not None for found in report.followed.values())
    lines = [
        f"{report.name}: {followed} of {len(report.followed)} tables followed; plain "
        f"{report.plain_seconds:.1f} s, watched {report.watched_seconds:.1f} s, questions "
        f"{report.question_seconds:.1f} s"
    ]
    lines += [f"  {output}: {reason}" for output, reason in report.reasons.items()]
    lines += [f"  WRONG {wrong}" for wrong in report.wrong]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
