"""The query and the tables of the page as files."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Path("report.sql").write_text(
    "SELECT o.order_id, c.name, o.amount FROM orders o JOIN customers c ON upper(c.name) = o.name "
    "WHERE o.amount > 10 AND c.active"
)
orders = {"order_id": [1, 3], "name": ["MUELLER", "MEIER"], "amount": [20.0, 30.0]}
pq.write_table(pa.table(orders), "orders.parquet")
customers = {"customer_id": [1, 2], "name": ["Müller", "Meier"], "active": [True, True]}
pq.write_table(pa.table(customers), "customers.parquet")
