"""Notebooks (`.ipynb`) as one text, with the place of every cell in it."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from lipstick.systems.scripts.errors import ScriptError

Order: TypeAlias = Literal["position", "executed"]

OPAQUE = "__ipython__"
"""The function that stands for what is not Python: magics and commands of the shell."""

_MAGIC = re.compile(
    r"^(?P<indent>\s*)(?P<target>[\w, ]+=\s*)?(?P<magic>%%?|!{1,2}|\?)(?P<rest>.*)$"
)
_SILENT = frozenset({"matplotlib", "autoreload", "load_ext", "config", "time", "timeit", "%time"})


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell.

    Parameters
    ----------
    name
        Its number among all cells from 1, or its execution count in square brackets.
    start, count
        Its first line in the text of the notebook, and how many lines it has.
    """

    name: str
    start: int
    count: int


def read_notebook(text: str, name: str, order: Order = "position") -> tuple[str, tuple[Cell, ...]]:
    """The Python of a notebook's code cells in some order, and where each cell is.

    Magics and commands of the shell become calls of :data:`OPAQUE`, about which nothing is known;
    a line stays a line.

    Raises
    ------
    ScriptError
        Text that is not a notebook, and, by ``executed``, one whose cells were never executed.
    """
    try:
        document = json.loads(text)
        found_in = document if "cells" in document else document["worksheets"][0]
        cells = list(found_in["cells"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ScriptError(
            f"{name} is not a notebook: it has no list of cells.\nSave it again in nbformat 4."
        ) from error
    _check_language(document, name)
    chosen = [(number, cell) for number, cell in enumerate(cells, 1) if _is_code(cell)]
    if order == "executed":
        chosen = [(number, cell) for number, cell in chosen if _count(cell) is not None]
        if not chosen and any(_is_code(cell) for cell in cells):
            raise ScriptError(
                f"No cell of {name} has an execution count.\nRun it, or take the cells in the"
                " order of their positions."
            )
        chosen.sort(key=lambda item: _count(item[1]) or 0)
    lines: list[str] = []
    cells_read = []
    for position, cell in chosen:
        source = cell.get("source", cell.get("input", ""))
        lines_of_cell = _python("".join(source) if isinstance(source, list) else str(source))
        label = f"[{_count(cell)}]" if order == "executed" else str(position)
        cells_read.append(Cell(label, len(lines) + 1, len(lines_of_cell)))
        lines += lines_of_cell
    return "\n".join(lines) + "\n", tuple(cells_read)


def _check_language(document: Any, name: str) -> None:
    """Refuse a notebook of another language.

    Raises
    ------
    ScriptError
        Its metadata name a language that is not Python.
    """
    given = document.get("metadata", {}) if isinstance(document, dict) else {}
    held = [given.get(part, {}) for part in ("language_info", "kernelspec")]
    languages = [
        part.get(key)
        for part, key in zip(held, ("name", "language"), strict=True)
        if isinstance(part, dict)
    ]
    for language in languages:
        if isinstance(language, str) and "python" not in language.lower():
            raise ScriptError(f"{name} is a notebook of {language}, not of Python.")


def _is_code(cell: Any) -> bool:
    return isinstance(cell, dict) and cell.get("cell_type") == "code"


def _count(cell: dict[str, Any]) -> int | None:
    count = cell.get("execution_count", cell.get("prompt_number"))
    return count if isinstance(count, int) else None


def _python(source: str) -> list[str]:
    """The lines of a cell, what is not Python as calls."""
    lines = source.split("\n")
    if _parses(source):
        return lines
    if _parses(textwrap.dedent(source)):
        return textwrap.dedent(source).split("\n")
    first = next((line for line in lines if line.strip()), "")
    cell_magic = re.match(r"\s*%%(\w+)", first)
    if cell_magic and cell_magic[1] not in _SILENT | {"capture"}:
        # The whole cell is of another language.
        first_line = lines.index(first)
        return [*lines[:first_line], f"{OPAQUE}({first!r})", *("" for _ in lines[first_line + 1 :])]
    for text in (source, textwrap.dedent(source)):
        read = _without_commands(text.split("\n"))
        if _parses("\n".join(read)):
            return read
    # What does not parse is not followed, the rest of the notebook is.
    return [f"{OPAQUE}({first.strip()!r})", *("" for _ in lines[1:])]


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _without_commands(lines: list[str]) -> list[str]:
    """The lines of a cell, magics and commands as calls; of one over several lines the first."""
    read = []
    going_on = False
    for line in lines:
        if going_on or line.strip() == ";":
            read.append("")
        else:
            read.append(_line(line))
        command = going_on or _MAGIC.match(line) is not None
        going_on = command and line.rstrip().endswith("\\")
    return read


def _line(line: str) -> str:
    match = _MAGIC.match(line)
    if match is None:
        asked = re.fullmatch(r"(\s*)[\w.]+\?{1,2}\s*", line)
        # `name?` shows what is known of a name.
        return f"{asked[1]}pass" if asked else line.rstrip("\r")
    name = match["rest"].split(" ")[0]
    if match["magic"].startswith("%") and name in _SILENT:
        rest = match["rest"][len(name) :].strip() if name in ("time", "timeit") else ""
        return (
            f"{match['indent']}{rest}"
            if rest and match["magic"] == "%"
            else match["indent"] + ("pass" if match["indent"] else "")
        )
    target = match["target"] or ""
    return f"{match['indent']}{target}{OPAQUE}({(match['magic'] + match['rest'])!r})"
