"""Dependences between lines as they are seen when a program runs, by values alone.

A line reads the global variables whose names stand in it. A variable was written last by the line
that assigned its name, or after which its value was another, whatever the way it was changed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from tests.lipstick.scripts.execution import STEPS, NotEndedError, shown


def traced(text: str, names: tuple[str, ...]) -> set[tuple[int, int, str]]:
    """Pairs of lines, the writer and the reader of a variable, and the variable.

    Raises
    ------
    NotEndedError
        The program raised, or ran too long.
    """
    tracer = _Tracer(ast.parse(text), names)
    before = sys.gettrace()
    variables: dict[str, Any] = {"__name__": "__main__"}
    code = compile(text, "<program>", "exec")
    try:
        sys.settrace(tracer.event)
        exec(code, variables)
    except NotEndedError:
        raise
    except BaseException as error:
        raise NotEndedError from error
    finally:
        sys.settrace(before)
    return tracer.found


class _Tracer:
    def __init__(self, tree: ast.Module, names: tuple[str, ...]) -> None:
        self.names = names
        self.loads: dict[int, set[str]] = {}
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
        own: list[ast.AST] = [statement]
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Try):
            return
        if hasattr(statement, "body"):
            fields = ("test", "iter", "target")
            own = [getattr(statement, name) for name in fields if hasattr(statement, name)]
        for part in own:
            for node in ast.walk(part):
                if isinstance(node, ast.Name):
                    kind = self.loads if isinstance(node.ctx, ast.Load) else self.stores
                    kind.setdefault(statement.lineno, set()).add(node.id)
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            self.loads.setdefault(statement.lineno, set()).add(statement.target.id)

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
            for name in self.loads.get(line, ()):
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
