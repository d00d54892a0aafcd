"""Keys in questions that name no row: reported, and refused by strict questions."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick import semirings
from lipstick.errors import TrackingError, UnknownKeyWarning

QUERY = "SELECT Model, count(*) AS n, sum(Price) AS s FROM Cars WHERE Price > 20 GROUP BY Model"


def questions(
    q: lipstick.AnnotatedFrame | lipstick.Capture, key: str, *, strict: bool
) -> list[Callable[[], object]]:
    """Each names a car by its key."""
    table = pa.table({"CarId": [key], "scenario": [7]})
    delete = {"Cars": ["C1", key]}
    return [
        lambda: q.what_if(delete, strict=strict),
        lambda: q.what_if_many([delete], strict=strict),
        lambda: q.what_if_many({"cars": table}, strict=strict),
        lambda: q.algebra.evaluate(semirings.Counting(), {"Cars": {key: 3}}, strict=strict),
        lambda: q.algebra.k_relation(semirings.Counting(), {"Cars": {key: 3}}, strict=strict),
        lambda: q.what_if_updated({"Cars": table.select(["CarId"])}, strict=strict),
    ]


@pytest.mark.parametrize("kind", ["frame", "capture", "memory"])
def test_keys_that_name_no_row(dealer: lipstick.Session, tmp_path: Path, kind: str) -> None:
    """A typing error is not proof that nothing depends on a row."""
    frame = dealer.sql(QUERY)
    q: lipstick.AnnotatedFrame | lipstick.Capture = frame
    if kind != "frame":
        q = frame.save(tmp_path / "capture")
    if kind == "memory":
        q = lipstick.open(tmp_path / "capture")
    for ask in questions(q, "C3", strict=True):
        ask()
    for ask in questions(q, "c3", strict=False):
        with pytest.warns(UnknownKeyWarning, match=r"1 key names no row .*: 'c3'") as told:
            ask()
        assert told[0].filename == __file__
    for ask in questions(q, "c3", strict=True):
        with pytest.raises(TrackingError, match=r"(?s)'c3'.*spelling and case with the key \(Car"):
            ask()
    many = {"Cars": [f"x{number}" for number in range(8)]}
    with pytest.warns(UnknownKeyWarning, match=r"8 keys name no row .*'x\d' and 3 more"):
        q.what_if(many)
    with pytest.warns(UnknownKeyWarning, match="'c3'"):
        q.probability({"Cars": {"c3": 0.5}})
    if kind == "memory":
        with pytest.warns(UnknownKeyWarning, match="none, or it took no part in the query: 'C2'"):
            q.what_if({"Cars": ["C2"]})
    else:
        q.what_if({"Cars": ["C2"]}, strict=True)


def test_predicates_that_select_no_row(dealer: lipstick.Session) -> None:
    """In a deletion, in scenarios, and where the query is run again."""
    q = dealer.sql(QUERY)
    delete = {"cars": "CarId = 'c1'"}
    with pytest.warns(UnknownKeyWarning, match="No row of 'Cars' is selected by \"CarId = 'c1'\""):
        q.what_if(delete)
    with pytest.warns(UnknownKeyWarning, match="No row of 'Cars'"):
        q.what_if_many([delete])
    for method in ("annotations", "rerun"):
        with pytest.raises(TrackingError, match="No row of 'Cars'"):
            q.what_if(delete, method=method, strict=True)
    with pytest.raises(TrackingError, match="'c1'"):
        q.what_if({"Cars": ["c1"]}, method="rerun", strict=True)


def test_values_name_rows_with_nulls(ls: lipstick.Session, spark: SparkSession) -> None:
    """NULL is a value of a key that is made of all columns."""
    ls.track("t", spark.createDataFrame([(1, None)], "a int, b string"), key="*")
    q = ls.sql("SELECT a FROM t")
    assert q.what_if({"t": [(1, None, 1)]}, strict=True).df.count() == 0
    with pytest.raises(TrackingError, match=r"\(1, None, 2\)"):
        q.what_if({"t": [(1, None, 2)]}, strict=True)
