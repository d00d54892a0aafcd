"""Declarative pipelines: a project over tables that it has built, and one that Spark runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from lipstick.cli import main
from lipstick.engines.spark import local_session
from semiring.errors import LipstickError

pytest.importorskip("pyspark.pipelines.cli")
from lipstick.systems.declarative import DeclarativePipeline

pytestmark = [pytest.mark.classic, pytest.mark.engines("memory")]

SPECIFICATION = """\
name: sales
storage: file://{folder}/storage
database: {database}
libraries:
  - glob:
      include: transformations/**
configuration:
  spark.sql.session.timeZone: UTC
"""
BRONZE = """\
from pyspark import pipelines as dp
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.active()

@dp.materialized_view(name="by_customer")
def per_customer():
    return spark.table("large").groupBy("customer").agg(F.sum("amount").alias("total"))

@dp.temporary_view
def large():
    return spark.read.table("orders").where("amount >= 10")

@dp.table
def orders():
    return spark.readStream.schema("id int, customer int, amount int").json("{folder}/orders")

@dp.append_flow(target="late_orders", spark_conf={{"spark.sql.ansi.enabled": "false"}})
def late():
    return spark.readStream.table("orders")
"""
GOLD = """\
-- What is shown; a semicolon
CREATE STREAMING TABLE large_orders AS
SELECT id, amount * 2 AS twice FROM STREAM(orders) WHERE amount > 15;
CREATE MATERIALIZED VIEW best AS
SELECT max(b.total) AS total, count(*) AS n
FROM by_customer b LEFT JOIN large_orders o ON o.id = b.customer;
CREATE STREAMING TABLE late_orders;
"""
REFUSED = """\
CREATE STREAMING TABLE people;
CREATE FLOW merged AS AUTO CDC INTO people FROM STREAM orders KEYS (id) SEQUENCE BY amount;
CREATE STREAMING TABLE states;
CREATE FLOW versions AS AUTO CDC INTO states FROM STREAM orders KEYS (customer)
APPLY AS DELETE WHEN amount = 15 SEQUENCE BY amount COLUMNS * EXCEPT (id) STORED AS SCD TYPE 2;
CREATE STREAMING TABLE everything;
CREATE FLOW first AS INSERT INTO everything BY NAME SELECT id, amount FROM STREAM orders;
CREATE FLOW second AS INSERT INTO everything BY NAME SELECT id, -amount AS amount FROM STREAM orders
"""
ORDERS = [(n, n % 3, 5 * n) for n in range(1, 7)]


def _project(folder: Path, database: str, refused: str = REFUSED) -> Path:
    (folder / "transformations").mkdir(parents=True)
    (folder / "orders").mkdir()
    rows = ({"id": i, "customer": c, "amount": a} for i, c, a in ORDERS)
    (folder / "orders" / "1.json").write_text("\n".join(map(json.dumps, rows)))
    specification = SPECIFICATION.format(folder=folder, database=database)
    (folder / "spark-pipeline.yml").write_text(specification)
    (folder / "transformations" / "bronze.py").write_text(BRONZE.format(folder=folder))
    (folder / "transformations" / "gold.sql").write_text(GOLD)
    if refused:
        (folder / "transformations" / "refused.sql").write_text(refused)
    return folder


@pytest.fixture(scope="module")
def built(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project whose tables are there, one of them with other rows than its flows."""
    folder = _project(tmp_path_factory.mktemp("pipeline") / "sales", "sales")
    spark.sql("CREATE DATABASE sales")
    tables = {
        "orders": f"SELECT * FROM VALUES {', '.join(map(str, ORDERS))} AS v(id, customer, amount)",
        "by_customer": "SELECT customer, sum(amount) AS total FROM sales.orders "
        "WHERE amount >= 10 GROUP BY customer",
        "large_orders": "SELECT id, amount * 2 AS twice FROM sales.orders WHERE amount > 15",
        "best": "SELECT max(total) AS total, 3L AS n FROM sales.by_customer",
        "people": "SELECT *, named_struct('deleteSequence', CAST(NULL AS INT), "
        "'upsertSequence', amount) AS __spark_autocdc_metadata FROM sales.orders",
        "states": "SELECT *, named_struct('__RECORD_START_AT', amount) AS __spark_autocdc_metadata "
        "FROM VALUES (1, 5, 5, 20), (1, 20, 20, NULL), (2, 10, 10, 25), (2, 25, 25, NULL), "
        "(0, 30, 30, NULL) AS v(customer, amount, __START_AT, __END_AT)",
        "everything": "SELECT id, amount FROM sales.orders",
    }
    for name, query in tables.items():
        spark.sql(f"CREATE TABLE sales.{name} USING parquet AS {query}")
    yield folder
    spark.sql("DROP DATABASE sales CASCADE")


def _values(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, frame.collect()))


def test_rows_are_followed_to_files_that_no_flow_writes(built: Path, spark: SparkSession) -> None:
    with DeclarativePipeline(built, spark) as pipeline:
        names = [dataset.name.rpartition(".")[2] for dataset in pipeline.datasets]
        order = ["orders", "large", "by_customer", "best"]
        assert [name for name in names if name in order] == order
        best = pipeline.query("sales.best")
        assert set(best.plan.relations) == {"orders"}
        assert pipeline.sources == {"orders": "the pipeline does not write it"}
        assert _values(best.lineage()["orders"]) == [o for o in ORDERS if o[2] >= 10]
        without = best.what_if(delete={"orders": "id = 6"}).df
        assert _values(without) == [(35, 3)]
        one = pipeline.query("by_customer", where="customer = 1")
        assert _values(one.lineage()["orders"]) == [(4, 1, 20)]
        states = pipeline.query("states", where="customer = 2")
        assert _values(states.what_if(delete={"orders": "id = 2"}).df.select("__START_AT")) == [
            (25,)
        ]
    assert spark.catalog.currentDatabase() == "default"
    with pytest.raises(LipstickError, match="The pipeline was closed"):
        pipeline.query("best")


def test_the_command_names_what_is_not_followed(
    built: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_session, "own_spark", lambda _: spark)
    shown = CliRunner().invoke(main, ["pipeline", "check", str(built), "--format", "json"])
    assert shown.exit_code == 2, shown.output
    datasets = json.loads(shown.stdout)["datasets"]
    reasons = {each["name"].rpartition(".")[2]: each["reason"] for each in datasets}
    assert {name for name, reason in reasons.items() if reason is None} == {
        "orders", "large", "by_customer", "large_orders", "best", "people", "states",
    }  # fmt: skip
    assert reasons["late_orders"] == "the flow has settings of its own: spark.sql.ansi.enabled"
    assert reasons["everything"] == "it has other rows than the queries that wrote it have now"
    places = {each["name"].rpartition(".")[2]: each["place"] for each in datasets}
    assert places["best"] == "transformations/gold.sql:4"
    assert places["large"] == "transformations/bronze.py:10"
    arguments = ["pipeline", "impact", str(built), "orders", "--where", "id = 4"]
    shown = CliRunner().invoke(main, arguments)
    assert shown.exit_code == 2, shown.output
    assert "Without the rows of orders where id = 4, 6 datasets would change." in shown.output
    assert "Not known of spark_catalog.sales.late_orders: the flow has settings" in shown.output


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "is not a pipeline: it is neither a specification nor a folder with one"),
        ({"a.sql": "SELECT 1"}, "a.sql:1: Project defines nothing of a pipeline"),
        ({"a.py": "1 / 0"}, "a.py cannot be read: division by zero"),
    ],
)
def test_projects_that_cannot_be_read(
    files: dict[str, str], message: str, spark: SparkSession, tmp_path: Path
) -> None:
    if files:
        _project(tmp_path / "sales", "default", "")
    for name, text in files.items():
        (tmp_path / "sales" / "transformations" / name).write_text(text)
    with pytest.raises(LipstickError, match=message):
        DeclarativePipeline(tmp_path / "sales", spark)


@pytest.mark.slow
def test_a_pipeline_that_spark_runs(tmp_path: Path) -> None:
    folder = _project(tmp_path / "sales", "default", "")
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={folder}/metastore;create=true"
        ),
    }
    (folder / "conf").mkdir()
    lines = (f"{key} {value}\n" for key, value in settings.items())
    (folder / "conf" / "spark-defaults.conf").write_text("".join(lines))
    root = Path(__file__).parents[4]
    run = {
        "SPARK_CONF_DIR": f"{folder}/conf",
        "PYTHONPATH": str(root),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    environment = {**os.environ, **run, "PYSPARK_PYTHON": sys.executable}
    for command in (
        [str(Path(sys.executable).with_name("spark-pipelines")), "run"],
        [*(sys.executable, "-m", "lipstick", "pipeline", "check", "."), "--format", "json"],
    ):
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        # late_orders has settings of its own, and is a source.
        assert done.returncode == (2 if command[-1] == "json" else 0), done.stderr[-2000:]
    datasets = json.loads(done.stdout)["datasets"]
    followed = {d["name"]: d["sources"] for d in datasets if d["reason"] is None}
    names = ("orders", "large", "by_customer", "large_orders", "best")
    assert followed == {f"spark_catalog.default.{name}": ["orders"] for name in names}
