"""Spark in this process, for what starts a session of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def local_builder(name: str, master: str = "local[*]") -> SparkSession.Builder:
    """A builder whose workers run the Python that this process runs.

    Spark starts `python3` of the PATH otherwise, which has no packages of an environment that is
    not activated. The user's `PYSPARK_PYTHON` stands.

    Parameters
    ----------
    name
        Of the application.
    master
        Its URL.
    """
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName(name)
    return builder.config("spark.ui.showConsoleProgress", "false")


def own_spark(settings: Mapping[str, str] | None = None) -> SparkSession:
    """Start the Spark of a session that was given none, with some settings."""
    from pyspark.logger import PySparkLogger

    # Refused statements are reported as errors, and names that are no tables are no failures.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel("CRITICAL")
    return (
        local_builder("lipstick")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", str(max(2, os.cpu_count() or 2)))
        .config(map=dict(settings or {}))
        .getOrCreate()
    )
