"""Benches for invocations that run at once: one per specification, and more when needed."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

from pyspark.sql import SparkSession

from lipstick.workflow.definition.module import Specification
from lipstick.workflow.execution.bench import Bench
from lipstick.workflow.execution.isolated import isolated, sql_settings


class Benches:
    """The benches of a run, each in a Spark session of its own.

    Parameters
    ----------
    spark
        Its settings are those of the sessions.
    tracked
        Whether queries are captured.
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
        """Understand and check the queries of a specification, unless that is done.

        Raises
        ------
        ModuleQueryError, rewriter.errors.QueryError, pyspark.errors.AnalysisException
            See :class:`lipstick.workflow.execution.bench.Bench`.
        """
        if specification.name not in self._idle:
            self._idle[specification.name] = [self._new(specification)]

    @contextmanager
    def idle(self, specification: Specification) -> Iterator[Bench]:
        """A bench that nobody else uses at the moment."""
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
