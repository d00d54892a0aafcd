"""The choice of the tests of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import selection
from tests.selection import (
    LONG_TURNS,
    ROOT,
    SLOW_TURNS,
    Resumed,
    balanced,
    leave_out,
    listed,
    run_of,
)


@dataclass
class Case:
    """A collected test."""

    path: Path
    name: str
    marks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    engine: str = ""
    fixturenames: tuple[str, ...] = ()
    added: list[Any] = field(default_factory=list)

    @property
    def nodeid(self) -> str:
        return f"{self.path.name}::{self.name}"

    @property
    def callspec(self) -> Any:
        return SimpleNamespace(params={"engine": self.engine} if self.engine else {})

    def get_closest_marker(self, name: str) -> Any:
        return SimpleNamespace(args=self.marks[name]) if name in self.marks else None

    def add_marker(self, mark: Any) -> None:
        self.added.append(mark)


def config(**options: Any) -> Any:
    """The configuration of a run with some options."""
    usual = {"all": False, "turn": None, "part": None, "quick": False, "spark_connect": False}
    given = usual | options
    return SimpleNamespace(getoption=lambda name: given[name.strip("-").replace("-", "_")])


def chosen(cases: list[Case], **options: Any) -> set[int]:
    """Which of some tests a run takes."""
    for case in cases:
        case.added.clear()
    leave_out(cases, config(**options))  # type: ignore[arg-type]
    return {number for number, case in enumerate(cases) if not case.added}


def counts(cases: list[Case], turns: int, **options: Any) -> list[int]:
    """How often each of some tests comes in successive turns."""
    runs = [chosen(cases, turn=turn, **options) for turn in range(turns)]
    return [sum(number in run for run in runs) for number in range(len(cases))]


@pytest.fixture
def long_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tests/a.py::test_long` takes three seconds, `tests/b.py::test_other` one."""
    log = tmp_path / "log"
    log.write_text(
        "3.00s call     tests/a.py::test_long[1]\n"
        "0.10s call     tests/a.py::test_short\n"
        "9.00s setup    tests/a.py::test_short\n"
        "1.00s call     tests/b.py::test_other\n"
    )
    monkeypatch.setattr(selection, "LISTED", tmp_path / "listed.txt")
    selection.main([str(log)])
    assert listed() == {"tests/a.py::test_long": 3.0, "tests/b.py::test_other": 1.0}


A = ROOT / "tests" / "a.py"


@pytest.mark.usefixtures("long_tests")
def test_every_long_test_comes_once_in_its_turns() -> None:
    long = [Case(A, "test_long") for _ in range(2 * LONG_TURNS + 1)]
    others = [Case(A, "test_short"), Case(A, "test_long", {"quick": ()})]
    assert counts([*long, *others], LONG_TURNS) == [1] * len(long) + [LONG_TURNS] * 2
    assert chosen([*long, *others]) == {*range(len(long) + 2)}, "pytest itself runs all of them"


@pytest.mark.usefixtures("long_tests")
@pytest.mark.parametrize("connect", [False, True])
def test_every_slow_test_comes_once_in_its_turns(connect: bool) -> None:
    """However many cases and engines it has; pytest itself leaves it out."""
    slow = [
        Case(A, "test_slow", {"slow": (), "many": (128,)}, engine)
        for engine in ("memory", "spark") * SLOW_TURNS
    ]
    assert counts(slow, SLOW_TURNS, spark_connect=connect) == [1] * len(slow)
    assert chosen(slow, spark_connect=connect) == set()
    over_connect = [Case(A, "test_slow", {"slow_over_connect": ()})]
    assert counts(over_connect, SLOW_TURNS) == [SLOW_TURNS]
    assert counts(over_connect, SLOW_TURNS, spark_connect=True) == [1]


def test_turns_take_about_as_long() -> None:
    """None takes more than the mean and the longest of the tests in it."""
    seconds = [60.0, 45.0, *(float(n % 7 + 1) for n in range(100))]
    turns = [0.0] * 8
    for test, place in balanced(dict(enumerate(seconds)), len(turns)):
        turns[place] += seconds[test]
    assert sum(turns) == sum(seconds)
    assert sorted(turns)[-3] - min(turns) <= 7
    assert max(turns) <= max(60, sum(seconds) / 8 + 7)


@pytest.mark.parametrize("connect", [False, True])
def test_every_case_comes_with_every_engine(connect: bool) -> None:
    """A turn takes each case with one engine, and of many cases one in so many."""
    cases = [Case(A, f"test[{n}]", {}, engine) for n in range(5) for engine in ("memory", "spark")]
    if not connect:
        assert counts(cases, 2) == [1] * 10
    many = [
        Case(A, "test", {"many": (8,)}, engine) for _ in range(24) for engine in ("memory", "spark")
    ]
    assert counts(many, 16, spark_connect=connect) == [1] * 48
    assert all(len(chosen(many, turn=turn, spark_connect=connect)) == 3 for turn in range(16))


def test_many_cases_are_fewer_with_spark() -> None:
    cases = [Case(A, "test", {"many": ()}) for _ in range(128)]
    with_spark = [Case(A, "test", {"many": ()}, "", ("spark",)) for _ in range(128)]
    assert len(chosen(cases, turn=3)) == 8
    assert len(chosen(with_spark, turn=3)) == 1


def test_every_case_comes_over_connect() -> None:
    """Those that run there only are in every run."""
    cases = [Case(A, f"test_{n}") for n in range(30)]
    only = [Case(A, "test_connect", {"connect": ()})]
    assert counts([*cases, *only], 24, spark_connect=True) == [1] * 30 + [24]


@pytest.mark.usefixtures("long_tests")
def test_all_tests_are_those_of_its_parts() -> None:
    cases = [Case(A, "test_slow", {"slow": (), "many": ()}) for _ in range(20)]
    assert chosen(cases, all=True) == {*range(20)}
    parts = [run_of(cases, config(part=f"{number}/3")) for number in range(3)]  # type: ignore[arg-type]
    assert sorted(id(case) for part in parts for case in part) == sorted(map(id, cases))


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """What has passed is left out; what failed in one of its phases is not."""
    cases = [Case(A, f"test_{n}") for n in range(3)]
    gone: list[Case] = []

    def deselect(items: list[Case]) -> None:
        gone.extend(items)

    hook = SimpleNamespace(pytest_deselected=deselect)
    run: Any = Resumed(tmp_path / "passed.txt")
    for case, failing in ((cases[0], None), (cases[1], "call"), (cases[2], "setup")):
        for when in ("setup", "call", "teardown"):
            failed = when == failing
            run.pytest_runtest_logreport(
                SimpleNamespace(when=when, failed=failed, nodeid=case.nodeid)
            )
    again: Any = Resumed(tmp_path / "passed.txt")
    left = [*cases]
    again.pytest_collection_modifyitems(SimpleNamespace(hook=hook), left)
    assert (gone, left) == (cases[:1], cases[1:])
    lines: list[str] = []
    again.pytest_terminal_summary(SimpleNamespace(write_line=lines.append))
    assert lines[0].startswith("tests that have passed or do not apply: 1 at commit ")


def test_listed_tests_are_there() -> None:
    for test in listed():
        path, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text("utf-8"), test
