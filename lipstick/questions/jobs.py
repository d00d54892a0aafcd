"""The Spark jobs of questions: how many each one ran, and what these jobs read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from lipstick.dataframes.jvm import elements
from lipstick.display.markup import counted

_NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class QuestionJobs:
    """The work of a question on Spark, its capture included where it made one.

    Attributes
    ----------
    question
        Its progress line.
    seconds
        Of wall time.
    jobs
        Spark jobs.
    bytes, rows
        Read by the jobs from files and tables.
    """

    question: str
    seconds: float
    jobs: int = 0
    bytes: int = 0
    rows: int = 0

    def __str__(self) -> str:
        read = f", which read {self.bytes / 1e6:,.1f} MB and {self.rows:,} rows" * bool(self.jobs)
        return f"{self.question}: {counted(self.jobs, 'Spark job')}{read}, {self.seconds:.2f} s"


class JobLog:
    """Finds the jobs of the last question that was asked of one subject of a classic session.

    Jobs have a tag while a question is asked, so that jobs of streams and other threads are not
    counted. Spark knows its last thousand.
    """

    def __init__(self, spark: Any) -> None:
        self._spark = spark.sparkContext._jsc.sc()
        self._scheduler = self._spark.dagScheduler()
        self._tag = f"lipstick-{next(_NUMBERS)}"
        self._asked: QuestionJobs | None = None
        self._begun = range(0)
        self._busy = False

    @contextmanager
    def asking(self, question: str) -> Iterator[None]:
        """Count the jobs that this thread begins: for an outer question, if there is one."""
        if self._busy:
            yield
            return
        self._busy = True
        before, started = int(self._scheduler.numTotalJobs()), time.perf_counter()
        self._spark.addJobTag(self._tag)
        try:
            yield
        finally:
            self._busy = False
            self._spark.removeJobTag(self._tag)
            self._asked = QuestionJobs(question, time.perf_counter() - started)
            self._begun = range(before, int(self._scheduler.numTotalJobs()))

    def last(self) -> QuestionJobs | None:
        """The last question, and what its jobs read as far as Spark knows by now."""
        if self._asked is None:
            return None
        self._spark.listenerBus().waitUntilEmpty()
        store = self._spark.statusStore()
        jobs, stages = 0, set[int]()
        for number in self._begun:
            with suppress(Py4JError):  # forgotten
                job = store.job(number)
                if job.jobTags().contains(self._tag):
                    jobs += 1
                    stages |= {int(each) for each in elements(job.stageIds())}
        size = rows = 0
        for number in stages:
            with suppress(Py4JError):
                stage = store.lastStageAttempt(number)
                size, rows = size + int(stage.inputBytes()), rows + int(stage.inputRecords())
        return replace(self._asked, jobs=jobs, bytes=size, rows=rows)
