"""Documents about the code name files, folders and functions that there are, by whole paths."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = (
    "ARCHITECTURE.md",
    "docs/capture.md",
    "docs/decisions.md",
    "docs/onboarding.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "howto").glob("*.md")),
)
NAMED = re.compile(r"`([\w./]+(?:\.py|/))(?:: (\w+))?`")
"""A file or folder between backticks, perhaps with something that the file defines."""

WORDS = 2_200
"""The map of the code is read in ten minutes."""


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_is_named_is_there(document: str) -> None:
    wrong = [
        path + (f": {name}" if name else "")
        for path, name in NAMED.findall((ROOT / document).read_text("utf-8"))
        if not (ROOT / path).exists()
        or (name and not re.search(rf"\b(def|class) {name}\b", (ROOT / path).read_text("utf-8")))
    ]
    assert wrong == []


def test_the_map_is_short() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text("utf-8").split()) <= WORDS


def test_every_folder_of_the_packages_is_on_the_map() -> None:
    """Each is named, or a folder or file in it."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    packages = ("benchmark_workflowgen", "graphquery", "lipstick", "rewriter", "semiring")
    folders = [
        path.relative_to(ROOT).as_posix()
        for package in packages
        for path in (ROOT / package).iterdir()
        if (path / "__init__.py").exists()
    ]
    assert len(folders) > 40
    assert [folder for folder in folders if f"`{folder}/" not in text] == []
