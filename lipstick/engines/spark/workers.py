"""The Python of Spark's workers: ours where they are on this machine, else checked before work.

Spark starts ``python3`` of the PATH unless ``PYSPARK_PYTHON`` names another. In a virtual
environment that is not activated that one lacks the packages that this process has.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from semiring.errors import LipstickError

if TYPE_CHECKING:
    import pyarrow as pa

_UNSET = "python3"
"""The Python of a classic session without a setting."""
_SETTINGS = ("spark.pyspark.python", "spark.pyspark.driver.python")

_CAUSE = re.compile(r"((?:ModuleNotFoundError|\[PYTHON_VERSION).*|(?<=python worker:\n).*)")

_checked: WeakKeyDictionary[SparkSession, str] = WeakKeyDictionary()
"""By session, the workers' interpreter that was found to run functions of ours."""


def use_own_python(spark: SparkSession) -> None:
    """Have the workers of a local session run this interpreter, unless the user has named one.

    The name of the interpreter travels with every function, so that this takes effect in a session
    that is open already. Sessions on a cluster or over Connect stay as they are.
    """
    context = getattr(spark, "_sc", None)
    if context is None or not context.master.startswith("local"):
        return
    named = "PYSPARK_PYTHON" in os.environ or any(
        context.getConf().get(setting) is not None for setting in _SETTINGS
    )
    if not named and context.pythonExec == _UNSET:
        context.pythonExec = sys.executable


def check_workers(spark: SparkSession) -> None:
    """Check once for each session that workers can run functions of ours, by a job of one row.

    Workers of a local session run this interpreter then, unless the user has named one. Nothing
    runs where theirs is the one of this process.

    Raises
    ------
    LipstickError
        When they cannot, with what to set.
    """
    use_own_python(spark)
    context = getattr(spark, "_sc", None)
    interpreter = "" if context is None else str(context.pythonExec)
    if interpreter == sys.executable or _checked.get(spark) == interpreter:
        return

    def attempt(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy  # noqa: F401 - functions of ours need it, beside pyarrow

        yield from batches

    try:
        spark.range(1, numPartitions=1).mapInArrow(attempt, "id bigint").collect()
    except Exception as error:  # py4j's among them, where no worker starts at all
        raise LipstickError(_message(spark, str(error))) from error
    _checked[spark] = interpreter


def _message(spark: SparkSession, error: str) -> str:
    context = getattr(spark, "_sc", None)
    found = _CAUSE.search(error)
    cause = found[1].strip() if found else error.strip().partition("\n")[0]
    runs = "" if context is None else f" They run {context.pythonExec!r}."
    major, minor = sys.version_info[:2]
    return (
        f"Spark's workers cannot run functions of this process: {cause}{runs}\n"
        f"Before Spark starts, set PYSPARK_PYTHON to an interpreter of Python {major}.{minor} that "
        "is on every worker and has numpy and pyarrow"
        + (f" (here: {sys.executable})." if context is not None else ", where the server starts.")
    )
