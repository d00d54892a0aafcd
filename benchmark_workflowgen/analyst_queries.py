"""Twenty queries over TPC-H as analysts write them, and the 22 of TPC-H itself."""

from __future__ import annotations

from benchmark_workflowgen import tpch

QUERIES = {
    "latest_order": """
        SELECT o_custkey, o_orderkey, o_orderdate, o_totalprice
        FROM (SELECT *, row_number() OVER (PARTITION BY o_custkey
                                           ORDER BY o_orderdate DESC, o_orderkey DESC) AS place
              FROM orders) AS placed
        WHERE place = 1""",
    "dedup_then_sum": """
        WITH once AS (SELECT DISTINCT o_custkey, o_orderdate, o_totalprice FROM orders)
        SELECT c_mktsegment, sum(o_totalprice) AS revenue, count(*) AS orders
        FROM once JOIN customer ON o_custkey = c_custkey GROUP BY c_mktsegment""",
    "left_join_refunds": """
        SELECT date_trunc('MONTH', o_orderdate) AS month, sum(o_totalprice) AS sold,
               sum(coalesce(refunded, 0)) AS refunded
        FROM orders LEFT JOIN (SELECT l_orderkey, sum(l_extendedprice) AS refunded FROM lineitem
                               WHERE l_returnflag = 'R' GROUP BY l_orderkey) AS refunds
             ON o_orderkey = l_orderkey
        GROUP BY date_trunc('MONTH', o_orderdate)""",
    "share_of_nation": """
        SELECT n_name, revenue, revenue / sum(revenue) OVER () AS share,
               rank() OVER (ORDER BY revenue DESC) AS place
        FROM (SELECT n_name, sum(o_totalprice) AS revenue
              FROM orders JOIN customer ON o_custkey = c_custkey
                   JOIN nation ON c_nationkey = n_nationkey GROUP BY n_name) AS nations""",
    "active_customers": """
        SELECT c_mktsegment, count(DISTINCT c_nationkey) AS nations, count(*) AS customers
        FROM customer
        WHERE EXISTS (SELECT 1 FROM orders WHERE o_custkey = c_custkey
                      AND o_orderdate >= DATE '1998-01-01')
        GROUP BY c_mktsegment HAVING count(*) > 100""",
    "never_ordered": """
        SELECT n_name, count(*) AS customers FROM customer JOIN nation ON c_nationkey = n_nationkey
        WHERE c_custkey NOT IN (SELECT o_custkey FROM orders) GROUP BY n_name""",
    "big_orders": """
        SELECT c_name, o_orderkey, o_totalprice, quantity
        FROM orders JOIN (SELECT l_orderkey, sum(l_quantity) AS quantity FROM lineitem
                          GROUP BY l_orderkey HAVING sum(l_quantity) > 250) AS big
                    ON o_orderkey = l_orderkey
             JOIN customer ON o_custkey = c_custkey
        ORDER BY o_totalprice DESC, o_orderkey LIMIT 20""",
    "month_over_month": """
        WITH months AS (SELECT date_trunc('MONTH', o_orderdate) AS month,
                               sum(o_totalprice) AS revenue
                        FROM orders GROUP BY date_trunc('MONTH', o_orderdate))
        SELECT month, revenue, revenue - lag(revenue) OVER (ORDER BY month) AS difference
        FROM months""",
    "rollup": """
        SELECT n_name, c_mktsegment, sum(o_totalprice) AS revenue, count(*) AS orders
        FROM orders JOIN customer ON o_custkey = c_custkey
             JOIN nation ON c_nationkey = n_nationkey
        GROUP BY ROLLUP (n_name, c_mktsegment)""",
    "buckets": """
        SELECT orders, count(*) AS customers
        FROM (SELECT c_custkey, count(o_orderkey) AS orders
              FROM customer LEFT JOIN orders ON c_custkey = o_custkey GROUP BY c_custkey) AS counts
        GROUP BY orders""",
    "top_per_group": """
        SELECT * FROM (SELECT n_name, c_name, sum(o_totalprice) AS spent,
                              rank() OVER (PARTITION BY n_name
                                           ORDER BY sum(o_totalprice) DESC) AS place
                       FROM orders JOIN customer ON o_custkey = c_custkey
                            JOIN nation ON c_nationkey = n_nationkey
                       GROUP BY n_name, c_name) AS ranked
        WHERE place <= 3""",
    "running_total": """
        SELECT o_orderdate, revenue, sum(revenue) OVER (ORDER BY o_orderdate) AS so_far
        FROM (SELECT o_orderdate, sum(o_totalprice) AS revenue FROM orders
              WHERE o_orderdate >= DATE '1998-01-01' GROUP BY o_orderdate) AS days""",
    "both_years": """
        SELECT o_custkey FROM orders WHERE year(o_orderdate) = 1996
        INTERSECT SELECT o_custkey FROM orders WHERE year(o_orderdate) = 1997""",
    "lost_customers": """
        SELECT o_custkey FROM orders WHERE year(o_orderdate) = 1996
        EXCEPT SELECT o_custkey FROM orders WHERE year(o_orderdate) = 1997""",
    "late_share": """
        SELECT l_shipmode,
               avg(CASE WHEN l_receiptdate > l_commitdate THEN 1.0 ELSE 0.0 END) AS late,
               count(*) AS items
        FROM lineitem GROUP BY l_shipmode""",
    "above_average": """
        SELECT c_custkey, c_acctbal FROM customer
        WHERE c_acctbal > (SELECT avg(c_acctbal) * 1.9 FROM customer)""",
    "priority_pivot": """
        SELECT n_name, count(CASE WHEN o_orderpriority = '1-URGENT' THEN 1 END) AS urgent,
               count(CASE WHEN o_orderpriority = '5-LOW' THEN 1 END) AS low
        FROM orders JOIN customer ON o_custkey = c_custkey
             JOIN nation ON c_nationkey = n_nationkey GROUP BY n_name""",
    "first_orders": """
        SELECT date_trunc('MONTH', first_day) AS month, count(*) AS customers
        FROM (SELECT o_custkey, min(o_orderdate) AS first_day
              FROM orders GROUP BY o_custkey) AS firsts
        GROUP BY date_trunc('MONTH', first_day)""",
    "sole_suppliers": """
        SELECT s_name, count(*) AS parts FROM supplier JOIN partsupp ON s_suppkey = ps_suppkey
        WHERE ps_availqty > 9900 GROUP BY s_name HAVING count(*) > 2""",
    "all_parties": """
        SELECT n_name, sum(balance) AS balance
        FROM (SELECT c_nationkey AS nation, c_acctbal AS balance FROM customer
              UNION ALL SELECT s_nationkey, s_acctbal FROM supplier) AS parties
             JOIN nation ON nation = n_nationkey GROUP BY n_name""",
}
QUERIES |= {f"Q{number}": tpch.query(number) for number in tpch.NUMBERS}
VALUES = {
    "latest_order": "o_totalprice",
    "dedup_then_sum": "revenue",
    "left_join_refunds": "refunded",
    "share_of_nation": "share",
    "active_customers": "nations",
    "never_ordered": "customers",
    "big_orders": "quantity",
    "month_over_month": "difference",
    "rollup": "revenue",
    "buckets": "customers",
}
"""The column whose formal values are asked for; the last one of other queries."""
