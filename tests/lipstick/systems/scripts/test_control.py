"""Control flow, classes and iteration: nothing outside of a slice that is certain matters.

Each statement is taken away, each constant is another one, and each comparison is turned around.
"""

from __future__ import annotations

import ast
import copy
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lipstick.systems.scripts import text_provenance
from tests.lipstick.systems.scripts.execution import NotEndedError, run, shown, statements

TEXTS = dict(
    re.findall(
        r"^#== (.+)\n((?:(?!#==).*\n)+)",
        (Path(__file__).parent / "control.scripts").read_text(),
        re.MULTILINE,
    )
)
"""Programs that compute ``z``, and some also ``y``, by name."""

_OPPOSITES = {
    ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


@pytest.mark.many(16)
@pytest.mark.parametrize("name", TEXTS)
def test_nothing_outside_of_a_slice_matters(name: str) -> None:
    text = TEXTS[name]
    whole, provenance = run(ast.parse(text)), text_provenance(text)
    for variable in {"z", "y"} & whole.keys():
        answer = provenance.depends(variable)
        if not answer.certain:
            continue
        alone = run(ast.parse(provenance.slice(variable)))
        assert shown(alone[variable]) == shown(whole[variable])
        kept = {line.number for line in answer.lines}
        for lines, what, tree in _others(text):
            if kept.isdisjoint(lines):
                try:
                    other = run(tree)
                except NotEndedError:
                    continue
                if variable in other:
                    assert shown(other[variable]) == shown(whole[variable]), f"{variable}: {what}"


def test_most_answers_are_certain() -> None:
    answers = [text_provenance(text).depends("z").certain for text in TEXTS.values()]
    assert sum(answers) > 0.75 * len(answers)


def _others(text: str) -> Iterator[tuple[range, str, ast.Module]]:
    """Yield the program with one change after the other: the lines, and what it is."""
    tree = ast.parse(text)
    for place in range(len(statements(tree))):
        other = copy.deepcopy(tree)
        statement, body, at = statements(other)[place]
        body[at] = ast.copy_location(ast.Pass(), statement)
        yield _lines(statement), f"without {ast.unparse(statement)}", other
    for place, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.Compare):
            other = copy.deepcopy(tree)
            compared = list(ast.walk(other))[place]
            assert isinstance(compared, ast.Compare)
            compared.ops[0] = _OPPOSITES[type(compared.ops[0])]()
            yield _lines(node), f"the opposite of {ast.unparse(node)}", other
        elif isinstance(node, ast.Constant) and type(node.value) in (int, str, bool):
            for value in _values(node.value):
                other = copy.deepcopy(tree)
                constant = list(ast.walk(other))[place]
                assert isinstance(constant, ast.Constant)
                constant.value = value
                yield _lines(node), f"{value!r} for {node.value!r}", other


def _values(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value]
    return [value + 1, value - 1, value + 5] if isinstance(value, int) else [f"{value}x"]


def _lines(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def test_a_program_leaves_modules_as_they_were() -> None:
    whole = math.sqrt
    assert run(ast.parse("import math\nmath.sqrt = len\nx = math.sqrt('ab')"))["x"] == 2
    assert math.sqrt is whole
