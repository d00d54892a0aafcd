"""Queries over written tables, against the one query that says the same over the base relations.

The tables of a case are written by annotated statements, one made of another; plain Spark has
their queries as common table expressions of the last one.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lipstick.capture import local_rows
from lipstick.errors import CapabilityError
from lipstick.frame import AnnotatedFrame
from lipstick.tables import hypothesis
from semiring.semirings import Counting
from tests.oracle.bag import PROVENANCE
from tests.oracle.database import NOTHING, Deletion
from tests.oracle.deletion import Tally, check_deletion
from tests.oracle.rows import assert_same_bag, assert_same_schema, from_spark
from tests.oracle.small import Oracles, oracles, small

pytestmark = [pytest.mark.spark, pytest.mark.classic]

A = small(
    "a",
    "id int, k int, x int",
    [(1, 1, 5), (2, 1, 5), (3, 2, None), (4, None, 7), (5, None, 7), (6, 2, 1), (7, 3, None)],
)
B = small("b", "id int, k int, y double", [(1, 1, 0.5), (2, 2, None), (3, None, 2.5), (4, 9, 0.5)])


@dataclass(frozen=True, slots=True)
class Case:
    """Tables to write, a query over them, and what is deleted below.

    ``expands`` says whether the annotations can be put in the tokens of the base relations.
    """

    tables: Mapping[str, Sequence[str]]
    query: str
    deletions: Sequence[Mapping[str, Sequence[int]]]
    methods: str
    expands: bool = False

    @property
    def composed(self) -> str:
        """The query over base relations alone."""
        steps = [f"{name} AS ({' UNION ALL '.join(q)})" for name, q in self.tables.items()]
        return f"WITH {', '.join(steps)} {self.query}"


CASES = {
    "duplicates": Case(
        {"w1": ["SELECT k, x FROM a"]},
        "SELECT k, count(*) AS n, sum(x) AS s FROM w1 GROUP BY k",
        [{"a": [1]}, {"a": [4, 5]}, {"a": [3, 6]}],
        "annotations",
        expands=True,
    ),
    "groups": Case(
        {"w2": ["SELECT k, count(*) AS n, max(x) AS m FROM a GROUP BY k"]},
        "SELECT n, count(*) AS c, max(m) AS m FROM w2 GROUP BY n",
        [{"a": [1]}, {"a": [7]}, {"a": [4, 5]}, {"a": [1, 2, 3]}],
        "both",
    ),
    "shown groups": Case(
        {"w3": ["SELECT k, count(*) AS n FROM a WHERE k IS NOT NULL GROUP BY k"]},
        "SELECT w3.k, n, y FROM w3 JOIN b ON w3.k = b.k",
        [{"a": [1]}, {"a": [1, 2]}, {"b": [2]}, {"a": [3], "b": [1]}],
        "both",
        expands=True,
    ),
    "appearing rows": Case(
        {"w4": ["SELECT a.k, b.y FROM a LEFT JOIN b ON a.k = b.k"]},
        "SELECT y, count(*) AS n FROM w4 GROUP BY y",
        [{"b": [1]}, {"a": [1]}, {"a": [3, 6], "b": [2]}, {"b": [1, 2, 3, 4]}],
        "both",
    ),
    "copies": Case(
        {"w5": ["SELECT k FROM a EXCEPT ALL SELECT k FROM b"]},
        "SELECT w5.k, count(*) AS n FROM w5 JOIN b ON w5.k <=> b.k GROUP BY w5.k",
        [{"a": [1]}, {"b": [1]}, {"a": [4], "b": [3]}],
        "both",
    ),
    "one row": Case(
        {"w6": ["SELECT count(*) AS n, max(x) AS m FROM a WHERE x > 6"]},
        "SELECT n + 1 AS n1, m FROM w6 WHERE n <> 1",
        [{"a": [4]}, {"a": [4, 5]}],
        "blocks",
    ),
    "no rows": Case(
        {"w7": ["SELECT k, sum(x) AS s FROM a WHERE x > 100 GROUP BY k"]},
        "SELECT b.k, s FROM b LEFT JOIN w7 ON b.k = w7.k",
        [{"b": [1]}, {"a": [1], "b": [2]}],
        "annotations",
        expands=True,
    ),
    "chain": Case(
        {
            "w8": ["SELECT k, count(*) AS n FROM a GROUP BY k"],
            "w9": ["SELECT w8.n, b.y FROM w8 LEFT JOIN b ON w8.k = b.k"],
            "w10": ["SELECT y, sum(n) AS s FROM w9 GROUP BY y HAVING sum(n) > 1"],
        },
        "SELECT y, s FROM w10 WHERE s < 9",
        [{"a": [1]}, {"b": [1]}, {"a": [7]}, {"a": [4], "b": [2, 3]}],
        "both",
    ),
    "chain of rows": Case(
        {
            "w11": ["SELECT id, k, x FROM a WHERE x IS NOT NULL"],
            "w12": ["SELECT w11.k, b.y FROM w11 JOIN b ON w11.k = b.k"],
        },
        "SELECT y, k FROM w12 WHERE y < 3",
        [{"a": [1]}, {"b": [1]}, {"a": [6], "b": [1]}],
        "annotations",
        expands=True,
    ),
    "inserted": Case(
        {"w13": ["SELECT k, count(*) AS n FROM a GROUP BY k", "SELECT k, 1L FROM b"]},
        "SELECT k, sum(n) AS n FROM w13 GROUP BY k",
        [{"a": [1]}, {"b": [4]}, {"a": [7], "b": [1]}],
        "both",
        expands=False,
    ),
    "limited": Case(
        {"w14": ["SELECT id, x FROM a ORDER BY x DESC NULLS LAST, id LIMIT 3"]},
        "SELECT sum(x) AS s FROM w14",
        [{"a": [4]}, {"a": [7]}, {"a": [1, 4, 5]}],
        "both",
    ),
    "maps and windows": Case(
        {
            "w15": [
                "SELECT id, map(k, x) AS entries, row_number() OVER (ORDER BY id) AS at FROM a "
                "WHERE k IS NOT NULL"
            ]
        },
        "SELECT id, entries, size(entries) AS n FROM w15 WHERE at > 1",
        [{"a": [7]}, {"a": [1]}],
        "both",
    ),
}


@pytest.fixture(scope="module")
def both(spark: SparkSession) -> Iterator[Oracles]:
    """Plain Spark and a session that write tables."""
    with oracles(spark, A, B) as both_sides:
        yield both_sides


@pytest.fixture(autouse=True)
def without_tables(both: Oracles) -> Iterator[None]:
    """The tables of a test are dropped: it is run with the other engine, too."""
    yield
    tables = [name for case in CASES.values() for name in case.tables]
    for name in [*tables, "w16", "w17", "w18"]:
        if name in both.ls.tracked:
            both.ls.untrack(name)
        both.ls.spark.sql(f"DROP TABLE IF EXISTS {name}")
        shutil.rmtree(both.ls.store / "derived" / name, ignore_errors=True)


ORDINARY = ("shown groups", "inserted")
"""The cases of every run; the others take as long each."""


@pytest.mark.many
@pytest.mark.parametrize(
    "name",
    [name if name in ORDINARY else pytest.param(name, marks=pytest.mark.slow) for name in CASES],
)
def test_query_over_written_tables(
    both: Oracles, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer, what-ifs and annotations are those of the query over the base relations."""
    case = CASES[name]
    q = written(both, case)
    expected = both.plain.answer(case.composed)
    for actual in (from_spark(q.df), from_spark(q.plan.annotated).without(PROVENANCE)):
        assert_same_schema(expected, actual, case.composed)
        assert_same_bag(expected, actual, case.composed)
    if local_rows.MOST and name.startswith("chain"):
        monkeypatch.delattr(hypothesis, "RowComparison")  # no job of Spark compares small tables
    deletions = [chosen(keys) for keys in case.deletions]
    tally = check_deletion(
        both.ls, q, case.composed, both.database, [NOTHING, *deletions], plain=both.plain
    )
    tally.assert_telling()
    assert_methods(tally, case.methods)
    if case.expands:
        for deletion in deletions:
            check_expanded(both, q, case, deletion)


def written(both: Oracles, case: Case) -> AnnotatedFrame:
    """Write the tables of a case, and return its query over them."""
    for table, queries in case.tables.items():
        both.ls.sql(f"CREATE TABLE {table} USING parquet AS {queries[0]}")
        for more in queries[1:]:
            both.ls.sql(f"INSERT INTO {table} {more}")
    return both.ls.sql(case.query)


def chosen(keys: Mapping[str, Sequence[int]]) -> Deletion:
    """A deletion of rows by their keys."""
    return Deletion("chosen", {name: frozenset((k,) for k in ids) for name, ids in keys.items()})


def assert_methods(tally: Tally, methods: str) -> None:
    """Both ways of answering are put to the test where both are needed."""
    wanted = {"annotations", "blocks"} if methods == "both" else {methods, "annotations"}
    assert set(tally.methods) == wanted, tally


def check_expanded(both: Oracles, q: AnnotatedFrame, case: Case, deletion: Deletion) -> None:
    """Expanded annotations say how often each row is there that the deletion leaves as it is."""
    after = Counter(both.plain.answer(case.composed, deletion).rows)
    counted: Counter[tuple[Any, ...]] = Counter()
    for row, annotation in q.polynomials(limit=None, expand=True):
        assert {token.relation for token in annotation.tokens} <= {"a", "b"}
        gone = {t for t in annotation.tokens if t.key in deletion.keys.get(t.relation, ())}
        there = annotation.evaluate(Counting(), lambda token, gone=gone: int(token not in gone))
        counted[tuple(row.values())] += there
    for row, count in counted.items():
        # A row that has another value now is there, but not as it was.
        assert (after[row] >= count > 0) or not after[row], (row, count, after)


@pytest.mark.slow
def test_rows_of_written_tables_are_deleted_as_any(both: Oracles) -> None:
    """A written table is a relation of its own; what was made of it follows."""
    both.ls.sql("CREATE TABLE w16 USING parquet AS SELECT k, count(*) AS n FROM a GROUP BY k")
    both.ls.sql("CREATE TABLE w17 USING parquet AS SELECT n, count(*) AS c FROM w16 GROUP BY n")
    query = "SELECT w16.k, w17.c FROM w16 LEFT JOIN w17 ON w16.n = w17.n"
    q = both.ls.sql(query)
    for predicate in ("k = 1", "n = 2", "k IS NULL"):
        composed = f"""
            WITH w16 AS (
                SELECT * FROM (SELECT k, count(*) AS n FROM a GROUP BY k)
                WHERE NOT (({predicate}) <=> true)
            ),
            w17 AS (SELECT n, count(*) AS c FROM w16 GROUP BY n)
            {query}"""
        actual = from_spark(q.what_if({"w16": predicate}).df)
        assert_same_bag(both.plain.answer(composed), actual, composed)
        if predicate != "n = 2":  # as it was written, not as it would be
            actual = from_spark(q.what_if({"w16": predicate, "a": [7]}).df)
            assert_same_bag(both.plain.answer(composed, chosen({"a": [7]})), actual, composed)


@pytest.mark.slow
def test_partitions_that_were_overwritten(both: Oracles) -> None:
    """What was overwritten is gone, and so is what a query would make of that partition since."""
    both.ls.spark.sql("CREATE TABLE w18 (k INT, n INT, d INT) USING parquet PARTITIONED BY (d)")
    for statement in (
        "INSERT INTO w18 SELECT k, x, id FROM a WHERE k IS NOT NULL",
        "INSERT INTO w18 SELECT k, 0, CAST(count(*) AS INT) FROM a GROUP BY k",
        "INSERT OVERWRITE w18 PARTITION (d = 2) SELECT k, id FROM b",
        "INSERT OVERWRITE w18 PARTITION (d = 7) SELECT k, 7 FROM b WHERE y > 100",
        "INSERT OVERWRITE TABLE w18 PARTITION (D = 2) SELECT k, id FROM b WHERE id < 4",
    ):
        both.ls.sql(statement)
    query = "SELECT d, count(*) AS c, sum(n) AS s FROM w18 GROUP BY d"
    composed = f"""
        WITH w18 AS (
            SELECT k, x AS n, id AS d FROM a WHERE k IS NOT NULL AND id NOT IN (2, 7)
            UNION ALL
            SELECT * FROM (SELECT k, 0, CAST(count(*) AS INT) AS d FROM a GROUP BY k)
            WHERE d NOT IN (2, 7)
            UNION ALL
            SELECT k, id, 2 FROM b WHERE id < 4
        )
        {query}"""
    q = both.ls.sql(query)
    assert_same_bag(both.plain.answer(composed), from_spark(q.df), composed)
    deletions = [{"a": [1]}, {"a": [3, 6]}, {"b": [1]}, {"a": [2, 7], "b": [4]}, {"a": [4, 5]}]
    tally = check_deletion(
        both.ls,
        q,
        composed,
        both.database,
        [NOTHING, *(chosen(keys) for keys in deletions)],
        plain=both.plain,
    )
    tally.assert_telling()
    assert_methods(tally, "both")
    with pytest.raises(CapabilityError, match="which rows of 'w18' were overwritten"):
        both.ls.sql("SELECT k FROM w18").polynomials(expand=True)
