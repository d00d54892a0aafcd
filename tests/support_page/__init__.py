"""The page of what is supported and what is refused, written by the code that decides it.

Every line is what a session and the in-memory engine say of an example or of a function's name.
``python -m tests.support_page`` writes ``docs/support.md``; a test holds the page against the code.
"""

from pathlib import Path

from tests.support_page.page import (
    constructs,
    functions,
    page,
    some_constructs,
    some_functions,
    statements,
)

PAGE = Path(__file__).parents[2] / "docs" / "support.md"

__all__ = [
    "PAGE",
    "constructs",
    "functions",
    "page",
    "some_constructs",
    "some_functions",
    "statements",
]
