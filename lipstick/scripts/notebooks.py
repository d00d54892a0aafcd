"""Notebooks (`.ipynb`) as one text, with the place of every cell in it."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from lipstick.scripts.errors import NotebookError

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

    Magics and commands of the shell become calls of :data:`OPAQUE`, which nothing is known of;
    a line stays a line.

    Raises
    ------
    NotebookError
        Text that is no notebook, and, by ``executed``, one of which no cell was executed.
    """
    try:
        document = json.loads(text)
        found_in = document if "cells" in document else document["worksheets"][0]
        cells = list(found_in["cells"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise NotebookError(
            f"{name} is not a notebook: it has no list of cells.\nSave it again in nbformat 4."
        ) from error
    chosen = [(number, cell) for number, cell in enumerate(cells, 1) if _is_code(cell)]
    if order == "executed":
        chosen = [(number, cell) for number, cell in chosen if _count(cell) is not None]
        if not chosen and any(_is_code(cell) for cell in cells):
            raise NotebookError(
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


def _is_code(cell: Any) -> bool:
    return isinstance(cell, dict) and cell.get("cell_type") == "code"


def _count(cell: dict[str, Any]) -> int | None:
    count = cell.get("execution_count", cell.get("prompt_number"))
    return count if isinstance(count, int) else None


def _python(source: str) -> list[str]:
    """The lines of a cell, what is not Python as calls."""
    lines = source.split("\n")
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        pass
    else:
        return lines
    first = next((line for line in lines if line.strip()), "")
    cell_magic = re.match(r"%%(\w+)", first)
    if cell_magic and cell_magic[1] not in _SILENT | {"capture"}:
        # The whole cell is of another language.
        first_line = lines.index(first)
        return [*lines[:first_line], f"{OPAQUE}({first!r})", *("" for _ in lines[first_line + 1 :])]
    return [_line(line) for line in lines]


def _line(line: str) -> str:
    match = _MAGIC.match(line)
    if match is None:
        return line.rstrip("\r")
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
