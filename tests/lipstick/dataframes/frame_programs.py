"""Everyday programs over data frames: what analysts write, one small thing each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Final

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from tests.oracle.small import small

Program = Callable[[DataFrame, DataFrame, DataFrame], DataFrame]

ORDERS: Final = small(
    "o",
    "id int, c int, item string, n int, price double, day date",
    [
        (1, 10, "tea", 3, 2.5, date(2026, 1, 5)),
        (2, 10, "milk", 1, 1.25, date(2026, 1, 5)),
        (3, 11, "tea", 2, 2.5, date(2026, 1, 17)),
        (4, 12, "bread", None, 4.0, date(2026, 2, 1)),
        (5, 12, "tea", 5, None, date(2026, 2, 3)),
        (6, None, "milk", 2, 1.25, date(2026, 2, 3)),
        (7, 11, "bread", 1, 4.5, None),
        (8, 13, None, 4, 9.0, date(2026, 3, 9)),
    ],
)
PEOPLE: Final = small(
    "p",
    "cid int, name string, tier string, boss int",
    [
        (10, "Ann Lee", "gold", None),
        (11, "Bob Ray", "silver", 10),
        (12, "Cas Oh", "gold", 10),
        (14, "Dee", None, 11),
    ],
)
NOTES: Final = small(
    "t",
    "nid int, text string, js string, xs array<int>",
    [
        (1, "red green", '{"k": 1, "v": ["a", "b"]}', [3, 1, 2]),
        (2, "blue", '{"k": 2, "v": []}', [5]),
        (3, "green  red red", '{"k": null}', []),
        (4, None, None, [7, 7]),
    ],
)
RELATIONS: Final = (ORDERS, PEOPLE, NOTES)
DELETIONS: Final = ({"o": [1, 6], "p": [11], "t": [2]}, {"o": [3, 4, 5], "p": [10], "t": [1, 3]})


def _of_customer(*keys: str) -> WindowSpec:
    return Window.partitionBy("c").orderBy(*keys)


def _bucket(column: str) -> Column:
    value = F.col(column)
    return F.when(value < 2, "few").when(value < 4, "some").otherwise("many")


_PLACE: Final = StructType([StructField("k", IntegerType()), StructField("v", StringType())])

PROGRAMS: Final[dict[str, Program]] = {
    "choose and compute": lambda o, p, t: o.select("id", (F.col("n") * F.col("price")).alias("x")),
    "keep some rows": lambda o, p, t: o.filter((F.col("n") >= 2) & F.col("item").isNotNull()),
    "keep those of a list": lambda o, p, t: o.where(F.col("item").isin("tea", "milk")),
    "keep by a pattern": lambda o, p, t: p.where(F.col("name").rlike("^[AB]")),
    "keep by a prefix": lambda o, p, t: p.where(F.col("name").startswith("A")),
    "keep by a part": lambda o, p, t: p.where(F.col("name").contains("e")).select("cid", "name"),
    "add a column by cases": lambda o, p, t: o.withColumn("size", _bucket("n")),
    "add several columns": lambda o, p, t: o.withColumns(
        {"x": F.col("n") + 1, "y": F.upper("item")}
    ),
    "rename and drop": lambda o, p, t: o.withColumnRenamed("n", "count").drop("price", "day"),
    "rename several": lambda o, p, t: o.withColumnsRenamed({"n": "number", "c": "customer"}),
    "count rows of groups": lambda o, p, t: o.groupBy("item").count(),
    "sum of groups": lambda o, p, t: o.groupBy("c").agg(F.sum("n").alias("n"), F.avg("price")),
    "aggregates by a dictionary": lambda o, p, t: o.groupBy("c").agg({"n": "max", "price": "min"}),
    "all rows as a group": lambda o, p, t: o.agg(F.count("*").alias("a"), F.sum("n").alias("s")),
    "count distinct": lambda o, p, t: o.groupBy("item").agg(F.countDistinct("c").alias("d")),
    "groups by an expression": lambda o, p, t: o.groupBy(
        F.year("day").alias("y"), F.month("day").alias("m")
    ).agg(F.sum("n").alias("s")),
    "having": lambda o, p, t: o.groupBy("c").agg(F.sum("n").alias("s")).where("s > 2"),
    "conditional sums": lambda o, p, t: o.groupBy("c").agg(
        F.sum(F.when(F.col("item") == "tea", F.col("n")).otherwise(0)).alias("tea"),
        F.count_if(F.col("price") > 2).alias("dear"),
    ),
    "collect into lists": lambda o, p, t: o.groupBy("c").agg(
        F.sort_array(F.collect_list("item")).alias("items")
    ),
    "extremes by another column": lambda o, p, t: o.groupBy("item").agg(
        F.max_by("id", "id").alias("last"), F.min_by("n", "id").alias("n")
    ),
    "percentiles": lambda o, p, t: o.groupBy("item").agg(
        F.percentile("n", F.array(F.lit(0.25), F.lit(0.75))).alias("q"), F.median("n").alias("m")
    ),
    "spread": lambda o, p, t: o.groupBy("c").agg(F.stddev("n").alias("s"), F.variance("n")),
    "inner join": lambda o, p, t: o.join(p, o.c == p.cid).select("id", "name", "n"),
    "left join": lambda o, p, t: o.join(p, o.c == p.cid, "left").select("id", "name"),
    "left join, then groups": lambda o, p, t: (
        p.join(o, p.cid == o.c, "left").groupBy("name").agg(F.count("id").alias("orders"))
    ),
    "full join": lambda o, p, t: o.join(p, o.c == p.cid, "full").select("id", "cid"),
    "semi join": lambda o, p, t: p.join(o, p.cid == o.c, "left_semi"),
    "anti join": lambda o, p, t: p.join(o, p.cid == o.c, "left_anti").select("cid", "name"),
    "cross join": lambda o, p, t: p.select("cid").crossJoin(t.select("nid")),
    "self join": lambda o, p, t: (
        p.alias("a").join(p.alias("b"), F.col("a.boss") == F.col("b.cid")).select("a.name", "b.cid")
    ),
    "join by two keys": lambda o, p, t: (
        o.alias("a")
        .join(o.alias("b"), (F.col("a.item") == F.col("b.item")) & (F.col("a.id") < F.col("b.id")))
        .select(F.col("a.id").alias("x"), F.col("b.id").alias("y"))
    ),
    "join with a broadcast": lambda o, p, t: (
        o.join(F.broadcast(p), F.col("c") == F.col("cid")).groupBy("tier").agg(F.sum("n"))
    ),
    "join with aggregated rows": lambda o, p, t: (
        o.join(o.groupBy("c").agg(F.max("n").alias("most")), "c")
        .where("n = most")
        .select("id", "c")
    ),
    "union": lambda o, p, t: o.select("c").union(p.select("cid")).distinct(),
    "union by name": lambda o, p, t: o.select("c", "item").unionByName(
        p.select(F.col("cid").alias("c"), "tier"), allowMissingColumns=True
    ),
    "rows of both": lambda o, p, t: o.select("c").intersect(p.select("cid")),
    "rows of the first alone": lambda o, p, t: o.select("c").subtract(p.select("cid")),
    "rows of the first alone, all": lambda o, p, t: o.select("c").exceptAll(p.select("cid")),
    "distinct by some columns": lambda o, p, t: o.select("c", "item").dropDuplicates(),
    "order and limit": lambda o, p, t: o.orderBy(F.desc("n"), "id").limit(3),
    "order with NULLs last": lambda o, p, t: (
        o.orderBy(F.col("n").asc_nulls_last(), "id").limit(4).select("id")
    ),
    "offset": lambda o, p, t: o.orderBy("id").offset(2).limit(3),
    "rank in a window": lambda o, p, t: o.withColumn(
        "r", F.row_number().over(_of_customer("id"))
    ).where("r = 1"),
    "running sum": lambda o, p, t: o.select(
        "id", F.sum("n").over(_of_customer("id").rowsBetween(-1, 0)).alias("s")
    ),
    "difference to the row before": lambda o, p, t: o.select(
        "id", (F.col("n") - F.lag("n", 1, 0).over(_of_customer("id"))).alias("d")
    ),
    "share of a total": lambda o, p, t: o.select(
        "id", (F.col("n") / F.sum("n").over(Window.partitionBy("c"))).alias("share")
    ),
    "pivot": lambda o, p, t: o.groupBy("c").pivot("item", ["tea", "milk"]).agg(F.sum("n")),
    "pivot of several aggregates": lambda o, p, t: (
        o.groupBy("c")
        .pivot("item", ["tea", "milk"])
        .agg(F.sum("n").alias("s"), F.max("price").alias("m"))
    ),
    "unpivot": lambda o, p, t: o.unpivot("id", ["n", "price"], "what", "value"),
    "unpivot, then groups": lambda o, p, t: (
        o.unpivot("id", ["n", "price"], "what", "value").groupBy("what").agg(F.avg("value"))
    ),
    "unpivot of values before the key": lambda o, p, t: (
        o.select("n", "c", "id").unpivot(["id"], ["n", "c"], "what", "value").where("value > 2")
    ),
    "melt without keys": lambda o, p, t: o.select("n", "c").melt([], ["n", "c"], "k", "v"),
    "rollup": lambda o, p, t: o.rollup("c", "item").agg(F.sum("n").alias("s")),
    "cube": lambda o, p, t: o.cube("c", "item").agg(F.count("*").alias("k"), F.grouping_id()),
    "fill missing values": lambda o, p, t: o.fillna({"n": 0, "item": "?"}).select(
        "id", "n", "item"
    ),
    "drop missing values": lambda o, p, t: o.dropna(subset=["n", "price"]).select("id"),
    "replace values": lambda o, p, t: o.replace({"tea": "Tea"}, subset=["item"]).select(
        "id", "item"
    ),
    "first that is not missing": lambda o, p, t: o.select("id", F.coalesce("n", "c", F.lit(0))),
    "casts": lambda o, p, t: o.select(
        "id", F.col("n").cast("string").alias("a"), F.col("price").cast("int").alias("b")
    ),
    "tried casts": lambda o, p, t: t.select("nid", F.col("text").try_cast("int").alias("x")),
    "texts": lambda o, p, t: p.select(
        F.concat_ws("-", "name", "tier").alias("a"),
        F.regexp_replace("name", " .*", "").alias("b"),
        F.substring("name", 1, 3).alias("d"),
        F.btrim("name", F.lit("A")).alias("e"),
        F.lpad("name", 9, "*").alias("f"),
    ),
    "words": lambda o, p, t: (
        t.select(F.explode(F.split("text", " +")).alias("word")).groupBy("word").count()
    ),
    "explode with places": lambda o, p, t: t.select("nid", F.posexplode("xs")),
    "explode, empty ones too": lambda o, p, t: t.select("nid", F.explode_outer("xs").alias("x")),
    "arrays": lambda o, p, t: t.select(
        "nid",
        F.size("xs").alias("size"),
        F.array_contains("xs", 7).alias("has"),
        F.aggregate("xs", F.lit(0), lambda a, x: a + x).alias("sum"),
        F.filter("xs", lambda x: x > 2).alias("large"),
        F.transform("xs", lambda x, at: x * at).alias("by_place"),
    ),
    "maps": lambda o, p, t: p.select(
        F.create_map(F.lit("name"), F.col("name"), F.lit("tier"), F.col("tier")).alias("m")
    ).select(F.col("m")["name"].alias("a"), F.map_keys("m").alias("k")),
    "structs": lambda o, p, t: o.select("id", F.struct("item", "n").alias("s")).select(
        "id", "s.item", F.col("s").getField("n").alias("m")
    ),
    "structs that change": lambda o, p, t: o.select(F.struct("item", "n").alias("s")).select(
        F.col("s").withField("twice", F.col("s.n") * 2).dropFields("n").alias("s")
    ),
    "structs within structs that change": lambda o, p, t: o.select(
        F.struct("id", F.struct("item", "n", "price").alias("in")).alias("s")
    ).select(F.col("s").dropFields("in.n", "in.item").withField("in.id", F.col("s.id")).alias("s")),
    "an error for no row": lambda o, p, t: o.select(
        F.when(F.col("id") > 0, "n").otherwise(F.raise_error("no id")).alias("v")
    ),
    "distinct values within an error": lambda o, p, t: o.agg(
        F.approx_count_distinct("item").alias("n"), F.approx_count_distinct("c", 0.1).alias("m")
    ),
    "JSON by a schema": lambda o, p, t: t.select(
        "nid", F.from_json("js", "k INT, v ARRAY<STRING>").alias("j")
    ).select("nid", "j.k", F.size("j.v").alias("size")),
    "JSON by a schema of types": lambda o, p, t: t.select(F.from_json("js", _PLACE).alias("j")),
    "JSON paths": lambda o, p, t: t.select("nid", F.get_json_object("js", "$.k").alias("k")),
    "to JSON and CSV": lambda o, p, t: o.select(
        F.to_json(F.struct("id", "n")).alias("j"), F.to_csv(F.struct("id", "n")).alias("c")
    ),
    "dates": lambda o, p, t: o.select(
        "id",
        F.date_add("day", 3).alias("a"),
        F.datediff(F.lit(date(2026, 4, 1)), "day").alias("b"),
        F.date_trunc("month", "day").alias("d"),
        F.date_format("day", "yyyy-MM").alias("e"),
        F.extract(F.lit("WEEK"), F.col("day")).alias("f"),
        F.timestamp_add("HOUR", F.lit(5), F.col("day").cast("timestamp")).alias("g"),
    ),
    "rounded": lambda o, p, t: o.groupBy("c").agg(F.round(F.avg("price"), 1).alias("r")),
    "tried sums": lambda o, p, t: o.groupBy("c").agg(F.try_sum("n").alias("a"), F.try_avg("n")),
    "expressions in text": lambda o, p, t: o.selectExpr("id", "n * 2 AS twice", "nvl(item, '?') x"),
    "higher-order functions in text": lambda o, p, t: t.selectExpr(
        "nid", "filter(xs, x -> x > nid) AS f", "aggregate(xs, 0, (a, x) -> a + x) AS s"
    ),
    "steps by transform": lambda o, p, t: o.transform(lambda f: f.where("n > 1")).transform(
        lambda f: f.groupBy("item").agg(F.sum("n").alias("n"))
    ),
    "groups of groups": lambda o, p, t: (
        o.groupBy("c", "item").agg(F.sum("n").alias("s")).groupBy("c").agg(F.max("s").alias("m"))
    ),
    "a column that is not used": lambda o, p, t: o.withColumn("x", F.rand(3)).drop("x").limit(100),
}
"""Title: the program, over orders, people and notes."""
