"""A session with Delta and Iceberg, for the tests that ``./dev tables`` runs."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lipstick
from tests.local_spark import local_spark
from tests.table_formats.kafka import SAME

JARS = "LIPSTICK_TABLE_FORMATS"
"""The environment variable with the folder of the jars."""

EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
)
CATALOGS = {"iceberg": "ice.db.", "jdbc-iceberg": "jdbc.db."}
"""The namespaces of tables of Iceberg: in a catalog of folders, and in one that SQLite has."""


@contextmanager
def lake_session(home: Path) -> Iterator[SparkSession]:
    """Start a session whose own catalog has tables of Delta, and those of ``CATALOGS`` Iceberg."""
    jars = sorted(Path(os.environ[JARS]).glob("*.jar"))
    options = {
        "spark.jars": ",".join(map(str, jars)),
        "spark.sql.extensions": ",".join(EXTENSIONS),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(home / "ice"),
        "spark.sql.catalog.jdbc": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.jdbc.type": "jdbc",
        "spark.sql.catalog.jdbc.uri": f"jdbc:sqlite:{home}/catalog.sqlite",
        "spark.sql.catalog.jdbc.warehouse": str(home / "jdbc"),
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
        **SAME,
        # VACUUM lists files with as many tasks.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    }
    with local_spark(home, interpreted=True, options=options) as session:
        yield session


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Return the session of all tests."""
    if JARS not in os.environ:
        pytest.skip("needs the jars of Delta and Iceberg: ./dev tables")
    with lake_session(tmp_path_factory.mktemp("lake")) as session:
        yield session


@pytest.fixture
def ls(lake: SparkSession) -> Iterator[lipstick.Session]:
    """Return a session of ours on it."""
    with lipstick.session(lake) as session:
        yield session


@pytest.fixture
def fresh(lake: SparkSession) -> Iterator[Callable[[str], str]]:
    """Return a function that makes a name of a table, which is dropped after the test."""
    names: list[str] = []

    def name(format: str) -> str:
        names.append(f"{CATALOGS.get(format, '')}t{os.urandom(4).hex()}")
        return names[-1]

    yield name
    for made in names:
        lake.sql(f"DROP TABLE IF EXISTS {made}")
