"""What a streaming query has emitted is written by a session and followed into its store."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lipstick
from graphquery.federation import Verdict
from graphquery.store import fsck
from tests.graphquery.federation.oracle import federation_of

pytestmark = [pytest.mark.spark, pytest.mark.classic, pytest.mark.slow]

SCHEMA = "id BIGINT, sensor STRING, value BIGINT"


def test_results_of_a_streaming_query_cross_as_tables_do(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "readings"

    def arrive(name: str, *rows: tuple[int, str, int]) -> None:
        spark.createDataFrame(rows, SCHEMA).coalesce(1).write.parquet(str(folder / name))

    arrive("day=1", (1, "a", 5), (2, "a", 7), (3, "b", 1))
    stream = spark.readStream.schema(f"{SCHEMA}, day INT").parquet(str(folder))
    team = lipstick.session(spark, exports=tmp_path / "team")
    team.track("readings", stream)
    sums = team.sql("SELECT sensor, sum(value) AS total FROM readings GROUP BY sensor")
    query = (
        sums.writeStream.outputMode("complete")
        .format("memory")
        .queryName("crossing_sums")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    query.processAllAvailable()
    arrive("day=2", (4, "b", 2))
    query.processAllAvailable()
    query.stop()
    query.results().write.parquet(str(tmp_path / "sums"))

    other = lipstick.session(spark, exports=tmp_path / "other")
    other.track("sums", str(tmp_path / "sums"), key="sensor")
    other.sql("SELECT sensor FROM sums WHERE total < 12").write.parquet(str(tmp_path / "low"))
    paths = {"team": tmp_path / "team", "other": tmp_path / "other"}
    assert [fsck(path) for path in paths.values()] == [[], []]
    with federation_of(paths) as federation:
        low = "other::low@1"
        behind = federation.names(federation.ancestors(low))
        read = [name for name in behind if name.startswith("team::readings")]
        assert len(read) == 2
        assert federation.depends(low, read).verdict is Verdict.YES
        assert federation.depends(low, read[0]).verdict is Verdict.NO
    for session in (team, other):
        session.close()
