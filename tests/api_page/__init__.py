"""The page of public names, written from the packages' docstrings.

``python -m tests.api_page`` writes ``docs/api.md``; a test holds the page against the code.
"""

from pathlib import Path

from tests.api_page.page import page

PAGE = Path(__file__).parents[2] / "docs" / "api.md"

__all__ = ["PAGE", "page"]
