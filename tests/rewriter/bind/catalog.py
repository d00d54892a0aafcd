"""The catalog that the binder's tests share."""

from __future__ import annotations

from rewriter.bind.catalog import MemoryCatalog, TrackedRelation, Type, Variable, ViewText
from rewriter.errors import UnsupportedError


class _Catalog(MemoryCatalog):
    """Relations, and a view of a data frame that has no text."""

    def resolve(self, parts: tuple[str, ...]) -> TrackedRelation | ViewText | None:
        if parts[-1].lower() == "textless":
            problem = "in this data frame, describe() has no rule"
            raise UnsupportedError(problem, "Write it as a query.")
        return super().resolve(parts)


CATALOG = _Catalog(
    [
        TrackedRelation("cars", ("car_id", "model", "price", "sold", "dealer")),
        TrackedRelation("dealers", ("dealer", "city", "rating")),
        TrackedRelation("t", ("a", "b")),
        TrackedRelation("l", ("x", "k", "j")),
        TrackedRelation("r", ("y", "j", "k")),
        TrackedRelation("nested", ("st", "a", "arr")),
        TrackedRelation("padded", ("c", "d", "s"), {"c": "char(5)", "d": "char(3)"}),
        ViewText("cheap", "SELECT model AS m, price FROM cars WHERE price < 10000"),
        ViewText("cheap_named", "SELECT model, price FROM cars", ("m", "p")),
        ViewText("totals", "SELECT dealer, sum(price) AS total FROM cars GROUP BY dealer"),
        ViewText("windowed", "SELECT a,\n  sum(b) OVER (PARTITION BY a) AS s\nFROM t"),
        ViewText("cyclic", "SELECT * FROM cyclic"),
        ViewText("unreadable", "SELECT a FROM t WHERE"),
    ],
    {
        "least": Variable("2", "int"),
        "named": Variable(None, "string"),
        "low": Variable("-7", "bigint"),
        "share": Variable("0.50", "decimal(4,2)"),
        "listed": Variable("[1]", "array<int>"),
    },
    {"parts": ("part", "place")},
    {
        ("nested", "st"): Type.build("STRUCT<f: INT, `g h`: STRING>", dialect="spark"),
        ("nested", "arr"): Type.build(
            "ARRAY<STRUCT<f: INT, m: MAP<INT, STRING>>>", dialect="spark"
        ),
    },
)
"""Two relations of cars, some of short names, and views over them."""
