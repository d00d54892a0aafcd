"""Annotations say what queries answer in every world; and the oracle sees where they do not."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from lipstick.engines.memory.memory import Memory
from semiring.analysis.sampling import Estimate
from semiring.expression import Expression
from semiring.monoid import SUM
from semiring.tensor import Tensor
from semiring.token import Token
from tests.oracle import conditions, world_check
from tests.oracle.brute_force import Game
from tests.oracle.conditions import DATABASE
from tests.oracle.database import Database, Deletion
from tests.oracle.elements import ELEMENTS
from tests.oracle.small import absent, small, token
from tests.oracle.suites import TPCH
from tests.oracle.world_answers import WorldAnswers, relations_read, tuples_of, worlds_of
from tests.oracle.world_check import Checked, check_worlds
from tests.oracle.world_corpora import Case, generated_cases, suite_cases
from tests.oracle.worlds import HELD, REFUSED, UNKNOWN, Found, Tally, check_case, main
from tests.oracle.written import check_written, written

MOST = 32
"""Of a query over one relation these are all worlds."""


def outcome(case: Case, most: int = MOST) -> Found:
    """Hold a query in worlds: whatever is answered is right."""
    checked = check_case(case, "potential", most=most, analysed=1, seconds=60)
    assert not checked.problems, f"{case.sql}\n{checked.problems}"
    return checked


def held(case: Case, most: int = MOST) -> None:
    """Hold a query in worlds, in which it is answered."""
    checked = outcome(case, most)
    assert checked.outcome == HELD, f"{checked.outcome} {checked.detail}\n{case.sql}"


@pytest.mark.many(4)
@pytest.mark.parametrize("name", conditions.QUERIES)
def test_conditions(name: str) -> None:
    held(Case(name, conditions.QUERIES[name], DATABASE))


@pytest.mark.many(8)
@pytest.mark.parametrize("name", ELEMENTS)
def test_elements(name: str, tmp_path: Path) -> None:
    """Rows of generators: annotated in worlds, and answered without the rows of a third of them."""
    held(Case(name, ELEMENTS[name], DATABASE))
    rng = random.Random(name)
    deletions = [
        Deletion("random", {r: frozenset((k,) for k in range(1, 6) if rng.random() < 0.4)})
        for r in ("r", "r", "s", "r")
    ]
    check_written(ELEMENTS[name], DATABASE, deletions, tmp_path)


@pytest.mark.parametrize("number", [4, 12, 16])
def test_tpch(number: int, tpch: Callable[[float], Path]) -> None:
    places = range(number - 1, number)
    for case in suite_cases(TPCH, tpch(0.01), places):
        held(case, most=24)


@pytest.mark.parametrize("seed", [*range(8), 529])
def test_generated(seed: int) -> None:
    """Generated queries, of which some are refused or not known to DuckDB.

    529 orders elements of rows that are in no world.
    """
    for case in generated_cases(range(seed, seed + 1)):
        assert outcome(case).outcome in (HELD, REFUSED, UNKNOWN)


# -- the oracle itself -------------------------------------------------------------------------

Check: TypeAlias = "Callable[[str, Sequence[Row]], Checked]"


@dataclass(frozen=True)
class Row:
    """A potential row, as it is held against a query."""

    values: tuple[Any, ...]
    annotation: Any
    present: bool = True


@dataclass(frozen=True)
class Told:
    """A capture of which somebody else tells the annotations."""

    memory: Memory
    rows: Sequence[Row]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.memory, name)

    def potential_rows(self, limit: int | None = None) -> list[Row]:
        """Return what is told."""
        return list(self.rows)

    def annotations(self) -> list[tuple[dict[str, Any], Any]]:
        """Return what is told, of rows that are present."""
        names = self.memory.answer().column_names
        return [
            (dict(zip(names, row.values, strict=True)), row.annotation)
            for row in self.rows
            if row.present
        ]


def r(key: int) -> Expression:
    return token("r", key)


def s(key: int) -> Expression:
    return token("s", key)


SMALL = Database(
    {
        relation.name: relation
        for relation in (
            small("r", "id int, k string, x int", [(1, "a", 10), (2, "a", 1), (3, "b", 3)]),
            small("s", "id int, k string, y int", [(1, "a", 1), (2, "b", 3)]),
        )
    }
)
ABSENT = "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.k AND s.y < 3)"
ABSENT_ROWS = (
    Row((1,), r(1) * absent(s(1)), present=False),
    Row((2,), r(2) * absent(s(1)), present=False),
    Row((3,), r(3)),
)
SUMS = "SELECT k, sum(x) AS t FROM r GROUP BY k"
SUMS_ROWS = (
    Row(("a", Tensor(SUM, [(r(1), 10), (r(2), 1)])), (r(1) + r(2)).delta()),
    Row(("b", Tensor(SUM, [(r(3), 3)])), r(3).delta()),
)


@pytest.fixture
def told(tmp_path: Path) -> Check:
    """What comes of potential rows that are told."""

    def check(sql: str, rows: Sequence[Row]) -> Checked:
        return check_worlds(Told(written(sql, SMALL, tmp_path), rows), sql, SMALL, "potential")

    return check


def test_right_rows_are_held(told: Check) -> None:
    checked = told(ABSENT, ABSENT_ROWS)
    assert checked.problems == {}
    assert checked.worlds == 2**5
    assert checked.counts["probability agrees"] == checked.counts["repairs agrees"] == 3


def test_right_tensors_are_held(told: Check) -> None:
    checked = told(SUMS, SUMS_ROWS)
    assert checked.problems == {}
    assert (checked.worlds, checked.changed) == (2**3, 2**3 - 1)


def test_row_that_is_missing_is_found(told: Check) -> None:
    checked = told(ABSENT, ABSENT_ROWS[1:])
    assert checked.problems["wrong rows"].startswith("without s:1\n  missing: 1\n    (1.0,)")


def test_wrong_annotation_is_found(told: Check) -> None:
    rows = (replace(ABSENT_ROWS[0], annotation=r(1) * absent(s(1) + s(2))), *ABSENT_ROWS[1:])
    checked = told(ABSENT, rows)
    assert "wrong rows" in checked.problems
    assert "(1.0,)" in checked.problems["wrong rows"]


def test_wrong_multiplicity_is_found(told: Check) -> None:
    rows = (*ABSENT_ROWS[:2], replace(ABSENT_ROWS[2], annotation=r(3) + r(3)))
    checked = told(ABSENT, rows)
    assert "unexpected: 1\n    (3.0,)" in checked.problems["wrong rows"]


def test_wrong_value_is_found(told: Check) -> None:
    wrong = Tensor(SUM, [(r(1), 10), (r(2) * r(1), 1)])
    checked = told(SUMS, (replace(SUMS_ROWS[0], values=("a", wrong)), *SUMS_ROWS[1:]))
    assert checked.problems["wrong rows"].startswith("without r:1\n  missing: 1\n    ('a', 1.0)")


def test_wrong_presence_is_found(told: Check) -> None:
    checked = told(ABSENT, (replace(ABSENT_ROWS[0], present=True), *ABSENT_ROWS[1:]))
    assert set(checked.problems) == {"wrong presence"}


def test_wrong_annotation_of_shown_rows_is_found(tmp_path: Path) -> None:
    memory = written(SUMS, SMALL, tmp_path)
    shown = [Row(tuple(row.values()), annotation) for row, annotation in memory.annotations()]
    assert check_worlds(Told(memory, shown), SUMS, SMALL).problems == {}
    wrong = [replace(shown[0], annotation=Expression.one()), *shown[1:]]
    problems = check_worlds(Told(memory, wrong), SUMS, SMALL).problems
    assert "wrong annotation: a row that is not there" in problems


@pytest.mark.parametrize("name", ["probability", "repairs", "shapley", "banzhaf"])
def test_wrong_analysis_is_found(told: Check, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    real = getattr(world_check, name)

    def wrong(annotation: Any, *weights: Any) -> Any:
        right = real(annotation, *weights)
        if name == "probability":
            return Estimate(right.value + 1e-6)
        if name == "repairs":
            return right[1:]
        return {given: Estimate(value.value * 2) for given, value in right.items()}

    monkeypatch.setattr(world_check, name, wrong)
    assert set(told(ABSENT, ABSENT_ROWS).problems) == {f"wrong {name}"}


def test_all_worlds_of_few_tuples_are_asked() -> None:
    tuples = tuples_of(relations_read(SUMS, SMALL))
    worlds = worlds_of(tuples, random.Random(0))
    assert len(set(worlds)) == len(worlds) == 2**3
    assert worlds[0] == frozenset()


def test_worlds_of_many_tuples_have_every_single_deletion() -> None:
    tuples = [Token("r", (key,)) for key in range(30)]
    worlds = worlds_of(tuples, random.Random(0), most=100)
    assert len(set(worlds)) == len(worlds) == 100
    assert {frozenset([single]) for single in tuples} <= set(worlds)


def test_answers_that_ties_leave_open_are_none() -> None:
    answers = WorldAnswers("SELECT id FROM r ORDER BY k LIMIT 1", SMALL)
    assert answers.rows(frozenset()) is None
    assert answers.rows(frozenset([Token("r", (1,))])) == ((2.0,),)


def test_games() -> None:
    a, b, c = (Token("r", (key,)) for key in "abc")
    there = [bool(n & 1 and n & 6) for n in range(8)]
    game = Game((a, b, c), np.array(there))
    assert game.probability(dict.fromkeys((a, b, c), 0.5)) == 0.375
    assert game.repairs() == {frozenset([a])}
    assert game.witnesses() == {frozenset([a, b]), frozenset([a, c])}
    assert game.shapley() == pytest.approx({a: 2 / 3, b: 1 / 6, c: 1 / 6})
    assert game.banzhaf() == pytest.approx({a: 0.75, b: 0.25, c: 0.25})
    assert game.responsibility() == {a: 1.0, b: 0.5, c: 0.5}


def test_run_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "found.txt"
    main(["conditions", "0-1", "--output", str(output)])
    main(["conditions", "0-2", "--output", str(output)])
    assert len(output.read_text().splitlines()) == 2
    assert "2 queries: 2 held" in capsys.readouterr().out


def test_refusals_are_counted() -> None:
    tally = Tally()
    tally.add(check_case(Case("a", "SELECT unheard_of(id) FROM r", DATABASE), "shown"))
    tally.add(check_case(Case("b", "SELECT id FROM r VERSION AS OF 1", DATABASE), "shown"))
    assert tally.queries == {REFUSED: 2}
    assert any("unheard_of is not one of Spark's" in reason for reason in tally.reasons)
