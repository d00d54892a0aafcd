"""The pages of what is supported and what is refused, written by the code that decides it.

Every line is what a session and the in-memory engine say of an example or of a function's name.
``python -m tests.support_page`` writes ``docs/support.md`` and ``docs/support/functions.md``; tests
hold the pages against the code.
"""

from pathlib import Path

from tests.support_page.page import (
    constructs,
    functions,
    page,
    some_constructs,
    statements,
    use_of,
)

PAGE = Path(__file__).parents[2] / "docs" / "support.md"
FUNCTIONS_PAGE = PAGE.parent / "support" / "functions.md"

__all__ = [
    "FUNCTIONS_PAGE",
    "PAGE",
    "constructs",
    "functions",
    "page",
    "some_constructs",
    "statements",
    "use_of",
]
