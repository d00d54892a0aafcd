"""Twenty jobs as people write them: notebooks and scripts, each over first files of its own.

A job gets the session, whose current database is its own, the folder of its first files, and a
folder for what it writes. Nothing in it knows that the session is watched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.window import Window

from tests.watched_jobs import inputs as given
from tests.watched_jobs.inputs import Input, Row


@dataclass(frozen=True)
class Job:
    """A job, with what it reads and writes.

    Attributes
    ----------
    outputs
        Its tables, and its paths below the folder for what it writes, which begin with a slash.
    gone
        First rows that are deleted: the input, the condition in SQL, and in Python; None: the way
        back ends before the files.
    moments
        Columns with the time at which the job ran, which no two runs have in common.
    ends
        Outputs that go back to data of the session, made in Python, and no further.
    """

    run: Callable[[SparkSession, Path, Path], None]
    inputs: dict[str, Input]
    outputs: tuple[str, ...]
    gone: tuple[str, str, Callable[[Row], bool]] | None
    moments: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    lake: bool = False

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.run.__name__


JOBS: dict[str, Job] = {}


def job(
    outputs: tuple[str, ...],
    gone: tuple[str, str, Callable[[Row], bool]] | None,
    *,
    moments: tuple[str, ...] = (),
    ends: tuple[str, ...] = (),
    lake: bool = False,
    **inputs: Input,
) -> Callable[[Any], Any]:
    """Register a job."""

    def registered(run: Any) -> Any:
        JOBS[run.__name__] = Job(run, inputs, outputs, gone, moments, ends, lake)
        return run

    return registered


SEVENTH = ("orders", "version % 7 = 3", lambda row: row["version"] % 7 == 3)


@job(
    ("/bronze", "/silver", "/gold/daily", "/gold/top"),
    SEVENTH,
    moments=("ingested_at",),
    orders=Input("parquet", given.orders),
    customers=Input("csv", given.customers, 0.05),
)
def medallion_parquet(spark: SparkSession, source: Path, target: Path) -> None:
    raw = spark.read.parquet(f"{source}/orders")
    bronze = raw.withColumn("ingested_at", F.current_timestamp()).withColumn("batch", F.lit(1))
    bronze.write.mode("overwrite").parquet(f"{target}/bronze")

    latest = Window.partitionBy("order_id").orderBy(F.col("version").desc())
    silver = (
        spark.read.parquet(f"{target}/bronze")
        .withColumn("n", F.row_number().over(latest))
        .filter("n = 1")
        .drop("n", "batch")
        .withColumn("day", F.to_date("day"))
        .na.fill({"price": 0.0})
        .filter(F.col("status") != "cancelled")
        .withColumn("revenue", F.round(F.col("price") * F.col("quantity"), 2))
    )
    silver.write.mode("overwrite").parquet(f"{target}/silver")

    customers = (
        spark.read.option("header", True)
        .schema("customer_id INT, name STRING, segment STRING, city STRING, since DATE")
        .csv(f"{source}/customers")
    )
    clean = spark.read.parquet(f"{target}/silver")
    daily = (
        clean.join(customers, "customer_id", "left")
        .groupBy("day", "city")
        .agg(F.sum("revenue").alias("revenue"), F.countDistinct("customer_id").alias("buyers"))
    )
    daily.write.mode("overwrite").parquet(f"{target}/gold/daily")
    top = daily.groupBy("city").agg(F.max("revenue").alias("best"), F.sum("buyers").alias("buyers"))
    top.orderBy(F.desc("best")).write.mode("overwrite").parquet(f"{target}/gold/top")


@job(
    ("/clean", "/by_region", "/report"),
    SEVENTH,
    orders=Input("csv", given.orders),
)
def cleaning_csv(spark: SparkSession, source: Path, target: Path) -> None:
    df = spark.read.csv(f"{source}/orders", header=True, inferSchema=True)
    df = df.dropDuplicates().na.drop(subset=["price"])
    df = df.withColumnRenamed("quantity", "qty").withColumn(
        "size",
        F.when(F.col("qty") < 3, "small").when(F.col("qty") < 6, "medium").otherwise("large"),
    )
    df.write.mode("overwrite").option("header", True).csv(f"{target}/clean")
    schema = df.schema
    clean = spark.read.schema(schema).option("header", True).csv(f"{target}/clean")
    by_region = clean.groupBy("region", "size").agg(
        F.count("*").alias("n"), F.avg("price").alias("mean"), F.stddev("price").alias("spread")
    )
    by_region.write.mode("overwrite").partitionBy("region").parquet(f"{target}/by_region")
    report = clean.filter(F.col("status").isin("done", "open")).select(
        F.concat_ws("-", "region", "size").alias("cell"),
        (F.col("qty") * F.col("price")).alias("value"),
    )
    report.groupBy("cell").agg(F.sum("value").alias("value")).coalesce(1).write.json(
        f"{target}/report"
    )


@job(
    ("/flat", "/items", "/tags", "/scores"),
    ("events", "id % 5 = 2", lambda row: row["id"] % 5 == 2),
    events=Input("json", given.events),
)
def explode_json(spark: SparkSession, source: Path, target: Path) -> None:
    schema = (
        "id BIGINT, user STRUCT<name: STRING, age: INT>, at STRING, "
        "items ARRAY<STRUCT<sku: STRING, n: INT>>, tags ARRAY<STRING>, payload STRING"
    )
    raw = spark.read.schema(schema).json(f"{source}/events")
    flat = (
        raw.select(
            "id",
            F.col("user.name").alias("name"),
            F.col("user.age").alias("age"),
            F.to_timestamp("at").alias("at"),
            F.size("items").alias("lines"),
            F.from_json("payload", "score INT, ok BOOLEAN").alias("p"),
            "items",
            "tags",
        )
        .select("*", "p.score", "p.ok")
        .drop("p")
    )
    flat.write.parquet(f"{target}/flat")
    flat = spark.read.parquet(f"{target}/flat")
    items = flat.select("id", "name", F.explode("items").alias("item")).select(
        "id", "name", F.col("item.sku").alias("sku"), F.col("item.n").alias("n")
    )
    items.write.parquet(f"{target}/items")
    tags = flat.select("id", F.explode_outer("tags").alias("tag")).groupBy("tag").count()
    tags.write.json(f"{target}/tags")
    scores = (
        flat.where("ok")
        .groupBy(
            F.date_trunc("month", "at").alias("month"),
            (F.floor(F.col("age") / 10) * 10).alias("decade"),
        )
        .agg(F.avg("score").alias("score"), F.max(F.struct("score", "id")).alias("best"))
        .select("month", "decade", "score", F.col("best.id").alias("best"))
    )
    scores.write.parquet(f"{target}/scores")


@job(
    ("/pdf_stats", "/enriched", "scored"),
    ("readings", "id % 4 = 1", lambda row: row["id"] % 4 == 1),
    ends=("/pdf_stats", "scored"),
    readings=Input("parquet", given.readings),
)
def pandas_round_trip(spark: SparkSession, source: Path, target: Path) -> None:
    df = spark.read.parquet(f"{source}/readings").where("value IS NOT NULL")
    enriched = df.withColumn("day", (F.col("hour") / 24).cast("int"))
    enriched.write.parquet(f"{target}/enriched")
    pdf = (
        spark.read.parquet(f"{target}/enriched")
        .groupBy("sensor")
        .agg(F.avg("value").alias("mean"), F.count("*").alias("n"))
        .toPandas()
    )
    pdf["grade"] = pd.cut(pdf["mean"], 3, labels=["low", "mid", "high"]).astype(str)
    stats = spark.createDataFrame(pdf.sort_values("sensor"))
    stats.write.parquet(f"{target}/pdf_stats")
    scored = (
        spark.read.parquet(f"{target}/enriched")
        .join(spark.read.parquet(f"{target}/pdf_stats"), "sensor")
        .withColumn("off", F.col("value") - F.col("mean"))
        .select("id", "sensor", "grade", F.round("off", 6).alias("off"))
    )
    scored.write.mode("overwrite").saveAsTable("scored")


@job(
    ("word_count", "/frequent"),
    None,
    ends=("word_count", "/frequent"),
    text=Input("text", given.lines),
)
def word_count(spark: SparkSession, source: Path, target: Path) -> None:
    sc = spark.sparkContext
    counts = (
        sc.textFile(f"file://{source}/text")
        .flatMap(lambda line: line.lower().split())
        .map(lambda word: (word, 1))
        .reduceByKey(lambda a, b: a + b)
    )
    df = counts.toDF(["word", "n"])
    df.write.mode("overwrite").saveAsTable("word_count")
    stop = sc.parallelize(["the", "of", "in", "so"]).map(lambda word: (word,)).toDF(["word"])
    frequent = spark.table("word_count").join(stop, "word", "left_anti")
    ranked = frequent.withColumn("rank", F.dense_rank().over(Window.orderBy(F.desc("n"))))
    ranked.filter("rank <= 5").write.parquet(f"{target}/frequent")


@job(
    ("/features", "/alarms"),
    (
        "readings",
        "sensor = 's3' AND hour < 9",
        lambda row: row["sensor"] == "s3" and row["hour"] < 9,
    ),
    readings=Input("parquet", given.readings),
)
def window_features(spark: SparkSession, source: Path, target: Path) -> None:
    w = Window.partitionBy("sensor").orderBy("hour")
    df = (
        spark.read.parquet(f"{source}/readings")
        .withColumn("before", F.lag("value").over(w))
        .withColumn("after", F.lead("value").over(w))
        .withColumn("moving", F.max("value").over(w.rowsBetween(-3, 0)))
        .withColumn("so_far", F.count("value").over(w.rowsBetween(Window.unboundedPreceding, 0)))
        .withColumn("change", F.col("value") - F.col("before"))
        .withColumn("share", F.percent_rank().over(Window.partitionBy("sensor").orderBy("value")))
    )
    df.write.parquet(f"{target}/features")
    features = spark.read.parquet(f"{target}/features")
    alarms = (
        features.filter(F.abs("change") > 30)
        .groupBy("sensor")
        .agg(
            F.count("*").alias("alarms"),
            F.min("hour").alias("first"),
            F.max("moving").alias("peak"),
        )
    )
    alarms.write.parquet(f"{target}/alarms")


@job(
    ("/dim_v1", "/dim_v2", "/current"),
    ("news", "customer_id % 6 = 1", lambda row: row["customer_id"] % 6 == 1),
    customers=Input("csv", given.customers),
    news=Input(
        "csv",
        lambda c, n: [
            {**r, "city": c.choice(("Rome", "Bern"))}
            for r in given.customers(c, n)
            if r["customer_id"] % 3 == 1
        ],
        1.3,
    ),
)
def scd2_parquet(spark: SparkSession, source: Path, target: Path) -> None:
    schema = "customer_id INT, name STRING, segment STRING, city STRING, since DATE"
    read = spark.read.schema(schema).option("header", "true")
    first = read.csv(f"{source}/customers").select(
        "customer_id",
        F.initcap(F.trim("name")).alias("name"),
        "city",
        F.lit("2024-01-01").cast("date").alias("valid_from"),
        F.lit(None).cast("date").alias("valid_to"),
        F.lit(True).alias("is_current"),
    )
    first.write.parquet(f"{target}/dim_v1")
    dim = spark.read.parquet(f"{target}/dim_v1")
    news = read.csv(f"{source}/news").select(
        "customer_id", F.initcap(F.trim("name")).alias("name"), "city"
    )
    moved = (
        dim.alias("d")
        .join(news.alias("n"), "customer_id")
        .where("d.is_current AND d.city <> n.city")
    )
    moved_ids = moved.select("customer_id").distinct()
    closed = (
        dim.join(moved_ids, "customer_id", "left_semi")
        .withColumn("valid_to", F.lit("2024-07-01").cast("date"))
        .withColumn("is_current", F.lit(False))
    )
    kept = dim.join(moved_ids, "customer_id", "left_anti")
    fresh = news.join(kept.select("customer_id"), "customer_id", "left_anti").select(
        "customer_id",
        "name",
        "city",
        F.lit("2024-07-01").cast("date").alias("valid_from"),
        F.lit(None).cast("date").alias("valid_to"),
        F.lit(True).alias("is_current"),
    )
    kept.unionByName(closed).unionByName(fresh).write.parquet(f"{target}/dim_v2")
    current = spark.read.parquet(f"{target}/dim_v2").filter("is_current").groupBy("city").count()
    current.write.parquet(f"{target}/current")


@job(
    ("/exact", "/by_key", "/latest", "/ids"),
    SEVENTH,
    orders=Input("parquet", given.orders),
)
def deduplication(spark: SparkSession, source: Path, target: Path) -> None:
    df = spark.read.parquet(f"{source}/orders")
    df.union(df.limit(0)).drop("version").distinct().write.parquet(f"{target}/exact")
    exact = spark.read.parquet(f"{target}/exact")
    exact.select("customer_id", "region").dropDuplicates().write.parquet(f"{target}/by_key")
    newest = df.groupBy("order_id").agg(F.max("version").alias("version"))
    df.join(newest, ["order_id", "version"]).write.parquet(f"{target}/latest")
    df.orderBy("version").dropDuplicates(["order_id"]).select("order_id").write.parquet(
        f"{target}/ids"
    )


@job(
    ("dim_customer", "dim_product", "fact_sales", "/mart"),
    SEVENTH,
    orders=Input("parquet", given.orders),
    customers=Input("csv", given.customers, 0.05),
    products=Input("json", given.products, 0.01),
)
def star_schema(spark: SparkSession, source: Path, target: Path) -> None:
    customers = spark.read.csv(f"{source}/customers", header=True, inferSchema=True)
    dim_customer = customers.select(
        "customer_id",
        F.upper(F.trim("name")).alias("name"),
        F.coalesce("segment", F.lit("?")).alias("segment"),
    )
    dim_customer.write.mode("overwrite").saveAsTable("dim_customer")
    products = spark.read.json(f"{source}/products")
    products.write.mode("overwrite").saveAsTable("dim_product")
    orders = spark.read.parquet(f"{source}/orders")
    fact = (
        orders.join(F.broadcast(spark.table("dim_product")), "product_id")
        .join(spark.table("dim_customer"), on="customer_id", how="inner")
        .selectExpr(
            "order_id",
            "version",
            "customer_id",
            "product_id",
            "to_date(day) AS day",
            "quantity * coalesce(price, 0) AS revenue",
            "quantity * cost AS spent",
        )
    )
    fact.write.mode("overwrite").partitionBy("product_id").saveAsTable("fact_sales")
    mart = spark.sql(
        """
        SELECT c.segment, p.kind, month(f.day) AS month, sum(f.revenue) AS revenue,
               sum(f.revenue - f.spent) AS margin, count(DISTINCT f.customer_id) AS buyers
        FROM fact_sales f JOIN dim_customer c USING (customer_id)
        JOIN dim_product p USING (product_id)
        GROUP BY c.segment, p.kind, month(f.day)
        HAVING count(*) > 1
        """
    )
    mart.write.parquet(f"{target}/mart")


@job(
    ("/wide", "/long"),
    SEVENTH,
    orders=Input("csv", given.orders),
)
def pivoting(spark: SparkSession, source: Path, target: Path) -> None:
    df = spark.read.csv(f"{source}/orders", header=True, inferSchema=True)
    wide = (
        df.groupBy("region")
        .pivot("status", ["done", "open", "cancelled"])
        .agg(F.sum("quantity").alias("n"), F.max("price").alias("most"))
    )
    wide.write.parquet(f"{target}/wide")
    long = spark.read.parquet(f"{target}/wide").selectExpr(
        "region",
        "stack(3, 'done', done_n, 'open', open_n, 'cancelled', cancelled_n) AS (status, n)",
    )
    long.where("n > 0").write.parquet(f"{target}/long")


@job(
    ("/cleaned", "/grouped"),
    ("people", "id % 3 = 0", lambda row: row["id"] % 3 == 0),
    people=Input("parquet", given.people),
)
def user_functions(spark: SparkSession, source: Path, target: Path) -> None:
    clean = F.udf(lambda name: None if name is None else name.strip().title(), T.StringType())

    @F.pandas_udf("double")  # type: ignore[call-overload]
    def scaled(values: pd.Series) -> pd.Series:
        return values.astype(float) / 100

    people = spark.read.parquet(f"{source}/people")
    cleaned = people.withColumn("job", clean("job")).withColumn("scaled", scaled("income"))
    cleaned.write.parquet(f"{target}/cleaned")

    def spread(group: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "city": [group["city"].iloc[0]],
                "spread": [float(group["income"].max() - group["income"].min())],
            }
        )

    grouped = (
        spark.read.parquet(f"{target}/cleaned")
        .groupBy("city")
        .applyInPandas(spread, "city string, spread double")
    )
    grouped.write.parquet(f"{target}/grouped")


@job(
    ("/encoded", "/train", "/test", "/summary"),
    ("people", "age < 30", lambda row: row["age"] < 30),
    people=Input("csv", given.people),
)
def feature_table(spark: SparkSession, source: Path, target: Path) -> None:
    people = spark.read.csv(f"{source}/people", header=True, inferSchema=True)
    stats = people.agg(F.min("income").alias("low"), F.max("income").alias("high"))
    encoded = (
        people.crossJoin(stats)
        .withColumn(
            "income_scaled", (F.col("income") - F.col("low")) / (F.col("high") - F.col("low"))
        )
        .drop("low", "high")
    )
    for job_name in ("none", "clerk", "smith", "cook"):
        encoded = encoded.withColumn(f"job_{job_name}", (F.col("job") == job_name).cast("int"))
    encoded = encoded.withColumn(
        "age_group", F.expr("CASE WHEN age < 30 THEN 0 WHEN age < 60 THEN 1 ELSE 2 END")
    )
    rates = people.groupBy("city").agg(F.avg(F.col("bought").cast("int")).alias("city_rate"))
    encoded = encoded.join(rates, "city").drop("job")
    encoded.write.parquet(f"{target}/encoded")
    split = spark.read.parquet(f"{target}/encoded").withColumn(
        "fold", F.pmod(F.hash("id"), F.lit(10))
    )
    split.filter("fold < 8").drop("fold").write.parquet(f"{target}/train")
    split.filter("fold >= 8").drop("fold").write.parquet(f"{target}/test")
    train = spark.read.parquet(f"{target}/train")
    summary = train.groupBy("age_group").agg(
        *[F.sum(c).alias(c) for c in train.columns if c.startswith("job_")], F.count("*").alias("n")
    )
    summary.write.json(f"{target}/summary")


@job(
    ("/a", "/b", "counts"),
    ("readings", "value > 30", lambda row: (row["value"] or 0) > 30),
    readings=Input("parquet", given.readings),
)
def caching(spark: SparkSession, source: Path, target: Path) -> None:
    df = (
        spark.read.parquet(f"{source}/readings")
        .filter("value > 0")
        .repartition(4, "sensor")
        .cache()
    )
    assert df.count() > 0
    df.groupBy("sensor").agg(F.sum("hour").alias("hours")).write.parquet(f"{target}/a")
    strong = df.filter("value > 20").persist()
    strong.select("id", "sensor").write.parquet(f"{target}/b")
    joined = spark.read.parquet(f"{target}/a").join(
        strong.groupBy("sensor").count(), "sensor", "outer"
    )
    joined.write.mode("overwrite").saveAsTable("counts")
    strong.unpersist()
    df.unpersist()


@job(
    ("stage_orders", "ranked", "best_customers"),
    SEVENTH,
    orders=Input("json", given.orders),
    customers=Input("json", given.customers, 0.05),
)
def temp_views(spark: SparkSession, source: Path, target: Path) -> None:
    spark.read.json(f"{source}/orders").createOrReplaceTempView("raw_orders")
    spark.read.json(f"{source}/customers").createOrReplaceTempView("raw_customers")
    spark.sql(
        """
        CREATE OR REPLACE TEMP VIEW good_orders AS
        SELECT *, quantity * price AS revenue FROM raw_orders WHERE price IS NOT NULL
        """
    )
    spark.sql("CREATE TABLE stage_orders USING parquet AS SELECT * FROM good_orders")
    spark.sql(
        """
        CREATE TABLE ranked USING parquet AS
        WITH totals AS (
          SELECT customer_id, region, sum(revenue) AS revenue FROM stage_orders
          GROUP BY customer_id, region
        )
        SELECT *, rank() OVER (PARTITION BY region ORDER BY revenue DESC) AS place FROM totals
        """
    )
    spark.table("ranked").createOrReplaceTempView("r")
    spark.sql(
        """
        CREATE TABLE best_customers AS
        SELECT c.name, r.region, r.revenue
        FROM r JOIN raw_customers c ON r.customer_id = c.customer_id
        WHERE r.place <= 3 AND EXISTS (
          SELECT 1 FROM stage_orders s WHERE s.customer_id = c.customer_id AND s.status = 'done'
        )
        """
    )


def _typed(df: DataFrame) -> DataFrame:
    return df.withColumn("day", F.to_date("day")).withColumn(
        "price", F.col("price").cast("decimal(10,2)")
    )


def _only(status: str) -> Callable[[DataFrame], DataFrame]:
    return lambda df: df.filter(F.col("status") == status)


def _by(*keys: str) -> Callable[[DataFrame], DataFrame]:
    return lambda df: df.groupBy(*keys).agg(F.sum("price").alias("price"), F.count("*").alias("n"))


@job(
    ("/done", "/open", "/all", "/log"),
    SEVENTH,
    ends=("/log",),
    orders=Input("parquet", given.orders),
)
def functions_of_frames(spark: SparkSession, source: Path, target: Path) -> None:
    orders = spark.read.parquet(f"{source}/orders").transform(_typed)
    made = {}
    for status in ("done", "open"):
        df = orders.transform(_only(status)).transform(_by("region", "day"))
        df.write.mode("append").parquet(f"{target}/{status}")
        made[status] = spark.read.parquet(f"{target}/{status}").withColumn("status", F.lit(status))
    whole = reduce(DataFrame.unionByName, made.values())
    whole.write.parquet(f"{target}/all")
    log = spark.createDataFrame([(name, "written") for name in made], ["name", "what"])
    log.write.mode("append").json(f"{target}/log")


@job(
    ("sales", "sales_by_month", "/backfill"),
    SEVENTH,
    orders=Input("parquet", given.orders),
)
def partitioned_writes(spark: SparkSession, source: Path, target: Path) -> None:
    orders = spark.read.parquet(f"{source}/orders").withColumn("month", F.substring("day", 1, 7))
    spark.sql(
        "CREATE TABLE sales (order_id BIGINT, version BIGINT, quantity BIGINT, month STRING) "
        "USING parquet PARTITIONED BY (month)"
    )
    columns = ["order_id", "version", "quantity", "month"]
    for month in ("2024-01", "2024-02", "2024-03"):
        orders.filter(F.col("month") == month).select(columns).write.insertInto("sales")
    again = orders.filter("month = '2024-02' AND status <> 'cancelled'").select(columns[:-1])
    again.createOrReplaceTempView("again")
    spark.sql("INSERT OVERWRITE sales PARTITION (month = '2024-02') SELECT * FROM again")
    monthly = spark.table("sales").groupBy("month").agg(F.sum("quantity").alias("quantity"))
    monthly.write.mode("overwrite").saveAsTable("sales_by_month")
    path = f"{target}/backfill"
    early = orders.filter("month < '2024-04'").select(columns)
    early.write.partitionBy("month").option("partitionOverwriteMode", "dynamic").mode(
        "overwrite"
    ).parquet(path)
    late = orders.filter("month >= '2024-03'").select(columns).where("quantity > 2")
    late.write.partitionBy("month").option("partitionOverwriteMode", "dynamic").mode(
        "overwrite"
    ).parquet(path)


@job(
    ("/lake/bronze", "/lake/silver", "/lake/gold"),
    SEVENTH,
    moments=("ingested_at",),
    lake=True,
    orders=Input("csv", given.orders),
)
def medallion_delta(spark: SparkSession, source: Path, target: Path) -> None:
    raw = spark.read.csv(f"{source}/orders", header=True, inferSchema=True)
    bronze = raw.withColumn("ingested_at", F.current_timestamp())
    bronze.filter("region IN ('north', 'south')").write.format("delta").save(
        f"{target}/lake/bronze"
    )
    bronze.filter("region IN ('east', 'west')").write.format("delta").mode("append").save(
        f"{target}/lake/bronze"
    )
    latest = Window.partitionBy("order_id").orderBy(F.desc("version"))
    silver = (
        spark.read.format("delta")
        .load(f"{target}/lake/bronze")
        .withColumn("n", F.row_number().over(latest))
        .filter("n = 1")
        .drop("n")
        .filter("price IS NOT NULL")
    )
    silver.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(
        f"{target}/lake/silver"
    )
    gold = (
        spark.read.format("delta")
        .load(f"{target}/lake/silver")
        .groupBy("region")
        .agg(F.sum(F.expr("quantity * price")).alias("revenue"), F.count("*").alias("orders"))
    )
    gold.write.format("delta").mode("overwrite").save(f"{target}/lake/gold")


@job(
    ("events_by_source", "upserted", "daily"),
    SEVENTH,
    lake=True,
    orders=Input("delta", given.orders),
    products=Input("delta", given.products, 0.01),
)
def upsert_delta(spark: SparkSession, source: Path, target: Path) -> None:
    orders = spark.table("orders")
    orders.groupBy("region").agg(F.count("*").alias("n")).write.format("delta").saveAsTable(
        "events_by_source"
    )
    spark.sql(
        "CREATE TABLE upserted USING delta AS SELECT product_id, kind, cost, 0 AS sold "
        "FROM products WHERE product_id < 20"
    )
    spark.sql(
        """
        MERGE INTO upserted AS t
        USING (
          SELECT product_id, sum(quantity) AS sold FROM orders WHERE status = 'done'
          GROUP BY product_id
        ) AS source
        ON t.product_id = source.product_id
        WHEN MATCHED THEN UPDATE SET sold = t.sold + source.sold
        WHEN NOT MATCHED THEN
          INSERT (product_id, kind, cost, sold) VALUES (source.product_id, 'new', 0, source.sold)
        """
    )
    spark.sql("UPDATE upserted SET kind = upper(kind) WHERE sold > 5")
    spark.sql("DELETE FROM upserted WHERE sold = 0")
    daily = (
        spark.table("upserted")
        .join(orders, "product_id")
        .groupBy("kind", "day")
        .agg(F.sum("quantity").alias("n"))
    )
    daily.write.format("delta").mode("overwrite").saveAsTable("daily")


@job(
    ("dim", "/delta/compact", "/delta/first"),
    ("news", "customer_id % 6 = 1", lambda row: row["customer_id"] % 6 == 1),
    lake=True,
    customers=Input("parquet", given.customers),
    news=Input(
        "parquet",
        lambda c, n: [
            {**r, "city": c.choice(("Rome", "Bern"))}
            for r in given.customers(c, n)
            if r["customer_id"] % 3 == 1
        ],
        1.3,
    ),
)
def scd2_delta(spark: SparkSession, source: Path, target: Path) -> None:
    from delta.tables import DeltaTable

    customers = spark.read.parquet(f"{source}/customers")
    first = customers.selectExpr(
        "customer_id",
        "trim(name) AS name",
        "city",
        "DATE'2024-01-01' AS valid_from",
        "CAST(NULL AS DATE) AS valid_to",
        "true AS is_current",
    )
    first.write.format("delta").saveAsTable("dim")
    first.write.format("delta").save(f"{target}/delta/first")
    news = spark.read.parquet(f"{source}/news").selectExpr(
        "customer_id", "trim(name) AS name", "city"
    )
    dim = DeltaTable.forName(spark, "dim")
    changed = (
        news.alias("u")
        .join(dim.toDF().alias("t"), "customer_id")
        .where("t.is_current AND u.city <> t.city")
    )
    staged = changed.selectExpr("NULL AS merge_key", "u.*").withColumn(
        "customer_id", F.col("customer_id")
    )
    staged = changed.select(
        F.lit(None).cast("bigint").alias("merge_key"), "customer_id", "u.name", "u.city"
    ).unionByName(news.withColumn("merge_key", F.col("customer_id")))
    dim.alias("t").merge(staged.alias("s"), "t.customer_id = s.merge_key").whenMatchedUpdate(
        condition="t.is_current = true AND t.city <> s.city",
        set={"is_current": "false", "valid_to": "DATE'2024-07-01'"},
    ).whenNotMatchedInsert(
        values={
            "customer_id": "s.customer_id",
            "name": "s.name",
            "city": "s.city",
            "valid_from": "DATE'2024-07-01'",
            "valid_to": "null",
            "is_current": "true",
        }
    ).execute()
    path = f"{target}/delta/compact"
    spark.table("dim").select("customer_id", "city").write.format("delta").save(path)
    spark.read.format("delta").load(path).dropDuplicates().write.format("delta").mode(
        "overwrite"
    ).save(path)


@job(
    ("ice.{db}.trips", "ice.{db}.by_sensor", "/report"),
    ("readings", "id % 5 = 0", lambda row: row["id"] % 5 == 0),
    lake=True,
    readings=Input("iceberg", given.readings),
)
def iceberg_tables(spark: SparkSession, source: Path, target: Path) -> None:
    db = spark.catalog.currentDatabase()
    readings = spark.table(f"ice.{db}.readings")
    good = readings.where("value IS NOT NULL").withColumn("day", (F.col("hour") / 24).cast("int"))
    good.where("day < 3").writeTo(f"ice.{db}.trips").partitionedBy(F.col("day")).create()
    good.where("day >= 3").writeTo(f"ice.{db}.trips").append()
    good.where("day = 1 AND value > 0").writeTo(f"ice.{db}.trips").overwritePartitions()
    spark.sql(
        f"CREATE TABLE ice.{db}.by_sensor USING iceberg AS "
        f"SELECT sensor, sum(hour) AS hours, 0L AS strong FROM ice.{db}.trips GROUP BY sensor"
    )
    spark.sql(
        f"""
        MERGE INTO ice.{db}.by_sensor t
        USING (SELECT sensor, count(*) AS n FROM ice.{db}.trips WHERE value > 20 GROUP BY sensor) s
        ON t.sensor = s.sensor WHEN MATCHED THEN UPDATE SET strong = s.n
        """
    )
    spark.table(f"ice.{db}.by_sensor").where("strong > 0").write.parquet(f"{target}/report")
