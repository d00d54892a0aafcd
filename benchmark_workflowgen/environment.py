"""The environment that measurements depend on: versions, cores, memory, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

_PACKAGES = ("lipstick-spark", "pyspark", "pyarrow", "numpy", "networkx", "sqlglot")
_SETTINGS = (
    "spark.master",
    "spark.driver.memory",
    "spark.executor.memory",
    "spark.executor.cores",
    "spark.sql.shuffle.partitions",
    "spark.sql.adaptive.enabled",
)


def environment(spark: SparkSession | None) -> dict[str, Any]:
    """Return the machine, the versions, the commit, and Spark's settings.

    Parameters
    ----------
    spark
        None: nothing about Spark.
    """
    facts: dict[str, Any] = {
        "machine": platform.machine(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load_average": list(os.getloadavg()),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
    }
    if spark is not None:
        facts["spark"] = {
            "version": spark.version,
            "session": "connect" if "connect" in type(spark).__module__ else "classic",
            **{name: spark.conf.get(name, None) for name in _SETTINGS},
        }
    return facts


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _commit() -> str:
    """Return the commit that runs, with a mark where files differ from it; unknown without git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
        )
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"
