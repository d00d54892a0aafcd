"""The queries of the demonstration, in Spark SQL."""

from __future__ import annotations

from dataclasses import dataclass

KEYS: dict[str, tuple[str, ...]] = {
    "region": ("r_regionkey",),
    "nation": ("n_nationkey",),
    "supplier": ("s_suppkey",),
    "customer": ("c_custkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
}
"""TPC-H's tables and their primary keys."""


@dataclass(frozen=True, slots=True)
class DemoQuery:
    """A query, its name, and what it asks."""

    name: str
    asks: str
    sql: str


COUNTRIES = DemoQuery(
    "countries",
    "the countries of Europe",
    """\
SELECT n_name, r_name
FROM nation JOIN region ON n_regionkey = r_regionkey
WHERE r_name = 'EUROPE'
ORDER BY n_name""",
)

Q3 = DemoQuery(
    "TPC-H 3",
    "the unshipped orders of most value",
    """\
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING'
  AND c_custkey = o_custkey
  AND l_orderkey = o_orderkey
  AND o_orderdate < DATE '1995-03-15'
  AND l_shipdate > DATE '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate
LIMIT 10""",
)

Q5 = DemoQuery(
    "TPC-H 5",
    "revenue within a country, by country",
    """\
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey
  AND l_orderkey = o_orderkey
  AND l_suppkey = s_suppkey
  AND c_nationkey = s_nationkey
  AND s_nationkey = n_nationkey
  AND n_regionkey = r_regionkey
  AND r_name = 'ASIA'
  AND o_orderdate >= DATE '1994-01-01'
  AND o_orderdate < DATE '1995-01-01'
GROUP BY n_name
ORDER BY revenue DESC""",
)

Q6 = DemoQuery(
    "TPC-H 6",
    "what small discounts cost in a year",
    """\
SELECT sum(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= DATE '1994-01-01'
  AND l_shipdate < DATE '1995-01-01'
  AND l_discount BETWEEN 0.05 AND 0.07
  AND l_quantity < 24""",
)

Q10 = DemoQuery(
    "TPC-H 10",
    "the customers who returned most",
    """\
SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal, n_name,
  c_address, c_phone, c_comment
FROM customer, orders, lineitem, nation
WHERE c_custkey = o_custkey
  AND l_orderkey = o_orderkey
  AND o_orderdate >= DATE '1993-10-01'
  AND o_orderdate < DATE '1994-01-01'
  AND l_returnflag = 'R'
  AND c_nationkey = n_nationkey
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
ORDER BY revenue DESC
LIMIT 20""",
)

Q12 = DemoQuery(
    "TPC-H 12",
    "late lines by priority of their order",
    """\
SELECT l_shipmode,
  sum(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END)
    AS high_line_count,
  sum(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END)
    AS low_line_count
FROM orders, lineitem
WHERE o_orderkey = l_orderkey
  AND l_shipmode IN ('MAIL', 'SHIP')
  AND l_commitdate < l_receiptdate
  AND l_shipdate < l_commitdate
  AND l_receiptdate >= DATE '1994-01-01'
  AND l_receiptdate < DATE '1995-01-01'
GROUP BY l_shipmode
ORDER BY l_shipmode""",
)

QUERIES: tuple[DemoQuery, ...] = (COUNTRIES, Q3, Q5, Q6, Q10, Q12)

CHAIN: tuple[tuple[str, str], ...] = (
    ("ReqModel", "SELECT DISTINCT Model FROM Requests"),
    ("Inventory", "SELECT CarId, Model FROM Cars JOIN ReqModel USING (Model)"),
    ("SoldInventory", "SELECT CarId, Model, BidId FROM Inventory JOIN SoldCars USING (CarId)"),
    ("NumCarsByModel", "SELECT Model, count(*) AS NumAvail FROM Cars GROUP BY Model"),
    ("NumSoldByModel", "SELECT Model, count(*) AS NumSold FROM SoldInventory GROUP BY Model"),
    (
        "AllInfoByModel",
        "SELECT UserId, BidId, Model, NumAvail FROM Requests JOIN NumCarsByModel USING (Model)",
    ),
)
"""The dealer's relations up to the bid, each over those before it (Example 2.3 of the paper).

The paper counts the Inventory, whose tuples have the request in their annotations too, and cogroups
the last relation, so that a model without cars keeps its request. Here the Cars are counted, and
the count joined.
"""


def chain(name: str) -> str:
    """Return the text of a relation of the chain, after those before it."""
    names = [other for other, _ in CHAIN]
    number = names.index(name)
    before = ",\n".join(f"{other} AS ({text})" for other, text in CHAIN[:number])
    return f"WITH {before}\n{CHAIN[number][1]}" if before else CHAIN[number][1]
