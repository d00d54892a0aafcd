"""The map of the code names files and folders that there are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = (
    "benchmark_workflowgen",
    "docs",
    "graphquery",
    "lipstick",
    "rewriter",
    "semiring",
    "tests",
)


def _paths() -> set[str]:
    """Return the files and folders, from the root; folders end in a slash."""
    paths: set[str] = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            paths.add(f"{name}/" if path.is_dir() else name)
        paths.add(f"{folder}/")
    return paths


def test_what_the_map_names_is_there() -> None:
    paths = _paths()
    ends = {path[start + 1 :] for path in paths for start in _slashes(path)} | paths
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./]+(?:\.py|/))`", text))
    assert named
    assert sorted(named - ends) == []


def _slashes(path: str) -> list[int]:
    return [place for place, letter in enumerate(path[:-1]) if letter == "/"]
