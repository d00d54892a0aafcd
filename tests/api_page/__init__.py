"""The pages of public names, written from the packages' docstrings.

``python -m tests.api_page`` writes ``docs/api.md`` and ``docs/api/``; a test holds them against the
code.
"""

from pathlib import Path

from tests.api_page.page import pages

DOCS = Path(__file__).parents[2] / "docs"

__all__ = ["DOCS", "pages"]
