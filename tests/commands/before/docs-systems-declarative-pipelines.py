"""A project of two tables, with a catalog that outlives its run."""

import json
import os
from pathlib import Path

here = Path.cwd()
Path("spark-pipeline.yml").write_text(
    f"""
name: shop
storage: file://{here}/storage
database: default
libraries:
  - glob:
      include: transformations/**
""".lstrip()
)
Path("orders").mkdir()
rows = [{"id": 17, "name": "Ada", "amount": 30}, {"id": 18, "name": "Bo", "amount": 3}]
Path("orders/1.json").write_text("\n".join(map(json.dumps, rows)))
Path("transformations").mkdir()
Path("transformations/tables.sql").write_text(
    f"""
CREATE MATERIALIZED VIEW orders AS SELECT id, name, amount FROM json.`{here}/orders`;
CREATE MATERIALIZED VIEW best_customers AS
SELECT name, sum(amount) AS total FROM orders WHERE amount > 10 GROUP BY name;
""".lstrip()
)
Path("conf").mkdir()
Path("conf/spark-defaults.conf").write_text(
    f"""
spark.sql.catalogImplementation hive
spark.sql.warehouse.dir {here}/warehouse
spark.hadoop.javax.jdo.option.ConnectionURL jdbc:derby:;databaseName={here}/metastore;create=true
""".lstrip()
)
os.environ["SPARK_CONF_DIR"] = str(here / "conf")
