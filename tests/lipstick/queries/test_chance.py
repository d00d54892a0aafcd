"""Samples and random values: decided once, in the capture, and the same after every deletion."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick.errors import CaptureError
from lipstick.frame import AnnotatedFrame
from rewriter.blocks import topological
from rewriter.errors import UnsupportedError
from tests.oracle.small import Oracles, oracles, small

pytestmark = pytest.mark.classic

A = small(
    "a",
    "id int, k int, x int",
    [(n, [1, 2, None][n % 3], [0, 5, None, 7][n % 4]) for n in range(1, 15)],
)
B = small("b", "id int, k int, y int", [(1, 1, 2), (2, 2, 5), (3, 2, 5), (4, None, 1)])

Deleted = Mapping[str, Sequence[int]]

DELETIONS: tuple[Deleted, ...] = (
    {"a": [6, 9, 12], "b": [2]},
    {"a": list(range(1, 15))},
)


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    with oracles(spark, A, B) as both:
        yield both


def _bag(frame: DataFrame) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row) for row in frame.collect())


def _written(q: AnnotatedFrame, spark: SparkSession) -> None:
    """Have what was written of the block that chance decides as a view."""
    (block,) = (b for b in topological(q.plan.root) if b.core is not None and b.core.once)
    rows = spark.read.parquet(str(q.capture.directory / block.name / "members"))
    names: list[str] = []
    for name in rows.columns:
        bare = re.sub(r"_\d+$", "", name)
        names.append(name if bare in names else bare)
    rows.toDF(*names).createOrReplaceTempView("written")


def _reduced(spark: SparkSession, plain: str, deleted: Deleted, of_a: bool) -> DataFrame:
    gone = {name: ", ".join(map(str, keys)) or "NULL" for name, keys in deleted.items()}
    parts = []
    for name, view, keys in (
        ("a", "a", gone.get("a")),
        ("b", "b", gone.get("b")),
        ("chosen", "written", gone.get("a") if of_a else None),
    ):
        kept = f" WHERE NOT id IN ({keys})" if keys else ""
        parts.append(f"{name}_left AS (SELECT * FROM {view}{kept})")
    text = plain.replace("CHOSEN", "chosen_left").replace("LEFT_A", "a_left")
    return spark.sql(f"WITH {', '.join(parts)} {text.replace('LEFT_B', 'b_left')}")


QUERIES = {
    "sample": (
        "SELECT k, count(*) AS n, sum(x) AS s FROM a TABLESAMPLE (60 PERCENT) GROUP BY k",
        "SELECT k, count(*) AS n, sum(x) AS s FROM CHOSEN GROUP BY k",
    ),
    "sample of a join": (
        "SELECT id, y FROM (SELECT a.id, y FROM a JOIN b USING (k) WHERE y > 1) "
        "TABLESAMPLE (50 PERCENT) AS s",
        "SELECT id, y FROM CHOSEN WHERE EXISTS (SELECT 1 FROM LEFT_B AS b WHERE b.id = id_2)",
    ),
    "outer join with a sample": (
        "SELECT b.id, s.id AS other FROM b LEFT JOIN "
        "(SELECT * FROM a TABLESAMPLE (40 PERCENT)) AS s ON b.k = s.k",
        "SELECT b.id, s.id AS other FROM LEFT_B AS b LEFT JOIN CHOSEN AS s ON b.k = s.k",
    ),
    "values": (
        "SELECT id, r, r + 1 AS s FROM (SELECT id, rand() AS r FROM a) WHERE r < 0.7",
        "SELECT id, drawn AS r, drawn + 1 AS s FROM CHOSEN WHERE drawn < 0.7",
    ),
    "rows by chance": (
        "SELECT id, shuffle(array(id, x, 9))[0] AS u FROM a ORDER BY rand() LIMIT 4",
        "SELECT id, drawn[0] AS u FROM CHOSEN ORDER BY drawn_2, id LIMIT 4",
    ),
    "grouped by chance": (
        "SELECT rand() < 0.5 AS h, count(*) AS n, sum(x) AS s FROM a GROUP BY h",
        "SELECT drawn < 0.5 AS h, count(*) AS n, sum(x) AS s FROM CHOSEN GROUP BY h",
    ),
    "of groups": (
        "SELECT k, sum(x) AS s, randn() AS r FROM a GROUP BY k",
        "SELECT g.k, s, drawn AS r FROM (SELECT k, sum(x) AS s FROM LEFT_A GROUP BY k) AS g "
        "JOIN written AS w ON w.b1_k <=> g.k",
    ),
    "in windows": (
        "SELECT id, row_number() OVER (PARTITION BY k ORDER BY rand()) AS n FROM a",
        "SELECT id, row_number() OVER (PARTITION BY k ORDER BY drawn) AS n FROM CHOSEN",
    ),
    "fewer than a sample": (
        "SELECT id FROM a EXCEPT SELECT id FROM a TABLESAMPLE (50 PERCENT)",
        "SELECT id FROM LEFT_A EXCEPT SELECT id FROM CHOSEN",
    ),
}


@pytest.mark.many
@pytest.mark.parametrize("case", QUERIES)
def test_what_chance_decided_stays(on: Oracles, case: str) -> None:
    sql, plain = QUERIES[case]
    q, spark = on.ls.sql(sql), on.ls.spark
    _written(q, spark)
    of_a = case != "of groups"
    offline = lipstick.open(q.capture.directory)
    for deleted in DELETIONS:
        expected = _bag(_reduced(spark, plain, deleted, of_a))
        lists = {name: list(keys) for name, keys in deleted.items() if name in q.plan.relations}
        if "b" in deleted:
            what_if = q.what_if(lists)
            assert _bag(what_if.df) == expected, (sql, deleted)
            assert what_if.method == "annotations"
        without = offline.what_if(lists)
        rows = Counter(map(tuple, zip(*(c.to_pylist() for c in without.df.columns), strict=True)))
        assert rows == expected, (sql, deleted)
    assert _bag(q.df) == _bag(_reduced(spark, plain, {}, of_a))
    assert _bag(q.plan.annotated.drop("_prov")) == _bag(q.df)
    counted = offline.algebra.evaluate(lipstick.semirings.Counting())
    assert sum(counted.column("_value").to_pylist()) == offline.df.num_rows


@pytest.mark.engines("spark")
def test_a_seed_chooses_as_spark_does(on: Oracles) -> None:
    for sql in (
        "SELECT * FROM a TABLESAMPLE (50 PERCENT) REPEATABLE (5)",
        "SELECT id, rand(3) AS r FROM a",
    ):
        assert _bag(on.ls.sql(sql).df) == _bag(on.ls.spark.sql(sql)), sql


def test_a_number_of_rows_is_a_limit(on: Oracles) -> None:
    sql = "SELECT id FROM a TABLESAMPLE (3 ROWS)"
    q = on.ls.sql(sql)
    assert [row.id for row in q.df.collect()] == [1, 2, 3]
    left = q.what_if({"a": [2]}).df.collect()
    assert sorted(row.id for row in left) == [1, 3, 4]


def test_a_frame_answers_and_is_saved_as_it_was_captured(on: Oracles, tmp_path: Path) -> None:
    q = on.ls.sql("SELECT id, rand() AS r FROM a WHERE rand() < 0.5")
    before = _bag(q.df)
    saved = q.save(tmp_path / "saved")
    assert _bag(saved.df) == before == _bag(q.df)
    assert lipstick.open(tmp_path / "saved").df.num_rows == sum(before.values())
    with pytest.raises(CaptureError, match="exists already"):
        q.save(tmp_path / "saved")
    with pytest.raises(UnsupportedError, match="values by reference"):
        q.save(tmp_path / "other", values="reference")
    with pytest.raises(UnsupportedError, match="cannot be run again"):
        q.what_if({"a": [1]}, method="rerun")


def test_a_frame_that_is_saved_first_answers_so(on: Oracles, tmp_path: Path) -> None:
    q = on.ls.sql("SELECT id, rand() AS r FROM a")
    assert _bag(q.save(tmp_path / "saved").df) == _bag(q.df)


def test_two_calls_are_two_values(on: Oracles) -> None:
    q = on.ls.sql("SELECT rand() = rand() AS same FROM a")
    assert {row.same for row in q.df.collect()} == {False}
