"""Names of relations in queries: which of them are read, and views in their place."""

import pytest

from rewriter import dialect


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT Cars.x FROM CARS AS c JOIN Cars ON c.a = Cars.a", {"cars"}),
        ("WITH cars AS (SELECT * FROM cars) SELECT * FROM cars", {"cars"}),
        ("WITH a AS (SELECT * FROM t), t AS (SELECT 1) SELECT * FROM a, t", {"t"}),
        ("WITH cars AS (SELECT 1) SELECT (SELECT count(*) FROM cars) FROM db.cars", set()),
        ("WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 + 1 FROM r) SELECT * FROM r", set()),
        ("SELECT 1 WHERE EXISTS (WITH u AS (SELECT 1) SELECT * FROM u, v)", {"v"}),
        ("SELECT /*+ BROADCAST(c), MERGE(d) */ * FROM cars AS c JOIN t AS d", {"cars", "t"}),
    ],
)
def test_relations_are_no_common_table_expressions(query: str, expected: set[str]) -> None:
    """A common table expression has the name where it is seen, and its own text does not see it."""
    assert dialect.relation_names(dialect.parse(query)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT Cars.x FROM Cars", "SELECT Cars.x FROM `v` AS `Cars`"),
        ("SELECT * FROM cars AS c(a)", "SELECT * FROM `v` AS c(a)"),
        ("TABLE cars", "FROM `v` AS `cars`"),
        ("SELECT * FROM f(TABLE(cars))", "SELECT * FROM F(TABLE(`v`))"),
        ("SELECT * FROM db.cars", "SELECT * FROM db.cars"),
        (
            "SELECT /*+ BROADCAST(cars) */ * FROM cars",
            "SELECT /*+ BROADCAST(cars) */ * FROM `v` AS `cars`",
        ),
    ],
)
def test_views_stand_for_relations(query: str, expected: str) -> None:
    """Columns are called as before."""
    views = dialect.with_views(dialect.parse(query), {"cars": "v"})
    assert views.sql(dialect=dialect.SparkSQL) == expected
