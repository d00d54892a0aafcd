"""Pipe syntax under both oracles."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lipstick.errors import InvalidQueryError
from rewriter.errors import UnsupportedError
from tests.oracle.small import Oracles, annotated, oracles, small, token

pytestmark = pytest.mark.classic

A = small(
    "a",
    "id int, k int, x int",
    [(1, 1, 2), (2, 1, 2), (3, 2, None), (4, None, 5), (5, None, 5), (6, 3, 0), (7, 2, 4)],
)
B = small(
    "b",
    "id int, k int, y int",
    [(1, 1, 2), (2, 2, 5), (3, 2, 5), (4, None, 1), (5, 4, None)],
)


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    with oracles(spark, A, B) as both:
        yield both


QUERIES = [
    "FROM a |> WHERE x > 1 |> EXTEND x + k AS s |> SET x = x + 1, k = x |> DROP s",
    "FROM a JOIN b USING (k) |> AGGREGATE count(y) AS n, sum(x) AS s GROUP BY k, x % 2 AS p",
    "FROM a |> ORDER BY x DESC, id |> WHERE k > 1 OR k IS NULL |> LIMIT 2",
    "WITH q AS (FROM a |> WHERE x > 1) FROM q |> LEFT ANTI JOIN b ON q.k = b.k |> SELECT id",
    "SELECT id FROM a WHERE x > (FROM b |> AGGREGATE min(y) AS m)",
    "FROM a |> UNPIVOT (v FOR n IN (k, x)) |> AGGREGATE sum(v) AS s GROUP BY n",
    "VALUES (1), (2) AS v(p) |> JOIN a ON k = p |> SELECT id, row_number() OVER w AS r "
    "WINDOW w AS (PARTITION BY p ORDER BY x, id) |> WHERE r = 1",
    "SELECT id FROM a WHERE EXISTS (FROM b |> WHERE b.k = a.k)",
]


@pytest.mark.many
@pytest.mark.parametrize("sql", QUERIES)
def test_pipes(on: Oracles, sql: str) -> None:
    on.hold(sql, {"a": [1, 4]}, {"a": [7], "b": [1, 2]}, {"a": range(1, 8)})


def test_annotations_are_those_of_the_select(on: Oracles) -> None:
    piped = on.ls.sql("FROM a |> JOIN b ON a.k = b.k |> AGGREGATE count(*) AS n GROUP BY a.k")
    select = on.ls.sql("SELECT a.k, count(*) AS n FROM a JOIN b ON a.k = b.k GROUP BY a.k")
    assert annotated(piped) == annotated(select)
    of_one = (token("a", 1) * token("b", 1) + token("a", 2) * token("b", 1)).delta()
    assert annotated(piped)[((1, 2), of_one)] == 1


def test_an_empty_relation(on: Oracles) -> None:
    rows = on.ls.sql("FROM a |> WHERE false |> AGGREGATE count(*) AS n, max(x) AS m").df.collect()
    assert [tuple(row) for row in rows] == [(0, None)]


def test_errors_are_at_the_users_places(on: Oracles) -> None:
    with pytest.raises(InvalidQueryError, match=r"no column 'nosuch' at 1:34"):
        on.ls.sql("FROM a |> WHERE id > 0 |> SELECT nosuch")
    with pytest.raises(InvalidQueryError):
        on.ls.sql("FROM a |> WHERE x > 1 |> NOSUCH 3")
    with pytest.raises(UnsupportedError, match=r"refers to the outer query .* at 1:60"):
        on.ls.sql("SELECT id FROM a WHERE EXISTS (FROM b |> EXTEND k + 1 AS m |> WHERE b.k = a.k)")
