"""The turns of tests that take long."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests import turns
from tests.turns import ROOT, TURNS, Turn, listed


@dataclass
class Case:
    """A collected test."""

    path: Path
    name: str
    mark: str = ""
    added: list[Any] = field(default_factory=list)

    def get_closest_marker(self, name: str) -> bool:
        return name == self.mark

    def add_marker(self, mark: Any) -> None:
        self.added.append(mark)


def left_out(cases: list[Case], turn: int) -> set[int]:
    for case in cases:
        case.added.clear()
    Turn(turn).pytest_collection_modifyitems(cases)  # type: ignore[arg-type]
    return {number for number, case in enumerate(cases) if case.added}


def test_every_long_test_is_in_one_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    log.write_text(
        "3.00s call     tests/a.py::test_long[1]\n"
        "0.10s call     tests/a.py::test_short\n"
        "9.00s setup    tests/a.py::test_short\n"
        "1.00s call     tests/b.py::test_other\n"
    )
    monkeypatch.setattr(turns, "LISTED", tmp_path / "listed.txt")
    turns.main([str(log)])
    assert listed() == {"tests/a.py::test_long": 3.0, "tests/b.py::test_other": 1.0}
    long = [Case(ROOT / "tests" / "a.py", "test_long") for _ in range(2 * TURNS + 1)]
    others = [
        Case(ROOT / "tests" / "a.py", "test_short"),
        Case(ROOT / "tests" / "a.py", "test_long", "quick"),
    ]
    out = [left_out([*long, *others], turn) for turn in range(TURNS)]
    for number in range(len(long)):
        assert sum(number not in each for each in out) == 1
    assert all(each < {*range(len(long))} for each in out)


def test_listed_tests_are_there() -> None:
    for test in listed():
        path, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text("utf-8"), test
