"""Orders and customers as files, a capture of means, and the checks of other tools."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import lipstick
from lipstick.systems.dbt import write_example

rows = range(40)
orders = pa.table(
    {
        "order_id": list(rows),
        "customer_id": [n % 7 for n in rows],
        "channel": [("web", "app", "store")[n % 3] for n in rows],
        "amount": [2000.0 if n in (1, 4) else 20.0 + n % 7 for n in rows],
    }
)
pq.write_table(orders, "orders.parquet")
pq.write_table(pa.table({"customer_id": list(range(6))}), "customers.parquet")
with lipstick.session() as ls:
    ls.track("orders", "orders.parquet", key="order_id")
    ls.sql("SELECT channel, avg(amount) AS mean FROM orders GROUP BY channel").save(
        "captures/means"
    )

limit = {"column": "amount", "max_value": 30}
expectation = {"type": "expect_column_mean_to_be_between", "kwargs": limit}
Path("suite.json").write_text(json.dumps({"name": "orders", "expectations": [expectation]}))

name = "relationships_orders_customer"
test = {
    "unique_id": f"test.shop.{name}",
    "resource_type": "test",
    "name": name,
    "language": "sql",
    "compiled_code": "select o.customer_id from orders o left join customers c "
    "on o.customer_id = c.customer_id where c.customer_id is null",
    "config": {"severity": "error", "error_if": "!= 0", "warn_if": "!= 0", "fail_calc": "count(*)"},
    "depends_on": {"nodes": []},
}
write_example(Path("example"))
manifest = json.loads(Path("example/target/manifest.json").read_text())
manifest |= {"nodes": {test["unique_id"]: test}, "sources": {}, "exposures": {}}
Path("target").mkdir()
Path("target/manifest.json").write_text(json.dumps(manifest))
