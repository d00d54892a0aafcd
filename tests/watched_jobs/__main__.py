"""Run the jobs under a watch, and print which of their tables go back to the first files.

``python -m tests.watched_jobs [--rows N] [NAME ...]``; with the jars of Delta and Iceberg in
``LIPSTICK_TABLE_FORMATS`` all twenty, else those that need none.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import traceback
from pathlib import Path

from tests.local_spark import local_spark
from tests.watched_jobs.checks import Report, check
from tests.watched_jobs.jobs import JOBS


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.watched_jobs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="jobs; none: all")
    parser.add_argument("--rows", type=int, default=1_000, help="first rows of each job")
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
    print(
        f"{len(reports)} jobs, {len(outputs)} tables: {followed} followed back to their first "
        f"files ({followed / max(len(outputs), 1):.0%}), {wrong} answers wrong"
    )
    if left_out:
        print(f"left out, as they need Delta and Iceberg: {', '.join(left_out)}")
    return 1 if wrong or followed < 0.9 * len(outputs) else 0


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
