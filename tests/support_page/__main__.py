"""Write the pages."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.local_spark import local_spark
from tests.support_page import FUNCTIONS_PAGE, PAGE, functions, page

with TemporaryDirectory() as home, local_spark(Path(home), interpreted=True) as spark:
    PAGE.write_text(page(spark), encoding="utf-8")
FUNCTIONS_PAGE.write_text(functions(), encoding="utf-8")
