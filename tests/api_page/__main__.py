"""Write the pages."""

from tests.api_page import DOCS, pages

(DOCS / "api").mkdir(exist_ok=True)
for path, text in pages().items():
    (DOCS / path).write_text(text, encoding="utf-8")
