"""The check of file sizes."""

from __future__ import annotations

from pathlib import Path

from tests.file_sizes import allowed, problems, sizes


def test_sizes(tmp_path: Path) -> None:
    """Lines are counted of all files of the packages, however deep."""
    (tmp_path / "lipstick" / "memory").mkdir(parents=True)
    (tmp_path / "lipstick" / "memory" / "rows.py").write_text("a = 1\nb = 2\n")
    (tmp_path / "other.py").write_text("a = 1\n")
    assert sizes(tmp_path) == {"lipstick/memory/rows.py": 2}


def test_problems() -> None:
    """A file may have 300 lines, or what the list says; what is listed in vain is told."""
    listed = allowed("# may only shrink\n400 a.py\n350 b.py\n320 gone.py\n")
    lengths = {"a.py": 400, "b.py": 300, "c.py": 300, "d.py": 301}
    assert list(problems(lengths, listed)) == [
        "b.py has 300 lines only: take it from file_sizes.txt",
        "d.py has 301 lines, and may have 300: make two modules of it",
        "gone.py is not there any more: take it from file_sizes.txt",
    ]
    assert list(problems({"a.py": 401}, {"a.py": 400})) == [
        "a.py has 401 lines, and may have 400: make two modules of it"
    ]
