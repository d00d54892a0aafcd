"""The demonstration ends in a hashtag and the tweets that have it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from lipstick.cli import main
from lipstick.systems.events import hashtags


def test_a_hashtag_is_traced_to_its_tweets(tmp_path: Path) -> None:
    shown(tmp_path / "demo")


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.classic
def test_jobs_of_spark_count_and_reduce(spark: SparkSession, tmp_path: Path) -> None:
    shown(tmp_path / "demo", "--spark", "local[2]")
    assert spark.range(3).count() == 3


def shown(folder: Path, *more: str) -> None:
    """Run the demonstration, and hold what it tells of a hashtag against the tweets."""
    result = CliRunner().invoke(main, ["events", "demo", str(folder), "--tweets", "400", *more])
    assert result.exit_code == 0, result.output
    *_, command = [line for line in result.output.splitlines() if line.startswith("$ ")]
    tag = command.split("'")[1]
    told = result.output.partition(command)[2].partition("\n\n")[0].split()
    rows = hashtags.tweets(400).to_pylist()
    tweets = sorted(row["tweet"] for row in rows if tag in row["text"].split())
    assert len(tweets) >= 3
    assert told[:10] == tweets[:10]
    assert f"lipstick explore {folder / 'store'}" in result.output
    again = CliRunner().invoke(main, ["events", "demo", str(folder)])
    assert "has something in it already" in again.output
    traced = CliRunner().invoke(main, ["events", "trace", str(folder / "store"), tag])
    assert traced.output.split() == tweets
