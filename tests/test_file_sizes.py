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
    """A file may have 500 lines, or what the list says; what is listed in vain is told."""
    listed = allowed("# may only shrink\n600 a.py\n550 b.py\n520 gone.py\n")
    lengths = {"a.py": 600, "b.py": 500, "c.py": 500, "d.py": 501}
    assert list(problems(lengths, listed)) == [
        "b.py has 500 lines only: take it from file_sizes.txt",
        "d.py has 501 lines, and may have 500: make two modules of it",
        "gone.py is not there any more: take it from file_sizes.txt",
    ]
    assert list(problems({"a.py": 601}, {"a.py": 600})) == [
        "a.py has 601 lines, and may have 600: make two modules of it"
    ]
