"""Differences of two runs: rows and parts, which add up exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture.manifest import RelationRecord
from lipstick.errors import CaptureError, TrackingError
from lipstick.questions.diff import counterexample
from lipstick.questions.diff.changes import changed_rows
from lipstick.questions.diff.difference import AnswerDifference
from lipstick.questions.diff.pipeline import Version, difference
from lipstick.questions.why.sources import SourceRows
from lipstick.tracking.naming import ROWS
from semiring.errors import ArgumentError, CapabilityError
from tests.oracle.database import Database, Relation
from tests.oracle.differences import Held, compared, pairs
from tests.oracle.refactorings import found, refactorings
from tests.oracle.written import write_capture

_OLD = [(1, "n", 10, "x"), (2, "n", 20, "y"), (3, "s", 5, "x"), (4, None, 7, "z"), (5, "w", 1, "x")]
_NEW = [(1, "n", 20, "x"), (2, "n", 10, "y"), (3, "s", 5, "q"), (4, None, 9, "z"), (6, "e", 4, "x")]


def _database(rows: list[tuple[Any, ...]], kind: pa.DataType | None = None) -> Database:
    names, kinds = ("id", "area", "amount", "code"), (pa.int64(), pa.string(), kind or pa.int64())
    columns = zip(zip(*rows, strict=True), (*kinds, pa.string()), strict=True)
    data = pa.table([pa.array(values, its) for values, its in columns], names)
    schema = "id bigint, area string, amount bigint, code string"
    return Database({"t": Relation("t", ("id",), schema, data)})


def _diff(sql: str, folder: Path, old: Any = _OLD, new: Any = _NEW) -> AnswerDifference:
    for side in "01":
        (folder / side).mkdir()
    return compared(sql, (_database(old), _database(new)), folder)


def test_parts_follow_the_rules_row_by_row() -> None:
    held = Held()
    for pair in pairs(150, 156):
        held.hold(pair)
    assert held.numbers.total() > 50


def test_offsetting_changes_have_parts_of_a_difference_of_0(tmp_path: Path) -> None:
    found = _diff("SELECT area, sum(amount) AS v, max(amount) AS m FROM t GROUP BY 1", tmp_path)
    assert (found.added, found.removed, found.changed) == (1, 1, 1)  # e came, w went, NULL changed
    parts = found.parts("c1", c0="n")
    assert parts.difference == 0
    assert parts.exact_rows() == {"t": {(1,): 10, (2,): -10}}
    assert [row["_part"] for row in parts.rows().to_pylist()] == [10, -10]


def test_groups_that_come_or_go_and_the_group_of_null(tmp_path: Path) -> None:
    found = _diff("SELECT area, sum(amount) AS v, avg(amount) AS a FROM t GROUP BY 1", tmp_path)
    come, gone = found.parts("c2", c0="e"), found.parts("c1", c0="w")
    assert (come.before, come.after, come.exact_rows()) == (None, 4.0, {"t": {(6,): 4}})
    assert (gone.difference, gone.exact_rows()) == (-1, {"t": {(5,): -1}})
    of_null = found.parts("c1", {"c0": None})
    assert (of_null.difference, of_null.exact_rows()) == (2, {"t": {(4,): 2}})
    assert str(of_null).splitlines() == [
        "c1 of c0 = None went from 7 to 9 (+2):",
        "- 1 row of t changed: +2",
    ]


def test_a_change_of_a_column_that_is_not_read_takes_no_part(tmp_path: Path) -> None:
    found = _diff("SELECT area, sum(amount) AS v FROM t GROUP BY 1", tmp_path)
    numbers = found.parts("c1", c0="n").changes["t"]
    kinds = {row["id"]: row["_change"] for row in numbers.take(range(len(numbers))).to_pylist()}
    assert kinds == {5: "removed", 6: "added", 1: "changed", 2: "changed", 4: "changed"}


def test_what_a_condition_on_other_rows_lets_in_is_a_part_of_its_own(tmp_path: Path) -> None:
    old = [(1, "n", 10, "x")]
    sql = "SELECT area, sum(amount) AS v FROM t GROUP BY 1 HAVING count(*) > 1"
    parts = _diff(sql, tmp_path, old, [*old, (2, "n", 5, "x")]).parts()
    assert (parts.unchanged, parts.exact("t"), parts.difference) == (10, 5, 15)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT avg(v) FROM (SELECT area, sum(amount) AS v FROM t GROUP BY area)",
        "SELECT sum(amount) * (SELECT max(amount) FROM t) FROM t",
    ],
)
def test_numbers_without_a_rule_for_rows_are_divided_by_kinds(sql: str, tmp_path: Path) -> None:
    parts = _diff(sql, tmp_path).parts()
    table = parts.table.to_pylist()
    assert [row["change"] for row in table] == ["removed", "changed", "added"]
    assert sum(row["value"] for row in table) == pytest.approx(float(parts.difference))
    with pytest.raises(CapabilityError, match="is not divided among rows"):
        parts.rows("t")


def test_predicates_have_their_parts(tmp_path: Path) -> None:
    old = [(n, "ns"[n % 2], n % 5, "xyz"[n % 3]) for n in range(300)]
    new = [(n, a, v + 100 * (c == "y" and n % 7 == 0), c) for n, a, v, c in old]
    parts = _diff("SELECT sum(amount) AS total FROM t", tmp_path, old, new).parts()
    best = parts.predicates()[0]
    assert (best.text, best.rows, best.part) == ("code = 'y'", 14, 1400)
    assert best.sentence == "14 changed rows of t where code = 'y': +1,400"


def test_rows_without_a_key_are_compared_as_a_bag(tmp_path: Path) -> None:
    found = _diff("SELECT area, amount FROM t", tmp_path)
    assert found.key is None
    assert (found.added, found.removed) == (2, 2)
    with pytest.raises(CaptureError, match="no key by which their rows are the same"):
        found.parts("c1", c0="n")


def test_answers_of_other_columns_are_named(tmp_path: Path) -> None:
    first = write_capture("SELECT id, amount FROM t", _database(_OLD), tmp_path / "first")
    other = write_capture("SELECT code, area FROM t", _database(_OLD), tmp_path / "other")
    rows = {"t": _database(_OLD).relations["t"].data}
    with pytest.raises(CaptureError, match=r"have the columns .* and .*, which are not compared"):
        first.diff(other, sources=(rows, rows))


@pytest.mark.engines("memory")
@pytest.mark.classic
def test_runs_of_two_sessions_and_of_two_texts(spark: SparkSession, tmp_path: Path) -> None:
    text = "SELECT area, sum(amount) AS v FROM t GROUP BY area"
    for name, rows in (("old", _OLD), ("new", _NEW)):
        pq.write_table(_database(rows).relations["t"].data, tmp_path / f"{name}.parquet")
    with lipstick.session(spark) as before, lipstick.session(spark) as after:
        before.track("t", str(tmp_path / "old.parquet"), key="id")
        after.track("t", str(tmp_path / "new.parquet"), key="id")
        old, new = before.sql(text), after.sql(text)
        assert old.diff(new).parts("v", {"area": None}).exact_rows() == {"t": {(4,): 2}}
        twice = after.sql("SELECT area, 2 * sum(amount) AS v FROM t GROUP BY area")
        assert new.diff(twice).parts("v", area="s").data == 0
        parts = old.diff(twice).parts("v", {"area": None})
        assert (parts.code, parts.data, parts.exact_rows()) == (9, 2, {"t": {(4,): 2}})
        with pytest.raises(ArgumentError, match="The texts differ, and so may the data"):
            old.diff(twice.capture)


@pytest.mark.engines("memory")
@pytest.mark.classic
def test_frames_over_the_same_files_may_have_other_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Their differences are of the data, also where these are not here, and not of the code."""
    text = "SELECT area, sum(amount) AS v FROM t GROUP BY area"
    pq.write_table(_database(_OLD).relations["t"].data, tmp_path / "old.parquet")
    whole = spark.read.parquet(str(tmp_path / "old.parquet"))
    with lipstick.session(spark) as before, lipstick.session(spark) as after:
        before.track("t", whole, key="id")
        after.track(
            "t",
            whole.where("id <> 3").selectExpr("* EXCEPT (amount)", "amount * 2 AS amount"),
            key="id",
        )
        old, new = before.sql(text), after.sql(text)
        parts = old.diff(new).parts("v", area="n")
        assert (parts.code, parts.exact_rows()) == (0, {"t": {(1,): 10, (2,): 20}})
        old.save(tmp_path / "a")
        new.save(tmp_path / "b")
    known = lipstick.open(tmp_path / "a").diff(lipstick.open(tmp_path / "b"))
    gone = known.parts("v", area="s")
    assert str(gone).endswith("\n- 1 row of t taking part in the run before only: -5")
    assert [row.sentence for row, _ in gone.inputs()] == [
        "t with id = 3 takes part in the run before only; its values in the other run are not held"
    ]
    parts = known.parts("v", area="n")
    assert (parts.code, parts.exact_rows()) == (0, {"t": {(1,): 10, (2,): 20}})
    assert [(row.sentence, part) for row, part in parts.inputs()] == [
        ("t with id = 2: amount from 20 to 40", 20),
        ("t with id = 1: amount from 10 to 20", 10),
    ]


def test_changed_inputs_are_named_with_their_values(tmp_path: Path) -> None:
    found = _diff("SELECT area, sum(amount) AS v FROM t GROUP BY area", tmp_path)
    assert [row.document() for row in found.inputs(1)] == [
        {
            "relation": "t",
            "key": {"id": 1},
            "change": "changed",
            "values": {"amount": {"before": 10, "after": 20}},
        }
    ]
    assert found.not_held == []
    assert found.inputs_sentences == [
        "t with id = 1: amount from 10 to 20",
        "t with id = 2: amount from 20 to 10",
        "t with id = 4: amount from 7 to 9",
        "t with id = 6: added",
        "t with id = 5: removed",
    ]


def test_what_captures_do_not_hold_is_said(tmp_path: Path) -> None:
    """Their relations are out of reach, and code is read by the condition alone."""
    sql = "SELECT area, sum(amount) AS v FROM t WHERE code <> 'q' GROUP BY area"
    runs = [
        Version(write_capture(sql, _database(rows), tmp_path / name).memory)
        for name, rows in (("a", _OLD), ("b", _NEW))
    ]
    found = difference(*runs, runs[1], None)
    assert found.not_held == ["t.code"]
    assert found.inputs_sentences[-1] == "not held by both captures: t.code"


def test_rows_without_a_key_are_not_the_same_in_two_versions() -> None:
    rows = SourceRows.of_table(
        RelationRecord("t", "t", ROWS, ("_row",), ("a",), True, "files"),
        pa.table({"_row": [0], "a": [1]}),
        whole=True,
    )
    with pytest.raises(TrackingError, match="Track both with their key"):
        changed_rows(rows, rows, None)


@pytest.mark.parametrize("place", range(0, len(refactorings()), 9))
def test_a_small_database_shows_that_a_refactoring_is_wrong(place: int) -> None:
    refactoring = refactorings()[place]
    example = found(refactoring)
    assert (example is None) == refactoring.equal
    if example is not None:
        assert example.size <= 10
        assert example.minimal
        assert example.markdown().startswith(f"The answers differ on {example.size} row")


def test_a_budget_that_is_spent_leaves_nothing_known_of_fewer_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counterexample, "spent", lambda: True)
    refactoring = next(each for each in refactorings() if not each.equal)
    example = found(refactoring)
    assert example is not None
    assert example.minimal is None
    assert "fewer of them may suffice" in example.sentence
