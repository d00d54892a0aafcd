"""No answer that is called certain is wrong: a sample of the battery, which has the rest."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from lipstick.systems.scripts import text_provenance
from tests.lipstick.systems.scripts.battery import Program, check, programs

ALL = tuple(programs())
SAMPLE = ALL[::31]


def test_there_are_enough_programs_and_all_slices_are_python() -> None:
    assert len(ALL) > 900
    assert len({program.name for program in ALL}) == len(ALL)
    for program in ALL[::3]:
        ast.parse(text_provenance(program.text).slice("result"))


@pytest.mark.many(2)
@pytest.mark.parametrize("program", SAMPLE, ids=lambda program: program.name)
def test_what_is_certain_is_right(program: Program, tmp_path: Path) -> None:
    outcome = check(program, tmp_path / "run")
    assert outcome.ran
    assert not (outcome.certain and outcome.wrong), outcome.wrong


def test_the_battery_sees_a_slice_that_lacks_a_line(tmp_path: Path) -> None:
    # The environment of a loaded library decides, and the answer says that it may.
    program = Program("hidden", "import codecs\nx = [1]\nexec('x.append(2)')\nresult = x\n")
    outcome = check(program, tmp_path / "run")
    assert outcome.ran
    assert not outcome.certain
