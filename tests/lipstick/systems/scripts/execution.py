"""Programs run, whole, changed or sliced: the oracle for slices, which knows nothing of graphs."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

STEPS = 20_000
"""Lines that a program may run; a changed one may not end by itself."""


class NotEndedError(Exception):
    """A program that raised, or ran too long."""


def run(tree: ast.Module, folder: Path | None = None) -> dict[str, Any]:
    """The variables that a program has at its end, and what it printed as ``<stdout>``.

    Raises
    ------
    NotEndedError
        The program raised, or ran too long.
    """
    left = STEPS

    def count(frame: FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        nonlocal left
        if frame.f_code.co_filename != "<program>":
            return None
        left -= 1
        if left < 0:
            raise NotEndedError
        return count

    code = compile(ast.fix_missing_locations(tree), "<program>", "exec")
    variables: dict[str, Any] = {"__name__": "__main__"}
    printed = io.StringIO()
    random.seed(0)
    before, traced = Path.cwd(), sys.gettrace()
    if folder is not None:
        os.chdir(folder)
    try:
        sys.settrace(count)
        with contextlib.redirect_stdout(printed), _modules_kept(tree):
            exec(code, variables)
    except NotEndedError:
        raise
    except BaseException as error:
        raise NotEndedError from error
    finally:
        sys.settrace(traced)
        os.chdir(before)
    variables["<stdout>"] = printed.getvalue()
    return variables


@contextlib.contextmanager
def _modules_kept(tree: ast.Module) -> Iterator[None]:
    """Undo what a program replaces in modules: the line that does may be the one taken away."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    names = {alias.name for node in imports for alias in node.names}
    modules = [vars(sys.modules[name]) for name in names if name in sys.modules]
    before = [dict(module) for module in modules]
    try:
        yield
    finally:
        for module, values in zip(modules, before, strict=True):
            module.update(values)


def shown(value: Any, deep: int = 0) -> str:
    """A value as a text that tells it from others."""
    if hasattr(value, "__dict__") and type(value).__module__ == "__main__" and deep < 5:
        inner = {name: shown(held, deep + 1) for name, held in sorted(vars(value).items())}
        return f"{type(value).__name__}{inner}"
    if isinstance(value, list):
        return f"[{', '.join(shown(item, deep + 1) for item in value)}]" if deep < 8 else "[...]"
    if isinstance(value, dict):
        items = (f"{key!r}: {shown(item, deep + 1)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}" if deep < 8 else "{...}"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return value.to_csv() if hasattr(value, "to_csv") else repr(value)


def statements(tree: ast.Module) -> list[tuple[ast.stmt, list[ast.stmt], int]]:
    """All simple statements, each with the body it is in and its place there."""
    simple = []
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                for index, statement in enumerate(body):
                    if isinstance(statement, ast.stmt) and not hasattr(statement, "body"):
                        simple.append((statement, body, index))
    return simple


def changed(
    tree: ast.Module, lines: Iterable[int], random: np.random.Generator
) -> tuple[ast.Module, str] | None:
    """A program in which one statement outside of some lines is another; None: there is none."""
    kept = set(lines)
    tree = copy.deepcopy(tree)
    choices = [
        item
        for item in statements(tree)
        if not any(line in kept for line in range(item[0].lineno, item[0].end_lineno + 1))
        and not isinstance(item[0], ast.Pass | ast.Global)
    ]
    if not choices:
        return None
    statement, body, index = choices[int(random.integers(len(choices)))]
    constants = [
        node for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and type(node.value) is int
    ]  # fmt: skip
    before = f"line {statement.lineno}: {ast.unparse(statement)}"
    if constants and random.random() < 0.6:
        node = constants[int(random.integers(len(constants)))]
        node.value += int(random.integers(1, 5))
    else:
        body[index] = ast.copy_location(ast.Pass(), statement)
    return tree, f"{before} -> {ast.unparse(body[index])}"
