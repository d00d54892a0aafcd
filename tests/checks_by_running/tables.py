"""Orders with faults of all kinds, the same ones each time, and orders without any."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession


def _draw(number: int, below: int) -> str:
    """Return SQL of a number below another one, drawn for each row."""
    return f"pmod(xxhash64(id, {number}), {below})"


def _at(number: int, below: int, fault: str, value: str) -> str:
    """Return SQL of a value that is a fault in one of so many rows, and never in orders before."""
    return f"IF({_draw(number, below)} = 0 AND faulty, {fault}, {value})"


COLUMNS = {
    "order_id": "CAST(id AS INT)",
    "ticket": f"concat('T', lpad(CAST({_at(1, 499, 'id - 1', 'id')} AS STRING), 7, '0'))",
    "customer_id": _at(
        2, 211, "NULL", f"CAST({_at(3, 173, '90000 + id % 7', '1 + id % 500')} AS INT)"
    ),
    "channel": "element_at(array('web', 'app', 'shop'), CAST(1 + id % 3 AS INT))",
    "email": _at(
        4,
        301,
        "NULL",
        "concat('u', id, "
        + _at(5, 9, "IF(id % 3 = 1, '.example.com', '@example.com')", "'@example.com'")
        + ")",
    ),
    "status": _at(
        7,
        133,
        "'lost?'",
        f"element_at(array('new', 'paid', 'sent'), CAST(1 + {_draw(8, 3)} AS INT))",
    ),
    "amount": _at(
        9,
        401,
        "CAST(NULL AS DOUBLE)",
        f"(10 + {_draw(10, 9000)} / 100) * {_at(11, 997, '1000', _at(12, 509, '-1', '1'))}",
    ),
    "quantity": f"CAST({_at(13, 307, '0', f'1 + {_draw(14, 5)}')} AS INT)",
    "day": f"date_add(DATE'2024-01-01', CAST(id DIV 300 - {_at(15, 611, '40', '0')} AS INT))",
    "sent": f"date_add(DATE'2024-01-01', CAST(id DIV 300 + {_at(16, 203, '-90', '3')} AS INT))",
    "back": f"date_add(DATE'2025-01-01', CAST(- (id DIV 300) + {_at(6, 593, '40', '0')} AS INT))",
    "moment": _at(17, 149, "'2024-13-45'", "'2024-03-05'"),
    "note": _at(18, 251, "'{gift'", """'{"gift": true}'"""),
    "net": f"CAST({_draw(20, 70)} AS INT)",
    "tax": f"CAST({_draw(21, 7)} AS INT)",
    "rest": f"CAST(100 - {_draw(20, 70)} - {_draw(21, 7)} - {_at(19, 409, '5', '0')} AS INT)",
    "refund": _at(22, 701, "7", "CAST(NULL AS INT)"),
    "code": f"concat('C-', {_at(23, 353, '10000 + id', 'id % 10')})",
    "bill_to": f"concat('P', id % 90 + {_at(24, 383, '1', '0')})",
    "ship_to": "concat('P', id % 90)",
    "seen": f"timestamp_seconds(1717200000 + {_at(25, 431, '77760000', '0')})",
    "address": f"concat('10.0.0.', {_at(26, 457, '300', 'id % 200')})",
    "place": "concat('2001:db8::', " + _at(27, 463, "'xyz'", "CAST(id % 200 AS STRING)") + ")",
    "uid": _at(28, 467, "'no'", "concat('00000000-0000-4000-8000-', lpad(id, 12, '0'))"),
    "land": _at(29, 479, "'XX'", "'DE'"),
    "money": _at(30, 487, "'ZZZ'", "'EUR'"),
    "tongue": _at(31, 491, "'qq'", "'de'"),
    "region": _at(33, 521, "'DE-ZZ'", "'DE-BY'"),
    "parts": _at(32, 503, "CAST(array() AS ARRAY<INT>)", "array(CAST(id AS INT))"),
}
"""The columns of orders, each with its fault."""


def write_tables(spark: SparkSession, folder: str, rows: int) -> dict[str, DataFrame]:
    """Write orders with faults, orders without, and customers; return the frames by name."""
    for name, faulty in (("orders", "true"), ("sound", "false")):
        made = spark.range(rows).selectExpr("id", f"{faulty} AS faulty")
        chosen = [f"{sql} AS {column}" for column, sql in COLUMNS.items()]
        if name == "sound":  # has another column, and another type
            chosen = [x.replace("AS INT) AS quantity", "AS BIGINT) AS quantity") for x in chosen]
            chosen += ["'yes' AS audited"]
        made.selectExpr(*chosen).coalesce(1).write.parquet(f"{folder}/{name}")
    made = spark.range(500).selectExpr("CAST(1 + id AS INT) AS customer_id", "'DE' AS country")
    made.coalesce(1).write.parquet(f"{folder}/customers")
    return {
        name: spark.read.parquet(f"{folder}/{name}") for name in ("orders", "sound", "customers")
    }
