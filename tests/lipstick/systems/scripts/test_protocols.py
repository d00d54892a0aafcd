"""Whatever makes Python call a special method, its lines are in slices that are certain."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from lipstick.systems.scripts import text_provenance
from tests.lipstick.systems.scripts.execution import NotEndedError, run, shown
from tests.lipstick.systems.scripts.protocol_programs import AROUND, METHODS, programs


@pytest.mark.many(12)
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("methods", METHODS)
def test_slices_have_the_special_methods_that_are_called(methods: str, around: str) -> None:
    compared = 0
    for operation, text in programs(methods, around):
        whole = _result(ast.parse(text))
        provenance = text_provenance(text)
        answer = provenance.depends("z")
        if whole is None or "0x" in whole or not answer.certain:
            continue
        compared += 1
        assert _result(ast.parse(provenance.slice("z"))) == whole, f"the slice of {operation}"
        kept = {line.number for line in answer.lines}
        for line, other in _changed(ast.parse(text)):
            if line not in kept:
                assert _result(other) in (None, whole), f"line {line} matters to {operation}"
    assert compared or methods in UNCERTAIN


UNCERTAIN = {"__iadd__"}
"""Methods whose calls are all answered as uncertain."""


def _result(tree: ast.Module) -> str | None:
    """The value of ``z`` as a text; None: the program did not end."""
    try:
        return shown(run(tree)["z"])
    except NotEndedError:
        return None


def _changed(tree: ast.Module) -> Iterator[tuple[int, ast.Module]]:
    """Yield the program with one constant of a method of ``Q`` after the other as another one."""
    methods = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Q")
    for node in ast.walk(methods):
        if isinstance(node, ast.Constant) and type(node.value) in (int, str):
            before = node.value
            node.value = before + 1 if isinstance(before, int) else f"{before}x"
            yield node.lineno, tree
            node.value = before
