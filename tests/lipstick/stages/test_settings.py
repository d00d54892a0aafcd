"""Settings that give a text another meaning: queries are refused where they are not as expected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import NotUnderstoodError, UnsupportedError
from lipstick.stages.settings import naming_settings
from lipstick.workflow.execution.benches import leave, new_session

CHANGED = {
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.legacy.parser.havingWithoutGroupByAsWhere": "true",
    "spark.sql.legacy.scalarSubqueryAllowGroupByNonEqualityCorrelatedPredicate": "true",
    "spark.sql.optimizer.decorrelateExistsSubqueryLegacyIncorrectCountHandling.enabled": "true",
    "spark.sql.optimizer.decorrelateSubqueryLegacyIncorrectCountHandling.enabled": "true",
}


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    """Change a setting for a while."""
    before = spark.conf.get(name, None)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, before)


@pytest.mark.parametrize("name", CHANGED)
def test_queries_are_refused_by_the_name_of_the_setting(spark: SparkSession, name: str) -> None:
    """Both texts of a query carry the clause that is read otherwise: the guard sees nothing."""
    with lipstick.session(spark) as ls:
        ls.track("r", spark.createDataFrame([(1, 2), (2, 1)], "id int, x int"), key="id")
        with setting(spark, name, CHANGED[name]), pytest.raises(UnsupportedError, match=name):
            ls.sql("SELECT id, x FROM r ORDER BY 1 DESC LIMIT 1")
        assert ls.sql("SELECT id, x FROM r ORDER BY 1 DESC LIMIT 1").df.count() == 1


@pytest.mark.parametrize("changed", [{}, {"spark.sql.parser.escapedStringLiterals": "true"}])
def test_a_refusal_names_the_settings_that_may_be_why(changed: dict[str, str]) -> None:
    session: Any = SimpleNamespace(conf=SimpleNamespace(get=changed.get))
    with pytest.raises(NotUnderstoodError) as caught, naming_settings(session):
        raise NotUnderstoodError("this is not understood", "Reword it.", "SELECT 1")
    named = "".join(
        f" It may be refused since {name} is not false where it is read." for name in changed
    )
    assert caught.value.advice == f"Reword it.{named}"
    assert caught.value.sql == "SELECT 1"


def test_names_that_differ_by_case_are_refused_where_that_tells_them_apart(
    spark: SparkSession,
) -> None:
    """By case-insensitive names the join would be one on the column of both sides."""
    with lipstick.session(spark) as ls, setting(spark, "spark.sql.caseSensitive", "true"):
        ls.track("r", spark.createDataFrame([(1, 2)], "id int, K int"), key="id")
        ls.track("s", spark.createDataFrame([(1, 3)], "no int, k int"), key="no")
        with pytest.raises(UnsupportedError, match=r"\(K, k\).*caseSensitive"):
            ls.sql("SELECT id, no FROM r NATURAL JOIN s")
        with pytest.raises(UnsupportedError, match=r"\(Id, id\).*caseSensitive"):
            ls.sql("SELECT id + 1 AS Id, id FROM r ORDER BY Id")
        assert [row.K for row in ls.sql("SELECT id, K FROM r").plan.annotated.collect()] == [2]


@pytest.mark.engines("spark")
def test_sketches_over_no_rows(spark: SparkSession) -> None:
    """An empty sketch, not NULL, where a correlated subquery finds nothing."""
    sql = (
        "SELECT id, (SELECT hex(count_min_sketch(x, 0.5D, 0.5D, 1)) FROM r WHERE r.x = s.y) AS h"
        " FROM s"
    )
    with lipstick.session(spark) as ls:
        ls.track("r", spark.createDataFrame([(1, 2)], "id int, x int"), key="id")
        ls.track("s", spark.createDataFrame([(1, 2), (2, None)], "id int, y int"), key="id")
        q = ls.sql(sql)
        expected = {tuple(row) for row in q.df.collect()}
        assert all(value is not None for _, value in expected)
        assert {tuple(row)[:2] for row in q.plan.annotated.collect()} == expected


@pytest.mark.spark
def test_variables_in_a_text_have_their_values(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    """Whoever computes the answer; what is no variable is what Spark makes of it."""
    session = new_session(spark)
    request.addfinalizer(lambda: leave(session))
    with lipstick.session(session) as ls, setting(session, "wanted.day", "it's"):
        rows = [(1, "a"), (2, "b"), (3, "c")]
        ls.track("r", session.createDataFrame(rows, "id int, x string"), key="id")
        with setting(session, "wanted", "b"):
            query = ls.sql("""SELECT id, '${other}' AS o, "${wanted.day}" AS d FROM r
                WHERE x >= '${hivevar:wanted}'""")
            other = session.sql("SELECT '${other}'").collect()[0][0]
            assert query.what_if(delete={"r": [3]}).df.collect() == [(2, other, "it's")]
            with setting(session, "spark.sql.variable.substitute", "false"):
                plain = ls.sql("SELECT id FROM r WHERE x <> '${wanted}'")
                assert plain.what_if(delete={"r": [3]}).df.count() == 2


@pytest.mark.spark
def test_a_view_is_read_by_the_settings_that_it_was_made_with(spark: SparkSession) -> None:
    """Other settings are refused where they give its text another meaning."""
    spark.sql("CREATE TABLE texts (c STRING) USING parquet").collect()
    made = {
        "numbers": ("spark.sql.ansi.enabled", "false", "SELECT CAST(c AS INT) AS n FROM texts"),
        "noons": ("spark.sql.session.timeZone", "Asia/Tokyo", "SELECT TIMESTAMP '2024-01-01' AS t"),
        "quoted": ("spark.sql.ansi.doubleQuotedIdentifiers", "true", 'SELECT "c" AS q FROM texts'),
        "same": ("spark.sql.session.timeZone", "Asia/Tokyo", "SELECT c FROM texts"),
    }
    try:
        for view, (name, value, text) in made.items():
            with setting(spark, name, value):
                spark.sql(f"CREATE VIEW {view} AS {text}").collect()
        with lipstick.session(spark) as ls:
            ls.track("texts", key="*")
            for view in ("numbers", "noons", "quoted"):
                with pytest.raises(
                    UnsupportedError, match=f"{view} was made where {made[view][0]}"
                ):
                    ls.sql(f"SELECT * FROM {view}")
            if hasattr(spark, "_jsparkSession"):  # Connect reads texts when they run
                assert ls.sql("SELECT * FROM same").df.columns == ["c"]
            with setting(spark, *made["numbers"][:2]):
                assert ls.sql("SELECT * FROM numbers").df.columns == ["n"]
            if spark.version >= "4.2":
                text = "SELECT c FROM texts WHERE 'a' = 'A'"
                spark.sql(f"CREATE VIEW folded DEFAULT COLLATION UTF8_LCASE AS {text}").collect()
                with pytest.raises(UnsupportedError, match="folded has a default collation"):
                    ls.sql("SELECT * FROM folded")
    finally:
        for view in (*made, "folded"):
            spark.sql(f"DROP VIEW IF EXISTS {view}").collect()
        spark.sql("DROP TABLE texts").collect()


@pytest.mark.spark
def test_a_view_keeps_its_columns_when_its_table_gets_others(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE growing (id INT, n INT) USING parquet").collect()
    try:
        spark.sql("CREATE VIEW all_of_it (a, b) AS SELECT * FROM growing").collect()
        evolving = "CREATE VIEW all_there_is WITH SCHEMA EVOLUTION AS SELECT * FROM growing"
        spark.sql(evolving).collect()
        spark.sql("DROP TABLE growing").collect()
        spark.sql("CREATE TABLE growing (more INT, n STRING, id INT) USING parquet").collect()
        spark.sql("INSERT INTO growing VALUES (7, '12', 1), (8, '13', 2)").collect()
        with lipstick.session(spark) as ls:
            ls.track("growing", key="id")
            query = ls.sql("SELECT * FROM all_of_it")
            assert query.df.schema == spark.table("all_of_it").schema
            assert query.what_if(delete={"growing": [2]}).df.collect() == [(1, 12)]
            query = ls.sql("SELECT * FROM all_there_is")
            assert query.what_if(delete={"growing": [2]}).df.collect() == [(7, "12", 1)]
    finally:
        for view in ("all_of_it", "all_there_is"):
            spark.sql(f"DROP VIEW IF EXISTS {view}").collect()
        spark.sql("DROP TABLE growing").collect()
