"""Spark in this process, for what starts a session of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from logging import Filter, Logger, LogRecord
from pathlib import Path
from threading import Event, Thread, local
from typing import TYPE_CHECKING, Any, cast

from lipstick.errors import LipstickError, first_line
from semiring.support.depth import is_inside

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

    Raises
    ------
    LipstickError
        When a Spark of this process has no Java that it runs on.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    runs = cast("Any", SparkContext)._gateway is not None
    if not runs and not os.environ.get("SPARK_REMOTE", "").startswith("sc:"):
        check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName(name)
    return builder.config("spark.ui.showConsoleProgress", "false")


def _error_loggers() -> list[Logger]:
    """Return what PySpark writes errors of statements and frames to, each with its trace."""
    from pyspark.logger import PySparkLogger

    names = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
    return [PySparkLogger.getLogger(name) for name in names]


_attempts = local()


class _OurErrors(Filter):
    """Drops the records of a thread that is in a call of ours, or tries what may fail."""

    def filter(self, record: LogRecord) -> bool:
        return not (is_inside() or getattr(_attempts, "now", False))


_OUR_ERRORS = _OurErrors()


def unlog_own_errors() -> None:
    """Keep PySpark from writing errors of statements of ours, each with its trace as JSON.

    They are caught, or raised to the caller. Errors of the user's own statements are written.
    """
    for logger in _error_loggers():
        logger.addFilter(_OUR_ERRORS)


@contextmanager
def unlogged_errors() -> Iterator[None]:
    """Keep PySpark from writing errors of attempts that may fail, outside of a call of ours."""
    unlog_own_errors()
    before, _attempts.now = getattr(_attempts, "now", False), True
    try:
        yield
    finally:
        _attempts.now = before


_OLDEST_JAVA = 17
_JAVA_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_JAVA_ADVICE = (
    f"Spark needs Java {_OLDEST_JAVA} or later: install one (Debian, Ubuntu: apt-get install "
    "openjdk-17-jre-headless) and put it on the PATH, or set JAVA_HOME to it."
)


def check_java() -> int:
    """Return the major version of the Java that Spark will start.

    Raises
    ------
    LipstickError
        When there is none, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    where = f"in JAVA_HOME ({home})" if home else "on the PATH"
    try:
        command = [java or "java", "-version"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        raise LipstickError(f"There is no Java {where}.\n{_JAVA_ADVICE}") from None
    match = _JAVA_VERSION.search(answer.stderr + answer.stdout)
    if answer.returncode or match is None:
        raise LipstickError(f"The Java {where} does not run.\n{_JAVA_ADVICE}")
    major = int(match[1])
    if major < _OLDEST_JAVA:
        raise LipstickError(f"The Java {where} is version {major}.\n{_JAVA_ADVICE}")
    return major


def own_spark(settings: Mapping[str, str] | None = None) -> SparkSession:
    """Start the Spark of a session that was given none, with some settings."""
    from lipstick.display import progress

    # Refused statements are reported as errors, and names that are not tables are not failures.
    for logger in _error_loggers():
        logger.setLevel("CRITICAL")
    builder = (
        local_builder("lipstick")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", str(max(2, os.cpu_count() or 2)))
        .config(map=dict(settings or {}))
    )
    with progress(after=0.5) as line:
        line("starting Spark")
        return start_quietly(builder)


def start_quietly(builder: SparkSession.Builder) -> SparkSession:
    """Start Spark without what its Java writes to standard error meanwhile, and warnings later.

    Raises
    ------
    LipstickError
        When it does not start, with the last that its Java wrote.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    context = cast("Any", SparkContext)
    own = context._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ
    written, is_started = deque[str](maxlen=8), Event()
    try:
        if own and not os.environ.get("SPARK_REMOTE", "").startswith("sc:"):
            conf = SparkConf()
            for name, value in cast("Any", builder)._options.items():
                conf.set(name, str(value))
            reading, writing = os.pipe()
            Thread(target=_forward, args=(reading, written, is_started), daemon=True).start()
            try:
                gateway = cast("Any", launch_gateway)(conf, {"stderr": writing})
            finally:
                os.close(writing)
            context._ensure_initialized(gateway=gateway, conf=conf)
        spark = builder.getOrCreate()
    except Exception as error:
        last = "\n".join(["", *written])
        raise LipstickError(f"Spark did not start: {first_line(error)}{last}") from error
    finally:
        is_started.set()
    if own and hasattr(spark, "_jsc"):
        spark.sparkContext.setLogLevel("ERROR")
    return spark


def _forward(reading: int, written: deque[str], is_started: Event) -> None:
    """Pass on what a process writes once it is started, and keep what it wrote before."""
    with open(reading, "rb") as lines:
        for line in lines:
            if is_started.is_set():
                os.write(2, line)
            else:
                written.append(line.decode(errors="replace").rstrip())


def is_stopped(spark: SparkSession) -> bool:
    """Return True if a session, or the context that it shares with others, was stopped."""
    context: Any = getattr(spark, "_sc", None)  # there is none over Connect
    return cast("Any", spark).is_stopped if context is None else context._jsc is None
