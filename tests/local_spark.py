"""A Spark of one process for tests: small, quickly started, classic or behind Connect."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

WORKER_HOOK: Final = Path(__file__).parent / "worker_hook"


@contextmanager
def local_spark(
    home: Path,
    *,
    connect: bool = False,
    interpreted: bool = False,
    options: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """Start a session on two cores, and stop it in the end.

    Its workers can import neither our packages nor what only the driver needs.

    Parameters
    ----------
    home
        An empty folder for what Spark keeps.
    connect
        Whether the session is a client of a Spark Connect server in this process.
    interpreted
        Whether Spark interprets expressions: sooner done for hundreds of small queries.
    options
        Settings beside those of all tests, or instead of them.
    """
    port = _free_port()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PYTHONPATH", "SPARK_API_MODE", "SPARK_HOME", "SPARK_REMOTE"):
            patch.delenv(name, raising=False)
        patch.setenv("PYSPARK_PYTHON", str(_write_worker_python(home)))
        settings = {**_settings(home, port, interpreted), **(options or {})}
        patch.setenv("SPARK_CONF_DIR", str(_write_configuration(home, settings)))
        if connect:
            from pyspark.sql.connect.client.core import DefaultChannelBuilder

            patch.setattr(DefaultChannelBuilder, "default_port", staticmethod(lambda: port))
            session = SparkSession.builder.remote("local[2]").getOrCreate()
        else:
            session = SparkSession.builder.master("local[2]").getOrCreate()
        yield session
        session.stop()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _write_worker_python(home: Path) -> Path:
    """Write a `python` that starts this interpreter with `WORKER_HOOK` in place."""
    python = home / "worker-python"
    python.write_text(
        "#!/bin/sh\n"
        f'PYTHONPATH="{WORKER_HOOK}${{PYTHONPATH:+:$PYTHONPATH}}"\n'
        "export PYTHONPATH\n"
        f'exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    return python


def _settings(home: Path, connect_port: int, interpreted: bool) -> dict[str, str]:
    """Return the settings of all tests."""
    settings = {
        # Pages are zeroed for each operator of each task: of a size for few rows.
        "spark.buffer.pageSize": "1m",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(connect_port),
        "spark.driver.bindAddress": "127.0.0.1",
        # Code that runs for minutes: compiled quickly, not well; a third less work in all.
        "spark.driver.extraJavaOptions": (
            f"-Dderby.system.home={home} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
            # What has been compiled stays: the 48 MB of one tier are full after some minutes.
            " -XX:ReservedCodeCacheSize=256m"
        ),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.local.dir": str(home / "local"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if interpreted:
        settings["spark.sql.codegen.wholeStage"] = "false"
        settings["spark.sql.codegen.factoryMode"] = "NO_CODEGEN"
    return settings


def _write_configuration(home: Path, settings: Mapping[str, str]) -> Path:
    """Write a SPARK_CONF_DIR: it reaches a classic session and a Connect server alike."""
    folder = home / "conf"
    folder.mkdir()
    lines = [f"{name} {value}\n" for name, value in settings.items()]
    (folder / "spark-defaults.conf").write_text("".join(lines))
    (folder / "log4j2.properties").write_text(
        "rootLogger.level = error\n"
        "rootLogger.appenderRef.stderr.ref = stderr\n"
        "appender.stderr.type = Console\n"
        "appender.stderr.name = stderr\n"
        "appender.stderr.target = SYSTEM_ERR\n"
        "appender.stderr.layout.type = PatternLayout\n"
        "appender.stderr.layout.pattern = %p %c{1}: %m%n%ex{short}\n"
    )
    return folder


@contextmanager
def workers_without_packages(spark: SparkSession) -> Iterator[None]:
    """Have the workers of a session started by a program that is no Python."""
    context: Any = spark._sc  # type: ignore[attr-defined]
    before, context.pythonExec = context.pythonExec, "/usr/bin/env"
    try:
        yield
    finally:
        context.pythonExec = before
