"""Two measures of imports that may only fall: ``python -m tests.imports``.

The largest circle counts every import, under ``TYPE_CHECKING`` and inside of functions too: whoever
reads one of its modules is led to all others. Modules that are named in texts and resolved when
they are used do not count: references to systems and other outer rings (`lipstick.outer`). The
modules that a session loads are what each process pays for before the first query.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import networkx as nx

from tests.sizes import PACKAGES, ROOT, package_files

LARGEST_CIRCLE = 5
"""Modules of the largest circle of imports, at most. When it falls, lower the number."""
SESSION_MODULES = 271
"""Modules of the project that a session loads, at most. When they fall, lower the number."""

_LOADED = f"""
import sys
from lipstick.sessions import Session
print(*(name for name in sys.modules if name.partition(".")[0] in {PACKAGES!r}))
"""


def modules(root: Path) -> dict[str, Path]:
    """Return the files of the packages by the names of their modules."""
    names = {path.relative_to(root).with_suffix("").parts: path for path in package_files(root)}
    return {".".join(p[:-1] if p[-1] == "__init__" else p): path for p, path in names.items()}


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield a tree and the statements below it, at any depth, without their expressions."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for blocks in ("body", "orelse", "finalbody", "handlers", "cases"):
            below = getattr(node, blocks, ())
            waiting += below if isinstance(below, list) else ()


def imports(files: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """Yield pairs of modules of which the first imports the second, wherever in its text."""
    for name, path in files.items():
        for node in statements(ast.parse(path.read_text("utf-8"))):
            imported: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                whole = [f"{node.module}.{alias.name}" for alias in node.names]
                imported = [each if each in files else node.module for each in whole]
            elif isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            yield from ((name, each) for each in imported if each in files and each != name)


def largest_circle(root: Path) -> list[str]:
    """Return the modules of the largest circle of imports, sorted; one alone where there is none.

    Time is linear in the text of the packages.
    """
    graph = nx.DiGraph()
    graph.add_edges_from(imports(modules(root)))
    return sorted(max(nx.strongly_connected_components(graph), key=len, default=()))


def session_modules() -> list[str]:
    """Return the modules of the project that the import of a session loads."""
    command = [sys.executable, "-c", _LOADED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split()


def problems(circle: list[str], loaded: int) -> Iterator[str]:
    """Yield a line for each measure that has grown."""
    if len(circle) > LARGEST_CIRCLE:
        yield (
            f"The largest circle of imports has {len(circle)} modules, and may have "
            f"{LARGEST_CIRCLE}: move what two of them share below both, or give one a Protocol.\n"
            + "\n".join(f"  {name}" for name in circle)
        )
    if loaded > SESSION_MODULES:
        yield (
            f"A session loads {loaded} modules, and may load {SESSION_MODULES}: import what only "
            "some questions need where they are answered."
        )


if __name__ == "__main__":
    wrong = list(problems(largest_circle(ROOT), len(session_modules())))
    print("\n".join(wrong))
    sys.exit(bool(wrong))
