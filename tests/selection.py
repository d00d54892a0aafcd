"""Which tests a run takes, and the engine that a test is run with.

A test is in every run or takes turns: cases of one kind, engines, Spark Connect, and what takes
long. `Turns` says how often each comes; a run is about one turn, by default the number of commits,
so that every test comes again after so many commits. ``--all`` leaves nothing out.

`long_tests.txt` names the tests that take long. ``python -m tests.selection LOG...`` writes it
anew, with what runs with ``--durations=0 --durations-min=0`` have measured: the seconds of the case
of a test that took longest, ever. A line that has become wrong is removed by hand.
"""

from __future__ import annotations

import heapq
import re
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).parent.parent
LISTED: Final = ROOT / "tests" / "long_tests.txt"

QUICK: Final = 20
"""`--quick` takes every so many of the tests without Spark, beside those marked `quick`."""

SHARES: Final = 16
SHARES_WITH_SPARK: Final = 128
"""A run takes every 16th case of a test marked `many`, every 128th with Spark.

`many(48)` says another number, of tests whose cases take long.
"""

CASES_OVER_CONNECT: Final = 24
"""Of the cases of all other tests, which all run on a classic session, a run takes one of so many
over Connect.
"""

LONG: Final = 0.3
SLOW: Final = 10.0
"""A test takes long, or very long, if one of its cases takes so many seconds."""

LONG_TURNS: Final = 16
SLOW_TURNS: Final = 64
"""How often tests that take long come, and those that take very long or are marked `slow`: in one
of so many runs.
"""

ENGINES: Final = ("memory", "spark")
"""Who computes the rows of captures: this process, or jobs of Spark."""

ENGINE: Final = "engine"

_TITLE: Final = "# Tests that take turns, the longest first, with the seconds of a case.\n"
_MEASURED: Final = re.compile(r"^([\d.]+)s call +(tests/\S+?::test_\w+)", re.MULTILINE)


class Wait(NamedTuple):
    """A reason for which a test is in one of several runs: how many, and its place among them."""

    runs: int
    place: int


def engines(test: pytest.Metafunc) -> tuple[str, ...]:
    """Return the engines that a test is run with: those of its mark, else each.

    Spark behind Spark Connect is called `connect`.
    """
    mark = test.definition.get_closest_marker("engines")
    chosen = mark.args if mark else ENGINES
    if not set(chosen) <= set(ENGINES):
        raise pytest.UsageError(f"{test.definition.nodeid}: engines are {ENGINES}, not {chosen}")
    over_connect = test.config.getoption("--spark-connect")
    return tuple("connect" if over_connect and engine == "spark" else engine for engine in chosen)


def commits() -> int:
    """Return the number of commits up to the one that is checked out, 0 where there is no git."""
    command = ["git", "rev-list", "--count", "HEAD"]
    counted = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return int(counted.stdout.strip() or 0)


def turn_of(config: pytest.Config) -> int:
    """Return the turn that a run is about."""
    turn = config.getoption("--turn")
    return commits() if turn is None else int(turn)


def takes(request: pytest.FixtureRequest, runs: int, place: int | None = None) -> bool:
    """Return True if a test does in this run what it does in one of several.

    Without a place the test's name decides.
    """
    if request.config.getoption("--all"):
        return True
    where = zlib.crc32(request.node.nodeid.encode()) if place is None else place
    return is_due(turn_of(request.config), [Wait(runs, where)])


def is_due(turn: int, waits: Iterable[Wait]) -> bool:
    """Return True in one of as many successive turns as the product of the runs of all waits."""
    for runs, place in waits:
        turn, now = divmod(turn, runs)
        if now != place % runs:
            return False
    return True


def waits_of(items: Sequence[pytest.Item], config: pytest.Config) -> Iterator[list[Wait]]:
    """Yield the reasons for which each test is not in every run.

    Of a test marked `many` a run takes a case of so many; over Connect, one of 24 of the other
    cases, unless they run there only. What takes long waits for its turn beside, and
    tests marked `slow` wait for nothing else. Cases of a test over several engines begin with one
    engine after the other.
    """
    over_connect = bool(config.getoption("--spark-connect"))
    in_turns = config.getoption("--turn") is not None
    slow_marks = {"slow", "slow_over_connect"} if over_connect else {"slow"}
    seconds = listed()
    cases: Counter[tuple[Path, str, str | None]] = Counter()
    waits: list[list[Wait]] = []
    slow: dict[int, float] = {}
    long: dict[int, float] = {}
    sampled: dict[int, float] = {}
    for position, item in enumerate(items):
        name, engine = getattr(item, "originalname", item.name), _engine(item)
        number = cases[item.path, name, engine]
        cases[item.path, name, engine] += 1
        took = seconds.get(_name(item))
        waits.append([])
        if any(map(item.get_closest_marker, slow_marks)):
            slow[position] = took or LONG
            continue
        if engine is not None and not item.get_closest_marker("engines"):
            waits[-1].append(Wait(len(ENGINES), number + (engine == "memory")))
        many = item.get_closest_marker("many")
        if many:
            waits[-1].append(Wait(_share(item), number))
        if over_connect and not many and not item.get_closest_marker("connect"):
            sampled[position] = (took or LONG) / prod(runs for runs, _ in waits[-1])
        elif took and in_turns and not item.get_closest_marker("quick"):
            waiting = slow if took >= SLOW else long
            waiting[position] = took / prod(runs for runs, _ in waits[-1])
    of_runs = ((slow, SLOW_TURNS), (long, LONG_TURNS), (sampled, CASES_OVER_CONNECT))
    for tests, runs in of_runs:
        for position, place in balanced(tests, runs):
            waits[position].append(Wait(runs, place))
    yield from waits


def balanced(tests: Mapping[int, float], runs: int) -> Iterator[tuple[int, int]]:
    """Yield tests, given with their seconds, each with its place among `runs` turns.

    The longest come first, each into the turn that takes the least time so far.
    """
    turns = [(0.0, place) for place in range(runs)]
    for position, seconds in sorted(tests.items(), key=lambda test: (-test[1], test[0])):
        taken, place = turns[0]
        heapq.heapreplace(turns, (taken + seconds, place))
        yield position, place


def leave_out(items: Sequence[pytest.Item], config: pytest.Config) -> None:
    """Skip the tests that wait for another turn, with the reason.

    Without ``--turn`` tests marked `slow` wait whatever the turn is.
    """
    if config.getoption("--all"):
        return
    turn = turn_of(config)
    for item, waits in zip(items, waits_of(items, config), strict=True):
        asked = config.getoption("--turn") is not None or not item.get_closest_marker("slow")
        if not (asked and is_due(turn, waits)):
            item.add_marker(pytest.mark.skip(reason=f"not in turn {turn}: --turn, --all"))


def _share(item: pytest.Item) -> int:
    """Return how many cases of a test marked ``many`` a run takes one of."""
    mark = item.get_closest_marker("many")
    usual = SHARES_WITH_SPARK if "spark" in getattr(item, "fixturenames", ()) else SHARES
    share: int = mark.args[0] if mark and mark.args else usual
    return share


def _engine(item: pytest.Item) -> str | None:
    call = getattr(item, "callspec", None)
    return call.params.get(ENGINE) if call else None


def _name(item: pytest.Item) -> str:
    return f"{item.path.relative_to(ROOT).as_posix()}::{getattr(item, 'originalname', item.name)}"


def run_of(items: list[pytest.Item], config: pytest.Config) -> list[pytest.Item]:
    """Return the tests that a run is about: all, or a part of them.

    ``--part K/N`` takes one test in N, and `--quick` a few: the tests marked `quick`, and a sample
    of those without Spark and not `slow`.
    """
    if part := config.getoption("--part"):
        number, _, parts = part.partition("/")
        return items[int(number) % int(parts) :: int(parts)]
    if not config.getoption("--quick"):
        return items
    sampled = [
        item
        for item in items
        if "spark" not in getattr(item, "fixturenames", ())
        and not any(map(item.get_closest_marker, ("quick", "slow", "spark")))
    ]
    return [item for item in items if item.get_closest_marker("quick")] + sampled[::QUICK]


class Resumed:
    """The plugin of a run that goes on where it was: tests that have passed are not run again.

    Parameters
    ----------
    file
        A line for each test that has passed: the commit, and the test's name.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._passed = dict(_passed(file))
        self._commit = f"{commits()}"
        self._failed = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        again = [item for item in items if item.nodeid not in self._passed]
        config.hook.pytest_deselected(items=[i for i in items if i.nodeid in self._passed])
        items[:] = again

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed = report.failed or (report.when != "setup" and self._failed)
        if report.when == "teardown" and not self._failed:
            with self._file.open("a", encoding="utf-8") as out:
                out.write(f"{self._commit} {report.nodeid}\n")
            self._passed[report.nodeid] = self._commit

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        at = Counter(self._passed.values())
        shown = ", ".join(f"{at[commit]:,} at commit {commit}" for commit in sorted(at, key=int))
        terminalreporter.write_line(f"tests that have passed or do not apply: {shown}")


def _passed(file: Path) -> Iterator[tuple[str, str]]:
    """Yield each test of a file of `Resumed`, and the commit that it has passed at."""
    for line in file.read_text("utf-8").splitlines() if file.is_file() else ():
        commit, _, test = line.partition(" ")
        yield test, commit


def listed() -> Mapping[str, float]:
    """Return the seconds of each test that takes long, by its file and name, longest first."""
    lines = LISTED.read_text("utf-8").splitlines()[1:]
    return {test: float(seconds) for seconds, test in map(str.split, lines)}


def main(logs: Sequence[str]) -> int:
    """Write the list anew by the logs of some runs."""
    measured: dict[str, float] = {}
    for log in logs:
        for seconds, test in _MEASURED.findall(Path(log).read_text("utf-8", errors="replace")):
            measured[test] = max(measured.get(test, 0.0), float(seconds))
    for test, took in (listed() if LISTED.is_file() else {}).items():
        measured[test] = max(measured.get(test, 0.0), took)
    long = {test: took for test, took in measured.items() if took >= LONG}
    ordered = sorted(long.items(), key=lambda one: (-one[1], one[0]))
    lines = (f"{seconds:.1f} {test}\n" for test, seconds in ordered)
    LISTED.write_text(_TITLE + "".join(lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
