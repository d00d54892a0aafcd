"""The catalog that the binder's tests share."""

from __future__ import annotations

from rewriter.catalog import MemoryCatalog, TrackedRelation, View

CATALOG = MemoryCatalog(
    [
        TrackedRelation("cars", ("car_id", "model", "price", "sold", "dealer")),
        TrackedRelation("dealers", ("dealer", "city", "rating")),
        TrackedRelation("t", ("a", "b")),
        TrackedRelation("l", ("x", "k", "j")),
        TrackedRelation("r", ("y", "j", "k")),
        TrackedRelation("nested", ("st", "a", "arr")),
        View("cheap", "SELECT model AS m, price FROM cars WHERE price < 10000"),
        View("cheap_named", "SELECT model, price FROM cars", ("m", "p")),
        View("totals", "SELECT dealer, sum(price) AS total FROM cars GROUP BY dealer"),
        View("windowed", "SELECT a,\n  sum(b) OVER (PARTITION BY a) AS s\nFROM t"),
        View("cyclic", "SELECT * FROM cyclic"),
        View("unreadable", "SELECT a FROM t WHERE"),
    ]
)
"""Two relations of cars, some of short names, and views over them."""
