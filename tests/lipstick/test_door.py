"""Wrong values for every parameter of sessions, frames, captures and writers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import lipstick
from lipstick import Session, semirings, session
from lipstick.errors import LipstickError, TrackingError
from lipstick.frame import AnnotatedFrame
from semiring.errors import ArgumentError
from tests.wrong_values import raw_errors

pytestmark = [pytest.mark.engines("memory"), pytest.mark.classic]

QUERY = "SELECT x, count(*) AS n, sum(v) AS s FROM w GROUP BY x"


@pytest.fixture(scope="module")
def ls(spark: SparkSession) -> Iterator[Session]:
    with session(spark) as opened:
        rows = [(1, "a", 2), (2, "a", 3), (3, "b", None)]
        frame = spark.createDataFrame(rows, "id int, x string, v int")
        opened.track("w", frame, key="id")
        yield opened


@pytest.fixture(scope="module")
def query(ls: Session) -> AnnotatedFrame:
    frame = ls.sql(QUERY)
    assert frame.capture.directory
    return frame


def _right(ls: Session, path: Path) -> dict[str, Any]:
    return {
        "column": "n",
        "weights": 0.5,
        "semiring": semirings.Counting(),
        "delete": {"w": [1]},
        "scenarios": [{"w": [1]}],
        "update": {"w": {"v": "v + 1"}},
        "values": "copy",
        "name": "w2",
        "query": QUERY,
        "path": path,
        "mode": "error",
        "source": ls.spark.table("w"),
        "format": "parquet",
        "key": "id",
    }


def _found(
    function: Callable[..., Any], right: dict[str, Any], *passes: type[Exception]
) -> list[str]:
    parameters = inspect.signature(function).parameters
    needed = {k: v for k, v in right.items() if k in parameters}
    return list(raw_errors(function, needed, passes))


_ASKED = (
    *("polynomials", "tensors", "members", "what_if", "what_if_many", "what_if_updated"),
    *("what_if_updated_many", "probability", "expected", "shapley", "banzhaf", "witnesses"),
    *("repairs", "responsibility", "k_relation", "lineage"),
)


@pytest.mark.parametrize("name", _ASKED)
def test_frames_and_captures(ls: Session, query: AnnotatedFrame, name: str, tmp_path: Path) -> None:
    """In memory each question; those that Spark answers, of the frame too."""
    right = _right(ls, tmp_path / "capture")
    memory = lipstick.open(query.capture.directory)
    asked = memory if hasattr(memory, name) else memory.algebra
    found = [] if name == "lineage" else _found(getattr(asked, name), right)
    if name in ("what_if", "lineage"):
        found += _found(getattr(query, name), right)
    assert found == [], "\n".join(found)


def test_evaluate(ls: Session, query: AnnotatedFrame, tmp_path: Path) -> None:
    memory = lipstick.open(query.capture.directory)
    found = _found(memory.algebra.evaluate, _right(ls, tmp_path))
    assert found == [], "\n".join(found)


def test_sessions(ls: Session, tmp_path: Path) -> None:
    """Of SQL, Spark's own errors pass."""
    right = _right(ls, tmp_path)
    found = _found(ls.sql, right, PySparkException)
    for name in ("annotate", "register", "untrack", "add_view"):
        given = {**right, "function": len, "frame": ls.spark.table("w")}
        found += _found(getattr(ls, name), given)
    given = {name: right[name] for name in ("name", "source", "key")}
    found += _found(ls.track, given)
    assert found == [], "\n".join(found)
    for name in set(ls.tracked) - {"w"}:
        ls.untrack(name)


def test_writers(query: AnnotatedFrame) -> None:
    """Settings, and names of tables; any text is a path."""
    found = []
    for name in ("mode", "format", "key", "partitionBy", "provenance", "options"):
        found += list(raw_errors(getattr(query.write, name), {}))
    for wrong in ("", "no such", "a b'`é\n", "a.", "`a`b", 5, None):
        for write in (query.write.saveAsTable, query.write.insertInto):
            with pytest.raises(LipstickError):
                write(wrong)  # type: ignore[arg-type]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("name", ["my cars", "größe", "a'b", "select", "1a", "a;b"])
def test_names_that_need_quotes(ls: Session, name: str) -> None:
    """A relation may have any printable name; queries have it in backticks."""
    rows = [(1, "a", 2), (2, "a", 3), (3, "b", None)]
    ls.track(name, ls.spark.createDataFrame(rows, "id int, `x é` string, v int"), key="id")
    frame = ls.sql(f"SELECT `x é`, sum(v) AS `s t` FROM `{name}` GROUP BY `x é` ORDER BY 1")
    assert frame.polynomials()[0][0] == {"x é": "a", "s t": 5}
    assert {token.relation for _, k in frame.polynomials() for token in k.tokens} == {name}
    assert [tuple(row) for row in frame.what_if({name: "v = 2"}).df.collect()] == [
        ("a", 3),
        ("b", None),
    ]
    assert frame.what_if({name: [1]}, method="rerun").df.count() == 2
    assert {key: rows.count() for key, rows in frame.lineage().items()} == {name: 3}
    assert frame.plan.annotated.count() == 2
    ls.untrack(name)


@pytest.mark.parametrize("name", ["", "a.", ".a", "a`b", "a\nb"])
def test_names_that_are_none(ls: Session, name: str) -> None:
    with pytest.raises(TrackingError, match="cannot name a relation"):
        ls.track(name, ls.spark.table("w"), key="id")


def test_what_is_said(ls: Session) -> None:
    """The parameter, what was given, and what it should be."""
    with pytest.raises(ArgumentError, match=r"Session\.sql: query is None\.\nIt should be: str\."):
        ls.sql(None)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"key is 5, of type int\.\nIt should be: str \|"):
        ls.track("w3", ls.spark.table("w"), key=5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"what_if: delete is None\.\nIt should be: Mapping"):
        ls.sql(QUERY).what_if(None)  # type: ignore[arg-type]
