"""Random small relations: few different values, so that rows meet, and NULLs in every column."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from tests.oracle.database import Database, Key, Relation
from tests.oracle.expressions import KINDS, STRINGS

_ARROW: Final[dict[str, pa.DataType]] = {
    "int": pa.int32(),
    "double": pa.float64(),
    "decimal": pa.decimal128(10, 2),
    "string": pa.string(),
    "date": pa.date32(),
    "boolean": pa.bool_(),
}
_SPARK: Final = {kind: kind for kind in KINDS} | {"decimal": "decimal(10,2)"}
_POOL: Final = (
    ("b", "int"),
    ("c", "string"),
    ("x", "double"),
    ("m", "decimal"),
    ("w", "date"),
    ("f", "boolean"),
    ("e", "int"),
    ("y", "double"),
    ("g", "string"),
)
_KEYS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "r": (("id", "int"),),
    "s": (("code", "string"),),
    "t": (("n", "int"), ("tag", "string")),
    "u": (("uid", "int"),),
    "v": (("day", "date"), ("k", "int")),
}
_KEY_STRINGS: Final = ("", "a", "A", "b", "it's", "ä", "z z", "10", "9", "k|1", "k,2", "NULL")


def random_database(rng: random.Random) -> Database:
    """Return three to five small relations, sometimes an empty one among them."""
    names = ("r", "s", "t", "u", "v")[: rng.choice((3, 3, 4, 5))]
    return Database({name: _relation(rng, name) for name in names})


def few_tuples(rng: random.Random) -> Database:
    """Return two or three relations of a dozen tuples in all at most."""
    counts = rng.choice(((5, 4), (6, 4), (4, 3, 2), (5, 4, 3), (6, 5), (4, 4, 3)))
    names = rng.sample(("r", "s", "t"), len(counts))
    return Database(
        {name: _relation(rng, name, count) for name, count in zip(names, counts, strict=True)}
    )


def _relation(rng: random.Random, name: str, few: int | None = None) -> Relation:
    key = _KEYS[name]
    extra = rng.sample(_POOL, rng.randint(2, 5 if few is None else 3))
    columns = [*key, ("a", "int"), *sorted(extra)]
    if few is not None:
        count = few
    elif name == "u" and rng.random() < 0.3:
        count = 0
    else:
        count = rng.choice((3, 6, 9, 12, 15, 18, 24, 30))
    keys: dict[Key, None] = {}
    while len(keys) < count:
        keys[tuple(_key_value(rng, kind, count) for _, kind in key)] = None
    rows = [(*values, *(_value(rng, kind) for _, kind in columns[len(key) :])) for values in keys]
    arrays = [
        pa.array([row[index] for row in rows], _ARROW[kind])
        for index, (_, kind) in enumerate(columns)
    ]
    schema = ", ".join(f"{column} {_SPARK[kind]}" for column, kind in columns)
    data = pa.Table.from_arrays(arrays, names=[column for column, _ in columns])
    return Relation(name, tuple(column for column, _ in key), schema, data)


def _key_value(rng: random.Random, kind: str, count: int) -> Any:
    if kind == "string":
        return rng.choice(_KEY_STRINGS) if rng.random() < 0.5 else f"k{rng.randint(0, 30)}"
    if kind == "date":
        return dt.date(2020, 1, rng.randint(1, 20))
    return rng.randint(-1, count + 3)


def _value(rng: random.Random, kind: str) -> Any:
    if rng.random() < 0.13:
        return None
    if kind == "int":
        return rng.choice((1, 1, 2, 2, 3, 3, 4, 5, 7, 0, -1, -4, 12))
    if kind == "double":
        return rng.choice((0.0, -0.0, 0.5, 1.25, 1.25, -2.5, 4.0, 10.75, 3.0, float("nan")))
    if kind == "decimal":
        return Decimal(rng.choice(("0.00", "0.50", "1.25", "1.25", "-3.10", "7.00", "99.99")))
    if kind == "date":
        return dt.date(2020, 1, rng.randint(1, 9))
    if kind == "boolean":
        return rng.random() < 0.6
    return rng.choice(STRINGS)
