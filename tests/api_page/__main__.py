"""Write the page."""

from tests.api_page import PAGE, page

PAGE.write_text(page(), encoding="utf-8")
