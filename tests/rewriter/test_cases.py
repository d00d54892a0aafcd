"""How files of cases are read."""

from pathlib import Path

import pytest

from tests.rewriter.cases import ADVISED, ERROR, EXPECTED, cases, strays

FIRST = "-- title: a\nSELECT 1\n-- a comment\n-- expected\nOne\n"


def test_sections_of_a_case(tmp_path: Path) -> None:
    text = f"{FIRST}\n-- title: b\nSELECT\n\n2\n-- error\nWrong\n  at\n-- advised\nSELECT 3\n"
    (tmp_path / "rule.sql").write_text(text)
    first, second = cases(tmp_path).values()
    assert (str(first), first.given) == ("a", "SELECT 1\n-- a comment")
    assert first.outcomes == {EXPECTED: "One"}
    assert (str(second), second.given) == ("b", "SELECT\n\n2")
    assert second.outcomes == {ERROR: "Wrong\n  at", ADVISED: "SELECT 3"}


def test_strays(tmp_path: Path) -> None:
    (tmp_path / "rule.sql").write_text(FIRST)
    (tmp_path / "notes.txt").write_text("none")
    (tmp_path / "empty.sql").write_text("")
    expected = {"notes.txt", "empty.sql", "rule.sql: a: expected"}
    assert strays(tmp_path, [ERROR]) == expected
    assert strays(tmp_path, [ERROR, EXPECTED]) == {"notes.txt", "empty.sql"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"SELECT 0\n{FIRST}", "text before the first title"),
        (f"{FIRST}\n{FIRST}", "'a' is in .*rule.sql too"),
        ("-- title: a\n-- expected\nOne\n", "'a' is given nothing"),
    ],
)
def test_files_that_are_no_cases(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "rule.sql").write_text(text)
    with pytest.raises(ValueError, match=message):
        cases(tmp_path)
