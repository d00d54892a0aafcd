"""The packages speak plainly: counted constructions occur no more often than they may."""

from __future__ import annotations

from pathlib import Path

from tests.words import LISTED, ROOT, allowed, occurrences, problems


def test_no_construction_occurs_more_often() -> None:
    counts = {name: len(places) for name, places in occurrences(ROOT).items()}
    assert list(problems(counts, allowed(LISTED.read_text("utf-8")))) == []


def test_constructions_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "semiring"
    folder.mkdir()
    (folder / "told.py").write_text(
        '"""The reports that were told."""\n\n\nclass Report:\n    """What is said of a row."""\n'
    )
    (folder / "opened.py").write_text(
        '"""Reports."""\n\n\nclass Report:\n    """Those of tables, of which some are empty."""\n'
    )
    found = occurrences(tmp_path)
    assert {name: len(places) for name, places in found.items()} == {
        "docstrings that open with a question word": 1,
        "docstrings with of which or of what": 1,
        "docstrings with those of or those that": 1,
        "docstrings with told or said": 2,
        "names of several public classes": 1,
        "files named by a verb": 1,
    }
    assert list(problems({"a": 2}, {"a": 1})) == ["2 a, and 1 may be: python -m tests.words --list"]
