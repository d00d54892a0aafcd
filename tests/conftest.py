"""One Spark session for the whole run, data of TPC-H and TPC-DS, and Hypothesis profiles."""

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent
WORKER_HOOK = Path(__file__).parent / "worker_hook"

# Annotations that are made are held against what is left in a few worlds.
os.environ.setdefault("LIPSTICK_CHECK", "1")

SHARES = 5
"""An ordinary run takes every fifth case of a test marked `many`, over Connect the ones after."""

settings.register_profile(
    "ci",
    derandomize=True,
    max_examples=30,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("full", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--spark-connect",
        action="store_true",
        help="make the `spark` fixture a Spark Connect session over a server in this process",
    )
    parser.addoption("--slow", action="store_true", help="run the tests marked `slow` too")
    parser.addoption(
        "--interpreted",
        action="store_true",
        help="let Spark interpret expressions: sooner done for hundreds of small queries",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    over_connect = config.getoption("--spark-connect")
    skips = {
        "classic": pytest.mark.skip(reason="needs the JVM of a classic session"),
        "connect": pytest.mark.skip(reason="needs --spark-connect"),
        "slow": pytest.mark.skip(reason="needs --slow"),
        "slow_over_connect": pytest.mark.skip(reason="needs --slow over Spark Connect"),
    }
    del skips["connect" if over_connect else "classic"]
    if not over_connect or config.getoption("--slow"):
        del skips["slow_over_connect"]
    if config.getoption("--slow"):
        del skips["slow"]
    seen: Counter[tuple[Path, str]] = Counter()
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
        for name, skip in skips.items():
            if item.get_closest_marker(name):
                item.add_marker(skip)
        if item.get_closest_marker("many"):
            test = item.path, getattr(item, "originalname", item.name)
            if "slow" in skips and seen[test] % SHARES != over_connect:
                item.add_marker(skips["slow"])
            seen[test] += 1


@pytest.fixture(scope="session")
def spark(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[SparkSession]:
    """The session of the run: local, two cores; over Spark Connect with `--spark-connect`.

    Its workers can import neither our packages nor what only the driver needs.
    """
    over_connect = bool(request.config.getoption("--spark-connect"))
    port = _free_port()
    home = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PYTHONPATH", "SPARK_API_MODE", "SPARK_HOME", "SPARK_REMOTE"):
            patch.delenv(name, raising=False)
        patch.setenv("PYSPARK_PYTHON", str(_write_worker_python(home)))
        interpreted = bool(request.config.getoption("--interpreted"))
        patch.setenv("SPARK_CONF_DIR", str(_write_configuration(home, port, interpreted)))
        if over_connect:
            from pyspark.sql.connect.client.core import DefaultChannelBuilder

            patch.setattr(DefaultChannelBuilder, "default_port", staticmethod(lambda: port))
            session = SparkSession.builder.remote("local[2]").getOrCreate()
        else:
            session = SparkSession.builder.master("local[2]").getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="session")
def tpch() -> Callable[[float], Path]:
    """`tpch(scale)`: the folder of TPC-H's eight tables, each one Parquet file `<table>.parquet`.

    Generated once and kept in `.cache/`.
    """
    return partial(_generated, "tpch")


@pytest.fixture(scope="session")
def tpcds() -> Callable[[float], Path]:
    """`tpcds(scale)`: the folder of TPC-DS's tables, as `tpch(scale)` is that of TPC-H's."""
    return partial(_generated, "tpcds")


def _generated(suite: str, scale: float) -> Path:
    folder = ROOT / ".cache" / suite / f"scale-{scale:g}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=folder.parent))
        command = Path(sysconfig.get_path("scripts")) / "tpcgen-cli"
        target = ["--scale-factor", f"{scale:g}", "--output-dir", str(unfinished)]
        subprocess.run([command, suite, "parquet", "--quiet", *target], check=True)
        try:
            unfinished.rename(folder)
        except OSError:  # another run was faster
            shutil.rmtree(unfinished)
    return folder


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _write_worker_python(home: Path) -> Path:
    """A `python` for Spark's workers that starts this interpreter with `WORKER_HOOK` in place."""
    python = home / "worker-python"
    python.write_text(
        "#!/bin/sh\n"
        f'PYTHONPATH="{WORKER_HOOK}${{PYTHONPATH:+:$PYTHONPATH}}"\n'
        "export PYTHONPATH\n"
        f'exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    return python


def _write_configuration(home: Path, connect_port: int, interpreted: bool) -> Path:
    """A SPARK_CONF_DIR for the session: it reaches a classic and a Connect server alike."""
    folder = home / "conf"
    folder.mkdir()
    options = {
        # Pages are zeroed for each operator of each task: of a size for few rows.
        "spark.buffer.pageSize": "1m",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": connect_port,
        "spark.driver.bindAddress": "127.0.0.1",
        # Code that runs for minutes: compiled quickly, not well; a third less work in all.
        "spark.driver.extraJavaOptions": (
            f"-Dderby.system.home={home} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        ),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.local.dir": home / "local",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": 4,
        "spark.sql.warehouse.dir": home / "warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if interpreted:
        options["spark.sql.codegen.wholeStage"] = "false"
        options["spark.sql.codegen.factoryMode"] = "NO_CODEGEN"
    lines = [f"{name} {value}\n" for name, value in options.items()]
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
