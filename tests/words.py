"""How the packages speak: ``python -m tests.words`` counts constructions that readers stumble over.

A docstring says its noun or its verb first ("Return the rows that ...", "The rows that ..."); one
that opens with a question word leaves the reader to guess what the function returns. Public classes
have names of their own, and a file is named by a noun. ``words.txt`` has how often each
construction may occur; these numbers may only fall. ``--list NAME`` shows where one occurs.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.imports import statements
from tests.sizes import ROOT, package_files

LISTED = ROOT / "tests" / "words.txt"

_OPENINGS = re.compile(r"(What|Which|How|Where|Whether|Who|Whom|Of (which|what|whom))\b")
_PATTERNS = {
    "of which or of what": re.compile(r"\bof (which|what|whom|whose)\b", re.IGNORECASE),
    "those of or those that": re.compile(r"\bthose (of|that|who|which|with|from)\b", re.IGNORECASE),
    "told or said": re.compile(r"\b(told|tells?|said|says)\b", re.IGNORECASE),
}
_VERBAL_FILE = re.compile(r"^[a-z]+(ing|ed)$")
_NOUNS = {
    *("grouping", "ordering", "lowering", "naming", "planning", "binding", "reading", "string"),
    *("counting", "crossing", "hashing", "opening", "sampling", "staging", "timing"),
}


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring of a file, of attributes as well."""
    for node in statements(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        for statement in node.body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                text = statement.value.value
                if isinstance(text, str):
                    yield statement.lineno, text.strip()


def public_classes(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each public class of a file."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.lineno, node.name


def occurrences(root: Path) -> dict[str, list[str]]:
    """Return the places of each construction, as ``file:line: text``."""
    places: dict[str, list[str]] = {
        "docstrings that open with a question word": [],
        **{f"docstrings with {name}": [] for name in _PATTERNS},
        "names of several public classes": [],
        "files named by a verb": [],
    }
    classes: dict[str, list[str]] = defaultdict(list)
    for path in package_files(root):
        file = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text("utf-8"))
        for line, text in docstrings(tree):
            at = f"{file}:{line}: {text.splitlines()[0] if text else ''}"
            if _OPENINGS.match(text):
                places["docstrings that open with a question word"].append(at)
            for name, pattern in _PATTERNS.items():
                if pattern.search(text):
                    places[f"docstrings with {name}"].append(at)
        for line, name in public_classes(tree):
            classes[name].append(f"{file}:{line}")
        if _VERBAL_FILE.match(path.stem) and path.stem not in _NOUNS:
            places["files named by a verb"].append(file)
    shared = {name: at for name, at in classes.items() if len(at) > 1}
    places["names of several public classes"] = [f"{n}: {', '.join(a)}" for n, a in shared.items()]
    return places


def allowed(text: str) -> dict[str, int]:
    """Return how often each construction may occur."""
    lines = (line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {name: int(count) for count, name in lines}


def problems(counts: Mapping[str, int], listed: Mapping[str, int]) -> Iterator[str]:
    """Yield an error for each construction that occurs more often than it may."""
    for name, count in counts.items():
        if count > listed.get(name, 0):
            yield f"{count} {name}, and {listed.get(name, 0)} may be: python -m tests.words --list"


def main(arguments: list[str]) -> int:
    """Print the counts, or with ``--list NAME [FOLDER]`` the places of a construction."""
    found = occurrences(ROOT)
    if arguments[:1] == ["--list"]:
        wanted, folder = ([*arguments[1:], "", ""])[:2]
        for name, at in found.items():
            if wanted in name:
                print("\n".join(each for each in at if folder in each))
        return 0
    counts = {name: len(at) for name, at in found.items()}
    for name, count in counts.items():
        packages = Counter(each.split("/")[0] for each in found[name])
        by = ", ".join(f"{package} {number}" for package, number in sorted(packages.items()))
        print(f"{count:5} {name} ({by})")
    wrong = list(problems(counts, allowed(LISTED.read_text("utf-8"))))
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
