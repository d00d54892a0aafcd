"""Queries that are refused because no nodes could be made for them."""

from __future__ import annotations

import pytest

from lipstick.workflow.derivation.blocks import problem
from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TrackedRelation
from rewriter.blocks import TokenSource
from rewriter.lower import lower_query

COLUMNS = {"A": ("id", "k", "x"), "B": ("id", "k", "y")}


def _problem(sql: str) -> str | None:
    catalog = MemoryCatalog([TrackedRelation(*each) for each in COLUMNS.items()])
    tokens = {name: TokenSource(name, ("_row",)) for name in COLUMNS}
    return problem(lower_query(bind_query(sql, Environment(catalog)).root, tokens, sql))


@pytest.mark.parametrize(
    ("sql", "text", "advice"),
    [
        (
            "SELECT a.id, c.n FROM A a LEFT JOIN (SELECT k, count(*) AS n FROM B GROUP BY k) c "
            "ON a.x = c.n",
            "it joins rows of a grouping, or another inner query, by conditions on their values",
            "Make the inner query a relation of the chain, and join that.",
        ),
        (
            "SELECT k, count(*) FROM (SELECT k FROM A EXCEPT ALL SELECT k FROM B) GROUP BY k",
            "it groups or combines rows of EXCEPT ALL or INTERSECT ALL",
            "Make these a relation of the chain, and read that.",
        ),
        (
            "SELECT k, count(*) OVER (PARTITION BY hash(max(x))) AS s FROM A GROUP BY k",
            "OVER (PARTITION BY HASH(max_x)) reads values that only Spark computes",
            "Compute the values as a column of a relation of the chain, and use that.",
        ),
        (
            "SELECT id, sum(x) OVER (ORDER BY k RANGE BETWEEN INTERVAL 1 DAY PRECEDING "
            "AND CURRENT ROW) AS s FROM A",
            "only Spark computes",
            "Compute the values as a column",
        ),
        (
            "SELECT max(hash(m)) AS t FROM (SELECT k, max(x) AS m FROM A GROUP BY k)",
            "MAX(HASH(m)) reads values that only Spark computes",
            "Compute the values as a column of a relation of the chain, and use that.",
        ),
    ],
)
def test_what_no_nodes_can_be_made_for(sql: str, text: str, advice: str) -> None:
    refusal = _problem(sql)
    assert refusal is not None
    assert text in refusal.partition("\n")[0]
    assert advice in refusal.partition("\n")[2]


def test_other_queries_have_their_place() -> None:
    assert _problem("SELECT id, rank() OVER (PARTITION BY k ORDER BY x) AS r FROM A") is None
    assert _problem("SELECT k FROM A EXCEPT ALL SELECT k FROM B") is None
    assert _problem("SELECT k, collect_list(upper(x)) AS c FROM A GROUP BY k") is None
