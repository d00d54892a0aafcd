"""Two versions of a query, and two weeks of its tables."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Path("old.sql").write_text("SELECT c.id FROM customers c JOIN orders o ON o.customer = c.id")
Path("new.sql").write_text("SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer = c.id")
Path("report.sql").write_text("SELECT area, sum(amount) AS total FROM orders GROUP BY area")
pq.write_table(pa.table({"id": [1, 2], "name": ["Ada", "Bo"]}), "customers.parquet")
pq.write_table(pa.table({"id": [10, 11], "customer": [1, None]}), "orders.parquet")
for name, amount in (("lastweek", 20), ("today", 50)):
    week = {"id": [1, 2], "area": ["north", "south"], "amount": [amount, 5]}
    pq.write_table(pa.table(week), f"{name}.parquet")
