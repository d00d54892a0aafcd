"""Functions of groups in data frames: black boxes over the rows of each group.

The functions are local, so that workers, which have no tests, get them by value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick.errors import NeedsSparkError
from lipstick.frame import AnnotatedFrame
from rewriter.errors import UnsupportedError
from tests.oracle.bag import PROVENANCE, check_counting
from tests.oracle.deletion import check_changes
from tests.oracle.rows import Bag, assert_same_bag, assert_same_schema, difference, from_spark
from tests.oracle.small import Oracles, annotated, oracles, small, token

NAN = float("nan")
BIDS = small(
    "bids",
    "id int, car string, amount int, share double",
    [
        (1, "a", 3, 0.5),
        (2, "a", 3, NAN),
        (3, "a", 9, -0.0),
        (4, "b", None, 0.0),
        (5, None, 2, None),
        (6, None, 9, NAN),
        (7, "c", 4, -1.5),
    ],
)
CARS = small("cars", "number int, car string, price int", [(1, "a", 5), (2, "d", 2), (3, None, 9)])
NONE = small("none", "id int, car string, amount int, share double", [])

Build = Callable[[DataFrame, DataFrame], DataFrame]


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Bids for cars with NULLs, NaN and zeros of both signs."""
    with oracles(spark, BIDS, CARS, NONE) as both:
        yield both


def _hold(
    on: Oracles, build: Build, *deletions: dict[str, list[int]], grouping: bool = False
) -> AnnotatedFrame:
    """Hold a frame against both oracles: plain frames over what is left."""
    expected = _plain(on, build)
    q = on.ls.annotate(build(*_tracked(on)))
    actual = from_spark(q.plan.annotated).without(PROVENANCE)
    assert_same_schema(expected, actual, q.query)
    assert_same_bag(expected, actual, q.query)
    counted = from_spark(q.algebra.evaluate(lipstick.semirings.Counting()))
    check_counting(expected, counted, q.query, grouping=grouping)
    changed = 0
    for number, deletion in enumerate(deletions):
        w = q.what_if(delete=deletion)
        assert w.method != "rerun"
        after = _plain(on, build, deletion)
        what = f"deleting {deletion}\n{q.query}"
        assert_same_bag(after, from_spark(w.df), what)
        if number == 0:
            check_changes(expected, after, from_spark(w.changes), what, empty=not deletion)
        changed += bool(difference(expected.rows, after.rows))
    assert changed
    return q


def _tracked(on: Oracles) -> tuple[DataFrame, DataFrame]:
    return on.ls.tracked["bids"].source.frame, on.ls.tracked["cars"].source.frame


def _plain(on: Oracles, build: Build, deleted: dict[str, list[int]] | None = None) -> Bag:
    deleted = deleted or {}
    frames = [
        relation.frame(on.plain.spark, relation.without([(key,) for key in deleted.get(name, ())]))
        for name, relation in on.database.relations.items()
    ]
    return from_spark(build(frames[0], frames[1]))


def _best(bids: DataFrame, cars: DataFrame) -> DataFrame:
    """The highest amount of a car twice, and how many bids there were; nothing of two bids."""

    def best(rows: pd.DataFrame) -> pd.DataFrame:
        if len(rows) == 2:
            return pd.DataFrame()
        most = rows["amount"].max()
        return pd.DataFrame({"n": len(rows), "most": [most, most]})

    return bids.groupBy("car").applyInPandas(best, "n int, most double")


def _keyed(bids: DataFrame, cars: DataFrame) -> DataFrame:
    """By two keys, of which one is not a column and one a double; the result by place."""

    def keyed(key: tuple[object, ...], rows: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame([[*key, len(rows), rows["amount"].sum()]])

    group = bids.groupBy(F.col("share"), (F.col("id") % 2).alias("odd"))
    return group.applyInPandas(keyed, "share double, odd int, n long, total double")


def _all(bids: DataFrame, cars: DataFrame) -> DataFrame:
    """All rows as one group, of a filtered frame, with conditions and a join above."""

    def numbered(rows: pd.DataFrame) -> pd.DataFrame:
        ordered = rows.sort_values("id")
        return pd.DataFrame({"car": ordered["car"], "rank": range(len(rows))})

    ranks = bids.where("id > 1").groupBy().applyInPandas(numbered, "car string, rank int")
    joined = ranks.where("rank > 0").join(cars, "car")
    return joined.groupBy("price").agg(F.count("*").alias("n"), F.max("rank").alias("last"))


def _twice(bids: DataFrame, cars: DataFrame) -> DataFrame:
    """Over a grouping, and joined to itself; Spark leaves the order of a group's rows open."""

    def spread(rows: pd.DataFrame) -> pd.DataFrame:
        ordered = rows.sort_values("car", na_position="first")
        return ordered.assign(part=range(len(rows)))[["car", "n", "part"]]

    counts = bids.groupBy("car").agg(F.count("*").alias("n"))
    spread_counts = counts.groupBy("n").applyInPandas(spread, "car string, n long, part int")
    pairs = spread_counts.alias("l").join(spread_counts.alias("r"), F.col("l.n") == F.col("r.n"))
    return pairs.select("l.car", F.col("r.car").alias("other"), "r.part")


def _tables(bids: DataFrame, cars: DataFrame) -> DataFrame:
    def counted(key: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        if rows.num_rows == 2:
            return pa.table({})
        return pa.table({"n": pa.array([rows.num_rows], pa.int64()), "car": pa.array([key[0]])})

    return bids.groupBy("car").applyInArrow(counted, "car string, n long")


def _sides(bids: DataFrame, cars: DataFrame) -> DataFrame:
    """Of two frames, of which either may have no rows for a key."""

    def sides(key: tuple[object, ...], left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
        prices = right["price"].sum() if len(right.columns) == 3 else -1
        return pd.DataFrame({"car": [key[0]], "n": [len(left)], "prices": [prices]})

    groups = bids.groupBy("car").cogroup(cars.groupBy("car"))
    return groups.applyInPandas(sides, "car string, n int, prices int")


def _two_tables(bids: DataFrame, cars: DataFrame) -> DataFrame:
    def sides(left: pa.Table, right: pa.Table) -> pa.Table:
        counts = [left.num_rows, right.num_rows, left.num_columns + right.num_columns]
        return pa.table({"counts": pa.array([counts], pa.list_(pa.int32()))})

    groups = bids.groupBy().cogroup(cars.where("price > 4").groupBy())
    return groups.applyInArrow(sides, "counts array<int>")


def _mapped(bids: DataFrame, cars: DataFrame) -> DataFrame:
    """Row by row, of a join, in partitions that are Spark's own affair; with a column too many."""

    def mapped(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for rows in frames:
            twice = rows[rows["amount"] > 2].assign(twice=rows["amount"] * 2)
            yield twice[["id", "twice", "car"]]

    return bids.join(cars, "car").mapInPandas(mapped, "id int, twice double")


def _parted(bids: DataFrame, cars: DataFrame) -> DataFrame:
    """The first row of each partition, and how many there are."""

    def first(frames: Iterator[pd.DataFrame]) -> list[pd.DataFrame]:
        parts = list(frames)
        if not parts:
            return []
        rows = pd.concat(parts)
        return [rows.head(1).assign(n=len(rows))[["car", "id", "n"]]]

    parts = bids.repartition(3, "car", "amount").where("id <> 7")
    ordered = parts.sortWithinPartitions(F.desc("amount"), "id")
    return ordered.mapInPandas(first, "car string, id int, n int")


def _together(bids: DataFrame, cars: DataFrame) -> DataFrame:
    """All rows in one partition."""

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total = sum(batch.num_rows for batch in batches)
        if total:
            yield pa.record_batch({"n": pa.array([total, total], pa.int64())})

    return bids.coalesce(1).mapInArrow(counted, "n long")


@pytest.mark.many
@pytest.mark.classic
@pytest.mark.parametrize(
    "build",
    [
        *(_best, _tables, _sides, _mapped),
        *(
            pytest.param(build, marks=pytest.mark.slow)
            for build in (_parted, _keyed, _all, _twice, _two_tables, _together)
        ),
    ],
)
def test_function_of_groups(on: Oracles, build: Build) -> None:
    _hold(
        on,
        build,
        {} if build is _tables else {"bids": [3]},
        {"bids": [5, 6], "cars": [2]},
        {"bids": [1, 2, 3, 4, 5, 6, 7], "cars": [1]},
        grouping=build is _all,
    )


@pytest.mark.classic
@pytest.mark.slow
def test_values_are_those_of_the_plain_frame(on: Oracles, spark: SparkSession) -> None:
    """Of every type, with NULLs, as pandas and as Arrow; in a time zone whose hours come twice."""
    other_types = (
        "id int, b boolean, da date, tn timestamp_ntz, de decimal(10,2), bi binary, "
        "ar array<int>, mp map<string, int>, n int, fl float, sm smallint, big long, one int"
    )
    types = f"{other_types}, ts timestamp, st struct<u: int, v: timestamp>"
    hour = "timestamp_seconds(1729987200 + id * 1800)"
    columns = [
        "id",
        "amount > 3 AS b",
        "date_add(DATE'2024-01-01', amount) AS da",
        f"if(amount > 2, {hour}, NULL) AS ts",
        "CAST(concat('2024-03-31 02:30:0', id) AS TIMESTAMP_NTZ) AS tn",
        "CAST(share AS DECIMAL(10, 2)) AS de",
        "encode(car, 'utf-8') AS bi",
        "array(amount, NULL, id) AS ar",
        "named_struct('u', amount, 'v', timestamp_seconds(id)) AS st",
        "map('a', amount, 'b', id) AS mp",
        "amount AS n",
        "CAST(share AS FLOAT) AS fl",
        "CAST(id AS SMALLINT) AS sm",
        "CAST(id AS LONG) * 9007199254740993 AS big",
        "1 AS one",
    ]

    def typed(bids: DataFrame, cars: DataFrame) -> DataFrame:
        rows = bids.selectExpr(*columns).where("id <> 2")
        zeroes = rows.groupBy("b").applyInPandas(lambda frame: frame, types)
        return zeroes.groupBy("one").applyInPandas(lambda key, frame: frame, types)

    def untimed(bids: DataFrame, cars: DataFrame) -> DataFrame:
        rows = bids.selectExpr(*(c for c in columns if "timestamp_seconds" not in c))
        return rows.groupBy("b").applyInArrow(lambda table: table, other_types)

    before = str(spark.conf.get("spark.sql.session.timeZone"))
    for session in (spark, on.plain.spark):
        session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        _hold(on, typed, {"bids": [3, 5]})
        _hold(on, untimed, {"bids": [3, 5]})
    finally:
        for session in (spark, on.plain.spark):
            session.conf.set("spark.sql.session.timeZone", before)


def _conditions(rows: Mapping[Any, int], values: tuple[Any, ...], members: Any) -> list[str]:
    """Return the ends of the conditions of rows with some values, whose group has these members.

    A row is there while the group is, and while the function makes so many rows.
    """
    start = f"{members.delta()}·[size(_LIPSTICK_UDF_"
    annotated_so = [(k, n) for (row, k), n in rows.items() if row == values]
    assert all(k.tokens == members.tokens for k, _ in annotated_so)
    found = {str(k): n for k, n in annotated_so}
    assert all(shown.startswith(start) and n == 1 for shown, n in found.items()), found
    return sorted(shown.rpartition(")")[2] for shown in found)


def test_row_depends_on_its_group(on: Oracles) -> None:
    bids, cars = _tracked(on)
    q = on.ls.annotate(_best(bids, cars))
    of_a = token("bids", 1) + token("bids", 2) + token("bids", 3)
    assert _conditions(annotated(q), (3, 9.0), of_a) == [" > 0]", " > 1]"]
    assert q.lineage()["bids"].count() == 5


def test_row_depends_on_its_partition(on: Oracles) -> None:
    bids, cars = _tracked(on)
    of_all = sum((token("bids", number) for number in range(2, 8)), token("bids", 1))
    rows = annotated(on.ls.annotate(_together(bids, cars)))
    assert _conditions(rows, (7,), of_all) == [" > 0]", " > 1]"]
    assert len(rows) == 2


def test_row_of_a_cogroup_depends_on_both_groups(on: Oracles) -> None:
    bids, cars = _tracked(on)
    both = token("bids", 5) + token("bids", 6) + token("cars", 3)
    rows = annotated(on.ls.annotate(_sides(bids, cars)))
    assert _conditions(rows, (None, 2, 9), both) == [" > 0]"]


@pytest.mark.classic
def test_rows_of_partitions_without_rows_are_refused(on: Oracles) -> None:
    def counted(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield pd.DataFrame({"n": [sum(map(len, frames))]})

    bids, _ = _tracked(on)
    q = on.ls.annotate(bids.repartition(9, "car").mapInPandas(counted, "n int"))
    with pytest.raises(PythonException, match="makes rows of a partition that has none"):
        q.df.collect()


@pytest.mark.slow
@pytest.mark.classic
def test_relation_without_rows_has_no_group(on: Oracles) -> None:
    none = on.ls.tracked["none"].source.frame
    for keys in ((), ("car",)):
        lengths = none.groupBy(*keys).applyInPandas(
            lambda rows: pd.DataFrame({"n": [len(rows)]}), "n int"
        )
        assert not annotated(on.ls.annotate(lengths))


@pytest.mark.classic
def test_saved_capture_needs_spark(on: Oracles) -> None:
    q = on.ls.annotate(_best(*_tracked(on)))
    capture = lipstick.open(q.capture.directory)
    with pytest.raises(NeedsSparkError):
        capture.what_if(delete={"bids": [1]})


def _by_other_types(bids: DataFrame, cars: DataFrame) -> DataFrame:
    groups = bids.groupBy("car").cogroup(cars.groupBy("price"))
    return groups.applyInPandas(lambda left, right: left, "id int")


def _in_parts(
    partitioned: Callable[[DataFrame], DataFrame], bids: DataFrame, cars: DataFrame
) -> DataFrame:
    return partitioned(bids).mapInPandas(lambda frames: frames, "car string")


@pytest.mark.classic
@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (_by_other_types, "keys of other types"),
        *(
            (partial(_in_parts, partitioned), "partitions that are not a function of the data")
            for partitioned in (
                lambda bids: bids.repartition(3),
                lambda bids: bids.repartitionByRange(2, "id"),
                lambda bids: bids.repartition(2, "car").select("car"),
                lambda bids: bids.repartition(2, F.col("id") % 2),
                lambda bids: bids.sortWithinPartitions("id").where("id > 1"),
            )
        ),
        (
            lambda bids, cars: bids.groupBy("car").applyInPandas(lambda rows: rows, ""),
            "an answer without columns is not supported",
        ),
        (
            lambda bids, cars: cars.where(_best(bids, cars).exists()),
            "applyInPandas in a subquery",
        ),
    ],
)
def test_refused(on: Oracles, build: Build, problem: str) -> None:
    with pytest.raises(UnsupportedError, match=problem):
        on.ls.annotate(build(*_tracked(on)))
