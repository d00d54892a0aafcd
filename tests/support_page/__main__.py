"""Write the page."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.local_spark import local_spark
from tests.support_page import PAGE, page

with TemporaryDirectory() as home, local_spark(Path(home), interpreted=True) as spark:
    PAGE.write_text(page(spark), encoding="utf-8")
