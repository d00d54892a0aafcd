"""Columns that types name: fields of structs, elements of arrays, keys and values of maps."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.oracle.database import Relation
from tests.oracle.small import Oracles, oracles

pytestmark = pytest.mark.classic

ITEM = pa.struct([("p", pa.int32()), ("q", pa.string())])
COLUMNS = {
    "id": pa.array([1, 2, 3, 4], pa.int32()),
    "s": pa.array(
        [{"a": 1, "b c": "x"}, {"a": 2, "b c": None}, None, {"a": 1, "b c": "x"}],
        pa.struct([("a", pa.int32()), ("b c", pa.string())]),
    ),
    "items": pa.array(
        [[{"p": 1, "q": "u"}, {"p": 2, "q": "v"}], [{"p": 5, "q": "w"}], [], None], pa.list_(ITEM)
    ),
    "m": pa.array([[("k", 1), ("l", 2)], [("k", 7)], None, []], pa.map_(pa.string(), pa.int32())),
    "js": pa.array(['{"m": 3, "n": [4]}', "{}", None, '{"n": [5, 6]}']),
}
NESTED = Relation(
    "n",
    ("id",),
    "id int, s struct<a: int, `b c`: string>, items array<struct<p: int, q: string>>,"
    " m map<string, int>, js string",
    pa.table(COLUMNS),
)


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Nested columns, with NULL at every depth."""
    with oracles(spark, NESTED) as both:
        yield both


OFTEN = [
    "SELECT id, item.* FROM (SELECT id, explode(items) AS item FROM n) WHERE item.p > 1",
    "SELECT id, p, q, key, value FROM n LATERAL VIEW inline(items) i LATERAL VIEW explode(m) e",
]
SELDOM = [
    "SELECT s.*, n.s.* EXCEPT (a), count(*) AS c FROM n GROUP BY s",
    "SELECT id, posexplode_outer(m) FROM n",
    "SELECT id, inline_outer(items) FROM n",
    "SELECT j.* FROM (SELECT from_json(js, 'm int, n array<int>') AS j FROM n)",
    "SELECT x.*, x.s.* FROM (SELECT max(struct(id, s)) AS x FROM n)",
    "SELECT u.* FROM (SELECT s AS u FROM n UNION ALL SELECT s FROM n WHERE id < 3)",
    "SELECT inline(c) FROM (SELECT collect_list(struct(id, s.a)) AS c FROM n)",
    "SELECT id, v.* FROM (SELECT id, (SELECT max(s) FROM n b WHERE b.id >= n.id) AS v FROM n)",
    "SELECT id, w.* FROM (SELECT id, lag(s) OVER (ORDER BY id) AS w FROM n)",
    "SELECT id, explode(from_json(js, 'map<string, string>')) FROM n",
    "FROM n |> EXTEND explode(items) AS i |> SELECT id, i.* |> WHERE q <> 'u'",
    "SELECT id, e FROM n LEFT JOIN LATERAL explode(items.p) AS t(e) ON true",
    "SELECT id, e FROM n JOIN LATERAL explode(items.p) AS t(e) ON e > 1 OR id = 1",
]


@pytest.mark.many
@pytest.mark.parametrize(
    "sql", [*OFTEN, *(pytest.param(sql, marks=pytest.mark.slow) for sql in SELDOM)]
)
def test_names(on: Oracles, sql: str) -> None:
    grouping = "max(" in sql or "GROUP BY" in sql or "collect_list" in sql
    on.hold(sql, {"n": [1]}, {"n": [2, 3, 4]}, grouping=grouping, offline=False)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s.a AS s, id FROM n ORDER BY s.a, id LIMIT 3",
        "SELECT s.a AS s, count(*) AS c FROM n GROUP BY s.a ORDER BY s.a DESC LIMIT 2",
        "SELECT max(named_struct('z', id)) AS s FROM n GROUP BY s.a ORDER BY s.a LIMIT 2",
        "SELECT array(s) AS s, id FROM n ORDER BY s.a, id LIMIT 2",
        "SELECT *, s.a AS id FROM n ORDER BY id DESC LIMIT 2",
        "SELECT id + 1 AS id, id FROM n ORDER BY id DESC LIMIT 2",
        "SELECT id > 2 AS k, max(s) AS s FROM n GROUP BY id > 2 HAVING s.a > 1",
        "SELECT s.a AS s, count(*) AS c FROM n GROUP BY s HAVING s.a = 1",
    ],
)
def test_aliases_that_columns_have_too(on: Oracles, sql: str) -> None:
    """A field is one of the alias in ORDER BY, and of a grouped column in HAVING, if it has it."""
    grouping = "GROUP BY" in sql
    on.hold(sql, {"n": [1]}, {"n": [2, 3]}, grouping=grouping, offline=False)
