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

CHANGED = {
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.legacy.parser.havingWithoutGroupByAsWhere": "true",
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
        f" It may be refused since {name} is not false in this session." for name in changed
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
