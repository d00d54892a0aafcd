"""Data frames over tracked relations: the same as the equivalent SQL, or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.errors import LipstickError, SourceChangedError, TrackingError
from rewriter.errors import UnsupportedError, UntrackedError
from tests.oracle.small import Oracles, oracles, small
from tests.versions import VERSION

LEFT = small(
    "l", "id int, k int, v string", [(1, 1, "a"), (2, 1, "b"), (3, 2, "c"), (4, None, "d")]
)
RIGHT = small("r", "rid int, k int, w int", [(1, 1, 10), (2, 1, 20), (3, None, 30), (4, 2, 40)])

Build = Callable[[DataFrame, DataFrame], DataFrame]


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Two relations with duplicate and NULL keys."""
    with oracles(spark, LEFT, RIGHT) as both:
        yield both


@pytest.fixture(scope="module")
def frames(on: Oracles) -> tuple[DataFrame, DataFrame]:
    """The very frames that were tracked."""
    return on.ls.tracked["l"].source.frame, on.ls.tracked["r"].source.frame


def _self_join(left: DataFrame, right: DataFrame) -> DataFrame:
    pairs = left.alias("a").join(left.alias("b"), F.col("a.k") == F.col("b.k"))
    ordered = pairs.where(F.col("a.id") < F.col("b.id"))
    return ordered.select("a.id", F.col("b.id").alias("other"))


def _join_back(left: DataFrame, right: DataFrame) -> DataFrame:
    groups = right.groupBy("k").agg(F.count("*").alias("n"), F.max("w").alias("most"))
    return left.join(groups, "k").where("n > 1").select("id", "k", "most")


def _same_names(left: DataFrame, right: DataFrame) -> DataFrame:
    both = left.join(right, left.k == right.k).withColumn("c", left.id + right.w)
    return both.groupBy(left.k, right.k).agg(F.sum("c").alias("s")).toDF("a", "b", "s")


def _chain(left: DataFrame, right: DataFrame) -> DataFrame:
    frame = left.join(right, "k")
    for number in range(100):
        frame = frame.withColumn(f"c{number}", F.col("id") + number)
    return frame.where("c99 > 100").select("id", "rid", "c0", "c99")


_MOVED = (
    "timestamp'2026-01-31 12:00:00' + make_dt_interval(id)",
    "timestamp'2026-01-31 12:00:00' - make_dt_interval(id, 2)",
    "timestamp'2026-01-31 12:00:00' + make_ym_interval(0, id)",
    "timestamp'2026-01-31 12:00:00' - make_ym_interval(id)",
    "date_add(date'2026-01-31', id) + INTERVAL 2 DAYS",
    "date_add(date'2026-01-31', id) - INTERVAL 2 DAYS",
    "date_add(date'2026-01-31', id) + INTERVAL 3 HOURS",
    "date_add(date'2026-01-31', id) - make_ym_interval(0, id)",
    "date_add(date'2026-01-31', id) - date'2026-01-01'",
    "timestamp_seconds(id) - timestamp'2026-01-31 12:00:00'",
    "make_dt_interval(id) * 3",
    "make_ym_interval(id) / 2 > make_ym_interval(1)",
)


CASES: dict[str, tuple[Build, str]] = {
    "times and intervals": (
        lambda left, right: left.select(*(F.expr(moved).alias("x") for moved in _MOVED)),
        f"SELECT {', '.join(f'{moved} AS x' for moved in _MOVED)} FROM l",
    ),
    "grouping": (
        lambda left, right: right.groupBy("k").agg(F.sum("w").alias("s"), F.count("*").alias("n")),
        "SELECT k, sum(w) AS s, count(*) AS n FROM r GROUP BY k",
    ),
    "join": (
        lambda left, right: left.join(right, "k").select("id", (F.col("w") * 2).alias("w2")),
        "SELECT id, w * 2 AS w2 FROM l JOIN r USING (k)",
    ),
    "outer join": (
        lambda left, right: left.join(right, "k", "full"),
        "SELECT * FROM l FULL JOIN r USING (k)",
    ),
    "anti join": (
        lambda left, right: left.join(right, "k", "left_anti"),
        "SELECT k, id, v FROM l LEFT ANTI JOIN r USING (k)",
    ),
    "self join": (
        _self_join,
        "SELECT a.id, b.id AS other FROM l a JOIN l b ON a.k = b.k WHERE a.id < b.id",
    ),
    "join back": (
        _join_back,
        "SELECT l.id, l.k, g.most FROM l JOIN"
        " (SELECT k, count(*) AS n, max(w) AS most FROM r GROUP BY k) g ON l.k = g.k WHERE g.n > 1",
    ),
    "columns of one name": (
        _same_names,
        "SELECT a, b, sum(c) AS s FROM (SELECT l.k AS a, r.k AS b, l.id + r.w AS c"
        " FROM l JOIN r ON l.k = r.k) GROUP BY a, b",
    ),
    "a hundred columns": (
        _chain,
        "SELECT id, rid, id + 0 AS c0, id + 99 AS c99 FROM l JOIN r USING (k) WHERE id + 99 > 100",
    ),
    "sets": (
        lambda left, right: left.select("k").union(right.select("k")).distinct(),
        "SELECT k FROM l UNION SELECT k FROM r",
    ),
    "difference": (
        lambda left, right: left.select("k").subtract(right.where("w > 10").select("k")),
        "SELECT k FROM l EXCEPT SELECT k FROM r WHERE w > 10",
    ),
    "order and limit": (
        lambda left, right: right.orderBy(F.desc("w")).limit(2).select("rid", "w"),
        "SELECT rid, w FROM (SELECT * FROM r ORDER BY w DESC LIMIT 2)",
    ),
    "generator": (
        lambda left, right: left.select("id", F.explode(F.array("k", "id")).alias("e")),
        "SELECT id, explode(array(k, id)) AS e FROM l",
    ),
    "missing values": (
        lambda left, right: (
            left.join(right, "k", "left").dropna(subset=["k", "w"]).fillna({"v": "?"})
        ),
        "SELECT l.k, id, coalesce(v, '?') AS v, rid, w FROM l LEFT JOIN r ON l.k = r.k"
        " WHERE l.k IS NOT NULL AND w IS NOT NULL",
    ),
    "some missing values": (
        lambda left, right: (
            left.join(right, "k", "left")
            .selectExpr("id", "v", "w", "double(w) / nullif(k, 1) AS x")
            .dropna(thresh=3)
        ),
        "SELECT id, v, w, x FROM"
        " (SELECT id, v, w, double(w) / nullif(l.k, 1) AS x FROM l LEFT JOIN r ON l.k = r.k)"
        " WHERE int(id IS NOT NULL) + int(v IS NOT NULL) + int(w IS NOT NULL)"
        " + int(x IS NOT NULL AND NOT isnan(x)) >= 3",
    ),
    "missing numbers": (
        lambda left, right: (
            right.selectExpr("rid", "double(w) / nullif(k, 1) AS x").fillna(-1).where("x < 30")
        ),
        "SELECT rid, coalesce(nanvl(x, NULL), -1.0D) AS x"
        " FROM (SELECT rid, double(w) / nullif(k, 1) AS x FROM r)"
        " WHERE coalesce(nanvl(x, NULL), -1.0D) < 30",
    ),
    "other values": (
        lambda left, right: left.replace({"a": "b", "b": None, "c": "d"}).groupBy("v").count(),
        "SELECT v, count(*) AS count FROM (SELECT CASE v WHEN 'a' THEN 'b' WHEN 'b' THEN NULL"
        " WHEN 'c' THEN 'd' ELSE v END AS v FROM l) GROUP BY v",
    ),
    "unpivot": (
        lambda left, right: right.unpivot("rid", ["k", "w"], "name", "value").where("value > 1"),
        "SELECT * FROM r UNPIVOT INCLUDE NULLS (value FOR name IN (k, w)) WHERE value > 1",
    ),
    "pivot": (
        lambda left, right: right.groupBy("w").pivot("k").agg(F.max("rid").alias("m")),
        "SELECT * FROM (SELECT w, k, rid FROM r) PIVOT (max(rid) FOR k IN (NULL, 1, 2))",
    ),
    "pivot by expressions": (
        lambda left, right: (
            right.groupBy(F.col("w") % 2, F.col("k").alias("j"))
            .pivot("k", [1, 2])
            .agg(F.max("rid").alias("m"), F.count("w").alias("n"))
        ),
        "SELECT a AS `(w % 2)`, b AS j, `1_m`, `1_n`, `2_m`, `2_n`"
        " FROM (SELECT w % 2 AS a, k AS b, rid, k, w FROM r)"
        " PIVOT (max(rid) AS m, count(w) AS n FOR k IN (1, 2))",
    ),
    "a row for each key": (
        lambda left, right: right.dropDuplicates(["k"]).where("k > 0").select("k", "w"),
        "SELECT k, first(w) AS w FROM r GROUP BY k HAVING k > 0",
    ),
    "text with values": (
        lambda left, right: (
            left.sparkSession.sql("SELECT id, k FROM l WHERE id > :a", args={"a": 1})
            .join(right, "k")
            .select("id", "w")
        ),
        "SELECT id, w FROM l JOIN r USING (k) WHERE id > 1",
    ),
    "columns that one side has": (
        lambda left, right: left.select("id", "k").unionByName(
            right.select("k", "w"), allowMissingColumns=True
        ),
        "SELECT id, k, NULL AS w FROM l UNION ALL SELECT NULL, k, w FROM r",
    ),
    "where rows are computed": (
        lambda left, right: (
            left.repartition(3).join(F.broadcast(right).coalesce(1), "k").sortWithinPartitions("id")
        ),
        "SELECT * FROM l JOIN r USING (k)",
    ),
    "cube": (
        lambda left, right: right.cube("k").agg(F.sum("w").alias("s"), F.grouping_id().alias("g")),
        "SELECT k, sum(w) AS s, grouping_id() AS g FROM r GROUP BY CUBE (k)",
    ),
    "cube of a frame's columns": (
        lambda left, right: right.cube("k", right.w).count(),
        "SELECT k, w, count(1) AS count FROM r GROUP BY CUBE (k, w)",
    ),
    "fields of a struct": (
        lambda left, right: left.select(F.struct("id", "k").alias("p")).select("p.*"),
        "SELECT id, k FROM l",
    ),
    "a column twice": (
        lambda left, right: right.select("k", "w").union(
            right.select(F.col("k").alias("x"), F.col("k").alias("y"))
        ),
        "SELECT k, w FROM r UNION ALL SELECT k, k FROM r",
    ),
    "renamed rows of a join beside others": (
        lambda left, right: (
            left.withColumnRenamed("k", "c")
            .alias("u")
            .join(right.alias("r"), F.expr("u.c = r.k"))
            .selectExpr("NULL AS merged", "u.*")
            .union(left.withColumnRenamed("k", "c").selectExpr("id AS merged", "*"))
        ),
        "SELECT NULL AS merged, id, l.k AS c, v FROM l JOIN r ON l.k = r.k"
        " UNION ALL SELECT id, id, k, v FROM l",
    ),
    "lateral join": (
        lambda left, right: (
            left.alias("o")
            .lateralJoin(right.where(F.col("k") == F.col("o.k").outer()).select("w"))
            .select("id", "w")
        ),
        "SELECT l.id, t.w FROM l, LATERAL (SELECT w FROM r WHERE r.k = l.k) t",
    ),
    "rows for which others exist": (
        lambda left, right: left.alias("o").where(
            right.where((F.col("k") == F.col("o.k").outer()) & (F.col("w") > 10)).exists()
        ),
        "SELECT * FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND w > 10)",
    ),
    "scalar subqueries": (
        lambda left, right: (
            left.alias("o")
            .where(F.col("id") > right.where("w = 10").select("rid").scalar())
            .select(
                "id",
                right.where(F.col("k") == F.col("o.k").outer())
                .select(F.sum("w").alias("s"))
                .scalar()
                .alias("s"),
                (F.lit(1) + left.agg(F.max("id").alias("m")).scalar()).alias("m"),
            )
        ),
        "SELECT id, (SELECT sum(w) AS s FROM r WHERE r.k = l.k) AS s,"
        " 1 + (SELECT max(id) FROM l) AS m FROM l"
        " WHERE id > (SELECT rid FROM r WHERE w = 10)",
    ),
    "a subquery in a subquery": (
        lambda left, right: left.alias("o").where(
            ~right.alias("i")
            .where(
                (F.col("i.k") == F.col("o.k").outer())
                & left.alias("n")
                .where(
                    (F.col("n.id") == F.col("i.rid").outer())
                    & (F.col("n.k") == F.col("i.k").outer())
                )
                .exists()
            )
            .exists()
        ),
        "SELECT * FROM l o WHERE NOT EXISTS (SELECT 1 FROM r i WHERE i.k = o.k AND EXISTS"
        " (SELECT 1 FROM l n WHERE n.id = i.rid AND n.k = i.k))",
    ),
    "a frame that others are in": (
        lambda left, right: right.where(right.k.isin(left.where("id > 2").select("k"))),
        "SELECT * FROM r WHERE k IN (SELECT k FROM l WHERE id > 2)",
    ),
    "two columns in a frame": (
        lambda left, right: left.where(
            F.struct("k", "id").isin(right.select(F.col("k"), F.col("rid").alias("x")))
        ),
        "SELECT * FROM l WHERE (k, id) IN (SELECT k, rid FROM r)",
    ),
    "a text over a frame": (
        lambda left, right: left.sparkSession.sql(
            "WITH g AS (SELECT k, count(*) AS n FROM {others} GROUP BY k)"
            " SELECT g.n, {rows}.id FROM g JOIN {rows} ON g.k = {rows}.k",
            others=right.where("w > 10"),
            rows=left,
        ).where("n < 3"),
        "SELECT n, id FROM (SELECT k, count(*) AS n FROM r WHERE w > 10 GROUP BY k) g"
        " JOIN l ON g.k = l.k WHERE n < 3",
    ),
    "table and text": (
        lambda left, right: left.sparkSession.table("l").selectExpr("id + 1 AS n").filter("n > 2"),
        "SELECT id + 1 AS n FROM l WHERE id + 1 > 2",
    ),
}


NEWER = ("a frame that others are in", "two columns in a frame")


@pytest.mark.many
@pytest.mark.parametrize("name", CASES)
def test_as_sql(on: Oracles, frames: tuple[DataFrame, DataFrame], name: str) -> None:
    """Answer and annotations are those of the query that says the same."""
    if name in NEWER and VERSION < (4, 1):
        pytest.skip("isin() takes no frame before Spark 4.1.")
    build, sql = CASES[name]
    on.hold_frame(build(*frames), sql)


@pytest.mark.classic
@pytest.mark.many
@pytest.mark.parametrize("name", ["join back", "columns of one name", "a row for each key"])
def test_oracles(on: Oracles, frames: tuple[DataFrame, DataFrame], name: str) -> None:
    """The text that is made of a frame holds against both oracles."""
    build, _ = CASES[name]
    q = on.ls.annotate(build(*frames))
    on.hold(
        q.query, {"r": [2]}, {"r": [1]}, {"l": [1]}, grouping=name != "join back", offline=False
    )


@pytest.mark.classic
def test_the_order_of_rows_does_not_matter_to_the_keys_of_duplicates(
    on: Oracles, frames: tuple[DataFrame, DataFrame]
) -> None:
    """The other columns, of which Spark would choose, are not in the answer."""
    keys = frames[1].orderBy("w").where("w > 0").dropDuplicates(["k"]).select("k")
    on.hold_frame(keys, "SELECT DISTINCT k FROM r WHERE w > 0")
    counted = frames[1].orderBy("w").dropDuplicates(["k"]).groupBy("k").count()
    on.hold_frame(counted, "SELECT k, count(*) AS count FROM (SELECT DISTINCT k FROM r) GROUP BY k")
    first = frames[1].orderBy("w").dropDuplicates(["k"]).select("k", "w").groupBy("k").count()
    with pytest.raises(UnsupportedError, match="sorted rows"):
        on.ls.annotate(first)


@pytest.mark.parametrize(
    ("build", "error", "problem"),
    [
        (
            lambda left, right: left.crossJoin(left.sparkSession.createDataFrame([(1,)], "z int")),
            UntrackedError,
            "untracked data: rows of",
        ),
        (
            lambda left, right: left._joinAsOf(right, leftAsOfColumn="k", rightAsOfColumn="w"),
            UnsupportedError,
            "an as-of join takes the nearest row",
        ),
        (lambda left, right: left.sample(True, 0.5, 1), UnsupportedError, "with replacement"),
        (
            lambda left, right: right.orderBy("w").where("w > 0").dropDuplicates(["k"]),
            UnsupportedError,
            r"dropDuplicates\(\) over sorted rows has no rule.*\n.*row_number",
        ),
    ],
)
def test_refused(
    on: Oracles,
    frames: tuple[DataFrame, DataFrame],
    build: Build,
    error: type[LipstickError],
    problem: str,
) -> None:
    """What has no rule is named, before anything runs."""
    with pytest.raises(error, match=problem):
        on.ls.annotate(build(*frames))


def test_sample(on: Oracles, frames: tuple[DataFrame, DataFrame]) -> None:
    """It is drawn once, and the same for the same seed."""
    q = on.ls.annotate(frames[1].sample(0.5, 3).groupBy("k").count())
    assert "TABLESAMPLE (50 PERCENT) REPEATABLE (" in q.query
    assert len(q.polynomials(limit=None)) == q.df.count()


def test_python_function(on: Oracles, frames: tuple[DataFrame, DataFrame]) -> None:
    """A function that only the frame knows is registered."""
    double = F.udf(lambda value: None if value is None else 2 * value, "int")
    frame = frames[1].select(double("w").alias("d")).where("d > 20")
    q = on.ls.annotate(frame)
    assert "_lipstick_udf_" in q.query
    rows = Counter(row["d"] for row, _ in q.polynomials())
    assert rows == Counter([40, 60, 80])


def test_python_function_of_named_arguments(
    on: Oracles, frames: tuple[DataFrame, DataFrame]
) -> None:
    less = F.udf(lambda a, b: (a or 0) - (b or 0), "int")
    frame = frames[1].select("rid", less(b=F.col("rid"), a=F.col("w")).alias("d"))
    q = on.ls.annotate(frame)
    assert Counter(q.df.collect()) == Counter(frame.collect())
    left = q.what_if(delete={"r": "rid < 3"}).df.collect()
    assert Counter(left) == Counter([(3, 27), (4, 36)])


def test_table_functions_of_variants(on: Oracles, frames: tuple[DataFrame, DataFrame]) -> None:
    """Of a classic session; over Connect functions of spark.tvf are refused by name."""
    values = frames[0].sparkSession.tvf.variant_explode(F.parse_json(F.lit("[1, 2]")))
    frame = frames[0].lateralJoin(values).select("id", "pos")
    if hasattr(frame, "_jdf"):
        q = on.ls.annotate(frame)
        assert Counter(q.df.collect()) == Counter((n, at) for n in range(1, 5) for at in (0, 1))
        left = q.what_if(delete={"l": "id > 1"}).df.collect()
        assert Counter(left) == Counter([(1, 0), (1, 1)])
    else:
        with pytest.raises(UnsupportedError, match=r"variant_explode of spark\.tvf has no rule"):
            on.ls.annotate(frame)


@pytest.mark.classic
def test_cached_frames_are_looked_through(on: Oracles, frames: tuple[DataFrame, DataFrame]) -> None:
    cached = frames[0].where("id > 1").cache()
    try:
        sql = "SELECT k, count(*) AS count FROM l WHERE id > 1 GROUP BY k"
        on.hold_frame(cached.groupBy("k").count(), sql)
    finally:
        cached.unpersist()


def test_files_are_one_relation_however_their_path_is_spelt(
    on: Oracles, spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "days" / "spelt"
    spark.range(6).selectExpr("id", "id % 2 AS k").write.partitionBy("k").parquet(str(path))
    on.ls.track("spelt", path, key="id")
    try:
        for text in (f"{path}/", f"file:{path}", f"{tmp_path}/./days//spelt", f"{path}/../spelt"):
            read = spark.read.parquet(text)
            q = on.ls.annotate(read.groupBy("k").agg(F.sum("id").alias("n")))
            assert set(q.plan.relations) == {"spelt"}
            assert q.lineage(where="k = 1")["spelt"].count() == 3
        # With other columns, the same files are other rows.
        with pytest.raises(UntrackedError):
            on.ls.annotate(spark.read.parquet(f"{path}/k=0", f"{path}/k=1").where("id > 0"))
    finally:
        on.ls.untrack("spelt")


def test_files_read_again(on: Oracles, spark: SparkSession, tmp_path: Path) -> None:
    """Another frame over the same files is the relation, unless there are new files."""
    path = str(tmp_path / "files")
    spark.range(3).write.parquet(path)
    tracked = on.ls.track("files", path, format="parquet")
    assert tracked.columns == ("id",)
    try:
        q = on.ls.annotate(spark.read.parquet(path).where("id > 0"))
        assert len(q.polynomials()) == 2
        spark.range(1).write.mode("append").parquet(path)
        with pytest.raises(SourceChangedError, match="files"):
            on.ls.annotate(spark.read.parquet(path).where("id > 0"))
    finally:
        on.ls.untrack("files")


def test_source_tracked_twice(on: Oracles, frames: tuple[DataFrame, DataFrame]) -> None:
    """Its name says which relation is meant."""
    on.ls.track("same", frames[0], key="id")
    try:
        with pytest.raises(TrackingError, match="more than once: l, same"):
            on.ls.annotate(frames[0].where("id > 1"))
        q = on.ls.annotate(frames[0].sparkSession.table("same").where("id > 1"))
        assert list(q.plan.relations) == ["same"]
    finally:
        on.ls.untrack("same")


def test_pandas_on_spark(
    spark: SparkSession, on: Oracles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is a column where it has a name."""
    pytest.importorskip("pandas")
    if VERSION < (4, 1):
        pytest.skip("In Spark 4.0 pandas frames do not work in ANSI mode.")
    # Which older versions ask for.
    monkeypatch.setenv("PYARROW_IGNORE_TIMEZONE", "1")
    path = str(tmp_path / "numbers")
    spark.range(4).selectExpr("id", "id % 2 AS k").write.parquet(path)
    on.ls.track("numbers", path, key="id")
    try:
        frame: Any = spark.read.parquet(path).pandas_api(index_col="id")
        q = on.ls.annotate(frame[frame["k"] == 1])
        assert sorted((row["id"], str(p)) for row, p in q.polynomials()) == [
            (1, "numbers:1"),
            (3, "numbers:3"),
        ]
    finally:
        on.ls.untrack("numbers")


def test_no_frame(on: Oracles) -> None:
    with pytest.raises(LipstickError, match="frame is 'SELECT 1', of type str"):
        on.ls.annotate("SELECT 1")  # type: ignore[arg-type]


@pytest.mark.classic
def test_temporary_views_are_read_as_their_frames(on: Oracles) -> None:
    """A view of a frame, or of SQL over one, has no text, and is annotated as what it shows."""
    spark = on.ls.spark
    spark.table("l").groupBy("k").agg(F.sum("id").alias("s")).createOrReplaceTempView("sums")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW larger AS SELECT k, s FROM sums WHERE s > 1")
    try:
        query = "SELECT x.k, y.s FROM larger AS x JOIN sums AS y ON x.k = y.k"
        stated = (
            "WITH sums AS (SELECT k, sum(id) AS s FROM l GROUP BY k),"
            f" larger AS (SELECT k, s FROM sums WHERE s > 1) {query}"
        )
        q = on.hold(stated, {"l": [1]}, offline=False)
        viewed = on.ls.sql(query)
        assert viewed.polynomials() == q.polynomials()
        for gone in ({}, {"l": [1]}):
            rows = viewed.what_if(delete=gone).df.collect()
            assert sorted(rows) == sorted(q.what_if(delete=gone).df.collect())
            assert rows
        spark.createDataFrame([(1,)], "k int").createOrReplaceTempView("larger")
        with pytest.raises(UntrackedError, match=r"relation larger is not tracked at 1:\d+"):
            on.ls.sql("SELECT k FROM larger")
    finally:
        spark.catalog.dropTempView("sums")
        spark.catalog.dropTempView("larger")


@pytest.mark.classic
def test_a_name_that_stands_for_something_else(on: Oracles) -> None:
    """A frame of a text is not that of the tracked relation because of its name alone."""
    spark, tracked_frame = on.ls.spark, on.ls.tracked["l"].source.frame
    try:
        spark.createDataFrame([(7, 7, "x")], "id int, k int, v string").createOrReplaceTempView("l")
        other = spark.sql("SELECT id FROM l WHERE k > 0")
        with pytest.raises(UntrackedError, match="reads untracked data"):
            on.ls.annotate(other)
    finally:
        tracked_frame.createOrReplaceTempView("l")
    assert on.ls.annotate(spark.sql("SELECT id FROM l WHERE k > 0")).df.count() == 3
