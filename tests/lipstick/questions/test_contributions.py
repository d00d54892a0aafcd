"""A value without each of its inputs: in groups, where some are unknown, and how they are named."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lipstick import Session
from lipstick.capture.capture import Capture
from lipstick.display.number_text import percent, signed, spelled
from lipstick.engines.memory import aggregates, contributions
from lipstick.errors import CaptureError
from lipstick.questions.contributions.axes import Axes
from lipstick.questions.contributions.question import contributions_of, inputs_of
from tests.oracle.database import Database
from tests.oracle.small import small
from tests.oracle.written import write_capture

SALES = Database(
    {
        "sales": small(
            "sales",
            "id int, area string, n int, price decimal(10,2)",
            [
                (1, "a", 5, Decimal("1.10")),
                (2, "a", 7, Decimal("2.25")),
                (3, "b", 5, Decimal("-3.00")),
                (4, "b", 9, Decimal("4.50")),
                (5, "b", None, Decimal("0.15")),
                (6, None, 5, Decimal("6.00")),
            ],
        )
    }
)


def captured(sql: str, folder: Path) -> Capture:
    return write_capture(sql, SALES, folder)


def shown(table: pa.Table, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in table.to_pylist()]


def test_inputs_are_left_out_one_by_one_and_in_groups(tmp_path: Path) -> None:
    capture = captured(
        "SELECT sum(price) AS total, count(n) AS c, max(area) AS m FROM sales", tmp_path
    )
    rows = capture.contributions("total")
    assert shown(rows, "id", "_after", "_effect", "_gone")[0] == (
        6,
        Decimal("5.00"),
        Decimal("-6.00"),
        False,
    )
    areas = capture.contributions("total", 0, by="area")
    assert shown(areas, "area", "_inputs", "_after") == [
        (None, 1, Decimal("5.00")),
        ("a", 2, Decimal("7.65")),
        ("b", 3, Decimal("9.35")),
    ]
    ranges = capture.contributions("total", by="sales.id:range")
    assert sum(n for (n,) in shown(ranges, "_inputs")) == 6
    assert capture.contributions("c", by="sales").num_rows == 5  # one has NULL


def test_a_row_is_named_by_structs_and_arrays(tmp_path: Path) -> None:
    sql = (
        "SELECT named_struct('area', area) AS s, array(area, 'x') AS a, sum(price) AS total "
        "FROM sales GROUP BY area"
    )
    capture = captured(sql, tmp_path)
    for row in ({"s": {"area": "b"}}, {"a": ["b", "x"]}, {"s": {"area": "b"}, "a": ["b", "x"]}):
        assert {key for (key,) in shown(capture.contributions("total", row), "id")} == {3, 4, 5}
    with pytest.raises(CaptureError, match="0 rows of the answer are meant"):
        capture.contributions("total", {"s": {"area": "c"}})
    with pytest.raises(CaptureError, match=r"'a' of the answer is of type list.* compared with 5"):
        capture.contributions("total", {"a": 5})


def test_a_row_that_having_takes_away_is_gone(tmp_path: Path) -> None:
    sql = "SELECT area, sum(price) AS total FROM sales GROUP BY area HAVING count(*) > 2"
    found = captured(sql, tmp_path).contributions("total", {"area": "b"})
    assert set(shown(found, "_after", "_gone")) == {(None, True)}
    assert [key for (key,) in shown(found, "id")] == [4, 3, 5]  # by what they add


def test_a_scenario_in_which_the_query_fails_is_unknown_and_the_others_are_not(
    tmp_path: Path,
) -> None:
    sql = "SELECT area, 10 / (count(*) - 2) AS q FROM sales GROUP BY area"
    capture = captured(sql, tmp_path)
    row = capture.memory.answer().column("area").to_pylist().index("b")
    found = capture.contributions("q", row)
    assert set(shown(found, "_after", "_gone")) == {(None, None)}
    sql = "SELECT area, 10 / (sum(price) - 4.65) AS q FROM sales WHERE area = 'b' GROUP BY area"
    found = captured(sql, tmp_path / "other").contributions("q")
    known = dict(shown(found, "id", "_gone"))
    assert known == {3: None, 4: False, 5: False}
    with pytest.raises(CaptureError, match="fails on these rows"):
        len(captured(sql, tmp_path / "third").what_if({"sales": [3]}).df)


def test_what_there_is_no_time_for_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contributions, "FIRST", 2)
    monkeypatch.setattr(contributions, "_SECONDS", 0.0)
    capture = captured("SELECT sum(price) AS total FROM sales", tmp_path)
    lines: list[str] = []
    monkeypatch.setattr("lipstick.questions.contributions.question._SILENT", -1.0)
    whole = capture.contributions("total", progress=lines.append)
    assert not whole.column("_gone").null_count
    assert lines[1] == "2 of 6 groups of sales"
    axes = Axes(capture.memory)
    inputs = inputs_of(capture.memory, axes, 0, "total")
    found = contributions_of(capture.memory, inputs, inputs.grouped(None, "", ""), seconds=0.0)
    assert not found.without.known.any()
    assert found.without.reason == "There was no time for all of them."
    assert found.brought(np.arange(6)) == [None] * 6


@pytest.mark.parametrize(
    ("column", "row", "by", "told"),
    [
        ("total", None, None, "4 rows of the answer are meant"),
        ("total", 7, None, "The answer has 4 rows, none 7"),
        ("total", 0, "colour", "no column 'colour' to group by"),
        ("area", 0, None, "not a number that inputs"),
        ("x", 0, None, "no column 'x'"),
    ],
)
def test_questions_that_have_no_answer_say_why(
    column: str, row: int | None, by: str | None, told: str, tmp_path: Path
) -> None:
    sql = "SELECT area, sum(price) AS total FROM sales GROUP BY ROLLUP(area)"
    capture = captured(sql, tmp_path)
    assert capture.memory.answer().num_rows == 4
    with pytest.raises(CaptureError, match=told):
        capture.contributions(column, row, by=by)


def test_distinct_values_of_many_members_are_counted_without_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    table = [
        (n, "xyz"[int(rng.integers(3))], None if n % 7 == 0 else int(rng.integers(6)), Decimal(1))
        for n in range(60)
    ]
    columns = "id int, area string, n int, price decimal(10,2)"
    database = Database({"sales": small("sales", columns, table)})
    sql = "SELECT area, count(DISTINCT n) AS d, count(DISTINCT n, id) AS e FROM sales GROUP BY area"
    capture = write_capture(sql, database, tmp_path)
    for place in range(3):
        for column in ("d", "e"):
            slow = capture.contributions(column, place).sort_by("id").to_pylist()
            with monkeypatch.context() as patched:
                patched.setattr(aggregates, "MANY", 0)
                quick = capture.contributions(column, place).sort_by("id").to_pylist()
            assert quick == slow
        by = capture.contributions("d", place, by="n").to_pylist()
        assert all(row["_effect"] == -1 for row in by)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Decimal("91541639.43"), "91,541,639.43"),
        (Decimal("389635.950000"), "389,635.95"),
        (Decimal("0.100000001"), "0.100000001"),
        (Decimal("25.00"), "25"),
        (9.15416e7, "91,541,600"),
        (91541639.43, "91,541,639.43"),
        (1.5e-7, "0.00000015"),
        (1e300, f"{int(1e300):,}"),
        (1 / 3, "0.333333"),
        (float("nan"), "nan"),
        (-1234567, "-1,234,567"),
        (Fraction(2206242453, 100), "22,062,424.53"),
        (Fraction(1, 3), "0.333333"),
        (None, "NULL"),
    ],
)
def test_numbers_are_written_as_people_write_them(number: Any, text: str) -> None:
    assert spelled(number) == text


def test_differences_have_signs_and_shares_percents() -> None:
    assert (signed(2.5), signed(-2), signed(0)) == ("+2.5", "-2", "0")
    assert (percent(0.4231), percent(0.00012345)) == ("42.3 %", "0.012345 %")


def test_places_of_rows_are_those_that_a_frame_shows(spark: SparkSession, ls: Session) -> None:
    """A capture may have the same rows in another order."""
    rows = [(n, (7 * n) % 5, n) for n in range(40)]
    ls.track("r", spark.createDataFrame(rows, "id int, k int, v int").repartition(3), key="id")
    q = ls.sql("SELECT k, sum(v) AS s FROM r GROUP BY k")
    for place, shown in enumerate(q.collect()):
        for row in q.contributions("s", place).to_pylist():
            assert row["k"] == shown["k"]
            assert row["_after"] - row["_effect"] == shown["s"]
    with pytest.raises(CaptureError, match="The answer has 5 rows, none 5"):
        q.contributions("s", 5)
