"""The Spark of measurements: local with some cores, a cluster's, or a Connect server's."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmark_workflowgen.measure.eventlog import SETTINGS, EventLog
from lipstick.engines.spark.local_session import local_builder


class Sparks:
    """One Spark session at a time, to be used as a context.

    Parameters
    ----------
    master
        ``spark://...`` of a cluster; None: local, with as many cores as a case asks for.
    remote
        ``sc://...`` of a Connect server, instead of a master.
    memory
        Of the driver, for a Spark that is started here.
    """

    def __init__(self, master: str | None, remote: str | None, memory: str) -> None:
        self._master = master
        self._remote = remote
        self._memory = memory
        self._session: SparkSession | None = None
        self._asked: int | None = None
        self._partitions: str | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="workflowgen-"))
        self.log: EventLog | None = None
        self.generation = 0

    def __enter__(self) -> Sparks:
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def local(self) -> bool:
        """True if Spark runs in this process, so that cores can be chosen."""
        return self._master is None and self._remote is None

    def get(self, cores: int | None, partitions: int | None) -> SparkSession:
        """Return the session, started anew if it has other cores.

        Parameters
        ----------
        cores
            ``local[cores]``; None: all cores of the machine, or the cluster's.
        partitions
            ``spark.sql.shuffle.partitions``; None: as many as cores, at least 2, and Spark's own
            default on a cluster.
        """
        if self._session is None or (self.local and cores != self._asked):
            self._stop()
            self._session = self._start(cores)
            self._asked = cores
            self._partitions = str(self._session.conf.get("spark.sql.shuffle.partitions"))
            self.generation += 1
        wanted = self._partitions if partitions is None else str(partitions)
        assert wanted is not None
        self._session.conf.set("spark.sql.shuffle.partitions", wanted)
        return self._session

    def _start(self, cores: int | None) -> SparkSession:
        if self._remote is not None:
            return SparkSession.builder.remote(self._remote).getOrCreate()
        logs = self._folder / f"events-{self.generation}"
        logs.mkdir()
        settings: dict[str, Any] = {
            "spark.driver.memory": self._memory,
            "spark.eventLog.dir": logs.as_uri(),
            "spark.log.level": "ERROR",
            "spark.ui.enabled": "false",
            **SETTINGS,
        }
        master = self._master
        if master is None:
            master = f"local[{'*' if cores is None else cores}]"
            count = cores or os.cpu_count() or 2
            settings["spark.sql.shuffle.partitions"] = str(max(2, count))
        session = local_builder("workflowgen", master).config(map=settings).getOrCreate()
        self.log = EventLog(logs)
        return session

    def _stop(self) -> None:
        if self._session is not None:
            self._session.stop()
        self._session = self.log = None
