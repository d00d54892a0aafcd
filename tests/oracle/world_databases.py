"""Databases of a few tuples for queries that were written for others, without ties in an order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from tests.oracle.database import Database, Relation
from tests.oracle.small import small

_PAIR: Final = pa.struct([("a", pa.int32()), ("b", pa.int32())])

SUPPORT: Final = Database(
    {
        relation.name: relation
        for relation in (
            small("r", "id int, k int, x int", [(1, 1, 5), (2, 1, 3), (3, 2, 4), (4, 3, 2)]),
            small("s", "id int, k int, y int", [(1, 1, 3), (2, 2, 2), (3, None, 4)]),
            small("n", "id int, xs array<int>", [(1, [1, 2]), (2, None), (3, [3])]),
            Relation(
                "d",
                ("id",),
                "id int, p struct<a: int, b: int>",
                pa.table(
                    {"id": pa.array([1, 2], pa.int32()), "p": pa.array([(1, 2), None], _PAIR)}
                ),
            ),
        )
    }
)
"""The relations of the examples on the page on support."""

_NESTED: Final = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int32()),
        "st": pa.array(
            [{"a": {"b": 2}, "x": 1}, {"a": {"b": 3}, "x": 5}, {"a": {"b": 2}, "x": 2}],
            pa.struct([("a", pa.struct([("b", pa.int32())])), ("x", pa.int32())]),
        ),
        "arr": pa.array([[1, 2, 3], [2], None], pa.list_(pa.int32())),
    }
)
_STRUCTS: Final = pa.array(
    [[{"c": 1, "d": 2}, {"c": 2, "d": 2}], [{"c": 1, "d": 5}], None],
    pa.list_(pa.struct([("c", pa.int32()), ("d", pa.int32())])),
)
_NUMBERED: Final = {"d1": 1, "d2": 2, "d3": 3, "a": 2, "b": 3}
_ST: Final = "id int, st struct<a: struct<b: int>, x: int>"


def _cars(kinds: Mapping[str, str], nested: Relation) -> Database:
    """Return the relations of the cases of lowering, with some types for names."""

    def relation(
        name: str, schema: str, rows: Sequence[tuple[Any, ...]], keys: int = 1
    ) -> Relation:
        columns = [item.split(" ") for item in schema.split(", ")]
        typed = ", ".join(f"{column} {kinds.get(kind, kind)}" for column, kind in columns)
        numbers = [kinds.get(kind) == "int" for _, kind in columns]
        named = [
            tuple(
                _NUMBERED[value] if number else value
                for value, number in zip(row, numbers, strict=True)
            )
            for row in rows
        ]
        relation_of_rows = small(name, typed, named)
        return Relation(
            name, tuple(column for column, _ in columns[:keys]), typed, relation_of_rows.data
        )

    cars = [(1, "a", 12, "d1"), (2, "a", 20, "d1"), (3, "b", 4, "d1"), (4, "b", 15, "d2")]
    dealers = [("d1", "a", 4), ("d2", "d1", 5), ("d3", "b", 0)]
    bids = [(1, "d1", 1, 11), (2, "a", 3, 4), (3, "d2", 4, 20)]
    swapped = [(bid, buyer, car, amount) for bid, buyer, car, amount in bids]
    relations = (
        relation("cars", "car_id int, model model, price int, dealer dealer", cars),
        relation("dealers", "dealer dealer, city city, rating int", dealers),
        relation("bids", "bid int, buyer buyer, car_id int, amount int", swapped, 2),
        relation("rates", "city city, rate int", [("a", 2), ("d1", 3)]),
        relation("b1", "k int, v int", [(1, 5), (2, 6), (3, 5)]),
        relation("cars_2", "car_id int, price int", [(1, 12), (2, 2), (7, 9)]),
        relation("k", "x int, y int", [(1, 5), (2, 6), (8, 5)]),
        relation("order", "_prov int, select int, Case int", [(1, 2, 5), (2, 1, 5), (3, 4, 6)]),
        nested,
    )
    return Database({each.name: each for each in relations})


_TEXTS: Final = dict.fromkeys(("model", "dealer", "city", "buyer"), "string")
_NUMBERS: Final = dict.fromkeys(_TEXTS, "int")
_ARRAYS: Final = Relation("nested", ("id",), f"{_ST}, arr array<int>", _NESTED)
_OF_STRUCTS: Final = Relation(
    "nested",
    ("id",),
    f"{_ST}, arr array<struct<c: int, d: int>>",
    _NESTED.set_column(2, "arr", _STRUCTS),
)
CARS: Final = (
    _cars(_TEXTS, _ARRAYS),
    _cars({**_TEXTS, "dealer": "int"}, _OF_STRUCTS),
    _cars(_NUMBERS, _OF_STRUCTS),
)
"""The relations of the cases of lowering: their names texts, dealers numbers, all names numbers."""
