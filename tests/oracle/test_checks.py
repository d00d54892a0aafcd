"""The oracles themselves: a right answer passes, and each kind of wrong one fails."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tests.oracle.bag import check_counting
from tests.oracle.database import NOTHING, Database, Deletion, Relation
from tests.oracle.deletion import (
    SUBTRAHEND,
    Tally,
    check_changes,
    check_deletion,
    deletion_sets,
    lineage_keys,
    read_changes,
)
from tests.oracle.duck import Duck, loosened
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.generator import generate
from tests.oracle.plain import PlainSpark
from tests.oracle.rows import Bag, Row, difference
from tests.versions import of_newer_spark

SQL = "SELECT a, count(*) AS n FROM r GROUP BY a"
R = Relation(
    "r",
    ("id",),
    "id int, a int",
    pa.table({"id": pa.array([1, 2, 3], pa.int32()), "a": pa.array([7, 7, None], pa.int32())}),
)
DATABASE = Database({"r": R})
FIRST = Deletion("singleton", {"r": frozenset({(1,)})})


@dataclass(frozen=True, slots=True)
class Answer:
    """A what-if whose answer and method are given."""

    df: DataFrame
    changes: DataFrame
    method: str


@dataclass(frozen=True, slots=True)
class Frame:
    """An annotated frame that answers what-ifs from a list made beforehand."""

    df: DataFrame
    answer: Answer
    asked: list[object]

    def what_if(self, delete: object) -> Answer:
        """Return the answer made beforehand."""
        self.asked.append(delete)
        return self.answer

    def lineage(self) -> dict[str, DataFrame]:
        """Return two of the three rows."""
        rows = R.frame(self.df.sparkSession)
        return {"r": rows.where("id <= 2")}


@pytest.fixture
def plain(spark: SparkSession) -> Iterator[PlainSpark]:
    """Spark without lipstick."""
    engine = PlainSpark(spark, DATABASE)
    yield engine
    engine.close()


def frame(spark: SparkSession, after: list[Row], method: str = "annotations") -> Frame:
    """Return a frame whose what-if says that the answer becomes these rows."""
    schema = "a int, n bigint"
    before: list[Row] = [(7, 2), (None, 1)]
    removed = [(*row, "removed") for row in before if row not in after]
    added = [(*row, "added") for row in after if row not in before]
    changes = spark.createDataFrame([*removed, *added], f"{schema}, _change string")
    answer = Answer(spark.createDataFrame(after, schema), changes, method)
    return Frame(spark.createDataFrame(before, schema), answer, [])


def test_right_what_if_passes_and_is_counted(spark: SparkSession, plain: PlainSpark) -> None:
    q = frame(spark, [(7, 1), (None, 1)])
    tally = check_deletion(None, q, SQL, DATABASE, [FIRST], plain=plain, exact=True)
    assert (tally.asked, tally.nonempty, tally.changed) == (1, 1, 1)
    assert q.asked == [{"r": [1]}]


def test_engine_is_made_where_none_is_given(spark: SparkSession) -> None:
    check_deletion(None, frame(spark, [(7, 1), (None, 1)]), SQL, DATABASE, [FIRST])


@pytest.mark.parametrize("after", [[(7, 2), (None, 1)], [(7, 1)], [(7, 1), (None, 1), (None, 1)]])
def test_wrong_rows_fail(spark: SparkSession, plain: PlainSpark, after: list[Row]) -> None:
    with pytest.raises(AssertionError, match=r"w.df by annotations, deleting singleton"):
        check_deletion(None, frame(spark, after), SQL, DATABASE, [FIRST], plain=plain)


def test_wrong_type_fails(spark: SparkSession, plain: PlainSpark) -> None:
    q = frame(spark, [(7, 1), (None, 1)])
    narrow = q.answer.df.withColumn("n", f.col("n").cast("int"))
    wrong = Frame(q.df, Answer(narrow, q.answer.changes, "annotations"), [])
    with pytest.raises(AssertionError, match=r"columns .*bigint.* expected"):
        check_deletion(None, wrong, SQL, DATABASE, [FIRST], plain=plain)


def test_wrong_changes_fail(spark: SparkSession, plain: PlainSpark) -> None:
    q = frame(spark, [(7, 1), (None, 1)])
    half = q.answer.changes.where("_change = 'added'")
    wrong = Frame(q.df, Answer(q.answer.df, half, "annotations"), [])
    with pytest.raises(AssertionError, match="do not lead from one answer to the other"):
        check_deletion(None, wrong, SQL, DATABASE, [FIRST], plain=plain)


@pytest.mark.parametrize(
    ("method", "exact", "message"),
    [
        ("rerun", True, "an exact query was run again"),
        ("annotations", False, "an inexact query was answered from annotations"),
        ("guess", None, "unknown method"),
    ],
)
def test_wrong_method_fails(
    spark: SparkSession, plain: PlainSpark, method: str, exact: bool | None, message: str
) -> None:
    q = frame(spark, [(7, 1), (None, 1)], method)
    with pytest.raises(AssertionError, match=message):
        check_deletion(None, q, SQL, DATABASE, [FIRST], plain=plain, exact=exact)


def test_answer_by_running_again_proves_nothing(spark: SparkSession, plain: PlainSpark) -> None:
    q = frame(spark, [(7, 1), (None, 1)], "rerun")
    tally = check_deletion(None, q, SQL, DATABASE, [FIRST], plain=plain)
    assert (tally.asked, tally.nonempty) == (1, 0)
    assert tally.methods == {"rerun": 1}


def test_incomplete_lineage_fails(spark: SparkSession, plain: PlainSpark) -> None:
    q = frame(spark, [(7, 2), (None, 1)])
    lineage = lineage_keys(q, DATABASE)
    assert lineage == {"r": {(1,), (2,)}}
    *_, unrelated = deletion_sets(random.Random(0), DATABASE, lineage, count=2, exact=True)
    assert unrelated.keys == {"r": {(3,)}}
    with pytest.raises(AssertionError, match="rows outside of the lineage matter"):
        check_deletion(None, q, SQL, DATABASE, [unrelated], plain=plain)


def test_changes_as_pairs_of_rows() -> None:
    before = Bag(("a",), ("int",), ((1,), (2,)))
    after = Bag(("a",), ("int",), ((1,), (3,)))
    names = ("old", "new", "_change")
    pairs = Bag(names, ("struct<a:int>",) * 2 + ("string",), (((2,), (3,), "changed"),))
    check_changes(before, after, pairs, "a query")
    same = Bag(names, pairs.types, (*pairs.rows, ((1,), (1,), "unchanged")))
    check_changes(before, after, same, "a query")
    with pytest.raises(AssertionError, match="nothing was deleted"):
        check_changes(before, before, pairs, "a query", empty=True)


@pytest.mark.parametrize(
    "row",
    [
        ((1,), (2,), "unchanged"),
        ((1,), None, "added"),
        (None, (1,), "deleted"),
        ((1,), None, "changed"),
        ((1,), (2,), "moved"),
    ],
)
def test_change_that_is_not_what_it_is_called_fails(row: Row) -> None:
    changes = Bag(("old", "new", "_change"), ("struct<a:int>",) * 2 + ("string",), (row,))
    with pytest.raises(AssertionError, match=r"w\.changes calls this"):
        read_changes(changes, ("a",))


@pytest.mark.parametrize(
    ("rows", "grouping"),
    [
        ([(7, 1)], False),
        ([(7, 3)], False),
        ([(7, None)], False),
        ([(7, 2)], True),
        ([(7, 1), (8, 1), (8, 1)], False),
    ],
)
def test_wrong_multiplicities_fail(rows: list[Row], grouping: bool) -> None:
    expected = Bag(("a",), ("int",), ((7,), (7,)))
    counted = Bag(("a", "_value"), ("int", "bigint"), tuple(rows))
    with pytest.raises(AssertionError):
        check_counting(expected, counted, "a query", grouping=grouping)


def test_potential_rows_count_zero() -> None:
    expected = Bag(("a",), ("int",), ((7,), (7,)))
    counted = Bag(("a", "_value"), ("int", "bigint"), ((7, 1), (7, 1), (8, 0)))
    check_counting(expected, counted, "a query", grouping=True)


def test_run_that_changes_little_fails() -> None:
    Tally(asked=4, nonempty=4, changed=2).assert_telling()
    with pytest.raises(AssertionError, match="prove too little"):
        Tally(asked=4, nonempty=4, changed=1).assert_telling()
    with pytest.raises(AssertionError, match="prove too little"):
        Tally().assert_telling()


def test_predicate_deletes_what_its_keys_say(spark: SparkSession) -> None:
    """The keys the oracle believes are those that Spark finds for the predicate."""
    predicates = 0
    for seed in range(20):
        database = generate(seed).database
        rng = random.Random(seed)
        for deletion in deletion_sets(rng, database, {}, count=8):
            for name, predicate in deletion.predicates.items():
                relation = database.relations[name]
                rows = relation.frame(spark).where(predicate).select(*relation.key).collect()
                assert {tuple(row) for row in rows} == deletion.keys[name], predicate
                predicates += 1
    assert predicates > 20


def test_generator_is_deterministic() -> None:
    left, right = generate(5), generate(5)
    assert str(left.database) == str(right.database)
    assert (left.sql, left.order) == (right.sql, right.order)
    assert generate(6).sql != left.sql


OPERATORS = {
    "outer joins": r"(LEFT|RIGHT|FULL) (OUTER )?JOIN",
    "anti joins": r"ANTI JOIN|NOT EXISTS",
    "NOT IN": r"NOT IN",
    "set operations": r"EXCEPT|MINUS|INTERSECT",
    "generators": r"EXPLODE|INLINE",
    "collected arrays taken apart": r"COLLECT_(LIST|SET)\(.*LATERAL VIEW",
    "subtrahends": "",
}


def test_generator_draws_every_operator_often_enough() -> None:
    """Of eighty queries some have each, and a good share has one that subtracts or generates."""
    cases = [generate(seed) for seed in range(80)]
    drawn = {
        name: {case.seed for case in cases if re.search(pattern, case.sql)}
        for name, pattern in OPERATORS.items()
    }
    drawn["subtrahends"] = {case.seed for case in cases if case.subtracted}
    assert all(len(seeds) >= 3 for seeds in drawn.values()), drawn
    assert len(drawn["subtrahends"] | drawn["generators"]) >= 30
    assert not any(case.exact and case.subtracted for case in cases)
    assert sum(case.exact is True for case in cases) >= 5


def test_deletions_are_aimed_at_subtrahends() -> None:
    """They need not be in the lineage; relations without rows have none to delete."""
    empty = Relation("e", ("id",), R.schema, R.data.slice(0, 0))
    database = Database({"r": R, "e": empty})
    sets = deletion_sets(random.Random(0), database, {}, count=6, subtracted=("e", "r"))
    aimed = [deletion for deletion in sets if deletion.kind == SUBTRAHEND]
    assert aimed
    assert all(deletion.keys.keys() == {"r"} and len(deletion) for deletion in aimed)
    plain = deletion_sets(random.Random(0), database, {}, count=6, subtracted=("e",))
    assert not any(deletion.kind == SUBTRAHEND for deletion in plain)


DIFFERENT = re.compile(r"AVG|/|EXPLODE|INLINE|STDDEV|VAR")
"""DuckDB rounds averages, quotients and variances otherwise, and generators are not translated."""


def known_to_duckdb(seed: int) -> Bag | None:
    """Return DuckDB's answer to a generated query, if its SQL has all that the query needs."""
    case = generate(seed)
    if DIFFERENT.search(case.sql):
        return None
    try:
        return Duck(case.database).answer(case.sql)
    except duckdb.Error:
        return None


def test_duckdb_knows_a_good_share_of_generated_queries() -> None:
    assert sum(known_to_duckdb(seed) is not None for seed in range(20)) >= 8


def test_duckdb_keeps_a_union_beside_a_recursion_distinct() -> None:
    recursive = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3)"
    union = "u AS (SELECT 7 AS v UNION SELECT 7 FROM n)"
    answer = duckdb.execute(to_duckdb(f"{recursive}, {union} SELECT v FROM u"))
    assert answer.fetchall() == [(7,)]


@pytest.mark.many(2)
@pytest.mark.parametrize("seed", range(20))
def test_generated_sql_is_valid_and_engines_agree(spark: SparkSession, seed: int) -> None:
    """Spark runs every one; where DuckDB can too, it finds the same rows."""
    case = generate(seed)
    with closing(PlainSpark(spark, case.database)) as engine, of_newer_spark():
        answer = engine.answer(case.sql)
    other = known_to_duckdb(seed)
    if other is not None:
        assert not difference(loosened(answer).rows, loosened(other).rows)


def test_engines_agree_on_the_reduced_database(plain: PlainSpark) -> None:
    for deletion in (NOTHING, FIRST, Deletion("full", {"r": frozenset(R.row_keys())})):
        left, right = plain.answer(SQL, deletion), Duck(DATABASE).answer(SQL, deletion)
        assert not difference(left.rows, right.rows)
