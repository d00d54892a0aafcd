"""Statements that Delta and Iceberg really ran, reenacted from their versions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from random import Random

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import lipstick
from lipstick.tracking.formats.probe import versioned_table
from tests.oracle.histories.draw import COLUMNS, SOURCES, TYPES, draw, statement

FORMATS = ("delta", "iceberg")
STATEMENTS = int(os.environ.get("LIPSTICK_FORMAT_STATEMENTS", "2"))
_ARROW = {"INT": pa.int32(), "STRING": pa.string()}


@pytest.mark.parametrize("format", FORMATS)
def test_random_statements_are_reenacted(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], format: str
) -> None:
    """Every version is that of the format, and undoing the last gives the version before it."""
    random = Random(os.environ.get("LIPSTICK_FORMAT_SEED", "11") + format)
    drawn, table = draw(random.randint(0, 10**6)), fresh(format)
    for name in SOURCES:
        values = {
            column: pa.array([row[number] for row in drawn.tables[name]], _ARROW[TYPES[number]])
            for number, column in enumerate(COLUMNS)
        }
        ls.track(name, lake.createDataFrame(pa.table(values)), key="*")
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(COLUMNS, TYPES, strict=True))
    lake.sql(f"CREATE TABLE {table} ({columns}) USING {format}")
    lake.sql(f"INSERT INTO {table} SELECT * FROM s UNION ALL SELECT * FROM r")
    found = versioned_table(lake, table)
    assert found is not None
    versions = found[0]
    first = versions.current()
    assert first is not None
    # Delta has a version of the table without rows, Iceberg has none.
    filled = f"INSERT INTO {table} SELECT * FROM s UNION ALL SELECT * FROM r"
    ran = [lipstick.ExecutedStatement(filled, version=first)] if format == "delta" else []
    while len(ran) < STATEMENTS:
        one = statement(random)
        if one.table != "t" or re.search(r"\bu\b", one.text):
            continue
        text = re.sub(r"\bt\b", table, one.text)
        before = versions.current()
        try:
            lake.sql(text)
        except PySparkException:
            continue  # the format has not this form, or several rows match one
        if (after := versions.current()) != before:
            ran.append(lipstick.ExecutedStatement(text, version=after))
    if format == "delta":
        lake.sql(f"OPTIMIZE {table}")
    history = ls.reenact({table: table}, ran, key="*")
    undone = history.what_if(undo=[list(history.statements)[-1]]).table(table)
    before_last = versions.read([first, *(each.version for each in ran)][-2])
    assert not undone.exceptAll(before_last).collect()
    assert not before_last.exceptAll(undone).collect()
