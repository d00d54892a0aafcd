"""The jobs of questions: a capture's are counted, and what is captured is asked without any."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture import local_rows

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]

ROWS = 1_000

QUESTIONS: dict[str, Callable[[lipstick.AnnotatedFrame], Any]] = {
    "polynomials": lambda q: q.polynomials(),
    "lineage": lambda q: q.lineage(),
    "what_if": lambda q: q.what_if({"r": [701]}),
    "what_if_many": lambda q: q.what_if_many([{"r": [701]}, {"r": [801]}]),
    "probability": lambda q: q.probability({"r": 0.5}),
    "contributions": lambda q: q.contributions("s", {"k": 1}),
    "tensors": lambda q: q.algebra.tensors("s"),
    "shapley": lambda q: q.algebra.shapley(2),
    "top": lambda q: q.top("s", 3, {"k": 1}),
    "why": lambda q: q.why("s", {"k": 1}),
}


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = str(tmp_path_factory.mktemp("jobs") / "r")
    rows = spark.range(ROWS).selectExpr("id", "id % 100 AS k", "id AS v")
    rows.repartition(2).write.parquet(path)
    with lipstick.session(spark) as ls:
        ls.track("r", path, key="id")
        yield ls


@pytest.fixture
def query(session: lipstick.Session, monkeypatch: pytest.MonkeyPatch) -> lipstick.AnnotatedFrame:
    monkeypatch.setattr(local_rows, "MOST", 0)
    return session.sql("SELECT k, sum(v) AS s FROM r WHERE v >= 100 GROUP BY k")


def test_a_first_question_runs_the_jobs_of_its_capture(query: lipstick.AnnotatedFrame) -> None:
    assert query.plan.jobs() is None
    query.polynomials()
    found = query.plan.jobs()
    assert found is not None
    assert found.question == "making annotations"
    assert 1 <= found.jobs <= 3
    assert found.rows >= ROWS
    assert found.bytes > 0
    assert str(found).startswith(f"making annotations: {found.jobs} Spark job")


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_captured_query_is_asked_without_jobs(query: lipstick.AnnotatedFrame, name: str) -> None:
    assert query.capture is not None
    QUESTIONS[name](query)
    found = query.plan.jobs()
    assert found is not None
    assert (found.jobs, found.bytes, found.rows) == (0, 0, 0)


def test_jobs_of_others_are_not_counted(
    query: lipstick.AnnotatedFrame, spark: SparkSession, tmp_path: Path
) -> None:
    other = Thread(target=lambda: [spark.range(9).count() for _ in range(5)])
    with query._job_log.asking("nothing"):  # type: ignore[union-attr]
        other.start()
        other.join()
        spark.range(3).write.parquet(str(tmp_path / "own"))
    found = query.plan.jobs()
    assert found is not None
    assert found.jobs == 1
