"""Groups that a deletion takes nothing from keep their sums of floats, to the bit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture.contents import MANIFEST
from lipstick.capture.manifest import Manifest

pytestmark = pytest.mark.classic

GROUPED = "SELECT k, sum(x) AS s, count(*) AS n FROM r GROUP BY k"
AFFECTED = {
    GROUPED: {"a"},
    f"SELECT t.k, t.s / 2 AS half FROM ({GROUPED}) t WHERE t.n > 0": {"a"},
    "SELECT r.k, avg(r.x * t.s) AS s FROM r JOIN (SELECT k, sum(y) AS s FROM s GROUP BY k) t"
    " ON r.k = t.k GROUP BY r.k": {"a"},
    "SELECT k, sum(x) AS s FROM r GROUP BY k HAVING sum(x) > (SELECT sum(y) FROM s) - 9": {"a"},
}


@pytest.fixture(scope="module")
def tracked(spark: SparkSession) -> Iterator[lipstick.Session]:
    """Two relations with floats."""
    rows = "VALUES (1, 'a', 0.1D), (2, 'a', 0.2D), (3, 'b', 0.3D), (4, 'b', 0.7D), (5, 'c', 1.1D)"
    with lipstick.session(spark) as ls:
        ls.track("r", spark.sql(f"SELECT * FROM {rows} AS r(id, k, x)"), key="id")
        ls.track("s", spark.sql(f"SELECT * FROM {rows} AS s(id, k, y)"), key="id")
        yield ls


def _nudge(path: Path, manifest: Manifest) -> None:
    """Move the captured aggregates that are floats by one bit, as another order of adding might."""
    for file in path.glob("*/rows/*.parquet"):
        table = pq.read_table(file)
        for number, field in enumerate(table.schema):
            if pa.types.is_floating(field.type):
                moved = [
                    x if x is None else math.nextafter(x, math.inf)
                    for x in table.column(number).to_pylist()
                ]
                table = table.set_column(number, field, pa.array(moved, field.type))
        pq.write_table(table, file)
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    (path / MANIFEST).unlink()
    manifest.write(path)


@pytest.mark.parametrize("query", AFFECTED)
def test_untouched_groups_are_as_captured(
    tracked: lipstick.Session, query: str, tmp_path: Path, spark: SparkSession
) -> None:
    saved = tracked.sql(query).save(tmp_path / "c")
    _nudge(tmp_path / "c", saved.manifest)
    capture = lipstick.open(tmp_path / "c", spark)
    before = {row["k"]: tuple(row) for row in capture.df.collect()}
    w = capture.what_if({"r": [2]})
    changes = w.changes.where("_change <> 'unchanged'").collect()
    assert {(row["old"] or row["new"])["k"] for row in changes} == AFFECTED[query]
    after = {row["k"]: tuple(row) for row in w.df.collect()}
    for key in before.keys() - AFFECTED[query]:
        assert after[key] == before[key]
    for nothing in ({}, {"r": [99]}):
        same = capture.what_if(nothing).changes.collect()
        assert {row["_change"] for row in same} == {"unchanged"}
