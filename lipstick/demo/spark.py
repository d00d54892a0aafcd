"""A quiet local Spark for the demonstration, and a plain word when there is no Java for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lipstick.demo.data import DemoError
from lipstick.engines.spark.local_session import local_builder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_ADVICE = (
    f"Spark needs Java {OLDEST_JAVA} or later: install one (Debian, Ubuntu: apt-get install "
    "openjdk-17-jre-headless) and put it on the PATH, or set JAVA_HOME to it."
)


def check_java() -> int:
    """Return the major version of the Java that Spark will start.

    Raises
    ------
    DemoError
        When there is none, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    where = f"JAVA_HOME ({home})" if home else "the PATH"
    if java is None:
        raise DemoError(f"There is no Java on {where}.\n{_ADVICE}")
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise DemoError(f"There is no Java in {where}.\n{_ADVICE}") from error
    match = _VERSION.search(answer.stderr + answer.stdout)
    if answer.returncode or match is None:
        raise DemoError(f"The Java of {where} does not run.\n{_ADVICE}")
    major = int(match[1])
    if major < OLDEST_JAVA:
        raise DemoError(f"The Java of {where} is version {major}.\n{_ADVICE}")
    return major


@contextmanager
def quiet_spark() -> Iterator[SparkSession]:
    """Yield a local session of its own, stopped at the end; its log goes to a file.

    Raises
    ------
    DemoError
        When Spark does not start.
    """
    folder = Path(tempfile.mkdtemp(prefix="lipstick-demo-"))
    log = folder / "spark.log"
    cores = os.cpu_count() or 2
    # A machine whose own name does not resolve is no obstacle.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(max(2, cores)),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    builder = local_builder("lipstick demo")
    try:
        try:
            with _standard_error_in(log):
                spark = builder.config(map=options).getOrCreate()  # type: ignore[arg-type]
        except Exception as error:
            lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
            last = "\n".join(f"  {line}" for line in lines[-8:])
            raise DemoError(f"Spark did not start: {error}\n{last}") from error
        spark.sparkContext.setLogLevel("ERROR")
        try:
            yield spark
        finally:
            spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _standard_error_in(log: Path) -> Iterator[None]:
    """Send what this process, and those it starts meanwhile, write to standard error to a file."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
