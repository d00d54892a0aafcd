"""What-ifs by running again, against an engine that is not Spark, on the reduced database."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lipstick
from tests.oracle.deletion import deletion_sets
from tests.oracle.duck import Duck, loosened
from tests.oracle.rows import difference, from_spark
from tests.oracle.suites import TPCH

pytestmark = [pytest.mark.spark, pytest.mark.classic]

NUMBERS = (4, 13, 22)
"""Queries without quotients of decimals, which the engines round differently."""


@pytest.mark.engines("spark")
def test_rerun_agrees_with_duckdb(spark: SparkSession, tpch: Callable[[float], Path]) -> None:
    """The rows without the deleted ones are those that DuckDB finds in what is left."""
    database = TPCH.load(tpch(0.01))
    engine = Duck(database)
    changed = 0
    with lipstick.session(spark) as ls:
        for name, relation in database.relations.items():
            path = tpch(0.01) / f"{name}.parquet"
            ls.track(name, spark.read.parquet(str(path)), key=list(relation.key))
        for number in NUMBERS:
            sql = TPCH.query(number)
            q = ls.sql(sql)
            read = {
                name: frozenset(relation.row_keys())
                for name, relation in database.relations.items()
                if name in q.plan.relations
            }
            before = loosened(engine.answer(sql))
            (_, _, _, half) = deletion_sets(random.Random(number), database, read, count=4)
            w = q.what_if(half.argument(), method="rerun")
            assert w.method == "rerun"
            actual = loosened(from_spark(w.df))
            expected = loosened(engine.answer(sql, half))
            assert not difference(expected.rows, actual.rows), number
            changed += bool(difference(before.rows, expected.rows))
    assert changed >= len(NUMBERS) - 1
