"""Structs with two fields of one name, which Spark shows and neither Parquet nor Python's dicts."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import lipstick


@pytest.fixture
def joined(ls: lipstick.Session, spark: SparkSession) -> lipstick.AnnotatedFrame:
    """Pairs of ids, each a struct of two fields called id."""
    rows = spark.sql("SELECT * FROM VALUES (1, 1), (2, 1), (3, 2) AS t(id, k)")
    ls.track("t", rows, key="id")
    return ls.sql("SELECT struct(a.id, b.id) AS c FROM t a JOIN t b ON a.k = b.k AND a.id < b.id")


def test_they_have_annotations(joined: lipstick.AnnotatedFrame) -> None:
    [(row, annotation)] = joined.polynomials()
    assert row == {"c": {"id": 1, "id~2": 2}}
    assert str(annotation) == "t:1·t:2"


def test_they_are_followed_without_rows(joined: lipstick.AnnotatedFrame, tmp_path: Path) -> None:
    assert joined.what_if(delete={"t": [2]}).df.collect() == []
    [row] = joined.what_if(delete={"t": [3]}).df.collect()
    assert tuple(row["c"]) == (1, 2)
    joined.save(str(tmp_path / "capture"))
    opened = lipstick.open(str(tmp_path / "capture"))
    assert opened.what_if({"t": [2]}).df.num_rows == 0


def test_lists_of_them(ls: lipstick.Session, spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, ["a", "b"])], "id int, tags array<string>")
    ls.track("s", rows, key="id")
    q = ls.annotate(rows.select("id", F.arrays_zip("tags", "tags").alias("z")))
    [(row, _)] = q.polynomials()
    assert row["z"] == [{"tags": "a", "tags~2": "a"}, {"tags": "b", "tags~2": "b"}]
