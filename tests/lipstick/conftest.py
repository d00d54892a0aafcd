"""The dealership of the running example, tracked; the engine that computes rows of captures."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture import local_rows
from lipstick.engines import route
from tests.selection import ENGINE, engines


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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make the engine a parameter of each test that uses Spark."""
    if "spark" in metafunc.fixturenames:
        metafunc.parametrize(ENGINE, engines(metafunc), indirect=True)


@pytest.fixture(autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the engine of a test compute the rows of captures; in tests they are few."""
    if getattr(request, "param", "memory") != "memory":
        monkeypatch.setattr(local_rows, "MOST", 0)
        monkeypatch.setattr(route, "MOST_MEMBERS", 0)
