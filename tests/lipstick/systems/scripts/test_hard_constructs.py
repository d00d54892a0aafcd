"""Small programs of what is hard to follow: every statement outside of a slice is taken away."""

from __future__ import annotations

import ast
import copy

import pytest

from lipstick.systems.scripts import text_provenance
from tests.lipstick.systems.scripts.execution import NotEndedError, run, shown, statements
from tests.lipstick.systems.scripts.hard_programs import LOOPS, PROGRAMS, PROTOCOLS

VARIABLES = ("a", "b", "c", "a2")


HARD = PROGRAMS | PROTOCOLS | LOOPS


@pytest.mark.parametrize("name", HARD)
def test_no_statement_outside_of_a_slice_matters(name: str) -> None:
    text = HARD[name].lstrip("\n")
    tree = ast.parse(text)
    whole = run(copy.deepcopy(tree))
    provenance = text_provenance(text)
    for variable in VARIABLES:
        if variable not in whole:
            continue
        kept = {line.number for line in provenance.depends(variable).lines}
        for place in range(len(statements(tree))):
            other = copy.deepcopy(tree)
            statement, body, at = statements(other)[place]
            if statement.lineno in kept:
                continue
            body[at] = ast.copy_location(ast.Pass(), statement)
            try:
                after = run(other)
            except NotEndedError:
                continue
            if variable in after:
                assert shown(after[variable]) == shown(whole[variable]), (
                    f"{variable} without line {statement.lineno}: {ast.unparse(statement)}"
                )


@pytest.mark.parametrize("name", HARD)
def test_slices_are_programs_that_compute_what_they_are_about(name: str) -> None:
    text = HARD[name].lstrip("\n")
    whole = run(ast.parse(text))
    provenance = text_provenance(text)
    for variable in VARIABLES:
        if variable in whole:
            after = run(ast.parse(provenance.slice(variable)))
            assert shown(after[variable]) == shown(whole[variable]), variable


def test_a_slice_has_the_keywords_that_its_lines_stand_behind() -> None:
    text = (
        "a = 1\nif a:\n    x = 1\nelse:\n    # why\n    y = 2\n"
        "try:\n    pass\nfinally:\n    z = 3\n"
    )
    provenance = text_provenance(text)
    assert provenance.slice("y").splitlines()[:6] == [
        "a = 1", "if a:", "    pass", "else:", "", "    y = 2",
    ]  # fmt: skip
    assert provenance.slice("z").splitlines()[6:] == ["try:", "    pass", "finally:", "    z = 3"]
    # A keyword computes nothing.
    assert [line.number for line in provenance.depends("y").lines] == [1, 2, 6]


MAY_BE_THE_SAME = """
def read(box, size):
    parts = []
    while size > 0:
        part = box.take(size)
        parts.append(part)
        box = box.rest()
        size -= 1
    try:
        box.close()
        for part in parts:
            part.check()
    except ValueError:
        box = None
    except KeyError:
        parts = []
    return parts


box = open_box()
"""


def test_graphs_grow_with_what_is_read_where_objects_may_be_the_same() -> None:
    few, many = (
        text_provenance(MAY_BE_THE_SAME + "read(box, 3)\n" * calls).final for calls in (8, 32)
    )
    assert len(many.nodes) < 4.2 * len(few.nodes)
