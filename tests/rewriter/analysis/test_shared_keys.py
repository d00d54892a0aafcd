"""Which values of a COGROUP either side gives."""

from __future__ import annotations

import pytest

from rewriter.analysis.shared_keys import is_shared_key
from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TrackedRelation
from rewriter.blocks import TokenSource
from rewriter.lower import lower_query

SIDES = (
    "(SELECT k, count(*) AS n FROM A GROUP BY k) a FULL JOIN "
    "(SELECT k, count(*) AS n FROM B GROUP BY k) b ON a.k = b.k"
)


@pytest.mark.parametrize(
    ("value", "shared"),
    [
        ("coalesce(a.k, b.k)", True),
        ("coalesce(b.k, a.k)", True),
        ("coalesce(a.k, 0)", False),
        ("coalesce(a.k, b.n)", False),
        ("a.k", False),
        ("coalesce(a.k, b.k) + 1", False),
    ],
)
def test_a_key_of_both_sides_stays_while_one_does(value: str, shared: bool) -> None:
    sql = f"SELECT {value} AS v FROM {SIDES}"
    names = ("A", "B")
    catalog = MemoryCatalog([TrackedRelation(name, ("k",)) for name in names])
    tokens = {name: TokenSource(name, ("_row",)) for name in names}
    root = lower_query(bind_query(sql, Environment(catalog)).root, tokens, sql)
    assert is_shared_key(root, root.outputs[0].scalar) is shared


def test_what_a_subquery_finds_is_not_shared() -> None:
    sql = "SELECT coalesce((SELECT max(k) FROM B WHERE B.k = A.k), k) AS v FROM A"
    catalog = MemoryCatalog([TrackedRelation(name, ("k",)) for name in ("A", "B")])
    tokens = {name: TokenSource(name, ("_row",)) for name in ("A", "B")}
    root = lower_query(bind_query(sql, Environment(catalog)).root, tokens, sql)
    assert not is_shared_key(root, root.outputs[0].scalar)
