"""Rows of captures that are computed in this process are those that Spark computes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture import local_rows as computed
from lipstick.capture.files import Files
from lipstick.engines.memory.store import StoredDataset
from lipstick.stages.settings import temporary_settings
from semiring.arrays.arrow import decoded
from tests.oracle.rows import Bag, assert_same_bag, assert_same_schema, from_arrow

ROWS = """
    VALUES (1, 'a', 1.50, 2.5D, DATE '2024-01-31', TIMESTAMP '2024-01-31 10:00:00'),
           (2, 'a', NULL, 0.5D, DATE '2024-02-01', NULL),
           (3, 'b', -2.25, NULL, NULL, TIMESTAMP '2024-02-29 23:59:59.5'),
           (4, NULL, 4.00, 1.5D, DATE '2023-12-31', TIMESTAMP '2023-12-31 00:00:00'),
           (5, 'b', 4.00, 1.5D, DATE '2023-12-31', TIMESTAMP '2023-12-31 00:00:00')
    AS r(id, k, v, x, d, t)"""

HERE = (
    "SELECT k, sum(v) AS s, count(*) AS n, max(t) AS t FROM r GROUP BY k HAVING count(v) > 0"
    " ORDER BY k LIMIT 2",
    "SELECT sum(v) AS s, avg(v) AS a, min(d) AS d FROM r WHERE id > 9",
    "SELECT DISTINCT k, d FROM r",
    "SELECT id, k FROM r WHERE v > (SELECT avg(v) FROM r) ORDER BY id",
    "SELECT id, d FROM r UNION ALL SELECT count(*), min(d) FROM r GROUP BY k",
    "SELECT l.id, count(r.id) AS n FROM r l LEFT JOIN r ON l.id < r.id AND r.v > 0 GROUP BY l.id",
    "SELECT a.k, sum(a.v + b.v) AS s FROM r a JOIN r b ON a.d = b.d GROUP BY a.k",
    "SELECT id, row_number() OVER (PARTITION BY k ORDER BY v DESC, id) AS n, t FROM r",
    "SELECT id, rank() OVER (ORDER BY v) AS n, sum(v) OVER (PARTITION BY k) AS s FROM r",
    "SELECT k, d, sum(v) AS s, grouping(d) AS g FROM r GROUP BY ROLLUP (k, d)",
    "SELECT k, d, count(*) AS n FROM r GROUP BY GROUPING SETS ((k), (d), ()) HAVING count(v) > 0",
    "SELECT k, count_if(v > 1) AS c, max_by(id, v) AS m, min_by(d, id) AS n, bool_and(v > 0) AS b,"
    " bit_or(id) AS o, mode(d, true) AS f FROM r GROUP BY k",
    "SELECT k, median(v) AS m, percentile(id, 0.3) AS p, percentile(x, 0.9) AS q FROM r GROUP BY k",
    # Cores that read the tuples of other blocks, and elements of arrays.
    "WITH g AS (SELECT k, sum(v) AS s FROM r GROUP BY k HAVING k IS NOT NULL AND sum(v) > 0)"
    " SELECT r.id, g.s FROM r JOIN g ON r.k = g.k",
    "SELECT r.id, w.n FROM r JOIN (SELECT id, row_number() OVER (PARTITION BY k ORDER BY id) AS n"
    " FROM r) w ON r.id = w.id AND r.id > 1",
    "SELECT r.id, g.n FROM r LEFT JOIN (SELECT k, d, count(*) AS n FROM r GROUP BY ROLLUP (k, d)) g"
    " ON r.k <=> g.k AND r.d = g.d",
    "SELECT u.k, u.v, r.id FROM (SELECT k, v FROM r UNION ALL SELECT k, max(v) FROM r GROUP BY k) u"
    " JOIN r ON u.k = r.k",
    "SELECT id, e FROM r LATERAL VIEW explode(array(id, 7)) AS e WHERE e > 3",
    "SELECT window.start AS s, count(*) AS n FROM r GROUP BY window(t, '30 days', '10 days')",
    "SELECT id, p, a, b FROM r LATERAL VIEW OUTER inline(IF(id > 2, array(struct(id AS a, k AS b)),"
    " NULL)) AS a, b LATERAL VIEW posexplode(map(id, v)) AS p, q, w",
)
LEFT_TO_SPARK = (
    "SELECT k, sum(x) AS s FROM r GROUP BY k",
    "SELECT k, stddev(v) AS s FROM r GROUP BY k",
    "SELECT k, soundex(max(k)) AS s FROM r GROUP BY k",
    "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY id) AS s FROM r",
    "SELECT id, avg(x) OVER (PARTITION BY k) AS s FROM r",
    "SELECT k FROM r EXCEPT ALL SELECT k FROM r WHERE id = 2",
    "SELECT c.n, r.id FROM (SELECT count(*) AS n FROM r) c JOIN r ON r.id > 3",
    "SELECT c.k, r.id FROM (SELECT k, e FROM (SELECT k, array(1, 2) AS l, count(*) AS n FROM r"
    " GROUP BY k) LATERAL VIEW posexplode(l) AS p, e) c JOIN r ON r.id = c.e",
)


pytestmark = pytest.mark.engines("memory")


@pytest.fixture(scope="module")
def tracked(spark: SparkSession) -> Iterator[lipstick.Session]:
    """A session with a relation of most types."""
    with lipstick.session(spark) as ls:
        ls.track("r", spark.sql(f"SELECT * FROM ({ROWS})"), key="id")
        yield ls


@pytest.fixture
def by_spark(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The datasets that Spark's jobs write from now on."""
    written: list[Path] = []
    plain = Files.write

    def write(self: Files, frame: Any, path: Path) -> None:
        written.append(path)
        plain(self, frame, path)

    monkeypatch.setattr(Files, "write", write)
    return written


@pytest.mark.parametrize("values", ["copy", "reference"])
@pytest.mark.parametrize("sql", HERE + LEFT_TO_SPARK)
@pytest.mark.many
def test_rows_are_those_of_spark(
    tracked: lipstick.Session,
    by_spark: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    sql: str,
    values: str,
) -> None:
    q = tracked.sql(sql)
    monkeypatch.setattr(computed, "MOST", 10_000)
    q.save(tmp_path / "here", values=values)
    if values == "copy" and sql in HERE and hasattr(tracked.spark, "_jsparkSession"):
        assert not by_spark
    monkeypatch.setattr(computed, "MOST", 0)
    q.save(tmp_path / "spark", values=values)
    datasets = [path.relative_to(tmp_path / "spark") for path in tmp_path.glob("spark/*/*/")]
    assert datasets
    for path in datasets:
        expected, actual = _bag(tmp_path / "spark" / path), _bag(tmp_path / "here" / path)
        assert_same_bag(expected, actual, str(path))
        assert_same_schema(expected, actual, str(path))


@pytest.mark.parametrize("sql", LEFT_TO_SPARK)
def test_what_spark_alone_computes_is_left_to_it(
    tracked: lipstick.Session,
    by_spark: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    sql: str,
) -> None:
    monkeypatch.setattr(computed, "MOST", 10_000)
    tracked.sql(sql).save(tmp_path / "capture")
    assert "rows" in {path.name for path in by_spark}


def test_rows_outside_ansi_mode_are_left_to_spark(
    tracked: lipstick.Session,
    by_spark: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """What fails here is NULL there, or something else."""
    monkeypatch.setattr(computed, "MOST", 10_000)
    with temporary_settings(tracked.spark, {"spark.sql.ansi.enabled": "false"}):
        tracked.sql(HERE[0]).save(tmp_path / "capture")
    assert "rows" in {path.name for path in by_spark}


def test_rows_of_many_members_are_left_to_spark(
    tracked: lipstick.Session,
    by_spark: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """The rows that members refer to count as well."""
    sql = "SELECT r.id, n FROM r JOIN (SELECT k, count(*) AS n FROM r GROUP BY k) g ON r.k = g.k"
    monkeypatch.setattr(computed, "MOST", 4 + 3)
    tracked.sql(sql).save(tmp_path / "few")
    assert "rows" not in {path.name for path in by_spark}
    monkeypatch.setattr(computed, "MOST", 4 + 2)
    tracked.sql(sql).save(tmp_path / "many")
    assert "rows" in {path.name for path in by_spark}


def _bag(path: Path) -> Bag:
    dataset = StoredDataset(path)
    return from_arrow(pa.table({name: decoded(dataset.column(name)) for name in dataset.names}))
