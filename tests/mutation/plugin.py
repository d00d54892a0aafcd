"""A pytest plugin: the tests that were chosen run once for each mutant, in a process forked for it.

The fork has all modules and tests as they were read; the functions of the mutant are put in place
of those of its module, whoever refers to them. Only tests run that run its line when nothing is
changed, themselves or in a fixture. Nothing is written but the outcomes.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, Final

import pytest

from tests.mutation.mutants import Mutant
from tests.mutation.reached import Line, Lines

KILLED: Final = "killed"
SURVIVED: Final = "survived"
HANGS: Final = "hangs"
UNREACHED: Final = "run by no test"
CRASHED: Final = "ends the process"
OUTCOMES: Final = {0: SURVIVED, 1: KILLED}
ALIVE: Final = (SURVIVED, UNREACHED)
_CACHE: Final = type(cache(lambda: None))


@dataclass(eq=False, slots=True)
class Mutation:
    """Puts mutants to the tests of a session.

    Attributes
    ----------
    mutants
        What is left to do.
    root
        The folder of the checkout.
    output
        A file of JSON lines, one for each mutant.
    seconds
        How long to go on.
    patience
        Seconds beyond those that its tests take unchanged, after which a mutant hangs.
    """

    mutants: list[Mutant]
    root: Path
    output: Path
    seconds: float
    patience: float
    lines: Lines = field(init=False)

    def __post_init__(self) -> None:
        wanted: dict[str, set[int]] = defaultdict(set)
        for mutant in self.mutants:
            wanted[str(mutant.path)].add(mutant.line)
        self.lines = Lines(wanted)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests unchanged, and then for each mutant those that run its line."""
        end = time.monotonic() + self.seconds
        if not self.mutants:
            return True
        tests = self._unchanged(session)
        for mutant in self.mutants:
            if time.monotonic() > end:
                break
            chosen = tests[str(mutant.path), mutant.line]
            items = [session.items[number] for number in chosen]
            usual = sum(chosen.values())
            outcome = self._outcome(mutant, items, usual + self.patience)
            with self.output.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**mutant.described(self.root), "outcome": outcome}) + "\n")
        return True

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Lines that a fixture runs are lines of all tests that use it."""
        with self.lines.collected(fixturedef.argname):
            yield

    def _unchanged(self, session: pytest.Session) -> defaultdict[Line, dict[int, float]]:
        """Run the tests in a process of their own; return those that run a line.

        By their numbers, with the seconds that they take.
        """
        with tempfile.NamedTemporaryFile("r+", encoding="utf-8") as file:
            if _forked(lambda: self._traced(session.items, Path(file.name)), None) != SURVIVED:
                raise pytest.UsageError(f"without any mutant a test fails: {file.read()}")
            tests: defaultdict[Line, dict[int, float]] = defaultdict(dict)
            for path, line, number, seconds in json.load(file):
                tests[path, line][number] = seconds
        return tests

    def _traced(self, items: Sequence[pytest.Item], output: Path) -> int:
        failed = _run(items, self.lines)
        if failed:
            output.write_text(failed.nodeid, encoding="utf-8")
            return 1
        run = [
            (*line, number, self.lines.seconds[item.nodeid])
            for number, item in enumerate(items)
            for line in self.lines.of(item.nodeid, *getattr(item, "fixturenames", ()))
        ]
        output.write_text(json.dumps(run), encoding="utf-8")
        return 0

    def _outcome(self, mutant: Mutant, items: Sequence[pytest.Item], patience: float) -> str:
        def run() -> int:
            _replace(mutant)
            return 1 if _run(items) else 0

        return _forked(run, patience) if items else UNREACHED


def _forked(run: Callable[[], int], patience: float | None) -> str:
    """Run in a forked process, for so many seconds at most; return the outcome that its code is."""
    child = os.fork()
    if child == 0:
        code = 4
        try:
            code = run()
        finally:
            os._exit(code)
    end = time.monotonic() + patience if patience is not None else float("inf")
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return OUTCOMES.get(os.waitstatus_to_exitcode(status), CRASHED)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return HANGS


def _run(items: Sequence[pytest.Item], lines: Lines | None = None) -> pytest.Item | None:
    """Run tests up to the first that fails; return it if there is one.

    None finds what another has left in a cache.
    """
    caches = [each for each in gc.get_objects() if isinstance(each, _CACHE)]
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        for item, following in zip(items, [*items[1:], None], strict=True):
            for filled in caches:
                filled.cache_clear()
            if lines is None:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            else:
                with lines.collected(item.nodeid):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if item.session.testsfailed:
                return item
    return None


def _replace(mutant: Mutant) -> None:
    """Give the functions of a module the code of the mutant."""
    codes = mutant.codes()
    for function in gc.get_objects():
        if isinstance(function, FunctionType):
            code = function.__code__
            if code.co_filename == str(mutant.path):
                changed = codes.get((code.co_qualname, code.co_firstlineno))
                if changed is not None and changed.co_freevars == code.co_freevars:
                    function.__code__ = changed
