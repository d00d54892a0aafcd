"""Local Parquet files that are read without Spark have the rows that Spark reads."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture.files import arrow_of
from lipstick.tracking import local_relations
from lipstick.tracking.local_relations import _of_files
from lipstick.tracking.stored_rows import stored_rows

pytestmark = pytest.mark.engines("memory")

NOON = datetime(2024, 2, 29, 12, 0, 0, 5)

HERE: dict[str, pa.Array] = {
    "small integers": pa.array([1, None, -3], pa.int8()),
    "unsigned": pa.array([1, None, 2**32 - 1], pa.uint32()),
    "doubles": pa.array([0.5, None, float("nan")]),
    "floats": pa.array([0.1, None, -0.0], pa.float32()),
    "truths": pa.array([True, None, False]),
    "texts": pa.array(["a", None, "é\U0001f600"]),
    "coded texts": pa.array(["a", None, "a"]).dictionary_encode(),
    "large texts": pa.array(["a", None, ""], pa.large_string()),
    "bytes": pa.array([b"\xff", None, b""]),
    "decimals": pa.array([Decimal("1.50"), None, Decimal("-0.01")], pa.decimal128(20, 2)),
    "dates": pa.array([date(1901, 1, 1), None, date(2024, 2, 29)]),
    "instants": pa.array([NOON, None, NOON], pa.timestamp("us", "UTC")),
    "instants of Berlin": pa.array([NOON, None, NOON], pa.timestamp("us", "Europe/Berlin")),
    "milliseconds": pa.array([NOON.replace(microsecond=0), None, None], pa.timestamp("ms", "UTC")),
    "local times": pa.array([NOON, None, NOON], pa.timestamp("us")),
}
BY_SPARK: dict[str, pa.Array] = {
    "dates before 1901": pa.array([date(1900, 12, 31), None, date(1500, 1, 1)]),
    "instants before 1901": pa.array([datetime(1700, 1, 1, tzinfo=UTC), None, None]),
    "texts that are not UTF-8": pa.StringArray.from_buffers(
        3, pa.py_buffer(np.array([0, 1, 1, 1], np.int32).tobytes()), pa.py_buffer(b"\xff")
    ),
    "structs": pa.array([{"a": 1}, None, {"a": 2}]),
    "lists": pa.array([[1], None, []]),
}


def _tracked(ls: lipstick.Session, path: Path, **how: Any) -> lipstick.Tracked:
    return ls.track("r", path, replace=True, **how)


def _compare(spark: SparkSession, tracked: lipstick.Tracked, *, here: bool) -> None:
    frame = tracked.frame(spark)
    rows = _of_files(tracked, arrow_of(frame.schema))
    assert (rows is not None) == here
    if rows is not None:
        theirs = frame.toArrow()
        assert rows.schema.equals(arrow_of(frame.schema))
        order = [(name, "ascending") for name in tracked.token]
        assert str(rows.sort_by(order).to_pylist()) == str(theirs.sort_by(order).to_pylist())


@pytest.fixture
def session(spark: SparkSession) -> Any:
    with lipstick.session(spark) as ls:
        yield ls


@pytest.mark.parametrize("name", [*HERE, *BY_SPARK])
def test_values_are_those_of_spark(session: lipstick.Session, tmp_path: Path, name: str) -> None:
    path = tmp_path / "r.parquet"
    column = {**HERE, **BY_SPARK}[name]
    pq.write_table(pa.table({"id": [1, 2, 3], "v": column}), path)
    _compare(session.spark, _tracked(session, path, key="id"), here=name in HERE)


def _int96(path: Path) -> None:
    table = pa.table({"id": [1], "v": pa.array([NOON], pa.timestamp("us"))})
    pq.write_table(table, path / "a.parquet", use_deprecated_int96_timestamps=True)


def _partitions(path: Path) -> None:
    for number in (1, 2):
        (path / f"day={number}").mkdir()
        pq.write_table(pa.table({"id": [number]}), path / f"day={number}" / "a.parquet")


def _a_column_less(path: Path) -> None:
    pq.write_table(pa.table({"id": [1], "v": [1]}), path / "a.parquet")
    pq.write_table(pa.table({"id": [2]}), path / "b.parquet")


@pytest.mark.parametrize("write", [_int96, _partitions, _a_column_less])
def test_files_that_spark_completes_are_left_to_it(
    session: lipstick.Session, tmp_path: Path, write: Callable[[Path], None]
) -> None:
    write(tmp_path)
    _compare(session.spark, _tracked(session, tmp_path, key="id"), here=False)


def test_rows_of_several_files_have_their_places(session: lipstick.Session, tmp_path: Path) -> None:
    session.spark.range(1000).repartition(3).write.parquet(str(tmp_path / "r"))
    tracked = _tracked(session, tmp_path / "r")
    assert len(tracked.files) > 1
    _compare(session.spark, tracked, here=True)


def test_files_that_changed_are_not_read(session: lipstick.Session, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"id": [1]}), path)
    tracked = _tracked(session, path, key="id")
    pq.write_table(pa.table({"id": [1, 2]}), path)
    assert _of_files(tracked, pa.schema([("id", pa.int64())])) is None


@pytest.mark.classic
def test_files_of_more_bytes_are_read_here_alone(
    session: lipstick.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_relations, "MOST_BYTES", 1)
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"id": [1, 2], "v": [1, 2]}), path)
    flat = _tracked(session, path, key="id")
    assert session.local_relations.of([flat])([flat.view]) is not None
    pq.write_table(pa.table({"id": [1, 2], "v": [[1], [2]]}), path)
    nested = _tracked(session, path, key="id")
    assert session.local_relations.of([nested])([nested.view]) is None


@pytest.mark.parametrize("keys", [[], [0], [70_000, None, 99_999], [5, -1], [100_000]])
def test_rows_are_read_by_keys(tmp_path: Path, keys: list[int | None]) -> None:
    """A row has a value of each column of the keys."""
    count = 100_000
    ids = [None if number == 33_333 else number for number in range(count)]
    table = pa.table(
        {"v": range(count), "id": pa.array(ids), "s": [str(n % 7) for n in range(count)]}
    )
    pq.write_table(table, tmp_path / "r.parquet", row_group_size=30_000)
    schema = pa.schema([("id", pa.int64()), ("s", pa.string())])
    for wanted in ({"id": keys}, {"id": keys, "s": ["0", "1"][: len(keys)]}):
        types = {name: schema.field(name).type for name in wanted}
        given = {
            name: pa.array(values + values[:1] * (len(keys) - len(values)), types[name])
            for name, values in wanted.items()
        }
        with pq.ParquetFile(tmp_path / "r.parquet") as file:
            rows = stored_rows(file, schema, pa.table(given))
        assert rows is not None
        assert rows.schema == schema
        by_python = [
            r
            for r in table.select(["id", "s"]).to_pylist()
            if all(r[n] in v for n, v in wanted.items())
        ]
        assert rows.to_pylist() == by_python


def test_columns_that_a_file_has_not_are_an_error(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1]}), tmp_path / "r.parquet")
    with pq.ParquetFile(tmp_path / "r.parquet") as file, pytest.raises(KeyError):
        stored_rows(file, pa.schema([("id", pa.int64()), ("v", pa.int64())]))
