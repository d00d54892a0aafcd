"""Stars of structs within structs, which have more parts than names of columns."""

from __future__ import annotations

import pytest

from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TrackedRelation, Type

DEEP = "STRUCT<b: STRUCT<c: STRUCT<d: STRUCT<e: STRUCT<x: INT, y: INT>>>>>"
CATALOG = MemoryCatalog(
    [TrackedRelation("t", ("id", "a"))], types={("t", "a"): Type.build(DEEP, dialect="spark")}
)


@pytest.mark.parametrize(
    ("star", "names"),
    [
        ("a.*", ["b"]),
        ("a.b.c.*", ["d"]),
        ("t.a.b.c.*", ["d"]),
        ("a.b.c.d.*", ["e"]),
        ("t.a.b.c.d.*", ["e"]),
        ("t.a.b.c.d.e.*", ["x", "y"]),
    ],
)
def test_they_are_the_fields(star: str, names: list[str]) -> None:
    bound = bind_query(f"SELECT {star} FROM t", Environment(CATALOG, levels={}))
    assert [attribute.name for attribute in bound.root.attributes] == names
