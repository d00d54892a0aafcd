"""Both oracles over random queries, as text and, more briefly, as data frames.

``LIPSTICK_GENERATED`` sets how many (1; none over Connect), ``LIPSTICK_SEED`` the first seed (20);
hundreds are sooner done with ``--interpreted``. With ``--all`` Spark answers every deletion, else
one of those that memory answers.
A failure names the command that shows its database and query.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import lipstick
from lipstick import Session
from lipstick.dataframes import classic
from lipstick.errors import InvalidQueryError
from rewriter.errors import NotUnderstoodError, QueryError, UnsupportedError
from tests.oracle.bag import PROVENANCE, check_bag
from tests.oracle.database import Deletion
from tests.oracle.deletion import Tally, check_deletion, deletion_sets, lineage_keys
from tests.oracle.generator import Case, generate
from tests.oracle.plain import PlainSpark, few_rows
from tests.oracle.rows import assert_same_bag, assert_same_schema, from_spark

pytestmark = pytest.mark.spark

FIRST = int(os.environ.get("LIPSTICK_SEED", "20"))
DELETIONS = 4
PADDED = 4
"""Of one seed in so many the texts are CHAR columns, but for keys."""
KNOWN: dict[int, str] = {}
"""Seeds whose annotated answer Spark itself cannot plan."""
REFUSED_AT_MOST = 0.02
FAULTS_OF_SPARK = ("XX000", "42803")
"""States of the errors: its own faults; a key of ROLLUP in an aggregate over a window."""
UNPLANNED = "Spark cannot plan this query"


@dataclass(slots=True)
class Run:
    """What the seeds of one run came to."""

    every: bool
    """Whether Spark is asked for every deletion, where memory answers too."""
    started: int = 0
    refused: list[int] = field(default_factory=list)
    refused_padded: list[int] = field(default_factory=list)
    """Seeds of queries refused over CHAR columns, which have no rule beside other texts."""
    broken: list[int] = field(default_factory=list)
    """Seeds of queries that Spark itself fails to analyse or to plan, by a fault of its own."""
    refused_frames: list[int] = field(default_factory=list)
    refused_plans: list[int] = field(default_factory=list)
    deletions: Tally = field(default_factory=Tally)


@pytest.fixture(scope="module")
def run(pytestconfig: pytest.Config) -> Run:
    """What the seeds of this run came to so far."""
    return Run(bool(pytestconfig.getoption("--all")))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per seed."""
    if "seed" in metafunc.fixturenames:
        usual = 0 if metafunc.config.getoption("--spark-connect") else 1
        count = int(os.environ.get("LIPSTICK_GENERATED", usual))
        metafunc.parametrize("seed", [_seed(seed) for seed in range(FIRST, FIRST + count)])


def _seed(seed: int) -> Any:
    if seed not in KNOWN:
        return seed
    return pytest.param(seed, marks=pytest.mark.xfail(reason=KNOWN[seed], strict=True))


def test_generated_query(spark: SparkSession, run: Run, seed: int) -> None:
    case = generate(seed)
    if seed % PADDED == 0:
        case = replace(case, database=case.database.padded(c=5, g=5))
    run.started += 1
    try:
        with _sessions(spark, case) as (ls, plain):
            telling = _check(ls, plain, case, run)
            if telling is not None:
                _check_frame(ls, plain, case, telling, run)
    except Exception as error:
        raise AssertionError(f"seed {seed}; replay: {case.replay}\n{case.sql}\n{error}") from error


def _check(ls: Session, plain: PlainSpark, case: Case, run: Run) -> Deletion | None:
    """Hold the text against both oracles; return a deletion, None where it is refused."""
    try:
        q = ls.sql(case.sql)
    except UnsupportedError:
        (run.refused if case.seed % PADDED else run.refused_padded).append(case.seed)
        return None
    except (InvalidQueryError, NotUnderstoodError) as error:
        if not _of_spark(error):
            raise
        unplanned = isinstance(error, NotUnderstoodError)
        with pytest.raises(Py4JJavaError if unplanned else AnalysisException):
            plain.answer(case.sql)
        run.broken.append(case.seed)
        return None
    try:
        plain.answer(case.sql)
    except Py4JJavaError:  # a fault of its optimiser, which a classic session is not asked before
        run.broken.append(case.seed)
        return None
    check_bag(ls, q, case.sql, plain, grouping=case.grouping, order=case.order)
    deletions = deletion_sets(
        random.Random(case.seed),
        case.database,
        lineage_keys(q, case.database),
        count=DELETIONS,
        compared=case.compared,
        subtracted=case.subtracted,
        exact=case.exact,
    )
    run.deletions.add(
        check_deletion(
            ls,
            q,
            case.sql,
            case.database,
            deletions,
            plain=plain,
            exact=case.exact,
            offline=lipstick.open(q.capture.directory),
            with_spark=None if run.every else {1 + case.seed % (len(deletions) - 1)},
        )
    )
    return deletions[-1]


def _of_spark(error: InvalidQueryError | NotUnderstoodError) -> bool:
    """Tell whether Spark fails to analyse or to plan a query, by a fault of its own."""
    if isinstance(error, NotUnderstoodError):
        return error.problem.startswith(UNPLANNED)
    cause = error.__cause__
    return isinstance(cause, AnalysisException) and cause.getSqlState() in FAULTS_OF_SPARK


def _check_frame(ls: Session, plain: PlainSpark, case: Case, deletion: Deletion, run: Run) -> None:
    """Hold the data frame that the text makes against plain runs: its plan, not the text.

    Whether it is accepted as it is, with the text that it was made of, is counted.
    """
    with _views(ls):
        frame_of_text = ls.spark.sql(case.sql)
        try:
            ls.annotate(frame_of_text)
        except QueryError:
            run.refused_frames.append(case.seed)
        try:
            with _texts_withheld():
                q = ls.annotate(frame_of_text)
        except QueryError:
            run.refused_plans.append(case.seed)
            return
        for gone in (None, deletion):
            expected = plain.answer(case.sql) if gone is None else plain.answer(case.sql, gone)
            frame = q.plan.annotated if gone is None else q.what_if(delete=gone.argument()).df
            actual = from_spark(frame)
            actual = actual.without(PROVENANCE) if gone is None else actual
            what = f"as a data frame, {gone or 'annotated'}\n{q.query}"
            assert_same_schema(expected, actual, what)
            assert_same_bag(expected, actual, what)


@contextmanager
def _texts_withheld() -> Iterator[None]:
    """Have frames of classic sessions written from their plans alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classic, "with_texts", lambda *_: None)
        yield


@contextmanager
def _views(ls: Session) -> Iterator[None]:
    """Have the tracked frames as views of their names, which a text for Spark reads."""
    for name, relation in ls.tracked.items():
        relation.source.frame.createOrReplaceTempView(name)
    try:
        yield
    finally:
        for name in ls.tracked:
            ls.spark.catalog.dropTempView(name)


@contextmanager
def _sessions(spark: SparkSession, case: Case) -> Iterator[tuple[Session, PlainSpark]]:
    with (
        few_rows(spark),
        closing(PlainSpark(spark, case.database)) as plain,
        lipstick.session(spark) as ls,
    ):
        case.database.track(ls, spark)
        yield ls, plain


def test_few_generated_queries_are_refused(run: Run) -> None:
    """Runs after the seeds: the run fails if more than 2 % of them were refused."""
    if not run.started:
        pytest.skip("no seed has run")
    refused = f"{len(run.refused)} of {run.started} refused: {run.refused}"
    assert len(run.refused) <= max(1, REFUSED_AT_MOST * run.started), refused
    broken = f"{len(run.broken)} of {run.started} not analysed by Spark: {run.broken}"
    assert len(run.broken) <= max(1, REFUSED_AT_MOST * run.started), broken


@pytest.mark.engines("spark")
def test_deletions_of_generated_queries_are_telling(run: Run) -> None:
    """Runs after the seeds: at least half of the non-empty deletions changed an answer."""
    if not run.started:
        pytest.skip("no seed has run")
    refused = f"{len(run.refused_frames)} of {run.started} frames refused"
    plans = f"{len(run.refused_plans)} without their texts"
    padded = f"{len(run.refused_padded)} queries over CHAR columns refused"
    print(run.deletions, refused, plans, padded, sep="; ")
    run.deletions.assert_telling()
