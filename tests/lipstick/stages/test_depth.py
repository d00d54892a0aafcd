"""Deeply nested queries: read as deep as Spark reads them, and refused by name beyond."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import reduce

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lipstick import Session, session
from rewriter.dialect import emit, parse
from rewriter.errors import UnsupportedError
from semiring.errors import DepthError, ExactnessError
from semiring.support.budget import call_within
from semiring.support.depth import CALLS, deeply

pytestmark = [pytest.mark.engines("memory"), pytest.mark.classic]


def _union(n: int) -> str:
    return " UNION ALL ".join(["SELECT id FROM w"] * n)


def _subqueries(n: int) -> str:
    return "SELECT id FROM (" * n + "SELECT id FROM w" + ")" * n


def _sum(n: int) -> str:
    return f"SELECT {' + '.join(['id'] * n)} AS x FROM w"


def _calls(n: int) -> str:
    return f"SELECT {'abs(' * n}id{')' * n} AS x FROM w"


def _negations(n: int) -> str:
    return f"SELECT id FROM w WHERE {'NOT ' * n}(id = 1)"


@pytest.fixture(scope="module")
def ls(spark: SparkSession) -> Iterator[Session]:
    with session(spark) as opened:
        opened.track("w", spark.createDataFrame([(1,), (2,)], "id int"), key="id")
        yield opened


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (_sum(200), 2),
        (_calls(100), 2),
        (_negations(100), 1),
        pytest.param(_union(150), 300, marks=pytest.mark.slow),
        pytest.param(_subqueries(80), 2, marks=pytest.mark.slow),
    ],
    ids=["sums", "calls", "negations", "unions", "subqueries"],
)
def test_what_spark_reads_is_read(ls: Session, query: str, rows: int) -> None:
    """These are deeper than Python's limit on recursion allows."""
    assert len(ls.sql(query).polynomials(None)) == rows


def test_what_spark_does_not_read_is_refused(ls: Session) -> None:
    """Its parser, or its analysis, has no more stack; the refusal says how to give it some."""
    with pytest.raises(UnsupportedError, match=r"nested too deeply for the stack(.|\n)*-Xss64m"):
        ls.sql(_sum(2000))


def test_what_is_not_read_here_is_refused(ls: Session) -> None:
    """With the limit: every level of a call takes more than ten calls of the parser's."""
    with pytest.raises(DepthError, match=f"more than {CALLS:,} nested calls"):
        ls.sql(_calls(6000))


def test_deep_frames(ls: Session) -> None:
    """Plans are trees too: of many steps, and of long expressions."""
    frame = reduce(lambda f, _: f.withColumn("id", F.col("id") + 1), range(30), ls.spark.table("w"))
    assert [row["id"] for row, _ in ls.annotate(frame).polynomials()] == [31, 32]
    total = reduce(lambda a, b: a + b, [F.col("id")] * 120)
    frame = ls.spark.table("w").select(total.alias("x"))
    assert [row["x"] for row, _ in ls.annotate(frame).polynomials()] == [120, 240]


def test_chains_are_written_without_parentheses() -> None:
    """Those that Spark groups from the left; others show how they are grouped."""

    def written(text: str) -> str:
        words = " ".join(emit(parse(text), grouped=True).split())
        return words.replace("( ", "(").replace(" )", ")")

    assert written("SELECT a + b + c - d + e") == "SELECT ((a + b + c) - d) + e"
    assert written("SELECT a + (b + c), a - b - c") == "SELECT a + (b + c), (a - b) - c"
    chain = "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3"
    assert written(chain) == chain
    assert written(f"{chain} UNION SELECT 4") == f"({chain}) UNION SELECT 4"
    nested = "SELECT 1 UNION ALL (SELECT 2 UNION ALL SELECT 3)"
    assert written(nested) == nested


def test_a_budget_ends_what_needs_more_room() -> None:
    """The thread with the larger stack ends with the question that waits for it."""
    began, ended = threading.Event(), threading.Event()

    def endless(depth: int) -> None:
        if depth:
            endless(depth - 1)
            return
        began.set()
        try:
            while True:
                time.sleep(0.01)
        finally:
            ended.set()

    # On a machine that does much else, a budget may be spent before the thread begins.
    for seconds in (0.5, 5, 50):
        with pytest.raises(ExactnessError, match=f"budget of {seconds} seconds"):
            call_within(seconds, lambda: deeply(endless, 2_000))
        if began.is_set():
            break
    assert ended.is_set()


AFTERWARDS = """
import sys, time
from semiring.support.budget import call_within
from semiring.support.depth import deeply
from semiring.errors import ExactnessError

def asleep(depth):
    while depth == 0:
        time.sleep(0.01)
    asleep(depth - 1)

for depth in (0, 2_000):
    try:
        call_within(0.2, lambda: deeply(asleep, depth))
    except ExactnessError:
        sys.settrace(lambda *event: None)
        exec("print('traced')")
        sys.settrace(None)
"""


def test_a_spent_budget_leaves_no_exception_behind() -> None:
    """CPython 3.11 would look for it before each instruction that is traced, and never end."""
    command = [sys.executable, "-c", AFTERWARDS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["traced", "traced"]
