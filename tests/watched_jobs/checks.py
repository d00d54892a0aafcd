"""A job that is run plainly, and under a watch, and what the watch says held against plain runs."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick.watching.session import SessionWatch
from tests.watched_jobs.inputs import Row
from tests.watched_jobs.jobs import Job

FIRST = "nothing wrote it while the session was watched"
MADE = "its rows were made in Python or stand in a query"


@dataclass
class Report:
    """What became of a job.

    Attributes
    ----------
    followed
        By output, its sources if it is followed back to the first rows; else None.
    reasons
        Why others are not.
    made
        The outputs that are followed and go back to data made in Python, which no file has.
    wrong
        What differs from a plain run.
    """

    name: str
    followed: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    plain_seconds: float = 0.0
    watched_seconds: float = 0.0
    question_seconds: float = 0.0


class Place:
    """A folder and a database in which a job runs."""

    def __init__(self, spark: SparkSession, job: Job, home: Path, name: str) -> None:
        self.spark = spark
        self.job = job
        self.home = home / name
        self.name = name

    def run(self, count: int, name: str = "", gone: Callable[[Row], bool] | None = None) -> float:
        """Write the first rows, and run the job over them; return the seconds of the job."""
        spark = self.spark
        self.prepare(count, name, gone)
        begun = time.perf_counter()
        self.job.run(spark, self.home / self.name, self.home / "out")
        return time.perf_counter() - begun

    def prepare(
        self, count: int, without: str = "", gone: Callable[[Row], bool] | None = None
    ) -> None:
        """Write the first rows, without some of one input."""
        spark = self.spark
        spark.sql(f"CREATE DATABASE {self.name}")
        if self.job.lake:
            spark.sql(f"CREATE NAMESPACE IF NOT EXISTS ice.{self.name}")
        spark.sql(f"USE {self.name}")
        for name, given in self.job.inputs.items():
            deleted = gone if name == without else None
            given.write(spark, self.home / self.name, name, count, deleted)

    def target(self, output: str) -> str:
        """Return an output as a watch is asked for it."""
        if output.startswith("/"):
            return f"{self.home}/out{output}"
        return output.format(db=self.name)

    def rows(self, output: str, like: DataFrame) -> list[tuple[Any, ...]]:
        """Return the rows of an output, read with the columns of another frame."""
        if not output.startswith("/"):
            frame = self.spark.table(self.target(output))
        else:
            folder = Path(self.target(output))
            form = _form_of(folder)
            reader = self.spark.read if form == "delta" else self.spark.read.schema(like.schema)
            frame = reader.format(form).option("header", True).load(str(folder))
        return self.of(frame)

    def of(self, frame: DataFrame) -> list[tuple[Any, ...]]:
        """Return the rows of a frame, without the times at which it ran."""
        columns = [name for name in sorted(frame.columns) if name not in self.job.moments]
        return sorted(
            (tuple(map(_plain, row)) for row in frame.select(columns).collect()), key=repr
        )

    def drop(self) -> None:
        """Remove what the job has made."""
        if self.job.lake:
            for row in self.spark.sql(f"SHOW TABLES IN ice.{self.name}").collect():
                self.spark.sql(f"DROP TABLE ice.{self.name}.{row['tableName']}")
            self.spark.sql(f"DROP NAMESPACE ice.{self.name}")
        self.spark.sql("USE default")
        self.spark.sql(f"DROP DATABASE {self.name} CASCADE")
        for view in self.spark.sql("SHOW VIEWS").collect():
            self.spark.catalog.dropTempView(view["viewName"])


def _form_of(folder: Path) -> str:
    if (folder / "_delta_log").is_dir():
        return "delta"
    suffixes = {file.suffix for file in folder.rglob("part-*")} - {".crc"}
    (suffix,) = suffixes or {".parquet"}
    return suffix.removeprefix(".")


def _plain(value: Any) -> Any:
    """Return a value without the last bits of a sum, which depend on the order of addition."""
    return float(f"{value:.9g}") + 0.0 if isinstance(value, float) else value


def check(spark: SparkSession, job: Job, home: Path, count: int) -> Report:
    """Run a job and hold what a watch says of it against plain runs."""
    report = Report(job.name)
    plain, watched = (
        Place(spark, job, home, f"{job.name}_{kind}") for kind in ("plain", "watched")
    )
    report.plain_seconds = plain.run(count)
    watched.prepare(count)
    with lipstick.watch(spark) as watch:
        begun = time.perf_counter()
        job.run(spark, watched.home / watched.name, watched.home / "out")
        report.watched_seconds = time.perf_counter() - begun
        begun = time.perf_counter()
        asked = {output: _ask(watch, watched, plain, output, report) for output in job.outputs}
        if job.gone is not None:
            _delete(spark, job, home, count, report, asked, watched)
        report.question_seconds = time.perf_counter() - begun
    for place in (plain, watched):
        place.drop()
    return report


def seconds(spark: SparkSession, job: Job, home: Path, count: int, *, watched: bool) -> float:
    """Return the seconds that a job takes, until a watch, if there is one, has all its writes."""
    place = Place(spark, job, home, f"{job.name}_seconds")
    place.prepare(count)
    with lipstick.watch(spark) if watched else nullcontext() as watch:
        begun = time.perf_counter()
        job.run(spark, place.home / place.name, place.home / "out")
        if watch is not None:
            assert watch.writes
        taken = time.perf_counter() - begun
    place.drop()
    shutil.rmtree(place.home)
    return taken


def _ask(watch: SessionWatch, watched: Place, plain: Place, output: str, report: Report) -> Any:
    """Ask for the rows of an output: these are its own, and go back to the first rows."""
    q = watch.query(watched.target(output))
    rows = watched.of(q.df)
    if rows != plain.rows(output, q.df):
        report.wrong.append(f"{output}: the annotated rows are not those of a plain run")
    if watched.rows(output, q.df) != rows:
        report.wrong.append(f"{output}: a watched run wrote other rows")
    reasons = {name: watch.sources[name] for name in q.plan.relations}
    wanted = {FIRST, MADE} if output in watched.job.ends else {FIRST}
    ends = set(reasons.values())
    if ends <= wanted and not _is_itself(q.plan.relations, output):
        report.followed[output] = tuple(q.plan.relations)
        if MADE in ends:
            report.made.append(output)
    else:
        report.followed[output] = None
        report.reasons[output] = "; ".join(sorted(ends - wanted)) or "its rows are named themselves"
    return q


def _is_itself(relations: Any, output: str) -> bool:
    return output.rpartition("/")[2].rpartition(".")[2] in relations


def _delete(
    spark: SparkSession,
    job: Job,
    home: Path,
    count: int,
    report: Report,
    asked: dict[str, Any],
    watched: Place,
) -> None:
    """Delete first rows, by a condition and one behind a row, and run the job without them."""
    assert job.gone is not None
    name, condition, is_gone = job.gone
    followed = [
        output
        for output in job.outputs
        if report.followed[output]
        and name in asked[output].plan.relations
        and output not in job.ends
    ]
    if not followed:
        report.wrong.append(f"no output goes back to {name}")
        return
    one = _one_behind(asked[followed[-1]], name)
    for label, sql, gone in (
        ("many", condition, is_gone),
        ("one", *one),
    ):
        place = Place(spark, job, home, f"{job.name}_{label}")
        place.run(count, name, gone)
        for output in followed if label == "many" else followed[-1:]:
            changed = asked[output].what_if(delete={name: sql}).df
            if watched.of(changed) != place.rows(output, changed):
                report.wrong.append(f"{output}: without {name} where {sql} a plain run has others")
        place.drop()


def _one_behind(q: Any, name: str) -> tuple[str, Callable[[Row], bool]]:
    """Return a condition of the first rows behind a row of an answer that have one key."""
    exact = [c for c in q.df.columns if q.df.schema[c].dataType.simpleString() != "double"]
    for row in q.df.orderBy(*[f"`{column}`" for column in q.df.columns]).take(9):
        where = " AND ".join(
            f"`{c}` <=> {_literal(row[c], q.df.schema[c].dataType.simpleString())}" for c in exact
        )
        behind = q.lineage(where=where)[name]
        first = behind.orderBy(*behind.columns).first()
        if first is not None:
            break
    assert first is not None, f"no row of {name} is behind the first nine rows"
    key = next(c for c in ("version", "id", "customer_id", "sensor") if c in behind.columns)
    value = first[key]
    return f"`{key}` = {value!r}", partial(_has, key, value)


def _has(key: str, value: Any, row: Row) -> bool:
    return bool(row[key] == value)


def _literal(value: Any, type_: str) -> str:
    if value is None:
        return "NULL"
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"CAST('{text}' AS {type_})"
