"""What watched sessions have shown: each kind of call, and answers held against plain Spark."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick.errors import LipstickError, SourceChangedError, SourceError
from lipstick.watching.calls import _title

pytestmark = pytest.mark.spark

ROWS = [(1, "north", 20), (2, "north", 5), (3, "south", 40), (4, "south", None)]


@pytest.fixture
def orders(spark: SparkSession, tmp_path: Path) -> DataFrame:
    """Return the orders, in a file of Parquet."""
    made = spark.createDataFrame(ROWS, "id int, region string, amount int")
    made.coalesce(1).write.parquet(f"{tmp_path}/orders")
    return spark.read.parquet(f"{tmp_path}/orders")


def _totals(orders: DataFrame) -> DataFrame:
    return orders.groupBy("region").agg(F.sum("amount").alias("n"))


def _name(watch: Any, shown: Any) -> str:
    (name,) = shown.query.plan.relations
    return str(name)


@pytest.mark.engines("memory")
def test_calls_are_kept_with_their_rows_and_places(
    spark: SparkSession, orders: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    totals = _totals(orders).orderBy("region")
    with lipstick.watch(spark) as watch:
        totals.show()
        totals.show(1, vertical=True)
        assert len(totals.collect()) == 2
        assert len(totals.toPandas()) == 2
        assert totals.toArrow().num_rows == 2
        assert orders.count() == 4
        assert not orders.isEmpty()
        assert orders.first() is not None
        assert orders.head() is not None
        assert len(orders.head(3)) == len(orders.take(3)) == len(orders.tail(3)) == 3
        spark.conf.set("spark.sql.repl.eagerEval.enabled", "true")
        try:
            assert "north" in repr(totals)
            html = totals._repr_html_()
        finally:
            spark.conf.unset("spark.sql.repl.eagerEval.enabled")
        assert html is not None
        assert "north" in html
        assert repr(totals).startswith("DataFrame[")  # shows nothing
        with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
            orders.selectExpr("id div 0").collect()
        shown = watch.shown
        kept = [(each.call, each.rows, each.value) for each in shown]
        assert kept == [
            ("show()", 2, None),
            ("show(1)", 1, None),
            ("collect()", 2, None),
            ("toPandas()", 2, None),
            ("toArrow()", 2, None),
            ("count()", 1, 4),
            ("isEmpty()", 1, False),
            ("first()", 1, None),
            ("head()", 1, None),
            ("head(3)", 3, None),
            ("take(3)", 3, None),
            ("tail(3)", 3, None),
            ("display()", 2, None),
            ("display()", 2, None),
        ]
        assert all("test_shown.py:" in str(each.where) for each in shown)
        assert "count() = 4" in str(shown)


@pytest.mark.engines("memory")
def test_questions_are_those_of_the_query(spark: SparkSession, orders: DataFrame) -> None:
    orders.createOrReplaceTempView("shown_orders")
    text = "SELECT region, sum(amount) AS n FROM shown_orders WHERE amount > 0 GROUP BY region"
    with lipstick.watch(spark) as watch:
        spark.sql(text).show()
        spark.sql(text.replace("amount > 0", "amount > 5")).toPandas()
        orders.where("amount > 10").count()
        first, second, third = watch.shown
        assert first.text == text
        assert watch.last.number == 3
        why = first.why("n", {"region": "north"}, than=5)
        assert "id = 1" in str(why)
        assert "5 instead of 25" in str(why)
        name = _name(watch, first)
        rows = {tuple(row) for row in first.what_if(delete={name: "id = 1"}).df.collect()}
        assert rows == {("north", 5), ("south", 40)}
        assert first.top("n", 1, {"region": "north"}).to_pylist()[0]["_after"] == 5
        contributions = first.contributions("n", {"region": "north"}).to_pylist()
        assert {(c["id"], c["_after"]) for c in contributions} == {(1, 5), (2, 20)}
        assert "region = 'east'" in str(first.why_not(region="east"))
        difference = second.diff(first)
        assert [difference.added, difference.removed, difference.changed] == [0, 0, 1]
        counted = third.what_if(delete={_name(watch, third): "id = 3"}).df.collect()
        assert [tuple(row) for row in counted] == [(1,)]
    spark.catalog.dropTempView("shown_orders")


@pytest.mark.engines("memory")
def test_sources_that_have_changed_are_refused(
    spark: SparkSession, orders: DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "prices.csv").write_text("1,2\n")
    prices = spark.read.schema("id int, price int").csv(f"{tmp_path}/prices.csv")
    with lipstick.watch(spark) as watch:
        with pytest.raises(SourceError, match="has shown nothing since it is watched"):
            _ = watch.last
        prices.show()
        time.sleep(0.02)  # the clock of the file system has ticks
        (tmp_path / "prices.csv").write_text("1,3\n")
        with pytest.raises(SourceChangedError, match=r"prices.csv has changed since result 1"):
            watch.last.why("price", {"id": 1})
        orders.select("id", F.rand().alias("r")).collect()
        with pytest.raises(LipstickError):
            watch.last.top("r")
    with pytest.raises(LipstickError):
        _ = watch.shown


@pytest.mark.engines("memory")
def test_names_that_have_another_meaning_now(spark: SparkSession, orders: DataFrame) -> None:
    """A view is replaced: a classic session asks about the old one, the other one says so."""
    orders.createOrReplaceTempView("shown_view")
    with lipstick.watch(spark) as watch:
        spark.sql("SELECT sum(amount) AS n FROM shown_view").show()
        orders.where("id = 1").createOrReplaceTempView("shown_view")
        if hasattr(spark, "_jsparkSession"):
            assert watch.last.query.df.collect()[0]["n"] == 65
        else:
            with pytest.raises(SourceChangedError, match="shown_view may mean something else"):
                watch.last.top("n")
    spark.catalog.dropTempView("shown_view")


@pytest.mark.engines("memory")
def test_a_bounded_number_is_kept_and_no_trace_is_left(
    spark: SparkSession, orders: DataFrame
) -> None:
    classic = hasattr(spark, "_jsparkSession")
    client = spark.sparkContext._gateway._gateway_client if classic else spark.client  # type: ignore[union-attr]
    before = set(vars(client))
    made = spark.range(1)
    with lipstick.watch(spark) as one, lipstick.watch(spark) as two:
        for _ in range(103):
            made.isEmpty() if classic else made.count()
        one.close()
        made.count()
        assert [len(two.shown), two.last.number, two.shown[0].number] == [100, 104, 5]
    assert set(vars(client)) == before


@pytest.mark.classic
def test_tables_that_the_session_wrote_are_followed(
    spark: SparkSession, orders: DataFrame, tmp_path: Path
) -> None:
    with lipstick.watch(spark) as watch:
        _totals(orders).write.parquet(f"{tmp_path}/totals")
        totals = spark.read.parquet(f"{tmp_path}/totals")
        totals.where("n > 30").collect()
        orders.where("id = 1").write.mode("append").parquet(f"{tmp_path}/totals_later")
        assert set(watch.last.query.plan.relations) == {"orders"}
        rows = watch.last.what_if(delete={"orders": "id = 3"}).df.collect()
        assert rows == []
        assert "SELECT" not in str(watch.shown)


@pytest.mark.classic
def test_cached_frames_are_asked(spark: SparkSession, orders: DataFrame, tmp_path: Path) -> None:
    orders.cache().count()
    with lipstick.watch(spark) as watch:
        _totals(orders).show()
        assert "5 instead of 25" in str(watch.last.why("n", {"region": "north"}, than=5))
        _totals(orders).show()
        time.sleep(0.02)
        for file in (tmp_path / "orders").glob("part-*"):
            file.touch()
        with pytest.raises(SourceChangedError, match="has changed since result 2 was shown"):
            watch.last.top("n", 1, {"region": "north"})
    orders.unpersist()


@pytest.mark.classic
def test_ties_and_the_time_are_named(spark: SparkSession, orders: DataFrame) -> None:
    with lipstick.watch(spark) as watch:
        orders.orderBy("region").limit(1).collect()
        with pytest.warns(UserWarning, match="may be others of those that tie"):
            assert watch.last.query.df.count() == 1
        orders.selectExpr("id", "current_date() AS d").where("id = 1").collect()
        today = spark.sql("SELECT current_date() AS d").head()
        assert [row["d"] for row in watch.shown[-2].query.df.collect()] == [today["d"]]  # type: ignore[index]


@pytest.mark.engines("memory")
def test_cells_of_a_notebook_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import IPython
    from IPython.core.compilerop import CachingCompiler

    compiler = CachingCompiler()
    compiler._filename_map["/tmp/kernel/7.py"] = 3
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(compile=compiler))
    seen: list[str] = []
    own = {"note": lambda: seen.append(_title(sys._getframe(1)))}
    exec(compile("note()", "/tmp/kernel/7.py", "exec"), own)
    assert seen == ["Cell In[3]"]


@pytest.mark.classic
def test_files_have_one_name_however_their_path_is_spelt(
    spark: SparkSession, orders: DataFrame, tmp_path: Path
) -> None:
    watch = lipstick.watch(spark)
    try:
        orders.count()
        by_sql = spark.sql(f"SELECT count(*) AS n FROM parquet.`{tmp_path}/orders`")
        by_sql.collect()
        spark.read.parquet(f"file://{tmp_path}/orders/").where("id > 1").count()
        for shown, rows in zip(watch.shown, (3, 3, 2), strict=True):
            assert _name(watch, shown) == "orders"
            without = shown.what_if(delete={"orders": "region = 'north' AND amount = 5"})
            assert [tuple(row) for row in without.df.collect()] == [(rows,)]
    finally:
        watch.close()
    with lipstick.session(spark) as ls:
        ls.track("tracked", f"{tmp_path}/orders", key="id")
        assert ls.annotate(by_sql).what_if({"tracked": [1]}).df.collect() == [(3,)]
        orders.limit(1).write.mode("append").parquet(f"{tmp_path}/orders")
        later = spark.read.parquet(f"file://{tmp_path}/orders/").groupBy().count()
        with pytest.raises(SourceChangedError, match="reads other files than 'tracked' had"):
            ls.annotate(later)


@pytest.mark.classic
def test_views_are_names_of_the_relations_that_they_show(
    spark: SparkSession, orders: DataFrame, tmp_path: Path
) -> None:
    """Those that pass rows on as they are, and no others."""
    orders.createOrReplaceTempView("shown_orders")
    orders.where("id > 1").createOrReplaceTempView("some_orders")
    orders.withColumn("id", F.col("id") + 1).createOrReplaceTempView("other_orders")
    spark.sql(
        f"CREATE OR REPLACE TEMP VIEW read_orders AS SELECT * FROM parquet.`{tmp_path}/orders`"
    )
    try:
        with lipstick.watch(spark) as watch:
            spark.sql("SELECT region, sum(amount) AS n FROM shown_orders GROUP BY 1").show()
            last = watch.last
            for view in ("shown_orders", "SHOWN_ORDERS", "read_orders"):
                rows = last.what_if(delete={view: "id = 1"}).df.where("region = 'north'")
                assert rows.head() == ("north", 5)
                best = last.top("n", 1, {"region": "north"}, relation=view)
                assert best.column("id").to_pylist() == [1]
            for view in ("some_orders", "other_orders", "no_orders", "a b"):
                with pytest.raises(LipstickError, match="does not read a tracked relation"):
                    last.what_if(delete={view: "id = 1"})
    finally:
        for view in ("shown_orders", "some_orders", "other_orders", "read_orders"):
            spark.catalog.dropTempView(view)


@pytest.mark.engines("memory")
def test_why_of_a_count_is_about_its_number(spark: SparkSession, orders: DataFrame) -> None:
    with lipstick.watch(spark) as watch:
        assert orders.where("amount > 4").count() == 3
        assert watch.last.why().question == "Why is count 3?"


@pytest.mark.connect
def test_names_are_those_of_the_time_over_connect(spark: SparkSession, orders: DataFrame) -> None:
    """A view may come after a question; one that is gone, or a table elsewhere, is refused."""
    orders.createOrReplaceTempView("shown_first")
    spark.sql("CREATE TABLE shown_table USING parquet AS SELECT * FROM shown_first")
    spark.sql("CREATE SCHEMA shown_elsewhere")
    try:
        with lipstick.watch(spark) as watch:
            spark.sql("SELECT sum(amount) AS n FROM shown_first").collect()
            assert watch.last.query.df.head() == (65,)
            orders.where("id > 1").createOrReplaceTempView("shown_second")
            spark.sql("SELECT sum(amount) AS n FROM shown_second").collect()
            without = watch.last.what_if(delete={"shown_second": "id = 3"}).df
            assert without.head() == (5,)
            spark.sql("SELECT sum(amount) AS n FROM shown_table").collect()
            spark.catalog.setCurrentDatabase("shown_elsewhere")
            with pytest.raises(SourceChangedError, match=r"shown_table may mean .* since 'USE sho"):
                _ = watch.last.query
            assert watch.shown[0].query.df.head() == (65,)
            spark.catalog.dropTempView("shown_second")
            again = watch.shown[1]
            vars(again).pop("query")
            with pytest.raises(SourceChangedError, match="since 'DROP VIEW shown_second'"):
                _ = again.query
    finally:
        spark.catalog.setCurrentDatabase("default")
        spark.sql("DROP SCHEMA shown_elsewhere")
        spark.sql("DROP TABLE shown_table")
        spark.catalog.dropTempView("shown_first")
