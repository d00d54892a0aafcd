"""The text of a script: files, cells of notebooks, and lines as people count them."""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.notebooks import Cell, Order, read_notebook


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a script.

    Parameters
    ----------
    name
        How answers call it: relative to the script's folder.
    text
        Its Python; of a notebook that of its cells in their order, one after the other.
    cells
        Of a notebook.
    """

    name: str
    text: str
    tree: ast.Module
    path: Path | None = None
    cells: tuple[Cell, ...] = ()

    lines: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", tuple(split_lines(self.text)))

    def line(self, number: int) -> str:
        """A line's text; empty behind the last."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def where(self, number: int) -> str:
        """A line as people call it: ``7``, or ``cell 3, line 2``."""
        for cell in self.cells:
            if cell.start <= number < cell.start + cell.count:
                return f"cell {cell.name}, line {number - cell.start + 1}"
        return str(number)


@dataclass(slots=True)
class Script:
    """A script and the modules of its project that it imports, in the order they were read."""

    files: list[SourceFile] = field(default_factory=list)

    @property
    def main(self) -> SourceFile:
        """The script itself."""
        return self.files[0]


def split_lines(text: str) -> list[str]:
    """The lines of a text as Python's parser counts them: a form feed ends none."""
    return re.split(r"\r\n|\r|\n", text)


def read_module(path: Path, name: str) -> tuple[str, ast.Module | None]:
    """The text of a module that a script imports; without its tree if it does not parse."""
    try:
        with tokenize.open(path) as file:
            text = file.read()
        return text, ast.parse(text, name)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return "", None


def read_script(path: Path, order: Order = "position") -> Script:
    """Read a script or notebook.

    Parameters
    ----------
    order
        In which order a notebook's cells are taken: ``position``, or ``executed``.

    Raises
    ------
    ScriptError
        A file that cannot be read, or is not UTF-8.
        Text that does not parse.
        A notebook that is none, or has no such order.
    """
    try:
        text = _decoded(path)
    except OSError as error:
        raise ScriptError(f"{path}: {error.strerror}.\nGive a script or notebook.") from error
    except UnicodeDecodeError as error:
        raise ScriptError(f"{path} is not UTF-8: {error.reason} at byte {error.start}.") from error
    if path.suffix == ".ipynb":
        text, cells = read_notebook(text, path.name, order)
        return Script([SourceFile(path.name, text, parse(text, path.name), path, cells)])
    return Script([SourceFile(path.name, text, parse(text, path.name), path)])


def _decoded(path: Path) -> str:
    """The text of a file: a notebook is UTF-8, a script may say in what it is written."""
    if path.suffix == ".ipynb":
        return path.read_text(encoding="utf-8-sig")
    try:
        with tokenize.open(path) as file:
            return file.read()
    except SyntaxError as error:
        raise ScriptError(
            f"{path} is not UTF-8, and names no other encoding that it is in: {error}.\n"
            "Save it as UTF-8, or name its encoding in the first line: # -*- coding: latin-1 -*-"
        ) from error


def script_of(text: str, name: str = "script.py") -> Script:
    """A script given as text; it imports no modules of a project.

    Raises
    ------
    ScriptError
        Text that does not parse.
    """
    return Script([SourceFile(name, text, parse(text, name))])


_VERSION = ".".join(map(str, sys.version_info[:2]))
TOO_DEEP = (
    f"expressions or statements within one another that are deeper than Python {_VERSION} goes.\n"
    "Write what is deep as several statements."
)


CALLS = 12_000
"""The depth of Python calls allowed while a text is read that Python itself has parsed: they need
no stack of the machine."""


def parse(text: str, name: str) -> ast.Module:
    """Parse Python with Python's own parser.

    Raises
    ------
    ScriptError
        With Python's message, line, column and the line itself.
    """
    try:
        return ast.parse(text, name)
    except (RecursionError, MemoryError) as error:
        raise ScriptError(f"{name} has {TOO_DEEP}") from error
    except (SyntaxError, ValueError) as error:
        if "too many nested" in str(error) or "too complex" in str(error):
            raise ScriptError(f"{name} has {TOO_DEEP}") from error
        if not isinstance(error, SyntaxError):
            raise ScriptError(f"{name}: {error}.\nCorrect the text.") from error
        line, column = error.lineno or 1, error.offset or 1
        excerpt = (error.text or "").rstrip("\n")
        raise ScriptError(
            f"{name}:{line}:{column}: {error.msg}\n  {excerpt}\n  {' ' * (column - 1)}^\n"
            f"Correct the text; it is parsed by Python {_VERSION}, which runs lipstick: a newer"
            " Python reads newer syntax."
        ) from error
