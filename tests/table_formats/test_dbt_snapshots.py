"""Versions in snapshots of dbt, traced to earlier versions of Delta and Iceberg tables."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.systems.dbt import BaseTable, DbtProject, TrackedProject, write_example
from lipstick.systems.dbt.snapshots import MADE_FROM
from tests.lipstick.systems.dbt.test_commands import add_snapshot


@pytest.mark.parametrize(
    ("format", "config"),
    [
        ("iceberg", {}),
        pytest.param(
            "delta",
            {"strategy": "timestamp", "updated_at": "seen"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_versions_are_made_from_the_table_as_it_stood(
    lake: SparkSession,
    ls: lipstick.Session,
    fresh: Callable[[str], str],
    tmp_path: Path,
    format: str,
    config: dict[str, str],
) -> None:
    customers = fresh(format)
    lake.sql(
        f"CREATE TABLE {customers} USING {format} AS SELECT id, 'NO' AS country, "
        "timestamp'2024-01-01' AS seen FROM range(3)"
    )
    lake.sql(f"UPDATE {customers} SET country = 'SE', seen = timestamp'2024-02-01' WHERE id = 1")
    lake.sql(f"DELETE FROM {customers} WHERE id = 2")
    ls.track("commits", customers, "id")
    version = ls.tracked["commits"].source.version
    assert version is not None
    first, second, third = version.history()
    moved = [datetime(2024, month, 1) for month in (1, 2)]
    since = moved if config else [first.time, second.time]
    versions = lake.createDataFrame(
        [
            (0, "NO", moved[0], "0NO", since[0], None),
            (1, "NO", moved[0], "1NO", since[0], third.time),
            (1, "SE", moved[1], "1SE", since[1], None),
            (2, "NO", moved[0], "2NO", since[0], None),
        ],
        "id bigint, country string, seen timestamp, dbt_scd_id string, dbt_valid_from timestamp, "
        "dbt_valid_to timestamp",
    )
    shop = write_example(tmp_path / "shop")
    add_snapshot(shop, "select * from shop.raw_customers", **config)
    sources = {
        "raw_customers": BaseTable(customers, "id"),
        "versions": BaseTable(versions, "dbt_scd_id"),
    }
    found = TrackedProject(DbtProject(shop), ls, sources).why("versions").snapshots[0]
    known = {row["dbt_scd_id"]: row[MADE_FROM] for row in found.versions.to_pylist()}
    then = f"raw_customers version {first.version}"
    now = "raw_customers"
    assert known == {"0NO": now, "1NO": then, "1SE": now, "2NO": then}
    behind = {name: sorted(rows["id"].to_pylist()) for name, rows in found.bases.items()}
    assert behind == {now: [0, 1], then: [1, 2]}
