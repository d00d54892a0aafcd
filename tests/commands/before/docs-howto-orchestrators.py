"""Orders of which some are wrong."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Path("warehouse").mkdir()
pq.write_table(pa.table({"id": [1, 2, 3], "amount": [5, -1, 7]}), "warehouse/orders.parquet")
