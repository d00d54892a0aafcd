"""The newer version of the page's script, and a script that runs on Spark."""

from pathlib import Path

Path("demand_new.py").write_text(
    'import pandas as pd\n\npd.read_csv("crops.csv").to_csv("total.csv")\n'
)
Path("visits.csv").write_text("who,year\n" + "".join(f"{who},2024\n" for who in ("ann", "bob") * 3))
Path("report.py").write_text(
    """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
visits = spark.read.csv("visits.csv", header=True, schema="who string, year int")
visits.where(f"year = {sys.argv[1]}").write.parquet("totals.parquet")
""".lstrip()
)
