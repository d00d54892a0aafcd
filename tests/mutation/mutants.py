"""Mutants of a module: one change of one line each, made in its tree."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any, Final

_COMPARED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COMPUTED: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of a module.

    Attributes
    ----------
    path
        The file of the module.
    line
        The line that is changed.
    change
        What becomes of it.
    number
        The place of the changed node among those that can be changed.
    """

    path: Path
    line: int
    change: str
    number: int

    def described(self, root: Path) -> dict[str, Any]:
        """Return what a line of an output says of it, with its path from a folder."""
        path = str(self.path.relative_to(root))
        return {"path": path, "line": self.line, "change": self.change, "number": self.number}

    def codes(self) -> dict[tuple[str, int], CodeType]:
        """Return the functions of the changed module, by qualified name and first line."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        for number, (_, _, apply) in enumerate(_changes(tree)):
            if number == self.number:
                apply()
        module = compile(ast.fix_missing_locations(tree), str(self.path), "exec")
        return {(code.co_qualname, code.co_firstlineno): code for code in _within(module)}


def mutants(path: Path, count: int) -> list[Mutant]:
    """Return up to ``count`` mutants of a file, one for each line; always the same ones."""
    by_line: dict[int, list[Mutant]] = {}
    for mutant in all_mutants(path):
        by_line.setdefault(mutant.line, []).append(mutant)
    rng = random.Random(path.name)
    lines = sorted(rng.sample(sorted(by_line), min(count, len(by_line))))
    return [rng.choice(by_line[line]) for line in lines]


def all_mutants(path: Path) -> list[Mutant]:
    """Return every mutant of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        Mutant(path, line, change, number)
        for number, (line, change, _) in enumerate(_changes(tree))
    ]


def _within(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _within(constant)


Change = tuple[int, str, Callable[[], None]]


def _changes(tree: ast.Module) -> Iterator[Change]:
    """Yield the changes that can be made within the functions of a module.

    Not of ``strict``, with which ``zip`` only checks.
    """
    keywords = (node for node in ast.walk(tree) if isinstance(node, ast.keyword))
    checks = [keyword.value for keyword in keywords if keyword.arg == "strict"]
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                for node in ast.walk(statement):
                    if not isinstance(statement, ast.FunctionDef) and node not in checks:
                        yield from _changes_of(node)


def _changes_of(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[first, *_]) if type(first) in _COMPARED:
            other = _COMPARED[type(first)]()
            yield node.lineno, f"{_name(first)} to {_name(other)}", _set(node.ops, 0, other)
        case ast.BoolOp():
            swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield node.lineno, f"{_name(node.op)} to {_name(swapped)}", _put(node, "op", swapped)
        case ast.BinOp() if type(node.op) in _COMPUTED:
            computed = _COMPUTED[type(node.op)]()
            yield node.lineno, f"{_name(node.op)} to {_name(computed)}", _put(node, "op", computed)
        case ast.If() | ast.IfExp():
            negated = ast.UnaryOp(ast.Not(), node.test)
            yield node.test.lineno, "condition negated", _put(node, "test", negated)
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield node.lineno, "None returned", _put(node, "value", ast.Constant(None))
        case ast.Constant(value=bool() as held):
            yield node.lineno, f"{held} to {not held}", _put(node, "value", not held)
        case ast.Constant(value=int() as held):
            yield node.lineno, f"{held} to {held + 1}", _put(node, "value", held + 1)
        case ast.Expr(value=ast.Call()):
            yield node.lineno, "call left out", _put(node, "value", ast.Constant(None))


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _name(node: ast.AST) -> str:
    return type(node).__name__


def _put(node: ast.AST, field: str, value: object) -> Callable[[], None]:
    return lambda: setattr(node, field, value)


def _set(nodes: list[ast.cmpop], index: int, value: ast.cmpop) -> Callable[[], None]:
    return lambda: nodes.__setitem__(index, value)
