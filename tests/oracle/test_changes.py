"""Blocks that read no changed relation are read as captured, and the answer is the query's."""

from __future__ import annotations

from collections import Counter

import duckdb
import pyarrow as pa
import pytest

from tests.oracle.changes import hold, hold_changed
from tests.oracle.database import Database, Relation
from tests.oracle.duck import connected_duck
from tests.oracle.generator import generate

UNBOUND = pytest.mark.xfail(raises=duckdb.BinderException, strict=True, reason="DuckDB")
"""DuckDB does not bind an aggregate of constants alone in a correlated subquery."""


@pytest.mark.many
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[UNBOUND] * (seed == 8)) for seed in range(64)]
)
def test_answers_over_changed_relations(seed: int) -> None:
    hold(generate(seed, conditional=seed % 2 == 0))


def test_groups_that_only_other_values_name_were_not_captured() -> None:
    o = pa.table({"id": [1, 2], "k": [1, 1]})
    s = pa.table({"id": [1, 2], "k": [1, 2], "v": [10, 20]})
    database = Database(
        {
            "o": Relation("o", ("id",), "id bigint, k bigint", o),
            "s": Relation("s", ("id",), "id bigint, k bigint, v bigint", s),
        }
    )
    sql = "SELECT id, (SELECT sum(v) FROM s WHERE s.k = o.k) AS v FROM o"
    moved = pa.table({"id": [1, 2], "k": [1, 2]})
    assert hold_changed(sql, database, {"o": moved}) == (True, 0)
    sql = "SELECT id, (SELECT sum(v) FROM s) AS v FROM o WHERE k > 1"
    assert hold_changed(sql, database, {"o": moved}) == (True, 1)


def test_subtotals_of_columns_that_a_join_makes_equal_are_null_in_duckdb() -> None:
    a = [3, 4, 1, 4]
    equal = [x for x in a for y in a if x == y]
    counted = Counter(key for x in equal for key in ((x, x), (x, None), (None, None)))
    with connected_duck() as connection:
        connection.execute(f"CREATE TABLE s AS SELECT unnest({a}) AS a")
        text = "SELECT p.a, q.a, count(*) FROM s p JOIN s q ON p.a = q.a GROUP BY ROLLUP (p.a, q.a)"
        rows = connection.execute(text).fetchall()
    assert Counter(rows) == Counter((*key, number) for key, number in counted.items())
