"""Tests that take long take turns: a run with ``--turn N`` takes every sixth of them.

``long_tests.txt`` names them, the longest first, so that all turns take about as long.
``python -m tests.turns LOG...`` writes it anew, for the tests that runs with ``--durations=0
--durations-min=0`` have measured; of the others it keeps what it knows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Final

import pytest

TURNS: Final = 6
"""Every test that takes long is in one of so many runs."""

LONG: Final = 1.0
"""A test takes long if one of its cases takes so many seconds."""

ROOT: Final = Path(__file__).parent.parent

LISTED: Final = ROOT / "tests" / "long_tests.txt"

_TITLE: Final = "# Tests that take turns, the longest first, with the seconds of a case.\n"
_MEASURED: Final = re.compile(r"^([\d.]+)s call +(tests/\S+?::\w+)", re.MULTILINE)


def listed() -> dict[str, float]:
    """Return the seconds of each test that takes long, by its file and name, longest first."""
    lines = LISTED.read_text("utf-8").splitlines()[1:]
    return {test: float(seconds) for seconds, test in map(str.split, lines)}


class Turn:
    """The plugin of a run that leaves tests that take long to other turns.

    Tests that are marked `quick` are in every turn.
    """

    def __init__(self, number: int) -> None:
        self._number = number

    def pytest_report_header(self) -> str:
        return f"turn {self._number} of {TURNS} of the tests that take long; --turn runs another"

    @pytest.hookimpl(trylast=True)  # when it is known what else is left out
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        places = {test: place for place, test in enumerate(listed())}
        long: list[tuple[int, pytest.Item]] = []
        for item in items:
            place = places.get(_name(item))
            if place is not None and not any(map(item.get_closest_marker, ("quick", "skip"))):
                long.append((place, item))
        long.sort(key=itemgetter(0))
        later = pytest.mark.skip(reason=f"not in turn {self._number}: --turn")
        for number, (_, item) in enumerate(long):
            if number % TURNS != self._number:
                item.add_marker(later)


def _name(item: pytest.Item) -> str:
    return f"{item.path.relative_to(ROOT).as_posix()}::{getattr(item, 'originalname', item.name)}"


def main(logs: Sequence[str]) -> int:
    """Write the list anew by the logs of some runs."""
    measured: dict[str, float] = {}
    for log in logs:
        for seconds, test in _MEASURED.findall(Path(log).read_text("utf-8", errors="replace")):
            measured[test] = max(measured.get(test, 0.0), float(seconds))
    known = listed() if LISTED.is_file() else {}
    long = {test: took for test, took in (known | measured).items() if took >= LONG}
    ordered = sorted(long.items(), key=lambda one: (-one[1], one[0]))
    lines = (f"{seconds:.1f} {test}\n" for test, seconds in ordered)
    LISTED.write_text(_TITLE + "".join(lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
