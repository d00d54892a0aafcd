"""Two versions of a script."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

import pytest

from lipstick.systems.scripts import text_provenance
from lipstick.systems.scripts.difference import script_difference
from tests.lipstick.systems.scripts.execution import NotEndedError, run, shown
from tests.lipstick.systems.scripts.test_control import TEXTS

OLD = "import pandas as pd\na = pd.read_csv('in')\nk = 2\nb = a * k\nb.to_csv('out')\nc = len(a)\n"


def test_moving_and_commenting_is_no_difference() -> None:
    new = OLD.replace("k = 2\n", "").replace("a = pd", "# scale\nk = 2\n\na = pd")
    difference = script_difference(text_provenance(OLD), text_provenance(new))
    assert (difference.changed, difference.removed, difference.added) == ((), (), ())
    assert "out" in difference.unchanged


def test_a_constant_changes_what_depends_on_it() -> None:
    difference = script_difference(
        text_provenance(OLD), text_provenance(OLD.replace("k = 2", "k = 3"))
    )
    assert difference.changed == ("b", "k", "out")
    assert "c" in difference.unchanged
    assert [line.text for line in difference.removed] == ["k = 2"]
    assert [line.text for line in difference.added] == ["k = 3"]


def test_what_is_gone_and_new_is_named() -> None:
    difference = script_difference(text_provenance(OLD), text_provenance(OLD + "d = c\n"))
    assert (difference.gone, difference.new) == ((), ("d",))
    assert [line.number for line in difference.added] == [7]


@pytest.mark.many(16)
@pytest.mark.parametrize("name", TEXTS)
def test_what_is_unchanged_has_the_same_values(name: str) -> None:
    """Operands, arguments, their names, branches, constants or statements change places."""
    text = TEXTS[name]
    before, old = run(ast.parse(text)), text_provenance(text)
    for tree in _edited(text):
        try:
            after = run(copy.deepcopy(tree))
        except (NotEndedError, SyntaxError):
            continue
        edited = ast.unparse(ast.fix_missing_locations(tree))
        for variable in script_difference(old, text_provenance(edited)).unchanged:
            values = [shown(each[variable]) for each in (before, after) if variable in each]
            if len(values) == 2 and "0x" not in values[0]:
                assert values[0] == values[1], f"{variable} of\n{edited}"


def _edited(text: str) -> Iterator[ast.Module]:
    tree = ast.parse(text)
    for place in range(len(list(ast.walk(tree)))):
        other = copy.deepcopy(tree)
        if _edit(list(ast.walk(other))[place]):
            yield other


def _edit(node: ast.AST) -> bool:
    """Change a node; False: it is none that is changed."""
    match node:
        case ast.BinOp():
            node.left, node.right = node.right, node.left
        case ast.Call(args=[_, _, *_]):
            node.args.reverse()
        case ast.Call(keywords=[first, second, *_]):
            first.arg, second.arg = second.arg, first.arg
        case ast.Compare():
            node.left, node.comparators[0] = node.comparators[0], node.left
        case ast.IfExp():
            node.body, node.orelse = node.orelse, node.body
        case ast.If(orelse=[_, *_]):
            node.body, node.orelse = node.orelse, node.body
        case ast.Constant(value=int(value)):
            node.value = value + 1
        case ast.List(elts=[_, _, *_], ctx=ast.Load()) | ast.Tuple(ctx=ast.Load()):
            node.elts.reverse()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.Module(body=[_, _, *_]) | ast.FunctionDef(body=[_, _, *_]):
            node.body[-1], node.body[-2] = node.body[-2], node.body[-1]
        case ast.For(body=[_, _, *_]) | ast.Try(body=[_, _, *_]):
            node.body[-1], node.body[-2] = node.body[-2], node.body[-1]
        case _:
            return False
    return True
