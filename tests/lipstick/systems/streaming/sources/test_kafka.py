"""What is asked of Kafka again, and which micro-batch a record belongs to."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lipstick.errors import SourceError
from lipstick.systems.streaming.sources import OffsetSpan
from lipstick.systems.streaming.sources.kafka import Range, in_batches, ranges, reader_options

OPTIONS = {
    "kafka.bootstrap.servers": "broker:9092",
    "subscribePattern": "t.*",
    "startingOffsets": "latest",
    "maxOffsetsPerTrigger": "5",
    "includeHeaders": "true",
}
RANGES = [
    Range("t", 0, 3, 5, 0),
    Range("t", 0, 5, 9, 2),
    Range("t", 1, 0, 2, 2),
    Range("u", 0, 7, 8, 2),
]


def test_ranges_begin_where_the_query_began(tmp_path: Path) -> None:
    """Spark keeps those offsets itself; partitions that were added begin at their beginning."""
    (tmp_path / "0").write_text('v1\n{"t":{"0":3},"u":{"0":7}}')
    first = {"t": {"0": 5}, "u": {"0": 7}}
    second = {"t": {"0": 9, "1": 2}, "u": {"0": 8}}
    read = [(0, OffsetSpan(None, first, tmp_path)), (2, OffsetSpan(first, second, tmp_path))]
    assert ranges(read) == RANGES


def test_the_reader_is_given_all_that_batches_read_and_no_more() -> None:
    options = reader_options(OPTIONS, RANGES)
    assert json.loads(options.pop("assign")) == {"t": [0, 1], "u": [0]}
    assert json.loads(options.pop("startingOffsets")) == {"t": {"0": 3, "1": 0}, "u": {"0": 7}}
    assert json.loads(options.pop("endingOffsets")) == {"t": {"0": 9, "1": 2}, "u": {"0": 8}}
    assert options == {
        "kafka.bootstrap.servers": "broker:9092",
        "includeHeaders": "true",
        "failOnDataLoss": "true",
    }


def test_offsets_that_are_none_of_kafka_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not say at which offsets the query began"):
        ranges([(0, OffsetSpan(None, {"t": {"0": 1}}, tmp_path))])
    with pytest.raises(SourceError, match="The offset 7 is not an offset of Kafka"):
        ranges([(0, OffsetSpan({"t": {"0": 1}}, 7, tmp_path))])


@pytest.mark.engines("memory")
def test_records_have_the_batch_that_read_them(spark: SparkSession) -> None:
    places = [("t", 0, n) for n in range(2, 10)] + [("t", 1, 0), ("u", 0, 7), ("u", 0, 8)]
    rows = spark.createDataFrame(places, "topic STRING, partition INT, offset BIGINT")
    read = sorted(map(tuple, in_batches(rows, RANGES).collect()))
    assert read == [
        ("t", 0, 3, 0), ("t", 0, 4, 0), ("t", 0, 5, 2), ("t", 0, 6, 2), ("t", 0, 7, 2),
        ("t", 0, 8, 2), ("t", 1, 0, 2), ("u", 0, 7, 2),
    ]  # fmt: skip
