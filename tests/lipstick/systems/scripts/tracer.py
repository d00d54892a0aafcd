"""Dependences between lines as they are seen when a program runs, by values alone.

A line reads the global variables whose names stand in it. A variable was written last by the line
that assigned its name, or after which its value was another, whatever the way it was changed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from tests.lipstick.systems.scripts.execution import STEPS, NotEndedError, shown


def traced(
    text: str, names: tuple[str, ...], folder: Path | None = None
) -> set[tuple[int, int, str]]:
    """Pairs of lines, the writer and the reader of a variable, and the variable.

    The program runs in a folder, where one is given, and prints nothing.

    Raises
    ------
    NotEndedError
        The program raised, or ran too long.
    """
    tracer = _Tracer(ast.parse(text), names)
    before = sys.gettrace()
    variables: dict[str, Any] = {"__name__": "__main__"}
    code = compile(text, "<program>", "exec")
    where = contextlib.nullcontext() if folder is None else contextlib.chdir(folder)
    random.seed(0)
    try:
        with where, contextlib.redirect_stdout(io.StringIO()):
            sys.settrace(tracer.event)
            exec(code, variables)
    except NotEndedError:
        raise
    except BaseException as error:
        raise NotEndedError from error
    finally:
        sys.settrace(before)
    return tracer.found


_FRAMES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions that are run in frames of their own."""


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


class _Tracer:
    def __init__(self, tree: ast.Module, names: tuple[str, ...]) -> None:
        self.names = names
        self.loads: dict[int, set[str]] = {}
        self.inner_loads: dict[int, set[str]] = {}
        self.stores: dict[int, set[str]] = {}
        self.loops: dict[int, int] = {}
        for statement in ast.walk(tree):
            if isinstance(statement, ast.stmt):
                self._names_of(statement)
            if isinstance(statement, ast.For):
                self.loops[statement.lineno] = statement.end_lineno or statement.lineno
        self.found: set[tuple[int, int, str]] = set()
        self.writers: dict[str, int] = {}
        self.values: dict[str, str] = {}
        self.last: dict[FrameType, int] = {}
        self.steps = 0

    def _names_of(self, statement: ast.stmt) -> None:
        """The names that a simple statement, or the head of another, loads and stores."""
        loaded: list[ast.AST] = [statement]
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Try):
            return
        if hasattr(statement, "body") or isinstance(statement, ast.Match):
            fields = ("test", "iter", "target", "subject")
            loaded = [getattr(statement, name) for name in fields if hasattr(statement, name)]
        if isinstance(statement, ast.With):
            loaded = list(statement.items)
        while loaded:
            node = loaded.pop()
            if isinstance(node, _FRAMES):
                loaded += self._inner_names_of(node, statement.lineno)
                continue
            if isinstance(node, ast.Name):
                kind = self.loads if isinstance(node.ctx, ast.Load) else self.stores
                kind.setdefault(statement.lineno, set()).add(node.id)
            loaded += ast.iter_child_nodes(node)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            self.loads.setdefault(statement.lineno, set()).add(statement.target.id)

    def _inner_names_of(self, node: ast.expr, line: int) -> list[ast.AST]:
        """Note what is loaded in a frame of its own; return what the frame around it evaluates."""
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _is_stored(n)}
        stored |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        self.inner_loads.setdefault(line, set()).update(names - stored)
        if isinstance(node, ast.Lambda):
            return []
        inner = [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
        return [node.generators[0].iter, *(n.target for n in inner)]

    def event(self, frame: FrameType, event: str, arg: object) -> Callable[..., Any] | None:
        if frame.f_code.co_filename != "<program>":
            return None
        self.steps += 1
        if self.steps > STEPS:
            raise NotEndedError
        if event == "exception":
            self._changed(frame, completed=False)
        elif event in ("line", "return"):
            self._changed(frame, completed=True)
        if event == "line":
            line = frame.f_lineno
            before, self.last[frame] = self.last.get(frame, 0), line
            if line < before <= self.loops.get(line, 0):
                # A `for` goes on: what it goes over was read when it began.
                return self.event
            local = frame.f_locals if frame.f_locals is not frame.f_globals else {}
            inner = frame.f_code.co_name[0] == "<" and frame.f_code.co_name != "<module>"
            for name in (self.inner_loads if inner else self.loads).get(line, ()):
                if name in self.writers and name not in local:
                    self.found.add((self.writers[name], line, name))
        return self.event

    def _changed(self, frame: FrameType, *, completed: bool) -> None:
        line = self.last.get(frame)
        if line is None:
            return
        stored = self.stores.get(line, set()) if completed else set()
        for name in self.names:
            if name not in frame.f_globals:
                continue
            value = shown(frame.f_globals[name])
            in_scope = name not in frame.f_code.co_varnames
            if value != self.values.get(name) or (name in stored and in_scope):
                self.values[name] = value
                self.writers[name] = line
