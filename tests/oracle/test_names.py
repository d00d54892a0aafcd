"""Constructs over relations whose rows are named in every way: a share in each run."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.oracle.names import HELD, QUERIES, REFUSED, UNKNOWN, WAYS, found_of


@pytest.mark.many
@pytest.mark.filterwarnings("ignore::lipstick.errors.UnknownKeyWarning")
@pytest.mark.parametrize("sql", QUERIES)
@pytest.mark.parametrize("way", WAYS)
def test_way(spark: SparkSession, tmp_path: Path, way: str, sql: str) -> None:
    for found in found_of(spark, {way: WAYS[way]}, [sql], tmp_path):
        assert found.outcome in (HELD, REFUSED, UNKNOWN), f"{found.detail}\n{sql}"
