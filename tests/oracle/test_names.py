"""Constructs over relations whose rows are named in every way: a share in each run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from tests.oracle.names import FAILED, QUERIES, WAYS, Plain, found_of, plain_beside

PARTS: Final = 8
"""The queries over a way are in so many cases: each tracks the relations once."""


@pytest.fixture(scope="module")
def plain(spark: SparkSession) -> Iterator[Plain]:
    """Return plain Spark, whose answers all cases share."""
    with plain_beside(spark) as plain:
        yield plain


@pytest.mark.many(44)
@pytest.mark.filterwarnings("ignore::lipstick.errors.UnknownKeyWarning")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("way", WAYS)
def test_way(spark: SparkSession, plain: Plain, tmp_path: Path, way: str, part: int) -> None:
    cells = list(found_of(spark, way, QUERIES[part::PARTS], tmp_path, plain))
    failed = [f"{cell.sql}\n{cell.detail}" for cell in cells if cell.outcome in FAILED]
    assert not failed, "\n\n".join(failed)
    assert len(cells) == len(QUERIES[part::PARTS])
