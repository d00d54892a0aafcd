"""The compound statements that lines stand in, so that a slice is a program."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from lipstick.systems.scripts.model import Place
from lipstick.systems.scripts.script_text import Script

_KEYWORD = re.compile(r"\s*(else|finally)\s*:")


@dataclass(slots=True)
class Structure:
    """The statements of a script's files.

    Attributes
    ----------
    heads
        By file and line the first and last line of the head of the innermost compound statement
        that the line stands in, and not in its head.
    companions
        By file and line of a head, further lines that belong to it: those in a function that
        declare names global or nonlocal, and the heads of the handlers of a `try`.
    keywords
        By file and line the lines of each `else` and `finally` that the line stands behind, and of
        a `try` without handlers that of its `finally`. They compute nothing, and a program needs
        them.
    """

    heads: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    companions: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    keywords: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    def closed(self, places: Iterable[Place], *, keywords: bool = False) -> set[tuple[int, int]]:
        """The lines of places, and the heads of all that they stand in, as (file, line).

        Parameters
        ----------
        keywords
            Whether to add the lines that only have an `else` or `finally`.
        """
        lines = {
            (place.file, line) for place in places for line in range(place.line, place.end + 1)
        }
        waiting = list(lines)
        while waiting:
            file, line = waiting.pop()
            head = self.heads.get((file, line))
            more = [] if head is None else list(range(head[0], head[1] + 1))
            more += self.companions.get((file, line), ())
            if keywords:
                more += self.keywords.get((file, line), ())
            for number in more:
                if (file, number) not in lines:
                    lines.add((file, number))
                    waiting.append((file, number))
        return lines


def structure(script: Script) -> Structure:
    """The statements of all files of a script. O(lines · depth)."""
    built = Structure()
    for number, file in enumerate(script.files):
        declares = "global " in file.text or "nonlocal " in file.text
        text = _Text(number, file.text.splitlines(), declares)
        _add(built, text, file.tree.body, None)
    return built


@dataclass(frozen=True, slots=True)
class _Text:
    """A file's number and lines, and whether functions in it declare names."""

    file: int
    lines: list[str]
    declares: bool


def program(text: str, tree: ast.Module, kept: Collection[int]) -> str:
    """The lines of a text that are kept, at their places; ``pass`` is in bodies without any."""
    whole = text.splitlines()
    empty = _empty_bodies(whole, tree, kept)
    lines = [
        line if number in kept else " " * empty[number] + "pass" if number in empty else ""
        for number, line in enumerate(whole, 1)
    ]
    return "\n".join(lines) + "\n"


def _empty_bodies(lines: list[str], tree: ast.Module, kept: Collection[int]) -> dict[int, int]:
    """Return the first line and indentation of each body of a kept head with no line kept.

    Cost: O(lines).
    """
    bodies: dict[int, int] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        further = [getattr(node, name, None) for name in ("orelse", "finalbody")]
        parts = [(head, body) for head, _, body in _parts(node, node.lineno) if body not in further]
        for head, body in (*parts, *_alternatives(lines, node)):
            first, last = body[0].lineno, body[-1].end_lineno or body[-1].lineno
            if head in kept and not any(line in kept for line in range(first, last + 1)):
                bodies[first] = body[0].col_offset
    return bodies


def _add(
    built: Structure,
    text: _Text,
    statements: Iterable[ast.stmt],
    head: tuple[int, int] | None,
) -> None:
    file = text.file
    for statement in statements:
        start = statement.lineno
        for decorator in getattr(statement, "decorator_list", ()):
            start = min(start, decorator.lineno)
        if head is not None:
            for line in range(start, (statement.end_lineno or start) + 1):
                built.heads[file, line] = head
        for keyword, body in _alternatives(text.lines, statement):
            for line in range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1):
                built.keywords.setdefault((file, line), []).append(keyword)
        for first, last, body in _parts(statement, start):
            if first != start and head is not None:
                # The head of a handler or case stands in the statement itself.
                for line in range(first, last + 1):
                    built.heads[file, line] = (start, statement.lineno)
            elif first != start:
                for line in range(first, last + 1):
                    built.heads[file, line] = (start, start)
            _add(built, text, body, (first, last))
        _add_companions(built, text, statement, start)


def _add_companions(built: Structure, text: _Text, statement: ast.stmt, start: int) -> None:
    file = text.file
    if isinstance(statement, ast.Try | ast.TryStar):
        # A `try` with neither handlers nor `finally` would be no program.
        heads = tuple(handler.lineno for handler in statement.handlers)
        built.companions[file, start] = heads
        if not heads:
            before = (statement.orelse or statement.body)[-1]
            keyword = _keyword(text.lines, before, statement.finalbody)
            built.keywords.setdefault((file, start), []).append(keyword)
    if text.declares and isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        declared = tuple(
            node.lineno
            for node in ast.walk(statement)
            if isinstance(node, ast.Global | ast.Nonlocal)
        )
        if declared:
            for line in range(start, max(start, statement.body[0].lineno - 1) + 1):
                built.companions[file, line] = declared


def _keyword(lines: list[str], before: ast.stmt | ast.ExceptHandler, body: list[ast.stmt]) -> int:
    """The line of the `else` or `finally` of a body, behind what stands before; 0: an `elif`."""
    for number in range(body[0].lineno, before.end_lineno or before.lineno, -1):
        if _KEYWORD.match(lines[number - 1]):
            return number
    return 0


def _alternatives(lines: list[str], statement: ast.stmt) -> Iterable[tuple[int, list[ast.stmt]]]:
    """The bodies behind `else` and `finally` of a statement, each with the line of the keyword."""
    before = [*getattr(statement, "body", ()), *getattr(statement, "handlers", ())]
    for name in ("orelse", "finalbody"):
        body: list[ast.stmt] = getattr(statement, name, [])
        if body:
            keyword = _keyword(lines, before[-1], body)
            if keyword:
                yield keyword, body
            before += body


def _parts(statement: ast.stmt, start: int) -> Iterable[tuple[int, int, list[ast.stmt]]]:
    """The bodies of a compound statement, each with the first and last line of its head."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    last = max(statement.lineno, body[0].lineno - 1) if body else start
    if body:
        yield start, last, body
    for name in ("orelse", "finalbody"):
        more: list[ast.stmt] = getattr(statement, name, [])
        if more:
            yield start, last, more
    for handler in getattr(statement, "handlers", ()):
        yield handler.lineno, max(handler.lineno, handler.body[0].lineno - 1), handler.body
    if isinstance(statement, ast.Match):
        for case in statement.cases:
            line = case.pattern.lineno
            yield line, max(line, case.body[0].lineno - 1), case.body
