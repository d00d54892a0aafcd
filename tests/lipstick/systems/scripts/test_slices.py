"""Slices held against execution: what a slice leaves out never changes what it is about."""

from __future__ import annotations

import ast
import os

import numpy as np
import pytest

from lipstick.systems.scripts import text_provenance
from tests.lipstick.systems.scripts.execution import NotEndedError, changed, run, shown
from tests.lipstick.systems.scripts.programs import VARIABLES, program

PROGRAMS = int(os.environ.get("LIPSTICK_SCRIPTS", "2"))
"""Programs per part; with more of them the oracles look further."""


@pytest.mark.parametrize("part", range(4))
def test_changes_outside_of_a_slice_do_not_matter(part: int) -> None:
    compared = 0
    for seed in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        text = program(seed, 4)
        tree = ast.parse(text)
        random = np.random.default_rng(seed)
        try:
            whole = run(tree)
        except NotEndedError:
            continue
        provenance = text_provenance(text)
        for name in VARIABLES:
            lines = {line.number for line in provenance.depends(name).lines}
            for _ in range(3):
                other = changed(tree, lines, random)
                if other is None:
                    break
                try:
                    after = run(other[0])
                except NotEndedError:
                    continue
                assert shown(after[name]) == shown(whole[name]), f"seed {seed}, {name}: {other[1]}"
                compared += 1
    assert compared > PROGRAMS * 10


@pytest.mark.parametrize("part", range(4))
def test_a_slice_alone_computes_the_same(part: int) -> None:
    compared = 0
    for seed in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        text = program(seed, 4)
        try:
            whole = run(ast.parse(text))
        except NotEndedError:
            continue
        provenance = text_provenance(text)
        for name in VARIABLES:
            alone = run(ast.parse(provenance.slice(name)))
            assert shown(alone[name]) == shown(whole[name]), f"seed {seed}, {name}"
            compared += 1
    assert compared > PROGRAMS


@pytest.mark.parametrize("keyword", ["else:", "finally:"])
def test_else_inside_of_else_stays(keyword: str) -> None:
    head = "if x > 3:" if keyword == "else:" else "try:"
    text = f"""x = int("1")
if x > 4:
    y = 1
else:
    {head}
        y = 2
    {keyword}
        for z in range(x):
            y = 3
"""
    assert run(ast.parse(text_provenance(text).slice("y")))["y"] == 3


@pytest.mark.parametrize(
    "body",
    ["a.append(1)", "return 1", "if len(a) > 7:\n        return 1", "b = a[0]\n    return 2"],
)
@pytest.mark.parametrize("call", ["f(y)", "f(y + [1])", "g(y)", "[f(y) for _ in range(2)]"])
def test_arguments_that_do_not_matter_are_still_there(body: str, call: str) -> None:
    text = f"""def f(a):
    {body}
def g(c):
    return f(c)
y = [2]
z = {call}
"""
    whole, alone = (run(ast.parse(each)) for each in (text, text_provenance(text).slice("z")))
    assert alone["z"] == whole["z"]
