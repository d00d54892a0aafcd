"""The standard job: text is read, parsed, given a watermark by a computed time, and grouped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick import Session
from lipstick.errors import SourceError
from lipstick.systems.streaming.runs import StreamRun
from tests.lipstick.systems.streaming.running import bag

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]

EVENTS: Sequence[Sequence[tuple[int, int, str, float]]] = [
    # id, minute, key, value; 5 is late, and 7 unless 4 is not there.
    [(1, 1, "a", 1.0), (2, 12, "b", 2.0), (3, 4, "a", 4.0)],
    [(4, 40, "a", 8.0), (6, 13, "b", 16.0)],
    [(5, 2, "a", 32.0), (7, 21, "b", 64.0), (8, 50, "b", 128.0)],
]
GROUPED = (
    "SELECT window.end, k, sum(v) AS total, count(*) AS n FROM events "
    "GROUP BY window(t, '10 minutes'), k"
)


def time_of(minute: int) -> str:
    return f"2026-01-01 {minute // 60:02}:{minute % 60:02}:00"


def write_json(file: Path, rows: Sequence[tuple[int, int, str, float]]) -> None:
    lines = [json.dumps({"id": i, "s": time_of(m), "k": k, "v": v}) for i, m, k, v in rows]
    file.with_suffix(".json").write_text("".join(f"{line}\n" for line in lines))


def write_csv(file: Path, rows: Sequence[tuple[int, int, str, float]]) -> None:
    start = 1767225600
    lines = [f"{i},{start + 60 * m},{k},{v}\n" for i, m, k, v in rows]
    file.with_suffix(".csv").write_text("".join(lines))


def write_messages(file: Path, rows: Sequence[tuple[int, int, str, float]]) -> None:
    """Rows as the source of Kafka has them, in a file."""
    values = [
        json.dumps({"id": i, "at": time_of(m), "k": k, "v": v}).encode() for i, m, k, v in rows
    ]
    table = pa.table({"topic": ["t"] * len(rows), "value": pa.array(values, pa.binary())})
    pq.write_table(table, file.with_suffix(".parquet"))


def from_json(spark: SparkSession, folder: str) -> DataFrame:
    return spark.readStream.schema("id BIGINT, s STRING, k STRING, v DOUBLE").json(folder)


def from_csv(spark: SparkSession, folder: str) -> DataFrame:
    return spark.readStream.schema("id BIGINT, s BIGINT, k STRING, v DOUBLE").csv(folder)


def from_messages(spark: SparkSession, folder: str) -> DataFrame:
    return spark.readStream.schema("topic STRING, value BINARY").parquet(folder)


def parse_json(rows: DataFrame) -> DataFrame:
    kept = rows.withColumn("t", F.to_timestamp("s")).where("v > 0.5")
    return kept.withWatermark("t", "10 minutes")


def parse_csv(rows: DataFrame) -> DataFrame:
    return rows.withColumn("t", F.col("s").cast("timestamp")).withWatermark("t", "10 minutes")


def parse_messages(rows: DataFrame) -> DataFrame:
    schema = "id BIGINT, at TIMESTAMP, k STRING, v DOUBLE"
    parsed = rows.select(F.from_json(F.col("value").cast("string"), schema).alias("e"))
    named = parsed.select("e.id", F.col("e.at").alias("t"), "e.k", "e.v")
    return named.withWatermark("t", "10 minutes")


Job = tuple[
    Callable[[Path, Sequence[tuple[int, int, str, float]]], None],
    Callable[[SparkSession, str], DataFrame],
    Callable[[DataFrame], DataFrame],
    str | None,
]
JOBS: Mapping[str, Job] = {
    "json": (write_json, from_json, parse_json, "id"),
    "csv": (write_csv, from_csv, parse_csv, "id"),
    "messages": (write_messages, from_messages, parse_messages, None),
}
DOORS = ("tracked", "annotated", "view")


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    made = lipstick.session(spark, store=tmp_path / "store")
    yield made
    made.close()


def annotated(session: Session, job: Job, door: str, folder: Path) -> Any:
    """Return the query of a job: with the parsing where it is tracked, or in the query."""
    _, read, parse, key = job
    source = read(session.spark, str(folder))
    if door == "tracked":
        session.track("events", parse(source), key=key)
        return session.sql(GROUPED)
    session.track("raw", source, key=key)
    parsed = parse(session.spark.table("raw"))
    if door == "view":
        parsed.createOrReplaceTempView("events")
        return session.sql(GROUPED)
    grouped = parsed.groupBy(F.window("t", "10 minutes"), "k")
    totals = grouped.agg(F.sum("v").alias("total"), F.count("*").alias("n"))
    return session.annotate(totals.select("window.end", "k", "total", "n"))


def run(
    session: Session, job: Job, door: str, home: Path, gone: Sequence[int] = ()
) -> tuple[StreamRun, dict[int, list[Any]]]:
    """Run a job to the end, a file a batch; return the run, and what each batch emitted."""
    emitted: dict[int, list[Any]] = {}
    folder = home / "in"
    folder.mkdir(parents=True)
    query = annotated(session, job, door, folder)
    started: StreamRun = (
        query.writeStream.option("checkpointLocation", str(home / "checkpoint"))
        .foreachBatch(lambda rows, batch: emitted.update({batch: rows.collect()}))
        .start()
    )
    for number, rows in enumerate(EVENTS):
        hidden = home / f".{number}"
        job[0](hidden, [row for row in rows if row[0] not in gone])
        [written] = home.glob(f".{number}*")
        written.rename(folder / f"{number}{written.suffix}")
        started.processAllAvailable()
    started.stop()
    return started, emitted


def emitted_rows(emitted: Mapping[int, Sequence[Any]]) -> Any:
    return bag([row for rows in emitted.values() for row in rows])


@pytest.mark.many(9)
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", JOBS)
def test_standard_jobs_are_followed_from_end_to_end(
    spark: SparkSession, session: Session, tmp_path: Path, name: str, door: str
) -> None:
    """Results, annotations, and deletions that move no watermark and one."""
    started, emitted = run(session, JOBS[name], door, tmp_path / "feed")
    results = started.results()
    rows = results.df.collect()
    assert bag(rows) == emitted_rows(emitted)
    assert sorted((row.k, row.n, row.total) for row in rows) == [("a", 2, 5.0), ("b", 2, 18.0)]
    for number, own in emitted.items():
        if own:
            assert bag(started.emitted(number).df.collect()) == bag(own)
    polynomials = {(row["end"], row["k"]): str(p) for row, p in results.polynomials()}
    assert len(polynomials) == len(rows)
    relation = "events" if door == "tracked" else "raw"
    assert all(f"{relation}:" in polynomial for polynomial in polynomials.values())
    deleted: dict[str, Any] = {}
    for gone in ([3], [4]):
        condition = f"id IN ({gone[0]})"
        if name == "messages" and door != "tracked":
            condition = f"get_json_object(CAST(value AS STRING), '$.id') = {gone[0]}"
        deleted[str(gone)] = bag(results.what_if({relation: condition}).df.collect())
    session.close()
    for gone in ([3], [4]):
        again = lipstick.session(spark, store=tmp_path / f"store-{gone[0]}")
        _, left = run(again, JOBS[name], door, tmp_path / f"again-{gone[0]}", gone)
        again.close()
        assert deleted[str(gone)] == emitted_rows(left), gone


def test_what_a_tracked_stream_cannot_compute(
    spark: SparkSession, session: Session, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    rows = from_json(spark, str(tmp_path / "in"))
    timed = rows.withColumn("t", F.to_timestamp("s"))
    with pytest.raises(SourceError, match="a filter above its watermark, which sees other rows"):
        session.track("one", timed.withWatermark("t", "1 minute").where("v > 1"), key="id")
    with pytest.raises(SourceError, match="by chance or from the present time"):
        session.track("two", rows.withColumn("t", F.current_timestamp()), key="id")
    with pytest.raises(SourceError, match="does more than compute its rows") as error:
        session.track("three", rows.select(F.explode(F.split("s", " ")).alias("p")), key="p")
    assert "Do the rest in the query" in str(error.value)
