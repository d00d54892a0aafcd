"""The Python of Spark's workers: this one on this machine, else checked before work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lipstick import Session, semirings, session
from lipstick.engines.spark.workers import check_workers, use_own_python
from lipstick.errors import CapabilityError, LipstickError
from tests.local_spark import workers_without_packages

pytestmark = pytest.mark.engines("memory")


def _spark(master: str = "local[2]", python: str = "python3", **settings: str) -> Any:
    context = SimpleNamespace(master=master, pythonExec=python, getConf=lambda: settings)
    return SimpleNamespace(_sc=context)


def test_local_workers_run_this_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody has named another, and nowhere else."""
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    spark = _spark()
    use_own_python(spark)
    assert spark._sc.pythonExec == sys.executable
    check_workers(spark)
    named = {"spark.pyspark.python": "x"}
    for other in (_spark("spark://a:7077"), _spark(python="/x/python"), _spark(**named)):
        before = other._sc.pythonExec
        use_own_python(other)
        assert other._sc.pythonExec == before
    use_own_python(SimpleNamespace())  # type: ignore[arg-type]  # as over Connect
    monkeypatch.setenv("PYSPARK_PYTHON", "python3")
    spark = _spark()
    use_own_python(spark)
    assert spark._sc.pythonExec == "python3"


def _query(ls: Session) -> Any:
    frame = ls.spark.createDataFrame([(1, "a"), (2, "a"), (3, "b")], "id int, s string")
    ls.track("w", frame, key="id")
    return ls.sql("SELECT s, count(*) AS n FROM w GROUP BY s ORDER BY s")


@pytest.mark.classic
def test_other_workers_are_checked_before_work(spark: SparkSession) -> None:
    """An interpreter without the packages is an error that says what to set."""
    with session(spark) as ls:
        capture = _query(ls).capture
        wanted = r"set PYSPARK_PYTHON(.|\n)*numpy"
        with workers_without_packages(spark), pytest.raises(LipstickError, match=wanted):
            capture.algebra.evaluate(semirings.Counting())
        rows = capture.algebra.evaluate(semirings.Counting()).collect()
        assert [tuple(row) for row in rows] == [("a", 2, 1), ("b", 1, 1)]


def test_polynomials_of_groups_are_refused_at_once(spark: SparkSession) -> None:
    """δ of tokens is not a polynomial: the error is that of an evaluation in memory."""
    with session(spark) as ls:
        query = _query(ls)
        with pytest.raises(CapabilityError, match=r"δ\(w:1 \+ w:2\) is not a polynomial"):
            query.algebra.evaluate(semirings.Polynomials())
        rows = query.algebra.evaluate(semirings.Polynomials(), lambda token: 2).collect()
        assert [row["_value"] for row in rows] == ["1", "1"]
        plain = ls.sql("SELECT s FROM w WHERE id = 3").algebra.evaluate(semirings.Polynomials())
        assert [tuple(row) for row in plain.collect()] == [("b", "w:3")]


PROGRAM = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
import lipstick
ls = lipstick.session(spark)
ls.track("w", spark.createDataFrame([(1, "a"), (2, "a")], "id int, s string"), key="id")
query = ls.sql("SELECT s, count(*) AS n FROM w GROUP BY s")
counted = query.algebra.evaluate(lipstick.semirings.Counting())
print("answer", [tuple(row) for row in counted.collect()])
spark.stop()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="not in a virtual environment")
def test_an_environment_that_is_not_activated(tmp_path: Path) -> None:
    """``.venv/bin/python job.py`` with nothing else set."""
    kept = {name: os.environ[name] for name in ("HOME", "JAVA_HOME") if name in os.environ}
    env = {
        **kept,
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(Path.cwd()),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=False
    )
    assert "answer [('a', 2, 1)]" in done.stdout, done.stderr[-2000:]
