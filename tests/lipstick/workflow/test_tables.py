"""Rows that users give, without Spark: files are read as what the relation's columns are."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lipstick.workflow import Relation
from lipstick.workflow.errors import WorkflowError
from lipstick.workflow.execution.tables import as_table

CARS = Relation("id string, doors int")
SCHEMA = pa.schema({"id": pa.string(), "doors": pa.int32()})
NO_SPARK = cast("SparkSession", None)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cars.csv", "id,doors\n007,4\n,\n"),
        ("cars.json", '[{"id": "007", "doors": 4}, {}]'),
        ("cars.json", '{"id": "007", "doors": 4}\n\n{"id": null}\n'),
    ],
)
def test_files_have_the_types_of_the_relation(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    table = as_table(NO_SPARK, path, CARS, SCHEMA, "Input Cars")
    assert table.schema == SCHEMA
    assert table.to_pylist() == [{"id": "007", "doors": 4}, {"id": None, "doors": None}]


def test_text_that_is_no_value_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cars.csv"
    path.write_text("id,doors\nC1,four\n", encoding="utf-8")
    with pytest.raises(WorkflowError, match=r"Input Cars: the rows do not fit the columns .*four"):
        as_table(NO_SPARK, path, CARS, SCHEMA, "Input Cars")
