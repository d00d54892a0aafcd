"""Yesterday's table of an incremental model, and a project with a source that is a file."""

import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lipstick.systems.dbt import write_example

write_example(Path("other"))
manifest = Path("other/target/manifest.json")
document = json.loads(manifest.read_text())
events = {
    "unique_id": "source.shop.raw.events",
    "resource_type": "source",
    "package_name": "shop",
    "original_file_path": "models/sources.yml",
    "source_name": "raw",
    "name": "events",
    "relation_name": "shop.events",
    "schema": "shop",
    "database": None,
    "identifier": "events",
}
document["sources"] = {events["unique_id"]: events}
manifest.write_text(json.dumps(document))
pq.write_table(pa.table({"event_id": [1, 2]}), "events.parquet")
Path("yesterday").mkdir()
order = {
    "order_id": [1],
    "customer_id": [1],
    "ordered_on": [date(2024, 3, 1)],
    "status": ["completed"],
    "amount": [10.0],
}
pq.write_table(pa.table(order), "yesterday/orders.parquet")
