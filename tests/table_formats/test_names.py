"""Constructs over tables whose format names their rows: a share of them in each run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession

from tests.oracle.names import (
    FAILED,
    FORMATS,
    QUERIES,
    Plain,
    Relations,
    held,
    plain_beside,
    relations_of,
)
from tests.table_formats.conftest import CATALOGS


@pytest.fixture(scope="module")
def plain(lake: SparkSession) -> Iterator[Plain]:
    """Return plain Spark, whose answers all formats share."""
    with plain_beside(lake) as plain:
        yield plain


@pytest.fixture(scope="module", params=FORMATS)
def get(
    lake: SparkSession,
    plain: Plain,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Callable[..., Relations]]:
    """Return what makes the relations of the page as tables of a format."""
    names = []

    def made(format: str) -> str:
        names.append(f"{CATALOGS.get(format, '')}t{os.urandom(4).hex()}")
        return names[-1]

    home = tmp_path_factory.mktemp("names")
    with relations_of(lake, FORMATS[request.param], home, plain, made) as get:
        yield get
    for name in names:
        lake.sql(f"DROP TABLE IF EXISTS {name}")


@pytest.mark.many(12)
@pytest.mark.filterwarnings("ignore::lipstick.errors.UnknownKeyWarning")
@pytest.mark.parametrize("sql", QUERIES)
def test_rows_named_by_their_format(get: Callable[..., Relations], sql: str) -> None:
    found = held(get, "a format", sql, tagged=False)
    assert found.outcome not in FAILED, f"{found.detail}\n{sql}"
