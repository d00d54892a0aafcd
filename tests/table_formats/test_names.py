"""Constructs over tables whose format names their rows: a share of them in each run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession

from tests.oracle.names import (
    FORMATS,
    HELD,
    QUERIES,
    REFUSED,
    UNKNOWN,
    Relations,
    held,
    relations_of,
)
from tests.table_formats.conftest import CATALOGS


@pytest.fixture(scope="module", params=FORMATS)
def get(
    lake: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Relations]]:
    """Return what makes the relations of the page as tables of a format."""
    names = []

    def made(format: str) -> str:
        names.append(f"{CATALOGS.get(format, '')}t{os.urandom(4).hex()}")
        return names[-1]

    with relations_of(lake, FORMATS[request.param], tmp_path_factory.mktemp("names"), made) as get:
        yield get
    for name in names:
        lake.sql(f"DROP TABLE IF EXISTS {name}")


@pytest.mark.many(12)
@pytest.mark.filterwarnings("ignore::lipstick.errors.UnknownKeyWarning")
@pytest.mark.parametrize("sql", QUERIES)
def test_rows_named_by_their_format(get: Callable[..., Relations], sql: str) -> None:
    found = held(get, "a format", sql, tagged=False)
    assert found.outcome in (HELD, REFUSED, UNKNOWN), f"{found.detail}\n{sql}"
