"""Relations of few rows are read once into this process, where captures of them are computed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick.capture import local_rows
from lipstick.capture.files import Files
from lipstick.engines.spark.engine import SparkEngine
from lipstick.errors import SourceChangedError
from lipstick.stages.settings import temporary_settings
from lipstick.tracking import local_relations

pytestmark = pytest.mark.engines("memory")

CARS = pa.table({"id": [1, 2, 3, 4], "model": ["a", "a", "b", None], "price": [5, 7, 9, 11]})
BIDS = pa.table({"bid": [1, 2, 3], "car": [1, 3, 9], "amount": [6, 8, 10]})

QUERIES = (
    "SELECT id, price * 2 AS p FROM cars WHERE price > 5",
    "SELECT model, SUM(price) AS s FROM cars GROUP BY model HAVING SUM(price) > 9",
    "SELECT id, amount FROM cars LEFT JOIN bids ON car = id",
    "SELECT id, amount FROM cars FULL JOIN bids ON car = id",
    "SELECT id FROM cars WHERE id IN (SELECT car FROM bids WHERE amount > 7)",
    "SELECT id FROM cars WHERE NOT EXISTS (SELECT 1 FROM bids WHERE car = id)",
    "SELECT id, (SELECT MAX(amount) FROM bids WHERE car = id) AS most FROM cars",
    "SELECT id FROM cars EXCEPT SELECT car FROM bids",
    "SELECT id FROM cars UNION ALL SELECT bid FROM bids ORDER BY id LIMIT 5",
)


@pytest.fixture
def tracked(spark: SparkSession, tmp_path: Path) -> Iterator[lipstick.Session]:
    """Cars and bids in Parquet files."""
    with lipstick.session(spark) as ls:
        for name, rows, key in (("cars", CARS, "id"), ("bids", BIDS, "bid")):
            pq.write_table(rows, tmp_path / f"{name}.parquet")
            ls.track(name, tmp_path / f"{name}.parquet", key=key)
        yield ls


@pytest.fixture
def by_spark(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the datasets that Spark's jobs write from now on."""
    written: list[str] = []
    write = Files.write

    def writing(self: Files, frame: DataFrame, path: Path) -> None:
        written.append(path.name)
        write(self, frame, path)

    monkeypatch.setattr(Files, "write", writing)
    return written


@pytest.mark.many(4)
@pytest.mark.parametrize("sql", QUERIES)
def test_no_job_writes_what_is_made_of_small_relations(
    tracked: lipstick.Session, by_spark: list[str], tmp_path: Path, sql: str
) -> None:
    here = tracked.sql(sql).save(tmp_path / "here")
    assert by_spark == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_rows, "MOST", 0)
        spark = tracked.sql(sql).save(tmp_path / "spark")
    assert "members" in by_spark
    deleted = {"cars": [2, 3]}
    assert _polynomials(here) == _polynomials(spark)
    assert _types(here) == _types(spark)
    for capture in (lipstick.open(here.directory), lipstick.open(spark.directory)):
        answer = tracked.sql(sql).what_if(deleted, method="rerun").df.toArrow().to_pylist()
        assert _sorted(capture.what_if(deleted).df.to_pylist()) == _sorted(answer)


def _polynomials(capture: lipstick.Capture) -> list[str]:
    return sorted(f"{row}: {annotation}" for row, annotation in capture.polynomials())


def _types(capture: lipstick.Capture) -> dict[tuple[str, str], list[tuple[str, object]]]:
    return {
        (block, dataset): [(field["name"], field["type"]) for field in schema["fields"]]
        for block, datasets in capture.manifest.schemas.items()
        for dataset, schema in datasets.items()
    }


def _sorted(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return sorted(rows, key=repr)


@pytest.mark.many(4)
@pytest.mark.parametrize("sql", QUERIES)
def test_a_small_capture_is_asked_in_this_process(
    tracked: lipstick.Session, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    q = tracked.sql(sql)
    asked: list[object] = []
    hypothetical = SparkEngine.hypothetical

    def asking(self: SparkEngine, deleted: Any) -> DataFrame:
        asked.append(deleted)
        return hypothetical(self, deleted)

    monkeypatch.setattr(SparkEngine, "hypothetical", asking)
    deleted = {"cars": [2, 3], "bids": [1]}
    here = q.what_if({name: keys for name, keys in deleted.items() if name in q.plan.relations})
    assert asked == []
    with temporary_settings(tracked.spark, {"spark.sql.ansi.enabled": "false"}):
        spark = q.what_if(deleted)
    assert len(asked) == 1
    assert here.method == spark.method == "annotations"
    for part in ("df", "changes"):
        mine, theirs = (getattr(answer, part).toArrow() for answer in (here, spark))
        assert mine.schema.equals(theirs.schema)
        assert _sorted(mine.to_pylist()) == _sorted(theirs.to_pylist())


def test_rows_are_read_once(tracked: lipstick.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    read = local_relations.LocalRelations._read

    def reading(self: local_relations.LocalRelations, tracked: lipstick.Tracked) -> pa.Table | None:
        reads.append(tracked.name)
        return read(self, tracked)

    monkeypatch.setattr(local_relations.LocalRelations, "_read", reading)
    for sql in QUERIES:
        _ = tracked.sql(sql).capture
    assert sorted(reads) == ["bids", "cars"]


def test_what_was_read_first_is_forgotten_first(
    tracked: lipstick.Session, by_spark: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_relations, "KEPT_BYTES", 1)
    _ = tracked.sql(QUERIES[2]).capture
    _ = tracked.sql(QUERIES[0]).capture
    assert len(tracked.local_relations._tables) == 1
    assert by_spark == []


@pytest.mark.parametrize(
    ("name", "most"), [("MOST_ROWS", 3), ("FILE_BYTES", 10), ("READ_BYTES", 10)]
)
def test_large_relations_are_left_to_spark(
    tracked: lipstick.Session,
    by_spark: list[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    most: int,
) -> None:
    monkeypatch.setattr(local_relations, name, most)
    _ = tracked.sql(QUERIES[0]).capture
    assert by_spark == ["members"]


def test_joins_of_many_pairs_are_left_to_spark(
    tracked: lipstick.Session, by_spark: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = "SELECT id, bid FROM cars, bids"
    monkeypatch.setattr(local_rows, "MOST_PAIRS", 11)
    _ = tracked.sql(sql).capture
    assert by_spark == ["members"]
    monkeypatch.setattr(local_rows, "MOST_PAIRS", 12)
    _ = tracked.sql(sql).capture
    assert by_spark == ["members"]


def test_rows_of_a_source_that_changed_are_not_used(
    tracked: lipstick.Session, tmp_path: Path
) -> None:
    _ = tracked.sql(QUERIES[0]).capture
    pq.write_table(CARS.slice(1), tmp_path / "cars.parquet")
    with pytest.raises(SourceChangedError):
        tracked.sql(QUERIES[0])


def test_rows_are_read_again_under_other_settings(
    ls: lipstick.Session, by_spark: list[str], tmp_path: Path
) -> None:
    """A text without a zone is an instant in that of the session."""
    (tmp_path / "calls.csv").write_text("id,at\n1,2024-01-01 12:00:00\n")
    ls.track("calls", tmp_path / "calls.csv", key="id")
    q = "SELECT id, unix_micros(at) AS at FROM calls"
    answers = []
    for zone in ("UTC", "Asia/Tokyo", "UTC"):
        with temporary_settings(ls.spark, {"spark.sql.session.timeZone": zone}):
            captured = ls.sql(q).save(tmp_path / f"{len(answers)}").df.toArrow()
            assert captured.to_pylist() == ls.spark.sql(q).toArrow().to_pylist()
            answers.append(captured)
    assert answers[0].equals(answers[2])
    assert not answers[0].equals(answers[1])
    assert by_spark == []


def _from_python(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, "a"), (2, "b")], "id long, model string")


def _of_values(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT * FROM VALUES (1L, 'a'), (2L, 'b') AS cars(id, model)")


def _derived(spark: SparkSession) -> DataFrame:
    return spark.range(1, 3).withColumn("model", F.concat(F.lit("m"), "id"))


def _drawn(spark: SparkSession) -> DataFrame:
    return spark.range(1, 3).where(F.rand(1) >= 0)


def _of_a_query(spark: SparkSession) -> DataFrame:
    return spark.range(1, 3).where("id > (SELECT MIN(id) FROM range(1))")


@pytest.mark.parametrize(
    ("make", "local"),
    [
        (_from_python, True),
        (_of_values, True),
        (_derived, True),
        (_drawn, False),
        (_of_a_query, False),
    ],
)
@pytest.mark.classic
def test_frames_that_stay_as_they_are(
    ls: lipstick.Session, spark: SparkSession, by_spark: list[str], make: object, local: bool
) -> None:
    assert callable(make)
    ls.track("cars", make(spark), key="id")
    _ = ls.sql("SELECT id FROM cars").capture
    assert by_spark == ([] if local else ["members"])


@pytest.mark.classic
def test_what_functions_make_is_read_for_each_capture(
    ls: lipstick.Session, spark: SparkSession, by_spark: list[str], tmp_path: Path
) -> None:
    """What a function returns may be another thing the next time, and is one thing each time."""
    calls = tmp_path / "calls"

    def count(number: int) -> tuple[int, int]:
        with calls.open("a") as file:
            file.write(".")
        return number, calls.stat().st_size

    rows = spark.sparkContext.parallelize([1, 2], 1).map(count)
    ls.track("cars", spark.createDataFrame(rows, "id long, n long"), key="id", verify=False)
    sql = "SELECT a.n AS n, b.n AS m FROM cars a JOIN cars b ON a.id = b.id"
    captures = [ls.sql(sql).save(tmp_path / str(number)) for number in range(2)]
    assert by_spark == []
    first, second = (capture.df.toArrow().to_pylist() for capture in captures)
    assert first != second
    assert all(row["n"] == row["m"] for row in [*first, *second])


@pytest.mark.classic
def test_rdds_of_other_kinds_are_left_to_spark(
    ls: lipstick.Session, spark: SparkSession, by_spark: list[str]
) -> None:
    """How many rows they have is not known."""
    rows = spark.range(1, 3).rdd.map(tuple)
    ls.track("cars", spark.createDataFrame(rows, "id long"), key="id")
    _ = ls.sql("SELECT id FROM cars").capture
    assert by_spark == ["members"]


def test_texts_that_are_no_utf8_are_left_to_spark(
    ls: lipstick.Session, spark: SparkSession, by_spark: list[str]
) -> None:
    ls.track("cars", spark.sql("SELECT 1 AS id, CAST(X'ff' AS STRING) AS model"), key="id")
    _ = ls.sql("SELECT id, model FROM cars").capture
    assert by_spark == ["members"]


def test_columns_that_cannot_be_read_are_left_to_spark(
    ls: lipstick.Session, spark: SparkSession, by_spark: list[str], tmp_path: Path
) -> None:
    """Which does not read them where the query does not."""
    at = pa.array([1, 2], pa.timestamp("ns"))
    pq.write_table(pa.table({"id": [1, 2], "at": at}), tmp_path / "cars.parquet")
    rows = spark.read.schema("id long, at timestamp").parquet(str(tmp_path / "cars.parquet"))
    ls.track("cars", rows, key="id")
    assert [row["id"] for row, _ in ls.sql("SELECT id FROM cars").polynomials()] == [1, 2]
    assert by_spark == ["members"]
