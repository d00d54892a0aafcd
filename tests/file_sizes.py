"""How long files of the packages may be: ``python -m tests.file_sizes``.

A file has at most 500 lines. Longer ones are listed in ``file_sizes.txt`` with their limits; that
list may only become shorter.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
LISTED = ROOT / "tests" / "file_sizes.txt"
PACKAGES = ("benchmark_workflowgen", "graphquery", "lipstick", "rewriter", "semiring")
MOST = 500


def allowed(text: str) -> dict[str, int]:
    """Return the lines that listed files may have."""
    pairs = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {name: int(lines) for lines, name in pairs}


def package_files(root: Path) -> list[Path]:
    """Return the Python files of the packages, sorted."""
    return sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))


def sizes(root: Path) -> dict[str, int]:
    """Return the number of lines of every file of the packages."""
    return {
        path.relative_to(root).as_posix(): len(path.read_text("utf-8").splitlines())
        for path in package_files(root)
    }


def problems(lengths: Mapping[str, int], listed: Mapping[str, int]) -> Iterator[str]:
    """Yield what is wrong: files that are too long, and entries of the list that are no more."""
    for name, lines in lengths.items():
        most = listed.get(name, MOST)
        if lines > most:
            yield f"{name} has {lines} lines, and may have {most}: make two modules of it"
        elif name in listed and lines <= MOST:
            yield f"{name} has {lines} lines only: take it from {LISTED.name}"
    for name in listed.keys() - lengths.keys():
        yield f"{name} is not there any more: take it from {LISTED.name}"


if __name__ == "__main__":
    wrong = list(problems(sizes(ROOT), allowed(LISTED.read_text("utf-8"))))
    print("\n".join(wrong))
    sys.exit(bool(wrong))
