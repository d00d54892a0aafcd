"""Spark in this process, for what starts a session of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from logging import Logger, LogRecord
from threading import get_ident
from typing import TYPE_CHECKING, Any, cast

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


def _error_loggers() -> list[Logger]:
    """Return what PySpark writes errors of statements and frames to, each with its trace."""
    from pyspark.logger import PySparkLogger

    names = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
    return [PySparkLogger.getLogger(name) for name in names]


@contextmanager
def unlogged_errors() -> Iterator[None]:
    """Keep PySpark from writing errors of attempts that this thread makes, and that may fail."""
    thread = get_ident()

    def is_of_others(_: LogRecord) -> bool:
        return get_ident() != thread

    loggers = _error_loggers()
    for logger in loggers:
        logger.addFilter(is_of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_of_others)


def own_spark(settings: Mapping[str, str] | None = None) -> SparkSession:
    """Start the Spark of a session that was given none, with some settings."""
    # Refused statements are reported as errors, and names that are not tables are not failures.
    for logger in _error_loggers():
        logger.setLevel("CRITICAL")
    return (
        local_builder("lipstick")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", str(max(2, os.cpu_count() or 2)))
        .config(map=dict(settings or {}))
        .getOrCreate()
    )


def is_stopped(spark: SparkSession) -> bool:
    """Return True if a session, or the context that it shares with others, was stopped."""
    context: Any = getattr(spark, "_sc", None)  # there is none over Connect
    return cast("Any", spark).is_stopped if context is None else context._jsc is None
