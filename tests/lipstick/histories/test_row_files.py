"""Rows of plain Parquet lead to their files and row groups, and files to their rows."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import SourceError, TrackingError

pytestmark = pytest.mark.classic


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files of several row groups, in a place that a URI spells otherwise."""
    place = tmp_path / "été 100% #1"
    place.mkdir()
    for number, name in enumerate(("a b.parquet", "c+d.parquet")):
        ids = range(number * 1000, number * 1000 + 1000)
        table = pa.table({"id": pa.array(ids), "v": pa.array([i % 7 for i in ids])})
        pq.write_table(table, place / name, row_group_size=300)
    return place


@pytest.mark.parametrize("key", ["id", "*", None])
def test_rows_of_files(spark: SparkSession, folder: Path, key: str | None) -> None:
    with lipstick.session(spark) as ls:
        ls.track("t", folder, key=key, format="parquet")
        found = ls.files("t", "id IN (0, 299, 300, 1999)").to_pylist()
        assert [(row["_row"], row["_row_group"]) for row in found] == [
            (0, 0),
            (299, 0),
            (300, 1),
            (999, 3),
        ]
        files = [Path(unquote(row["_file"].removeprefix("file:"))).name for row in found]
        assert files == ["a b.parquet"] * 3 + ["c+d.parquet"]
        assert "_version" not in found[0]
        for path in (found[3]["_file"], folder / "c+d.parquet"):
            held = ls.rows_of_file(path)["t"]
            assert held.column("_row").to_pylist() == list(range(1000))
        assert ls.files("t", "v = 3", limit=5).num_rows == 5
        rest = ls.sql("SELECT v, count(*) AS n FROM t WHERE id > 1990 GROUP BY v")
        behind = ls.files("t", rest.lineage("v = 3")["t"]).to_pylist()
        same = spark.read.parquet(str(folder)).where("v = 3")
        # Rows without a key are known by their values.
        assert [row["_row"] for row in behind] == [
            row["id"] - 1000 for row in same.where("id > 1990").collect()
        ]


def test_what_is_in_no_file_says_so(spark: SparkSession, folder: Path) -> None:
    with lipstick.session(spark) as ls:
        ls.track("made", spark.range(3).toDF("id"), key="id")
        ls.track("copied", spark.read.parquet(str(folder)), key="id", materialize=True)
        with pytest.raises(SourceError, match="are of no file"):
            ls.files("made", [1])
        (copy,) = ls.files("copied", [1]).to_pylist()
        assert Path(copy["_file"].removeprefix("file:")).is_relative_to(ls.store)
        with pytest.raises(SourceError, match="No tracked relation has rows in"):
            ls.rows_of_file(folder / "none.parquet")
        with pytest.raises(TrackingError, match="'maid' is not tracked"):
            ls.files("maid", [1])
