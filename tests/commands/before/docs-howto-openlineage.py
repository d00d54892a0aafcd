"""A capture and a project, which the page names in capitals."""

from pathlib import Path

import lipstick
from lipstick.systems.dbt import write_example

with lipstick.session() as ls:
    sales = ls.spark.createDataFrame([(1, 20), (2, 30)], "id int, amount int")
    ls.track("sales", sales, key="id")
    ls.sql("SELECT sum(amount) AS revenue FROM sales").save("CAPTURE")
write_example(Path("PROJECT"))
