"""Jobs in the manner of public notebooks, under a watch: see `tests/watched_jobs`."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.watched_jobs.checks import check
from tests.watched_jobs.jobs import JOBS


@pytest.mark.classic
@pytest.mark.many(8)
@pytest.mark.parametrize("name", [name for name, job in JOBS.items() if not job.lake])
def test_a_watched_job_is_followed_to_its_first_files(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    report = check(spark, JOBS[name], tmp_path, 200)
    assert report.wrong == []
    assert report.reasons == {}
