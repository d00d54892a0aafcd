"""Processes that save a capture or write a table, and are killed on the way.

A process counts what it does to the file system below a folder, by Python's audit events, and
kills itself, as ``kill -9`` would, at one of these steps or after some time.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture.capture import open_capture
from lipstick.cli import main
from lipstick.errors import CaptureError, SourceChangedError
from lipstick.tables.commit import finished
from lipstick.tables.derivation import latest_version
from lipstick.tracking.source import read_source

KINDS = ("save", "ctas", "insert")
QUERY = "SELECT Model, count(*) AS n, max(Price) AS dearest FROM Cars GROUP BY Model"
FIRST = "SELECT CarId, Model, Price FROM Cars WHERE Price < 20"
MORE = "SELECT CarId, Model, Price FROM Cars WHERE Price >= 20"
_STEPS = frozenset(
    ["open", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate"]
)
CARS = [(f"C{n}", f"M{n % 3}", 10 + n) for n in range(20)]


@dataclass(frozen=True)
class Place:
    """Where processes work.

    Parameters
    ----------
    folder
        For captures, and the store of the sessions.
    remote
        A Spark Connect server that goes on when its client is killed; None: each process has a
        Spark of its own, which is killed with it.
    """

    folder: Path
    remote: str | None

    def spark(self) -> SparkSession:
        """Start or find Spark."""
        if self.remote is not None:
            return SparkSession.builder.remote(self.remote).create()
        return (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.warehouse.dir", str(self.folder / "warehouse"))
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate()
        )

    def session(self) -> lipstick.Session:
        """A session that tracks cars."""
        session = lipstick.session(self.spark(), store=self.folder / "store")
        path = self.folder / "cars.parquet"
        if not path.exists():
            cars = session.spark.createDataFrame(CARS, "CarId string, Model string, Price int")
            cars.write.parquet(str(path))
        session.track("Cars", str(path), key="CarId")
        return session

    def table(self, number: int) -> str:
        """What is written by the process of a number: a table, or files where Spark is its own."""
        return f"w{number}" if self.remote is not None else str(self.folder / f"w{number}.parquet")

    def kept(self, number: int) -> Path:
        """Where the provenance of a written table is."""
        if self.remote is not None:
            return self.folder / "store" / "derived" / f"w{number}"
        return self.folder / f"w{number}.parquet.provenance"


class Killer:
    """Ends this process without a word.

    Parameters
    ----------
    folder
        Steps below it count.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self.steps = 0
        self._at: int | None = None
        self._armed = False
        sys.addaudithook(self._see)

    def arm(self, step: int | None, seconds: float | None) -> None:
        """Begin to count; end at a step or after some seconds, or not at all."""
        self._at, self._armed = step, True
        if seconds is not None:
            timer = threading.Timer(seconds, _kill)
            timer.daemon = True
            timer.start()

    def _see(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._armed or event not in _STEPS:
            return
        if not any(self._folder in str(argument) for argument in arguments):
            return
        self.steps += 1
        if self.steps == self._at:
            _kill()


def _kill() -> None:
    # With the JVM that it has started, if any: both are of one group.
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def work(
    setting: Place, kind: str, number: int, step: int | None, seconds: float | None, log: Path
) -> None:
    """Save or write, and be killed on the way."""
    os.setpgrp()
    killer = Killer(setting.folder)
    session = setting.session()
    if kind == "insert":
        _write(session, setting, number, FIRST, "error")
    log.write_text("begun")
    start = time.monotonic()
    killer.arm(step, seconds)
    if kind == "save":
        session.sql(QUERY).save(setting.folder / f"c{number}")
    elif kind == "ctas":
        _write(session, setting, number, FIRST, "error")
    else:
        _write(session, setting, number, MORE, "append")
    log.write_text(f"done in {killer.steps} {time.monotonic() - start}")
    os._exit(0)


def _write(session: lipstick.Session, setting: Place, number: int, query: str, mode: str) -> None:
    table = setting.table(number)
    if setting.remote is None:
        session.sql(query).write.mode(mode).parquet(table, name=f"w{number}")
    elif mode == "error":
        session.sql(f"CREATE TABLE {table} USING parquet AS {query}")
    else:
        session.sql(f"INSERT INTO {table} {query}")


def check(setting: Place, kind: str, number: int) -> str:
    """Check what a killed process has left; return which of all, nothing and told it is.

    ``told`` is a table that is neither as it was nor as it was to be, or which nothing is known of:
    to track it is an error.

    Raises
    ------
    AssertionError
        When it is anything else.
    """
    if kind == "save":
        return _check_capture(setting.folder / f"c{number}")
    session = setting.session()
    spark, directory = session.spark, setting.kept(number)
    table = setting.table(number)
    there = spark.catalog.tableExists(table) if setting.remote is not None else Path(table).exists()
    if not there:
        assert kind == "ctas"
        assert latest_version(directory) == 0
        return "nothing"
    format = None if setting.remote is not None else "parquet"
    try:
        source = read_source(spark, table, format)
    except lipstick.LipstickError:  # files without a schema: Spark was killed in the midst
        return "told"
    derivation = finished(spark, directory, source) if directory.is_dir() else None
    name = f"w{number}"
    if derivation is None or derivation.fingerprint != source.fingerprint:
        try:
            session.track(name, table, format=format, derived=directory)
        except (CaptureError, SourceChangedError):
            return "told"
        raise AssertionError(f"{name} is not what was written, and tracked")
    result = CliRunner().invoke(main, ["fsck", str(directory)])
    assert result.exit_code == 0, result.output
    session.track(name, table, format=format, derived=directory)
    rows = {car for car in CARS if car[2] < 20 or (derivation.version == 2 and kind == "insert")}
    query = session.sql(f"SELECT CarId, Model, Price FROM {name}")
    assert {tuple(row) for row in query.df.collect()} == rows
    origins = query.lineage()["Cars"].select("CarId").collect()
    assert {row[0] for row in origins} == {car[0] for car in rows}
    new = {"ctas": 1, "insert": 2}[kind]
    return "all" if derivation.version == new else "nothing"


def _check_capture(path: Path) -> str:
    if not path.exists():
        return "nothing"
    result = CliRunner().invoke(main, ["fsck", str(path)])
    assert result.exit_code == 0, result.output
    answer = {row["Model"]: (row["n"], row["dearest"]) for row in open_capture(path).df.to_pylist()}
    assert answer == {"M0": (7, 28), "M1": (7, 29), "M2": (6, 27)}, answer
    return "all"
