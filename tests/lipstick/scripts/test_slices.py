"""Slices held against execution: what a slice leaves out never changes what it is about."""

from __future__ import annotations

import ast
import os

import numpy as np
import pytest

from lipstick.scripts import text_provenance
from tests.lipstick.scripts.execution import NotEndedError, changed, run, shown, sliced
from tests.lipstick.scripts.programs import VARIABLES, program

PROGRAMS = int(os.environ.get("LIPSTICK_SCRIPTS", "60"))
"""Programs per part; with more of them the oracles look further."""


@pytest.mark.parametrize("part", range(4))
def test_a_slice_run_by_itself_gives_the_same_value(part: int) -> None:
    compared = smaller = 0
    for seed in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        text = program(seed)
        tree = ast.parse(text)
        try:
            whole = run(tree)
        except NotEndedError:
            continue
        provenance = text_provenance(text)
        for name in VARIABLES:
            lines = {line.number for line in provenance.depends(name).lines}
            try:
                part_of = run(sliced(tree, lines))
            except NotEndedError:
                raise AssertionError(f"seed {seed}: the slice of {name} does not end") from None
            assert shown(part_of[name]) == shown(whole[name]), f"seed {seed}, {name}"
            compared += 1
            smaller += len(lines) < text.count("\n") * 0.9
    assert compared > PROGRAMS * 4
    assert smaller > compared / 10


@pytest.mark.parametrize("part", range(4))
def test_changes_outside_of_a_slice_do_not_matter(part: int) -> None:
    compared = 0
    for seed in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        text = program(seed)
        tree = ast.parse(text)
        random = np.random.default_rng(seed)
        try:
            whole = run(tree)
        except NotEndedError:
            continue
        provenance = text_provenance(text)
        for name in VARIABLES:
            lines = {line.number for line in provenance.depends(name).lines}
            other = changed(tree, lines, random)
            if other is None:
                continue
            try:
                after = run(other[0])
            except NotEndedError:
                continue
            assert shown(after[name]) == shown(whole[name]), f"seed {seed}, {name}: {other[1]}"
            compared += 1
    assert compared > PROGRAMS
