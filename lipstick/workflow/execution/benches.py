"""Benches for invocations that run at once, each in an isolated Spark session.

There is one per specification, and more when needed.
"""

from __future__ import annotations

import copy
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lipstick.engines.spark.private_session import PrivateSession, bindings_kept
from lipstick.workflow.definition.module import Specification
from lipstick.workflow.errors import WorkflowError
from lipstick.workflow.execution.bench import Bench

_SESSION = "session_id"
"""The parameter of a connection that names a session."""


@contextmanager
def isolated(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Return a Spark session with views of its own and some settings, ended with the context.

    Raises
    ------
    WorkflowError
        Where Spark Connect has none.
    """
    other = new_session(spark)
    try:
        for key, value in settings.items():
            other.conf.set(key, value)
        yield other
    finally:
        leave(other)


def new_session(spark: SparkSession) -> SparkSession:
    """Return a new session of the same Spark.

    Spark Connect has ``newSession()`` since 4.3; before, a session is created over the same
    connection.

    Raises
    ------
    WorkflowError
        Where that cannot be.
    """
    try:
        if not hasattr(spark, "_jsparkSession"):
            return spark.newSession()
        with bindings_kept():
            other = spark.newSession()
        return PrivateSession(spark.sparkContext, other._jsparkSession)
    except (PySparkException, NotImplementedError, AttributeError) as error:
        try:
            builder = copy.copy(spark.client._builder)
            builder._params = {key: v for key, v in builder._params.items() if key != _SESSION}
            return type(spark)(builder, userId=spark.client._user_id)  # type: ignore[call-arg, arg-type]
        except (PySparkException, AttributeError, TypeError):
            raise WorkflowError(
                f"This Spark has no second session, in which a workflow runs: {error}\n"
                "Use a classic session, or a version of Spark Connect that has newSession()."
            ) from error


def leave(spark: SparkSession) -> None:
    """End a session.

    A Spark Connect server retains a session until then; and a process that ends with an open
    session queries the server about it, for minutes if that has stopped.
    """
    if hasattr(spark, "_jsparkSession"):  # of a classic session, nothing is kept
        return
    client = spark.client
    with suppress(PySparkException):  # the server has ended it, or itself
        client.release_session()
    client.close()
    # Before 4.2 the object closes it again when it is collected: in the midst of a call of another
    # session this waits, for ever, for a lock that the call holds.
    client.close = _nothing  # type: ignore[method-assign]


def _nothing() -> None:
    """Do nothing, for sessions that are closed already."""


def sql_settings(spark: SparkSession) -> Mapping[str, str]:
    """Return the settings of a session that can be copied to another session."""
    values = {row["key"]: row["value"] for row in spark.sql("SET").collect()}
    return {
        key: value
        for key, value in values.items()
        if key.startswith("spark.sql.") and spark.conf.isModifiable(key)
    }


class Benches:
    """The benches of a run, each in a Spark session of its own.

    Parameters
    ----------
    spark
        The session whose settings the sessions of benches have.
    tracked
        True if queries are captured.
    """

    def __init__(self, spark: SparkSession, *, tracked: bool) -> None:
        self._spark = spark
        self._tracked = tracked
        self._folder = Path(tempfile.mkdtemp(prefix="lipstick-workflow-"))
        self._idle: dict[str, list[Bench]] = {}
        self._open = ExitStack()  # what is ended with the run
        self._open.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self._mutex = threading.Lock()
        self._count = 0

    def close(self) -> None:
        """End the sessions, and remove the files."""
        self._open.close()

    def prepare(self, specification: Specification) -> None:
        """Analyse and check the queries of a specification, once.

        Raises
        ------
        DefinitionError, rewriter.errors.QueryError, pyspark.errors.AnalysisException
            See :class:`lipstick.workflow.execution.bench.Bench`.
        """
        if specification.name not in self._idle:
            self._idle[specification.name] = [self._new(specification)]

    @contextmanager
    def idle(self, specification: Specification) -> Iterator[Bench]:
        """Lend a bench that is not in use."""
        with self._mutex:
            idle = self._idle[specification.name]
            bench = idle.pop() if idle else self._new(specification)
        try:
            yield bench
        finally:
            with self._mutex:
                self._idle[specification.name].append(bench)

    def _new(self, specification: Specification) -> Bench:
        self._count += 1
        folder = self._folder / f"{specification.name}-{self._count}"
        session = self._open.enter_context(isolated(self._spark, self._settings))
        bench = Bench(session, specification, folder, tracked=self._tracked)
        self._open.callback(bench.close)
        return bench

    @cached_property
    def _settings(self) -> Mapping[str, str]:
        return sql_settings(self._spark)
