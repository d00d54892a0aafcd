"""Other values and further rows, in columns that decide which rows are joined, kept or grouped."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import NeedsSparkError, TrackingError

QUERY = """
SELECT c.name, sum(o.price) AS total, (SELECT max(rate) FROM rates) AS rate
FROM orders o JOIN customers c ON c.id = o.customer
WHERE o.price < 100 GROUP BY c.name HAVING count(*) > 1
"""


pytestmark = pytest.mark.spark


def test_a_changed_database_answers(ls: lipstick.Session, spark: SparkSession) -> None:
    orders = pa.table({"id": [1, 2, 3, 4], "customer": [1, 1, 2, 2], "price": [5, 6, 500, 7]})
    customers = pa.table({"id": [1, 2], "name": ["a", "b"]})
    ls.track("orders", spark.createDataFrame(orders), key="id")
    ls.track("customers", spark.createDataFrame(customers), key="id")
    ls.track("rates", spark.createDataFrame(pa.table({"id": [1], "rate": [2]})), key="id")
    q = ls.sql(QUERY)
    cheaper = {"orders": {"price": "if(id = 3, 50, price)"}}
    moved = pa.table({"id": [1], "customer": [2]})
    more = pa.table({"id": [9, 10], "customer": [1, 2], "price": [1, 2]})
    changed = q.what_if_updated(cheaper, insert={"Orders": more})
    assert changed.method == "blocks"
    expected = [("a", 12, 2), ("b", 59, 2)]
    assert sorted(tuple(row.values()) for row in changed.df.to_pylist()) == expected
    kinds = [(r["_change"], r["old"], r["new"]["total"]) for r in changed.changes.to_pylist()]
    assert sorted(kinds, key=str) == [
        ("added", None, 59),
        ("changed", {"name": "a", "total": 11, "rate": 2}, 12),
    ]
    many = q.what_if_updated_many({"moved": {"orders": moved}})
    assert [tuple(row.values()) for row in many.df.to_pylist()] == [("moved", "b", 12, 2)]
    with pytest.raises(TrackingError, match=r"several rows with the key \(1\)"):
        q.what_if_updated(insert={"orders": more.set_column(0, "id", pa.array([1, 9]))})
    with pytest.raises(TrackingError, match="need its column 'price'"):
        q.what_if_updated(insert={"orders": more.drop_columns(["price"])})
    capture = lipstick.open(q.capture.directory)
    for update, insert in (({"orders": moved}, {}), ({}, {"orders": more})):
        with pytest.raises(NeedsSparkError, match="spark=spark"):
            capture.what_if_updated(update, insert=insert)
