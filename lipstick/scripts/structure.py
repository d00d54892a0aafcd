"""Which compound statements lines stand in, so that a slice is a program."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from lipstick.scripts.model import Place
from lipstick.scripts.text import Script


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
    """

    heads: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    companions: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    def closed(self, places: Iterable[Place]) -> set[tuple[int, int]]:
        """The lines of places, and the heads of all that they stand in, as (file, line)."""
        lines = {
            (place.file, line) for place in places for line in range(place.line, place.end + 1)
        }
        waiting = list(lines)
        while waiting:
            file, line = waiting.pop()
            head = self.heads.get((file, line))
            more = [] if head is None else list(range(head[0], head[1] + 1))
            more += self.companions.get((file, line), ())
            for number in more:
                if (file, number) not in lines:
                    lines.add((file, number))
                    waiting.append((file, number))
        return lines


def structure(script: Script) -> Structure:
    """The statements of all files of a script. O(lines · depth)."""
    found = Structure()
    for number, file in enumerate(script.files):
        declares = "global " in file.text or "nonlocal " in file.text
        _add(found, number, file.tree.body, None, declares)
    return found


def program(text: str, tree: ast.Module, kept: Collection[int]) -> str:
    """The lines of a text that are kept, at their places; ``pass`` is in bodies without any."""
    empty = _empty_bodies(tree, kept)
    lines = [
        line if number in kept else " " * empty[number] + "pass" if number in empty else ""
        for number, line in enumerate(text.splitlines(), 1)
    ]
    return "\n".join(lines) + "\n"


def _empty_bodies(tree: ast.Module, kept: Collection[int]) -> dict[int, int]:
    """Where nothing is kept of a body whose head is: its first line, and how far it is indented.

    Cost: O(lines).
    """
    found: dict[int, int] = {}
    for node in ast.walk(tree):
        before = getattr(node, "lineno", getattr(getattr(node, "pattern", None), "lineno", 0))
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if not isinstance(body, list) or not body or not before:
                continue
            first, last = body[0].lineno, body[-1].end_lineno or body[-1].lineno
            headed = before in kept if name == "body" else first - 1 in kept
            if headed and not any(line in kept for line in range(first, last + 1)):
                found[first] = body[0].col_offset
    return found


def _add(
    found: Structure,
    file: int,
    statements: Iterable[ast.stmt],
    head: tuple[int, int] | None,
    declares: bool,
) -> None:
    for statement in statements:
        start = statement.lineno
        for decorator in getattr(statement, "decorator_list", ()):
            start = min(start, decorator.lineno)
        if head is not None:
            for line in range(start, (statement.end_lineno or start) + 1):
                found.heads[file, line] = head
        for first, last, body in _parts(statement, start):
            if first != start and head is not None:
                # The head of a handler or case stands in the statement itself.
                for line in range(first, last + 1):
                    found.heads[file, line] = (start, statement.lineno)
            elif first != start:
                for line in range(first, last + 1):
                    found.heads[file, line] = (start, start)
            _add(found, file, body, (first, last), declares)
        if isinstance(statement, ast.Try | ast.TryStar) and statement.handlers:
            # A `try` without its handlers would be no program.
            heads = tuple(handler.lineno for handler in statement.handlers)
            found.companions[file, start] = heads
        if declares and isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            declared = tuple(
                node.lineno
                for node in ast.walk(statement)
                if isinstance(node, ast.Global | ast.Nonlocal)
            )
            if declared:
                for line in range(start, max(start, statement.body[0].lineno - 1) + 1):
                    found.companions[file, line] = declared


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
