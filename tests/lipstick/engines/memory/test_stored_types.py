"""Types that Spark's Parquet files have and Arrow does not tell."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

from lipstick.engines.memory.aggregates import reaggregate
from lipstick.engines.memory.arrow_datasets import HeldDatasets
from lipstick.engines.memory.store import StoredDataset
from lipstick.errors import NeedsSparkError
from rewriter.interpret import aggregate_call
from rewriter.scalars.text import scalar
from tests.oracle.conditions import DATABASE
from tests.oracle.written import written
from tests.rewriter.lower.catalog import blocks

DAY = 86_400_000_000
HOURS = "interval day to second"


def stored(folder: Path, table: pa.Table, types: dict[str, Any]) -> StoredDataset:
    """Return a table as a dataset of one file that says these types of Spark's."""
    fields = [{"name": name, "type": kind, "metadata": {}} for name, kind in types.items()]
    schema_text = json.dumps({"type": "struct", "fields": fields})
    key = "org.apache.spark.sql.parquet.row.metadata"
    pq.write_table(table.replace_schema_metadata({key: schema_text}), folder / "part-0.parquet")
    return StoredDataset(folder)


def test_intervals_are_durations_wherever_they_stand(tmp_path: Path) -> None:
    element = {"type": "array", "elementType": HOURS, "containsNull": True}
    inner = {"type": "struct", "fields": [{"name": "d", "type": "interval minute"}]}
    table = pa.table(
        {
            "due": pa.array([DAY, None]),
            "all": pa.array([[DAY, None], None], pa.list_(pa.int64())),
            "in": pa.array([{"d": 1}, None], pa.struct([("d", pa.int64())])),
            "by": pa.array([[("a", DAY)], None], pa.map_(pa.string(), pa.int64())),
            "months": pa.array([1, 2], pa.int32()),
            "number": pa.array([1, 2]),
        }
    )
    by = {"type": "map", "keyType": "string", "valueType": HOURS, "valueContainsNull": True}
    types = {"due": HOURS, "all": element, "in": inner, "by": by, "months": "interval month"}
    dataset = stored(tmp_path, table, {**types, "number": "long"})
    assert dataset.column("due").to_pylist() == [dt.timedelta(days=1), None]
    assert dataset.column("all").to_pylist() == [[dt.timedelta(days=1), None], None]
    assert dataset.column("in").to_pylist() == [{"d": dt.timedelta(microseconds=1)}, None]
    assert dataset.column("by").to_pylist() == [[("a", dt.timedelta(days=1))], None]
    assert dataset.column("months").type == pa.int32()
    assert dataset.column("number").type == dataset.type("number") == pa.int64()


def test_instants_are_in_utc_wherever_they_stand(tmp_path: Path) -> None:
    """Spark stores them in 96 bits; an old one is beyond what 64 bits of nanoseconds hold."""
    noon = dt.datetime(2024, 3, 31, 12)
    old = dt.datetime(1, 1, 1)
    kind = pa.timestamp("us")
    table = pa.table(
        {
            "at": pa.array([noon, old], kind),
            "within": pa.array([{"end": noon}, None], pa.struct([("end", kind)])),
            "all": pa.array([[noon, None], None], pa.list_(kind)),
            "by": pa.array([[(noon, noon)], None], pa.map_(kind, kind)),
        }
    )
    pq.write_table(table, tmp_path / "part-0.parquet", use_deprecated_int96_timestamps=True)
    dataset = StoredDataset(tmp_path)
    noon, old = noon.replace(tzinfo=dt.UTC), old.replace(tzinfo=dt.UTC)
    assert dataset.column("at").to_pylist() == [noon, old]
    assert dataset.column("within").to_pylist() == [{"end": noon}, None]
    assert dataset.column("all").to_pylist() == [[noon, None], None]
    assert dataset.column("by").to_pylist() == [[(noon, noon)], None]


@pytest.mark.parametrize("nested", [False, True])
def test_texts_that_are_not_utf8_need_spark(tmp_path: Path, nested: bool) -> None:
    texts = pa.array([b"A\xff", b"b"], pa.binary()).view(pa.string())
    column = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), texts) if nested else texts
    dataset = stored(tmp_path, pa.table({"b": column, "c": pa.array(["é", None])}), {})
    assert dataset.column("c").to_pylist() == ["é", None]
    with pytest.raises(NeedsSparkError, match=r"The texts 'b' in .* are not all UTF-8"):
        dataset.column("b")


def test_averages_of_intervals_need_spark() -> None:
    call = aggregate_call(exp.Avg(this=exp.column("due")))
    with pytest.raises(NeedsSparkError, match="AVG"):
        reaggregate(call, [pa.array([1, 2], pa.duration("us"))], np.array([0, 2]))


def test_texts_with_a_collation_are_named(tmp_path: Path) -> None:
    """Only Spark compares them; other columns are read as ever."""
    fields = [
        {"name": "s", "type": "string", "metadata": {"__COLLATIONS": {"s": "spark.UTF8_LCASE"}}},
        {"name": "t", "type": "string", "metadata": {}},
    ]
    table = pa.table({"s": ["a"], "t": ["b"]})
    key = "org.apache.spark.sql.parquet.row.metadata"
    metadata = {key: json.dumps({"type": "struct", "fields": fields})}
    folder = tmp_path / "members"
    folder.mkdir()
    pq.write_table(table.replace_schema_metadata(metadata), folder / "part-0.parquet")
    dataset = StoredDataset(folder)
    assert dataset.column("t").to_pylist() == ["b"]
    with pytest.raises(NeedsSparkError, match=r"^The texts 's' in .* have a collation, by which"):
        dataset.column("s")


def test_tables_in_memory_are_datasets() -> None:
    parts = [pa.array([1, 2]), pa.array([None], pa.int64())]
    table = pa.table({"x": pa.chunked_array(parts), "y": ["a", "b", "c"]})
    held = HeldDatasets()
    held.hold(blocks("SELECT model FROM cars"), "members", table)
    dataset = held.dataset(blocks("SELECT model FROM cars"), "members")
    assert dataset is not None
    assert (dataset.names, dataset.count) == (["x", "y"], 3)
    assert dataset.column("x").to_pylist() == [1, 2, None]
    assert dataset.type("y") == pa.string()
    assert held.dataset(blocks("SELECT model FROM cars"), "rows") is None


def test_union_of_types_that_only_spark_converts_is_as_it_is_stored(tmp_path: Path) -> None:
    """The values are known as long as no deletion changes them."""
    sql = (
        "SELECT k, count(v) AS c FROM (SELECT k, sum(x) AS v FROM r GROUP BY k"
        " UNION ALL SELECT k, k FROM s WHERE y > 1) GROUP BY k"
    )
    memory = written(sql, DATABASE, tmp_path)
    annotations = {tuple(row.values()): str(of_row) for row, of_row in memory.annotations()}
    assert annotations == {
        (None, 1): "δ(s:4 + δ(r:5))",
        ("a", 1): "δ(r:1 + r:2)",
        ("b", 2): "δ(s:2 + δ(r:3 + r:4))",
        ("c", 1): "δ(s:3)",
    }
    with pytest.raises(NeedsSparkError, match="v` changes with the deleted rows"):
        memory.what_if({"r": pa.table({"id": pa.array([1], pa.int32())})})


def test_averages_of_decimals_have_four_more_digits() -> None:
    values = pa.array([Decimal("1.25"), Decimal("1.25"), None, Decimal("3.00"), None])
    call, offsets = aggregate_call(scalar("AVG(m.x)")), np.array([0, 4, 5])
    averages = reaggregate(call, [values.cast(pa.decimal128(8, 2))], offsets)
    assert averages.type == pa.decimal128(12, 6)
    assert averages.to_pylist() == [Decimal("1.833333"), None]
