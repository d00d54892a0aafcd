"""Spark writes into a transaction's folder, and reads the store's files."""

from __future__ import annotations

from pyspark.sql import SparkSession

from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store import Store, fsck


def test_written_and_read_by_spark(spark: SparkSession, store: Store) -> None:
    """A data frame of several parts becomes one file, in order, before and after compaction."""
    with store.writer() as writer:
        for number in range(2):
            with writer.transaction() as transaction:
                values = transaction.folder / "values"
                frame = spark.range(0, 1_000, numPartitions=3)
                frame.selectExpr("id", "concat('C', id) AS car").write.parquet(str(values))
                name = f"cars{number}"
                cars = Segment(name, Kind.TOKEN, "", 1_000, key=("car",), file="")
                transaction.add_segment(cars, file=values)
                ends = transaction.folder / "ends"
                spark.range(1_000, numPartitions=2).selectExpr(
                    "cast(id AS int) AS source", "cast(0 AS int) AS target"
                ).write.parquet(str(ends))
                transaction.add_segment(Segment(f"sum{number}", Kind.DERIVED, "+", 1))
                transaction.add_edges(EdgeSet(name, f"sum{number}", 1_000, file=""), file=ends)
                transaction.add_edges(EdgeSet(name, f"sum{number}", 1, Ordinals.ONE, Ordinals.ONE))
                transaction.commit()
        assert writer.compact().before == 4
    snapshot = store.snapshot()
    assert fsck(store.path) == []
    assert snapshot.values("cars1")["car"].to_pylist() == [f"C{row}" for row in range(1_000)]
    assert snapshot.ordinals(snapshot.edges[0])[0].tolist() == list(range(1_000))
    file = snapshot.segments["cars1"].file
    assert file is not None
    read = spark.read.parquet(str(snapshot.path(file)))
    assert read.where("car = 'C7'").count() == 2
    assert read.schema.simpleString() == "struct<id:bigint,car:string>"
