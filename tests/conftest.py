"""One Spark session for the whole run, data of TPC-H and TPC-DS, and Hypothesis profiles."""

import gc
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

from tests.local_spark import local_spark
from tests.selection import Resumed, leave_out, run_of

ROOT = Path(__file__).parent.parent

# Annotations that are made are held against what is left in a few worlds.
os.environ.setdefault("LIPSTICK_CHECK", "1")
# Errors show the calls of ours that led to them.
os.environ.setdefault("LIPSTICK_TRACEBACK", "1")
# Processes that start a Spark of their own end soon: their code is compiled quickly, not well.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

settings.register_profile(
    "ci",
    derandomize=True,
    max_examples=20,
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
    parser.addoption("--all", action="store_true", help="run all tests there are, in all cases")
    parser.addoption(
        "--turn",
        type=int,
        metavar="N",
        help="run the samples of turn N, and of the tests that take long those of that turn alone; "
        "without it the samples are those of the number of commits",
    )
    parser.addoption("--part", metavar="K/N", help="run one of N parts of the tests")
    parser.addoption(
        "--resume",
        type=Path,
        metavar="FILE",
        help="leave out the tests that have passed as FILE has it, and add those that pass",
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="run the tests marked `quick` and a sample of those without Spark: a first word",
    )
    parser.addoption(
        "--interpreted",
        action="store_true",
        help="let Spark interpret expressions: sooner done for hundreds of small queries",
    )


def pytest_configure(config: pytest.Config) -> None:
    if file := config.getoption("--resume"):
        config.pluginmanager.register(Resumed(file))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    skips = {
        "classic": pytest.mark.skip(reason="needs the JVM of a classic session"),
        "connect": pytest.mark.skip(reason="needs --spark-connect"),
    }
    del skips["connect" if config.getoption("--spark-connect") else "classic"]
    items[:] = run_of(items, config)
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
        for name, skip in skips.items():
            if item.get_closest_marker(name):
                item.add_marker(skip)
    leave_out(items, config)


# Thousands of collected tests live as long as the run: no collection of garbage looks at them.
# Full collections, which look at everything that modules keep, are rare.
gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 1_000)
    gc.enable()


@pytest.fixture(scope="session")
def spark(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[SparkSession]:
    """The session of the run: local, two cores; over Spark Connect with `--spark-connect`."""
    with local_spark(
        tmp_path_factory.mktemp("spark"),
        connect=bool(request.config.getoption("--spark-connect")),
        interpreted=bool(request.config.getoption("--interpreted")),
    ) as session:
        yield session


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
