"""Captures to measure the explorer with.

`python -m tests.lipstick.explorer.captured TPCH FOLDER` captures TPC-H 3, and all orders with their
customers, of the tables in TPCH, which are Parquet files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

import lipstick
from lipstick.demo.scenes import KEYS, Q3

ORDERS = (
    "SELECT o_orderkey, c_name, o_totalprice, o_orderdate FROM orders"
    " JOIN customer ON o_custkey = c_custkey"
)


def captured(spark: SparkSession, tables: Path, folder: Path) -> None:
    """Save the captures ``q3`` and ``orders``."""
    with lipstick.session(spark) as ls:
        for name in ("customer", "orders", "lineitem"):
            path = str(tables / f"{name}.parquet")
            ls.track(name, path, key=KEYS[name], verify=False, format="parquet")
        ls.sql(Q3.sql).save(folder / "q3")
        ls.sql(ORDERS).save(folder / "orders")


if __name__ == "__main__":
    started = SparkSession.builder.master("local[2]").getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    captured(started, Path(sys.argv[1]), Path(sys.argv[2]))
    started.stop()
