"""One query put to plain Spark and to lipstick."""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException

import lipstick
from lipstick.errors import LipstickError, NeedsSparkError
from lipstick.tracking.tracker import ROW_COLUMN
from tests.oracle.bag import PROVENANCE
from tests.oracle.database import Deletion, Key
from tests.oracle.deletion import OFFLINE, check_offline
from tests.oracle.rows import (
    Bag,
    OrderKey,
    assert_ordered,
    assert_same_bag,
    assert_same_schema,
    difference,
)
from tests.scoreboard.spark.bench import Bench, rows_of
from tests.scoreboard.spark.order import order_keys
from tests.scoreboard.spark.outcome import Outcome, Verdict
from tests.scoreboard.spark.script import Statement

_FRAMES = 6
"""Of the place where an error that nobody foresaw was raised."""


@dataclass(slots=True)
class _EndedError(Exception):
    """A query came to its end at a stage."""

    verdict: Verdict
    stage: str
    message: str


def check(
    bench: Bench,
    statement: Statement,
    file: str,
    number: int,
    *,
    oracles: bool = True,
    frames: bool = False,
) -> Outcome:
    """Return what becomes of a query; what goes wrong is part of it and is not raised.

    Parameters
    ----------
    oracles
        Whether it is answered and held against plain Spark, or only read.
    frames
        Whether the frame that Spark makes of it is annotated, instead of its text.
    """
    start = time.perf_counter()
    outcome = Outcome(file, number, statement.key, statement.text, Verdict.READ)
    try:
        for done in _stages(bench, outcome, oracles, frames):
            outcome = done
    except _EndedError as end:
        outcome = replace(outcome, verdict=end.verdict, stage=end.stage, message=end.message)
    return replace(outcome, seconds=round(time.perf_counter() - start, 2))


def _stages(bench: Bench, outcome: Outcome, oracles: bool, frames: bool) -> Iterator[Outcome]:
    sql = outcome.sql
    try:
        before = bench.answer(sql)
    except Exception as error:
        raise _EndedError(Verdict.REJECTED, "plain", _first_lines(error)) from error
    outcome = replace(outcome, rows=len(before))
    yield outcome
    with _stage("read"):
        q = bench.ls.annotate(bench.annotating.sql(sql)) if frames else bench.ls.sql(sql)
        text = q.plan.rewritten_sql
    if not oracles:
        return
    with _stage("df"):
        answer = rows_of(q.df)
        _assert_same(before, answer, "q.df")
        outcome = replace(outcome, ordered=_check_order(sql, before, answer))
    with _stage("annotated"):
        assert text
        _assert_same(before, rows_of(q.plan.annotated).without(PROVENANCE), "q.plan.annotated")
    yield outcome
    with _stage("capture"):
        offline = lipstick.open(q.capture.directory)
    for deletion in _deletions(bench, q, offline, outcome.key):
        outcome = _ask(bench, q, offline, outcome, before, deletion)
        yield outcome
    yield replace(outcome, verdict=Verdict.ANNOTATED)


def _ask(
    bench: Bench, q: Any, offline: Any, outcome: Outcome, before: Bag, deletion: Deletion
) -> Outcome:
    """Hold one what-if against plain Spark, with Spark and without it."""
    what = f"deleting {deletion}"
    try:
        expected = bench.answer(outcome.sql, deletion)
    except PySparkException as error:
        with _stage("deletion"):
            _check_failure(q, deletion, error.getCondition(), what)
        return replace(outcome, deletions=outcome.deletions + 1)
    changed = bool(difference(before.rows, expected.rows))
    outcome = replace(outcome, deletions=outcome.deletions + 1, changed=outcome.changed + changed)
    with _stage("deletion"):
        w = q.what_if(delete=_as_arrow(deletion))
        if w.method == "rerun":
            raise AssertionError(f"the query was run again, {what}")
        _assert_same(expected, rows_of(w.df), f"w.df by {w.method}, {what}")
    with _stage("offline"):
        if check_offline(offline, deletion, before, expected, what) == OFFLINE:
            return replace(outcome, offline=outcome.offline + 1)
    return replace(outcome, needs_spark=outcome.needs_spark + 1)


def _check_failure(q: Any, deletion: Deletion, condition: str | None, what: str) -> None:
    """Hold a what-if to the error of the query over what the deletion leaves."""
    try:
        q.what_if(delete=_as_arrow(deletion)).df.collect()
    except PySparkException as error:
        if error.getCondition() != condition:
            raise AssertionError(f"{error.getCondition()}, not {condition}: {what}") from error
    else:
        raise AssertionError(f"the query fails by {condition}, the what-if does not: {what}")


def _as_arrow(deletion: Deletion) -> dict[str, pa.Table]:
    """Return the places of deleted rows as tables: Spark starts no Python to read these."""
    return {
        name: pa.table({ROW_COLUMN: pa.array([row for (row,) in keys], pa.int64())})
        for name, keys in deletion.keys.items()
        if keys
    }


@contextmanager
def _stage(name: str) -> Iterator[None]:
    """Give errors their verdict: ours on purpose refuse, oracles find wrong, others crash."""
    try:
        yield
    except LipstickError as error:
        raise _EndedError(Verdict.REFUSED, name, str(error)) from error
    except AssertionError as error:
        # One of the product's own, not an oracle's, is an internal error.
        is_oracle = _of_oracle(error)
        message = str(error) if is_oracle else _with_place(error)
        raise _EndedError(Verdict.WRONG if is_oracle else Verdict.CRASHED, name, message) from error
    except Exception as error:
        raise _EndedError(Verdict.CRASHED, name, _with_place(error)) from error


def _of_oracle(error: AssertionError) -> bool:
    return "/tests/" in traceback.extract_tb(error.__traceback__)[-1].filename


def _with_place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return "\n".join([f"{type(error).__name__}: {_first_lines(error)}", *places])


def _first_lines(error: Exception, lines: int = 6) -> str:
    text = str(error).strip() or type(error).__name__
    return "\n".join(text.splitlines()[:lines])[:1_500]


def _assert_same(expected: Bag, actual: Bag, what: str) -> None:
    assert_same_schema(expected, actual, what)
    assert_same_bag(expected, actual, what)


def _check_order(sql: str, expected: Bag, actual: Bag) -> str:
    """Hold the order of an answer: Spark's own, or one that differs in ties alone."""
    keys = order_keys(sql, expected.columns)
    if keys is None:
        return ""
    if list(map(repr, expected.rows)) == list(map(repr, actual.rows)):
        return "yes"
    if not keys:
        return "ties"
    _held(expected, keys)
    assert_ordered(actual, keys, "q.df")
    return "yes"


def _held(expected: Bag, keys: Sequence[OrderKey]) -> None:
    """Make sure that the keys are read as Spark reads them: its own answer is in their order."""
    assert_ordered(expected, keys, "plain Spark")


def _deletions(bench: Bench, q: Any, offline: Any, seed: str) -> list[Deletion]:
    """Return one row that the answer depends on, and about a third of everything."""
    rng = random.Random(seed)
    read = {name: bench.relations[name.lower()].rows for name in q.plan.relations}
    full = {name: rows for name, rows in read.items() if rows}
    if not full:
        return []
    name, row = _telling(rng, offline, full)
    single = Deletion("singleton", {name: frozenset({row})})
    third = {
        name: frozenset((row,) for row in range(rows) if rng.random() < 0.35)
        for name, rows in full.items()
    }
    if not any(third.values()):
        third[name] = frozenset({(rng.randrange(full[name]),)})
    return [single, Deletion("random", {name: keys for name, keys in third.items() if keys})]


def _telling(rng: random.Random, offline: Any, full: dict[str, int]) -> tuple[str, Key]:
    """Return a row of the answer's lineage, or any row where that is empty or needs Spark."""
    with _stage("offline"):
        try:
            lineage = offline.lineage()
        except NeedsSparkError:
            lineage = {}
    rows = [
        (name, (key,))
        for name in sorted(lineage)
        for key in sorted(lineage[name].column(0).to_pylist())
    ]
    if rows:
        return rng.choice(rows)
    name = rng.choice(sorted(full))
    return name, (rng.randrange(full[name]),)
