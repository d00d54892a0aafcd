"""Rows by their keys: as a loop over rows would find them."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pytest

from tests.oracle.database import Database, Key, Relation

DAY = dt.date(2000, 2, 29)
COLUMNS: dict[str, tuple[pa.DataType, Sequence[object]]] = {
    "number": (pa.int32(), (-1, 0, 7, None)),
    "letters": (pa.string(), ("", "a", "ä", None)),
    "amount": (pa.decimal128(7, 2), (Decimal("0.10"), Decimal("-5.00"), None)),
    "day": (pa.date32(), (DAY, None)),
    "truth": (pa.bool_(), (False, True, None)),
}


def relation(rng: random.Random, key: tuple[str, ...], rows: int) -> Relation:
    """Return a relation of random keys, in which rows may share one."""
    columns = {
        name: pa.array(rng.choices(COLUMNS[name][1], k=rows), COLUMNS[name][0]) for name in key
    }
    places = pa.array(range(rows), pa.int64())
    return Relation("r", key, "", pa.table({**columns, "place": places}))


@pytest.mark.parametrize("seed", range(20))
def test_keys_are_found_as_by_a_loop(seed: int) -> None:
    """Known keys and unknown ones, NULLs in them, repeated ones, none, and all."""
    rng = random.Random(seed)
    key = tuple(rng.sample(list(COLUMNS), rng.randint(1, 3)))
    r = relation(rng, key, rng.choice((0, 1, 40)))
    other_keys = relation(rng, key, 10).row_keys()
    key_lists: list[list[Key]] = [[], other_keys, r.row_keys(), r.row_keys()[::7] + other_keys[::2]]
    for keys in key_lists:
        expected = [row in keys for row in r.row_keys()]
        assert r.among(keys).to_pylist() == expected
        left = r.without(frozenset(keys))
        places = [row for row, gone in enumerate(expected) if not gone]
        assert left.column("place").to_pylist() == places
        assert r.row_keys(left) == [r.row_keys()[row] for row in places]


def test_keys_are_read_from_text() -> None:
    r = relation(random.Random(1), ("number", "letters", "amount", "day"), 0)
    texts = {("-1", "a", "0.10", "2000-02-29"), ("7", "", "-5.00", "2000-02-29")}
    expected = {(-1, "a", Decimal("0.10"), DAY), (7, "", Decimal("-5.00"), DAY)}
    assert r.read_keys(texts) == expected


def test_replaced_relations_keep_their_names_and_keys() -> None:
    rng = random.Random(0)
    database = Database({name: relation(rng, ("number",), 3) for name in "rs"})
    rows = database.relations["r"].data.slice(1)
    replaced = database.replaced(r=rows)
    assert replaced.relations["r"].key == ("number",)
    assert replaced.relations["r"].data is rows
    assert replaced.relations["s"] is database.relations["s"]
