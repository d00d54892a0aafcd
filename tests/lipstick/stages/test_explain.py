"""The accounts that a frame gives of its query's stages and passes."""

from __future__ import annotations

import logging
import re

import pytest

from lipstick import Session
from lipstick.pipeline import STAGES
from lipstick.stages.explain import SWITCH
from rewriter.passes import LOGGER, PASSES


@pytest.fixture
def ls(spark, tmp_path):
    session = Session(spark, store=tmp_path / "store")
    session.track("a", spark.createDataFrame([(1, 2), (2, 3)], "id int, v int"), key="id")
    session.track("b", spark.createDataFrame([(1, 5)], "id int, w int"), key="id")
    return session


def test_passes_are_explained(ls: Session) -> None:
    """What was done to the query comes after the account of its blocks, then what was not."""
    frame = ls.sql("SELECT a.v FROM a LEFT JOIN b ON a.id = b.id WHERE b.w > 1")
    plain, explained = frame.plan.explain(), frame.plan.explain(passes=True)
    assert explained.startswith(f"{plain}\npasses:\neliminate_outer_joins:\n")
    assert "  + " in explained
    names = [each.__name__ for each in (*PASSES.query, *PASSES.capture)]
    idle = f"nothing to do: {', '.join(names[1:])}"
    assert f"\n{idle}\nblocks:\nb0: rows, identity " in explained


def test_stages_are_explained(ls: Session) -> None:
    """A line for each stage has its time and what it yielded; then come capturing and asking."""
    frame = ls.sql(
        "SELECT v FROM a WHERE id < :most EXCEPT SELECT CAST(w AS BIGINT) FROM b", {"most": 9}
    )
    account = frame.plan.explain(stages=True)
    plain, _, stages = account.partition("\nstages:\n")
    assert plain == frame.plan.explain()
    lines = [re.fullmatch(r"(\w+) +(?:[\d.]+ ms)? +(.*)", line) for line in stages.splitlines()]
    yielded = {line[1]: line[2] for line in lines if line is not None}
    assert [*yielded] == [*(stage.__name__ for stage in STAGES), "capture", "ask"]
    assert yielded["understand"] == "struct<v:bigint>"
    assert "id < 9" in yielded["fix_moment"]
    assert "AntiJoin" in yielded["bind"]
    assert yielded["unfold"] == "no recursions"
    assert "b0 rows; passes: " in yielded["lower"]
    assert yielded["convert"] == "to bigint"
    assert yielded["check"] == "1 columns, nothing to refuse"
    assert yielded["capture"] == "at the first question"
    frame.what_if({"a": [1]})
    assert str(ls.store) in frame.plan.explain(stages=True)


def test_conditions_on_unions_are_explained(ls: Session) -> None:
    """A condition is pushed through a union whose columns Spark says are of one type."""
    union = "WITH u AS (SELECT id, v FROM a GROUP BY id, v UNION ALL SELECT id, w FROM b)"
    frame = ls.sql(f"{union} SELECT x.v FROM u x, u y WHERE x.id = 1 AND y.id = 2")
    assert "members where" in frame.plan.explain(passes=True)


def test_passes_are_logged_where_asked(
    spark, tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the environment variable they are written, once each, to the standard error."""
    monkeypatch.setenv(SWITCH, "1")
    try:
        for name in ("one", "two"):
            session = Session(spark, store=tmp_path / name)
        session.track("t", spark.createDataFrame([(1, 2)], "id int, v int"), key="id")
        session.sql("SELECT (SELECT max(v) FROM t) AS a, (SELECT min(v) FROM t) AS b")
    finally:
        LOGGER.handlers = [handler for handler in LOGGER.handlers if handler.name != SWITCH]
        LOGGER.setLevel(logging.NOTSET)
    assert capsys.readouterr().err.count("fuse_scalar_subqueries:") == 1
