"""Two captures, a store, a script and a federation, which the page names in capitals."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import lipstick
from lipstick.systems.events import Emitter, reduce_files

rows = range(24)
pq.write_table(
    pa.table(
        {
            "l_orderkey": list(rows),
            "l_suppkey": [n % 8 for n in rows],
            "l_month": [1 + n % 6 for n in rows],
            "l_shipmode": [("AIR", "RAIL", "SHIP")[n % 3] for n in rows],
            "l_price": [100 * (n + 1) for n in rows],
            "l_discount": [n % 4 for n in rows],
        }
    ),
    "lineitem.parquet",
)
nations = [(8, "CHINA"), (21, "FRANCE")]
pq.write_table(
    pa.table({"s_suppkey": list(range(8)), "s_nationkey": [(8, 21)[n % 2] for n in range(8)]}),
    "supplier.parquet",
)
pq.write_table(pa.table({"n_nationkey": [8, 21], "n_name": ["CHINA", "FRANCE"]}), "nation.parquet")
QUERY = """
SELECT n_name AS nation, l_month AS month, sum(l_price * (100 - l_discount)) AS revenue
FROM lineitem JOIN supplier ON l_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey
WHERE l_price > {least}
GROUP BY n_name, l_month"""
with lipstick.session() as ls:
    ls.track("lineitem", "lineitem.parquet", key="l_orderkey")
    ls.track("supplier", "supplier.parquet", key="s_suppkey")
    ls.track("nation", "nation.parquet", key="n_nationkey")
    for name, least in (("CAPTURE", 0), ("MONDAY", 0), ("TUESDAY", 500)):
        ls.sql(QUERY.format(least=least)).save(name)

with Emitter("events", "orders") as emitter:
    emitter.record("sum", "sum.1", ["o1", "o2"], ["total"], inputs=True)
    emitter.seal()
reduce_files(["events"], "STORE")
Path("script.py").write_text('import pandas as pd\n\npd.read_csv("a.csv").to_csv("b.csv")\n')
Path("federation.toml").write_text('format = 1\n\n[members.orders]\nlocation = "STORE"\n')
