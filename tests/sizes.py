"""How large the rings of the code may be: ``python -m tests.sizes``.

`sizes.txt` has for each ring the statements and lines of code that it may have, counted from syntax
trees, so that layout, comments and docstrings count for nothing. These budgets may only fall. What
a new capability needs it takes from elsewhere, or a fragment of the changelog asks for it, in a
line of its own that says what for: ``Size: core +120 statements, +300 lines for ...``.
``python -m tests.sizes --lower`` writes what there is where that is less.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tests.rings import NAMES, PACKAGES, ROOT, ring_of

LISTED: Final = ROOT / "tests" / "sizes.txt"
FRAGMENTS: Final = ROOT / "changelog.d"

_TITLE: Final = "# What each ring may have, at most: statements, lines of code.\n"
_ASKED: Final = re.compile(r"^Size: (\w+) \+(\d+) statements, \+(\d+) lines for \S", re.MULTILINE)


class Size(NamedTuple):
    """The size of a text or of a ring, in statements and in lines that these stand on."""

    statements: int
    lines: int

    def plus(self, other: Size) -> Size:
        return Size(self.statements + other.statements, self.lines + other.lines)


def package_files(root: Path) -> list[Path]:
    """Return the Python files of the packages, sorted."""
    return sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))


def size_of(text: str) -> Size:
    """Return the size of a Python text: its statements without docstrings, and their lines.

    Of a statement with a body the first line counts; else every line that it stands on.
    """
    number, lines = 0, set[int]()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.stmt) or _is_text(node):
            continue
        number += 1
        last = node.lineno if hasattr(node, "body") else node.end_lineno or node.lineno
        lines.update(range(node.lineno, last + 1))
    return Size(number, len(lines))


def _is_text(node: ast.stmt) -> bool:
    """Return True for a docstring, of a definition or of an attribute."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def sizes(root: Path) -> dict[str, Size]:
    """Return the size of every ring of a checkout."""
    total = dict.fromkeys(NAMES, Size(0, 0))
    for path in package_files(root):
        ring = ring_of(path.relative_to(root).as_posix())
        total[ring] = total[ring].plus(size_of(path.read_text("utf-8")))
    return total


def budgets(listed: str, fragments: str) -> dict[str, Size]:
    """Return what each ring may have: what is listed, and what fragments ask for."""
    rows = (line.split() for line in listed.splitlines() if not line.startswith("#"))
    most = {ring: Size(int(statements), int(lines)) for ring, statements, lines in rows}
    for ring, statements, lines in _ASKED.findall(fragments):
        most[ring] = most[ring].plus(Size(int(statements), int(lines)))
    return most


def problems(found: Mapping[str, Size], most: Mapping[str, Size]) -> Iterator[str]:
    """Yield a line for each ring that is larger than its budget."""
    for ring, size in found.items():
        if size.statements > most[ring].statements or size.lines > most[ring].lines:
            yield (
                f"The ring {ring} has {size.statements:,} statements on {size.lines:,} lines, and "
                f"may have {most[ring].statements:,} on {most[ring].lines:,}: remove as much as "
                "was added, or say in a fragment of the changelog what it is for "
                "(`tests/sizes.py` has the form)."
            )


def lowered(found: Mapping[str, Size], listed: Mapping[str, Size]) -> str:
    """Return the text of `sizes.txt` with every number that has fallen."""
    rows = ((ring, map(min, found[ring], listed[ring])) for ring in NAMES)
    return _TITLE + "".join(f"{ring} {' '.join(map(str, size))}\n" for ring, size in rows)


def main(arguments: list[str]) -> int:
    """Print the size of each ring beside its budget; return 1 if one is too large."""
    found = sizes(ROOT)
    listed = LISTED.read_text("utf-8")
    if "--lower" in arguments:
        LISTED.write_text(lowered(found, budgets(listed, "")), "utf-8")
    asked = "\n".join(path.read_text("utf-8") for path in sorted(FRAGMENTS.glob("*.*.md")))
    most = budgets(listed, asked)
    if "--quiet" not in arguments:
        for ring, size in found.items():
            print(
                f"{ring:10}{size.statements:8,} of {most[ring].statements:7,} statements"
                f"{size.lines:9,} of {most[ring].lines:7,} lines"
            )
    wrong = list(problems(found, most))
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
