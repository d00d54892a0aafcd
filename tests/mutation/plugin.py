"""A pytest plugin: the tests that were chosen run once for each mutant, in a process forked for it.

The fork has all modules and tests as they were read; the functions of the mutant are put in place
of those of its module, whoever refers to them. Nothing is written but the outcomes.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Final

import pytest

from tests.mutation.mutants import Mutant

KILLED: Final = "killed"
SURVIVED: Final = "survived"
HANGS: Final = "hangs"
UNREACHED: Final = "not imported by these tests"
CRASHED: Final = "ends the process"
OUTCOMES: Final = {0: SURVIVED, 1: KILLED, 3: UNREACHED}


@dataclass(slots=True)
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
        Seconds after which a mutant hangs.
    """

    mutants: list[Mutant]
    root: Path
    output: Path
    seconds: float
    patience: float

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests unchanged, and then for each mutant."""
        unchanged = self._forked(session, None)
        if unchanged != SURVIVED:
            raise pytest.UsageError("the tests fail without any mutant")
        end = time.monotonic() + self.seconds
        for mutant in self.mutants:
            if time.monotonic() > end:
                break
            outcome = self._forked(session, mutant)
            path = str(mutant.path.relative_to(self.root))
            line = {"path": path, "line": mutant.line, "change": mutant.change}
            with self.output.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**line, "outcome": outcome}) + "\n")
        return True

    def _forked(self, session: pytest.Session, mutant: Mutant | None) -> str:
        child = os.fork()
        if child == 0:
            code = 4
            try:
                code = _run(session) if mutant is None or _replaced(mutant) else 3
            finally:
                os._exit(code)
        end = time.monotonic() + self.patience
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return OUTCOMES.get(os.waitstatus_to_exitcode(status), CRASHED)
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return HANGS


def _run(session: pytest.Session) -> int:
    """Run the tests up to the first that fails; return 1 if there is one."""
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        for number, item in enumerate(session.items):
            following = session.items[number + 1] if number + 1 < len(session.items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return 1
    return 0


def _replaced(mutant: Mutant) -> bool:
    """Give the functions of a module the code of the mutant; say whether there are any."""
    codes = mutant.codes()
    replaced = 0
    for function in gc.get_objects():
        if isinstance(function, FunctionType):
            code = function.__code__
            if code.co_filename == str(mutant.path):
                changed = codes.get((code.co_qualname, code.co_firstlineno))
                if changed is not None and changed.co_freevars == code.co_freevars:
                    function.__code__ = changed
                    replaced += 1
    return replaced > 0
