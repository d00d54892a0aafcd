"""Classic sessions of our own beside the user's, which nothing of PySpark takes for the newest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession

_MISSING = object()


@contextmanager
def bindings_kept() -> Iterator[None]:
    """Restore what PySpark binds to the session that was made, or made a frame, last.

    Making a SparkSession gives ``RDD.toDF`` to it, and makes it the one that ``getOrCreate()``
    returns if there was none. ``createDataFrame`` makes its session active, in Python and for the
    thread in the JVM.
    """
    from pyspark import RDD

    bound = [
        (RDD, "toDF"),
        (SparkSession, "_activeSession"),
        (SparkSession, "_instantiatedSession"),
    ]
    before = [(owner, name, owner.__dict__.get(name, _MISSING)) for owner, name in bound]
    sessions = _jvm_sessions()
    active = None if sessions is None else sessions.getActiveSession()
    try:
        yield
    finally:
        for owner, name, value in before:
            if value is not _MISSING:
                setattr(owner, name, value)
            elif name in owner.__dict__:
                delattr(owner, name)
        if active is not None and active.isDefined():
            sessions.setActiveSession(active.get())
        elif active is not None:
            sessions.clearActiveSession()


def _jvm_sessions() -> Any:
    from pyspark import SparkContext

    jvm = SparkContext._jvm
    return None if jvm is None else jvm.org.apache.spark.sql.classic.SparkSession


class PrivateSession(SparkSession):
    """A classic session whose making and use leaves all other sessions of PySpark as they are."""

    def __init__(self, *args: Any, **options: Any) -> None:
        with bindings_kept():
            super().__init__(*args, **options)

    def createDataFrame(self, *args: Any, **options: Any) -> DataFrame:  # noqa: N802
        """Return a frame of Python's data, as a session of Spark does."""
        with bindings_kept():
            return super().createDataFrame(*args, **options)
