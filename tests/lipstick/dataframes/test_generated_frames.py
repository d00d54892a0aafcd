"""Both oracles over random programs of data frame calls.

``LIPSTICK_GENERATED`` sets how many (1; none over Connect), ``LIPSTICK_SEED`` the first seed (0).
"""

from __future__ import annotations

import os
import random

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick.errors import QueryError
from lipstick.workflow.execution.benches import isolated
from semiring.semirings import Counting
from tests.oracle.bag import PROVENANCE, check_counting
from tests.oracle.database import NOTHING, Database, Deletion
from tests.oracle.deletion import deletion_sets, lineage_keys
from tests.oracle.frames import Program, generate
from tests.oracle.plain import few_rows
from tests.oracle.rows import Bag, assert_same_bag, assert_same_schema, difference, from_spark

pytestmark = pytest.mark.spark

FIRST = int(os.environ.get("LIPSTICK_SEED", "0"))
DELETIONS = 4
REFUSED: list[int] = []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per seed."""
    if "seed" in metafunc.fixturenames:
        usual = 0 if metafunc.config.getoption("--spark-connect") else 1
        count = int(os.environ.get("LIPSTICK_GENERATED", usual))
        metafunc.parametrize("seed", range(FIRST, FIRST + count))


def test_generated_program(spark: SparkSession, seed: int) -> None:
    database, program = generate(seed)
    try:
        with few_rows(spark), lipstick.session(spark) as ls, isolated(spark, {}) as other:
            database.track(ls, spark)
            _check(ls, _Plain(other, database, program), database, program, seed)
    except Exception as error:
        raise AssertionError(f"seed {seed}\n{program}\n{error}") from error


def _check(
    ls: lipstick.Session, plain: _Plain, database: Database, program: Program, seed: int
) -> None:
    tracked = {name: relation.source.frame for name, relation in ls.tracked.items()}
    try:
        expected = plain.answer()
    except AnalysisException as error:
        if "not a correct window column" not in str(error):
            raise
        # Over Connect a window under another name is none: see test_named_with_metadata.
        pytest.skip("Spark knows no window of this window")
    try:
        q = ls.annotate(program.build(tracked))
    except QueryError:
        REFUSED.append(seed)
        return
    actual = from_spark(q.plan.annotated).without(PROVENANCE)
    assert_same_schema(expected, actual, f"annotated\n{q.query}")
    assert_same_bag(expected, actual, f"annotated\n{q.query}")
    check_counting(expected, from_spark(q.algebra.evaluate(Counting())), q.query)
    lineage = lineage_keys(q, database)
    changed = 0
    for deletion in deletion_sets(random.Random(seed), database, lineage, count=DELETIONS):
        after = plain.answer(deletion)
        w = q.what_if(delete=deletion.argument())
        assert w.method != "rerun"
        assert_same_bag(after, from_spark(w.df), f"deleting {deletion}\n{q.query}")
        changed += bool(difference(expected.rows, after.rows))
    assert changed or not expected.rows


class _Plain:
    """The program over what deletions leave, in a session without lipstick."""

    def __init__(self, spark: SparkSession, database: Database, program: Program) -> None:
        self._spark = spark
        self._database = database
        self._program = program

    def answer(self, deletion: Deletion = NOTHING) -> Bag:
        """Return the rows of the program over what a deletion leaves."""
        frames: dict[str, DataFrame] = {
            name: relation.frame(self._spark, relation.without(deletion.keys.get(name, ())))
            for name, relation in self._database.relations.items()
        }
        return from_spark(self._program.build(frames))


def test_few_programs_are_refused() -> None:
    """Runs after the seeds."""
    assert len(REFUSED) <= max(1, int(os.environ.get("LIPSTICK_GENERATED", "3")) // 10), REFUSED
