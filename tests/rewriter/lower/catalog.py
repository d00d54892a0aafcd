"""The relations that the cases of lowering read."""

from __future__ import annotations

from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import (
    Deduplication,
    EventTimeColumn,
    MemoryCatalog,
    TableFunction,
    TrackedRelation,
    ViewText,
)
from rewriter.blocks import Block, TokenSource
from rewriter.lower import lower_query

RELATIONS = {
    "cars": (("car_id", "model", "price", "dealer"), ("car_id",)),
    "dealers": (("dealer", "city", "rating"), ("dealer",)),
    "bids": (("bid", "car_id", "buyer", "amount"), ("bid", "buyer")),
    "rates": (("city", "rate"), ()),
    "b1": (("k", "v"), ("k",)),
    "cars_2": (("car_id", "price"), ("car_id",)),
    "k": (("x", "y"), ("x",)),
    "order": (("select", "_prov", "Case"), ("_prov",)),
    "nested": (("id", "st", "arr"), ("id",)),
}
"""Columns and token columns by relation; ``rates`` carries no provenance."""
FIRST = ViewText("first_cars", "SELECT model, price FROM cars", None, Deduplication((0,)))
"""The rows of a stream without duplicates; where nothing says which, any of them."""
TIMED = ViewText("timed_cars", "SELECT model, price FROM cars", None, None, EventTimeColumn(1, 0))
"""The rows of a stream with a watermark; they are those of the stream."""
CATALOG = MemoryCatalog(
    [*(TrackedRelation(name, columns) for name, (columns, _) in RELATIONS.items()), FIRST, TIMED]
)
TOKENS = {
    name: TokenSource(name, key, (key,) if key else ()) for name, (_, key) in RELATIONS.items()
}
AGGREGATES = {"middle"}
FUNCTIONS = {"words", *AGGREGATES, "explode"}
"""Functions of the session: a table function, an aggregate, and, as Spark says, its own too."""
TABLES = {"words": TableFunction("words_carrier", ("word", "size"))}


LEVELS = {":30": 1}
"""The recursions that are unfolded, by their places, and into how many levels."""


def blocks(sql: str) -> Block:
    """Return the root of a query's blocks."""
    bound = bind_query(
        sql,
        Environment(
            CATALOG, functions=FUNCTIONS, aggregates=AGGREGATES, tables=TABLES, levels=LEVELS
        ),
    )
    return lower_query(bound.root, TOKENS, sql)
