"""Data frames in which chance decides: the rows that Spark chooses, then the same luck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from rewriter.errors import UnsupportedError

Build = Callable[[DataFrame], DataFrame]

COUNT = 125
DELETED = list(range(0, COUNT, 3))


@pytest.fixture(scope="module")
def tracked(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[lipstick.Session]:
    """A session with a relation of three files in no order, some of whose types have none."""
    folder = Path(tmp_path_factory.mktemp("random"))
    number = F.col("id")
    rows = spark.range(COUNT).select(
        ((number * 77) % COUNT).alias("n"),
        F.when(number % 5 > 0, number % 3).alias("k"),
        F.array(number % 2).alias("a"),
        F.create_map(number, number).alias("m"),
    )
    rows.repartition(3).write.parquet(str(folder / "t"))
    with lipstick.session(spark) as ls:
        ls.track("t", spark.read.parquet(str(folder / "t")), key="n")
        yield ls


def _split(part: int, seed: int = 3) -> Build:
    return lambda t: t.randomSplit([0.5, 0.3, 0.2], seed)[part]


FRAMES: dict[str, Build] = {
    "first part": _split(0),
    "second part": _split(1),
    "last part": _split(2),
    "part of a filter": lambda t: t.where("k = 1").select("n").randomSplit([0.5, 0.5], 3)[1],
    "part of distinct rows": lambda t: t.select("k", "n").distinct().randomSplit([0.5, 0.5], 3)[0],
    "part of a join": lambda t: (
        t.alias("a")
        .join(t.alias("b"), F.col("a.n") == F.col("b.n") - 1)
        .select("a.n", F.col("b.n").alias("o"))
        .randomSplit([0.5, 0.5], 3)[1]
        .where("o % 3 != 0")
    ),
    "columns of a part": lambda t: t.randomSplit([0.4, 0.6], 9)[1].select("n"),
    "part by a struct": lambda t: t.select(
        F.struct((-F.col("n")).alias("map`s")).alias("a`s"), "n"
    ).randomSplit([0.5, 0.5], 3)[0],
    "part by an interval": lambda t: t.select(
        F.make_dt_interval(-F.col("n")).alias("d"), "n"
    ).randomSplit([0.5, 0.5], 3)[0],
    "a third": lambda t: t.sample(1 / 3, 5),
    "a sample of numbers": lambda t: t.join(
        t.sparkSession.range(40).sample(0.5, 5), F.col("id") == F.col("n")
    ).select("n"),
    "in order": lambda t: t.sortWithinPartitions(F.desc("n")).sample(0.5, 5).select("n"),
    "numbers in order": lambda t: (
        t.sortWithinPartitions(F.desc("n"))
        .withColumn("i", F.monotonically_increasing_id())
        .select("n", "i")
    ),
    "filter": lambda t: t.withColumn("r", F.rand(3)).where("r < 0.5").select("n", "r"),
    "filter before": lambda t: t.where("k = 1").where("rand(-4L) < 0.5").select("n"),
    "filter after": lambda t: t.where("rand(-4L) < 0.5").where("k = 1").select("n"),
    "twice": lambda t: t.select("n", F.rand(3).alias("r")).withColumn("s", F.col("r") * 2),
    "others": lambda t: t.select(
        "n",
        F.randn(4),
        F.expr("uniform(1, 10, 3)"),
        F.expr("randstr(5, 3)"),
        F.spark_partition_id(),
    ),
    "numbered and shuffled": lambda t: t.select(
        "n", F.expr("uuid(7)"), F.shuffle(F.array("n", "k")), F.rand()
    ),
}


def _bag(frame: DataFrame) -> Counter[str]:
    return Counter(map(str, frame.collect()))


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.many
def test_rows_are_those_that_spark_chooses(tracked: lipstick.Session, name: str) -> None:
    frame = FRAMES[name](tracked.tracked["t"].source.frame)
    q = tracked.annotate(frame)
    expected = _bag(frame)
    assert sum(expected.values()) > 0
    assert _bag(q.df) == expected
    gone = set(DELETED)
    left = Counter(str(row) for row in q.df.collect() if row["n"] not in gone)
    what_if = q.what_if({"t": DELETED})
    assert _bag(what_if.df) == left
    assert what_if.method == "annotations"


@pytest.mark.slow_over_connect
def test_parts_are_apart_and_all(tracked: lipstick.Session) -> None:
    """Of a frame, and of its groups, as many annotated frames as parts."""
    table = tracked.tracked["t"].source.frame
    groups = table.groupBy("n").agg(F.max("k").alias("k"))
    for frame in (table.select("n", "k"), groups):
        parts = [tracked.annotate(part) for part in frame.randomSplit([0.5, 0.3, 0.2], 7)]
        together = sum((_bag(part.df) for part in parts), Counter())
        assert together == _bag(frame)


@pytest.mark.engines("spark")
def test_random_order(tracked: lipstick.Session) -> None:
    frame = tracked.tracked["t"].source.frame.select("n").orderBy(F.rand(3)).limit(5)
    q = tracked.annotate(frame)
    assert [row.n for row in q.df.collect()] == [row.n for row in frame.collect()]


def test_groups_of_random_values(tracked: lipstick.Session) -> None:
    frame = tracked.tracked["t"].source.frame.withColumn("r", F.rand(2))
    frame = frame.groupBy("k").agg(F.min("r").alias("least"), F.count("*").alias("n"))
    assert _bag(tracked.annotate(frame).df) == _bag(frame)


def test_parts_in_an_order_that_deletions_change(tracked: lipstick.Session) -> None:
    groups = tracked.tracked["t"].source.frame.groupBy("k").agg(F.sum("n").alias("s"))
    part = groups.select("s", "k").randomSplit([0.5, 0.5], 3)[0]
    with pytest.raises(UnsupportedError, match="in an order by aggregated values"):
        tracked.annotate(part)
