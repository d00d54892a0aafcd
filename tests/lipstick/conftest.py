"""The dealership of the running example, tracked; and who computes the rows of captures."""

from collections.abc import Iterator
from zlib import crc32

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture import computed


@pytest.fixture
def ls(spark: SparkSession) -> Iterator[lipstick.Session]:
    """A session that tracks nothing yet."""
    with lipstick.session(spark) as session:
        yield session


@pytest.fixture
def dealer(ls: lipstick.Session, spark: SparkSession) -> lipstick.Session:
    """The state of dealer1 and one request, as in the worked example of the paper."""
    cars = [("C1", "Accord", 24), ("C2", "Civic", 20), ("C3", "Civic", 22)]
    ls.track(
        "Cars",
        spark.createDataFrame(cars, "CarId string, Model string, Price int"),
        key=["CarId"],
    )
    requests = spark.createDataFrame(
        [("P1", "B1", "Civic")], "UserId string, BidId string, Model string"
    )
    ls.track("Requests", requests, key="BidId")
    sold = spark.createDataFrame([], "CarId string, BidId string")
    ls.track("SoldCars", sold, key=["CarId"])
    return ls


@pytest.fixture(autouse=True)
def rows_here_or_by_spark(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Spark compute the rows of captures in every second test; they are few in all."""
    if crc32(request.node.nodeid.encode()) % 2:
        monkeypatch.setattr(computed, "MOST", 0)
