"""AUTO CDC flows: their query over the changes, against the rows that Spark itself derives."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick.dataframes.jvm import jvm_of, sequence

flow = pytest.importorskip("pyspark.pipelines.flow")
pytestmark = [
    pytest.mark.classic,
    pytest.mark.engines("memory"),
    pytest.mark.skipif(not hasattr(flow, "AutoCdcFlow"), reason="AUTO CDC needs PySpark 4.3"),
]

_HIDDEN = "__spark_autocdc_should_route_to_aux_table"
_SEEN = f"NOT {_HIDDEN} AND (__END_AT IS NULL OR __START_AT < __END_AT)"


def _changes(seed: int) -> list[tuple[Any, ...]]:
    """Return changes of a few keys in no order; the sequences of a key's changes are unique."""
    choice = random.Random(seed)
    rows = [
        (key, choice.choice("UUUD"), at, choice.choice(["a", "b", None]), choice.choice("xy"))
        for key in range(6)
        for at in choice.sample(range(20), choice.randint(1, 8))
    ]
    choice.shuffle(rows)
    return rows


def _flow(spark: SparkSession, kind: int, tracked: list[str] | None) -> Any:
    from lipstick.systems.declarative.changes import ChangeFlow

    definition = flow.AutoCdcFlow(
        name=None,
        target="people",
        source="changes",
        keys=[F.col("id")],
        sequence_by=F.col("at"),
        apply_as_deletes=F.expr("op = 'D'"),
        column_list=None,
        except_column_list=[F.col("op"), F.col("at")],
        stored_as_scd_type=kind,
        track_history_column_list=tracked and [F.col(name) for name in tracked],
        track_history_except_column_list=None,
        spark_conf={},
        source_code_location=None,
    )
    return ChangeFlow.of_python(spark, definition)


def _merged(spark: SparkSession, changes: DataFrame, kind: int, tracked: list[str] | None) -> Any:
    """Return the rows that Spark's batch processors make of changes in an empty table."""
    jvm = jvm_of(spark)
    cdc = jvm.org.apache.spark.sql.pipelines.autocdc

    def selection(kind: str, names: list[str]) -> Any:
        columns = sequence(spark, [cdc.UnqualifiedColumnName(name) for name in names])
        return getattr(cdc, f"ColumnSelection${kind}Columns")(columns)

    arguments = cdc.ChangeArgs(
        sequence(spark, [cdc.UnqualifiedColumnName("id")]),
        F.col("at")._jc,
        getattr(getattr(cdc, f"ScdType$Type{kind}$"), "MODULE$"),
        jvm.scala.Option.apply(F.expr("op = 'D'")._jc),
        jvm.scala.Option.apply(selection("Exclude", ["op", "at"])),
        jvm.scala.Option.apply(tracked and selection("Include", tracked)),
    )
    integer = spark.range(1).select(F.lit(1))._jdf.schema().apply(0).dataType()
    columns = "id int, name string, city string, "
    metadata = "__spark_autocdc_metadata struct<{}>"
    if kind == 1:
        fields = metadata.format("deleteSequence: int, upsertSequence: int")
        empty = spark.createDataFrame([], columns + fields)
        rows = cdc.Scd1BatchProcessor(arguments, integer).reconcileMicrobatch(
            changes._jdf, empty._jdf
        )
        found = DataFrame(rows, spark)
        return found.where("__spark_autocdc_metadata.deleteSequence IS NULL")
    columns += "__START_AT int, __END_AT int, " + metadata.format("__RECORD_START_AT: int")
    empty = spark.createDataFrame([], columns)
    empty.createOrReplaceTempView("cdc_target")
    deleted = F.lit(None).cast("long").alias("__spark_autocdc_deleted_by_batch_id")
    empty.select("*", deleted).createOrReplaceTempView("cdc_auxiliary")
    names = [
        jvm.org.apache.spark.sql.catalyst.TableIdentifier(name)
        for name in ("cdc_auxiliary", "cdc_target")
    ]
    processor = cdc.Scd2BatchProcessor(arguments, integer)
    found = cdc.Scd2ForeachBatchHandler(processor, *names).reconcileMicrobatch(changes._jdf, 0)
    return DataFrame(found.reconciledAndRoutedDf(), spark).where(_SEEN).drop(_HIDDEN)


def _rows(frame: DataFrame) -> list[str]:
    return sorted(str(tuple(row)) for row in frame.collect())


@pytest.mark.parametrize(("kind", "tracked"), [(1, None), (2, None), (2, ["name"])])
def test_rows_are_those_that_spark_derives(
    kind: int, tracked: list[str] | None, spark: SparkSession, ls: lipstick.Session
) -> None:
    rows = _changes(kind + len(tracked or ()))
    schema = "id int, op string, at int, name string, city string"
    changes = spark.createDataFrame(rows, schema).coalesce(1)
    ls.track("changes", changes, "*")
    made = _flow(ls.spark, kind, tracked).rows()
    assert made.columns == _merged(spark, changes, kind, tracked).columns
    annotated = ls.annotate(made)
    assert _rows(annotated.df) == _rows(_merged(spark, changes, kind, tracked))
    left = _merged(spark, changes.where("at % 3 <> 0"), kind, tracked)
    assert _rows(annotated.what_if(delete={"changes": "at % 3 = 0"}).df) == _rows(left)
