"""All kinds of checks of SodaCL that Soda Core has for tables of Spark."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

_ORPHAN = "customer_id > 80000"
_TWICE = "ticket IN (SELECT ticket FROM o GROUP BY ticket HAVING count(*) > 1)"
_NO_MAIL = "email IS NOT NULL AND email NOT LIKE '%@%'"

RULES: dict[str, tuple[str, str | None]] = {
    "row_count > 1000000": ("", None),
    "missing_count(customer_id) = 0": ("", "customer_id IS NULL"),
    "missing_percent(email) = 0": ("", "email IS NULL"),
    "missing_count(status) = 0": ("missing values: ['lost?']", "status = 'lost?'"),
    "missing_count(code) = 0": ("missing regex: 'C-[0-9]{4,}'", "length(code) > 3"),
    "invalid_count(quantity) = 0": ("valid min: 1", "quantity = 0"),
    "invalid_percent(quantity) < 0.1": ("valid min: 1\n      valid max: 9", "quantity = 0"),
    "invalid_count(amount) = 0": ("valid max: 1000", "amount > 1000"),
    "invalid_count(land) = 0": ("valid values: [DE]", "land = 'XX'"),
    "invalid_count(money) = 0": ("invalid values: [ZZZ]", "money = 'ZZZ'"),
    "invalid_count(email) = 0": ("valid format: email", _NO_MAIL),
    "invalid_count(moment) = 0": ("valid format: date iso 8601", "moment = '2024-13-45'"),
    "invalid_count(uid) = 0": ("valid format: uuid", "uid = 'no'"),
    "invalid_percent(uid) = 0": ("valid min length: 3", "uid = 'no'"),
    "invalid_count(code) = 0": ("valid max length: 3", "length(code) > 3"),
    "invalid_percent(code) = 0": ("valid length: 3", "length(code) > 3"),
    "invalid_count(region) = 0": ("valid regex: '^DE-B'", "region = 'DE-ZZ'"),
    "invalid_percent(region) = 0": ("invalid regex: '^DE-Z'", "region = 'DE-ZZ'"),
    "invalid_percent(address) = 0": ("valid format: ip address", "address = '10.0.0.300'"),
    "duplicate_count(ticket) = 0": ("", _TWICE),
    "duplicate_percent(ticket) = 0": ("", _TWICE),
    "duplicate_count(ticket, ship_to) = 0": ("", None),
    "avg(amount) < 60": ("", None),
    "max(amount) < 1000": ("", None),
    "min(amount) >= 0": ("", None),
    "sum(refund) < 1": ("", None),
    "avg_length(uid) > 35.99": ("", None),
    "max_length(code) < 4": ("", None),
    "min_length(uid) > 3": ("", None),
    "stddev(amount) < 100": ("", None),
    "percentile(amount, 0.9) < 1": ("", None),
    "freshness(seen) < 1d": ("", None),
    "values in (customer_id) must exist in customers (customer_id)": ("", _ORPHAN),
    "row_count same as customers": ("", None),
    "rows by condition": ("fail condition: sent < day", "sent < day"),
    "rows by query": (
        "fail query: SELECT * FROM t WHERE net + tax + rest != 100",
        "net + tax + rest != 100",
    ),
    "own expression": ("late > 0 expression", None),
    "own query": ("", None),
    "schema": ("", None),
}
"""By check: its configuration, and SQL of the rows that fail; None: not by rows."""

_WHOLE = {
    "rows by condition": "failed rows",
    "rows by query": "failed rows",
    "own expression": "late = 0:\n      name: own expression\n      late expression: "
    "sum(CASE WHEN sent < day THEN 1 ELSE 0 END)",
    "own query": "other = 0:\n      name: own query\n      other query: "
    "SELECT count(*) AS other FROM t WHERE back > DATE'2025-01-01'",
    "schema": "schema:\n      name: schema\n      fail:\n        when required column missing: "
    "[audited]",
}


def _stated(kind: str) -> str:
    text, body = _WHOLE.get(kind, kind), RULES[kind][0]
    if text == "failed rows":
        return f"  - failed rows:\n      name: {kind}\n      {body}"
    if kind in _WHOLE:
        return f"  - {text}"
    return f"  - {text}" + (f":\n      {body}" if body else "")


def validate(frame: DataFrame, kinds: list[str], watch: Any) -> Any:
    """Return the scan of a view of a frame."""
    from soda.scan import Scan

    spark = frame.sparkSession
    frame.createOrReplaceTempView("t")
    folder = frame.inputFiles()[0].rsplit("/", 2)[0]
    spark.read.parquet(f"{folder}/customers").createOrReplaceTempView("customers")
    scan = Scan()
    scan.disable_telemetry()
    scan.set_scan_definition_name("all")
    scan.set_data_source_name("spark_df")
    scan.add_spark_session(spark, data_source_name="spark_df")
    scan.add_sodacl_yaml_str("checks for t:\n" + "\n".join(map(_stated, kinds)))
    scan.execute()
    return scan


def kind_of(name: str) -> str:
    """Return the kind of a verdict's check."""
    return name
