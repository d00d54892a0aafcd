"""The example that is shipped, written anew: `python -m tests.example`.

Its tables are those of TPC-H at scale 0.01 for every eighth customer, without comments. On Tuesday
there are more orders than on Monday, and one of them has a price that is a hundred times too large.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

import lipstick
from lipstick.demo import example
from lipstick.demo.scenes import KEYS, Q3

MONDAY = 55_000
"""The largest key of an order on Monday."""

WRONG = 3_718
"""The order whose price is wrong on Tuesday."""

_TABLES = {
    "customer": "SELECT * EXCLUDE (c_comment, c_phone, c_address) FROM customers",
    "monday": f"SELECT * FROM every_order WHERE o_orderkey <= {MONDAY}",
    "tuesday": "SELECT * REPLACE (CASE WHEN o_orderkey = {WRONG} THEN 100 ELSE 1 END *"
    " o_totalprice AS o_totalprice) FROM every_order",
    "lineitem": "SELECT * EXCLUDE (l_comment, l_shipinstruct) FROM lineitem"
    " SEMI JOIN every_order ON l_orderkey = o_orderkey",
}

REVENUE = """\
-- Two days of one query: what the customers of each segment ordered since 1996
SELECT c_mktsegment, count(*) AS orders, sum(o_totalprice) AS revenue
FROM orders JOIN customer ON o_custkey = c_custkey
WHERE o_orderdate >= DATE '1996-01-01'
GROUP BY c_mktsegment
ORDER BY c_mktsegment"""

QUERIES = {
    "monday": ("monday", REVENUE),
    "tuesday": ("tuesday", REVENUE),
    "top-orders": (
        "tuesday",
        f"-- A number and its parts: the unshipped orders of most value, TPC-H 3\n{Q3.sql}",
    ),
    "prices-add-up": (
        "tuesday",
        """\
-- A red check: the price of each order is the sum of its lines
SELECT count_if(abs(o_totalprice - charged) > 1) = 0 AS prices_add_up
FROM orders JOIN (
  SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS charged
  FROM lineitem
  GROUP BY l_orderkey
) ON o_orderkey = l_orderkey""",
    ),
    "to-remind": (
        "tuesday",
        """\
-- A missing row: customers in debt without an order in 1998; who is not here, and why?
SELECT c_custkey, c_name, c_acctbal
FROM customer
WHERE c_acctbal < 0 AND NOT EXISTS (
  SELECT 1 FROM orders WHERE o_custkey = c_custkey AND o_orderdate >= DATE '1998-01-01'
)
ORDER BY c_acctbal""",
    ),
}
"""The captures: the day whose orders they read, and the query."""


def write(tpch: Path, folder: Path) -> None:
    """Write the example into a folder, from the tables of TPC-H at scale 0.01."""
    tables = folder / "tables"
    tables.mkdir(parents=True)
    with duckdb.connect() as connection:
        for name in ("customer", "orders", "lineitem"):
            path = tpch / f"{name}.parquet"
            connection.execute(f"CREATE VIEW {name} AS FROM '{path}'")
        connection.execute(
            "CREATE VIEW customers AS FROM customer WHERE c_custkey % 8 = 1;"
            "CREATE VIEW every_order AS SELECT * EXCLUDE (o_comment, o_clerk) FROM orders"
            " SEMI JOIN customers ON o_custkey = c_custkey"
        )
        for name, query in _TABLES.items():
            path = tables / f"{name}.parquet"
            connection.execute(
                f"COPY ({query.format(WRONG=WRONG)} ORDER BY ALL) TO '{path}'"
                " (FORMAT parquet, CODEC zstd)"
            )
            os.utime(path, ns=(example.TIME, example.TIME))
    with lipstick.session() as session:
        for name in ("customer", "lineitem"):
            session.track(name, str(tables / f"{name}.parquet"), key=KEYS[name])
        for name, (day, query) in QUERIES.items():
            path = str(tables / f"{day}.parquet")
            session.track("orders", path, key="o_orderkey", replace=True)
            session.sql(query).save(folder / "captures" / name)
    for manifest in folder.glob("captures/*/manifest.json"):
        example.replace_place(manifest, str(folder), example.PLACE)
        # Names that are drawn at random.
        for view in sorted(set(re.findall("_lipstick_[0-9a-f]+_", manifest.read_text()))):
            example.replace_place(manifest, view, "_lipstick_example_")
        for part in sorted(manifest.parent.rglob("part-*-c000.*")):
            name = f"{part.name[:10]}.parquet"
            example.replace_place(manifest, part.name, name)
            part.rename(part.with_name(name))


if __name__ == "__main__":
    with TemporaryDirectory() as written:
        inner = Path(written) / "example"
        write(Path(sys.argv[1]), inner)
        shutil.rmtree(example.SHIPPED, ignore_errors=True)
        shutil.copytree(inner, example.SHIPPED)
