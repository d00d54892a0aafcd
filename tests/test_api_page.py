"""The pages of public names are what the code says."""

import pytest

from tests.api_page import DOCS, pages
from tests.api_page.page import call, paragraph


def test_the_pages_are_what_the_docstrings_say() -> None:
    """Otherwise write the pages anew: python -m tests.api_page."""
    paths = [DOCS / "api.md", *(DOCS / "api").iterdir()]
    written = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in paths}
    assert written == pages()


def test_every_public_name_is_described() -> None:
    """No heading is followed by an empty paragraph."""
    lines = "\n".join(pages().values()).split("\n")
    bare = [line for line, text in zip(lines, lines[2:], strict=False) if line[:3] == "## " > text]
    assert bare == []


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        (None, ""),
        ("One line\n    and another.\n\n    More.", "One line and another."),
        ("See :func:`~package.module.name` and ``code``::", "See `name` and `code`:"),
        ("See :meth:`Capture.members`.", "See `Capture.members`."),
        ("a < b", "a &lt; b"),
    ],
)
def test_first_paragraphs(docstring: str | None, expected: str) -> None:
    assert paragraph(docstring) == expected


def test_calls() -> None:
    def function(a, b=1, *, c="x", d=(1, 2), **others):  # type: ignore[no-untyped-def]
        """Do nothing."""

    assert call("f", function) == "f(a, b=1, *, c='x', d=..., **others)"
    assert call("f", function, bound=True) == "f(b=1, *, c='x', d=..., **others)"
    assert call("g", lambda *all_, last: all_) == "g(*all_, last)"
