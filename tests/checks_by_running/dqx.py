"""The check functions of DQX: each splits the orders, and the ones that fail are counted."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

from pyspark.sql import DataFrame

from lipstick import LibraryVerdict

_TWICE = "ticket IN (SELECT ticket FROM o GROUP BY ticket HAVING count(*) > 1)"
_SCHEMA = "order_id int, audited string"

RULES: dict[str, tuple[dict[str, Any], str | None]] = {
    "is_not_null": ({"column": "customer_id"}, "customer_id IS NULL"),
    "is_null": ({"column": "refund"}, "refund IS NOT NULL"),
    "is_not_null_and_not_empty": ({"column": "email"}, "email IS NULL"),
    "is_not_empty": ({"column": "replace(status, 'lost?', '')"}, "status = 'lost?'"),
    "is_empty": ({"column": "replace(region, 'DE-BY', '')"}, "region != 'DE-BY'"),
    "is_null_or_empty": ({"column": "replace(land, 'DE', '')"}, "land != 'DE'"),
    "has_valid_string_case": ({"column": "status", "case": "lower"}, None),
    "is_not_null_and_is_in_list": ({"column": "land", "allowed": ["DE"]}, "land != 'DE'"),
    "is_in_list": ({"column": "status", "allowed": ["new", "paid", "sent"]}, "status = 'lost?'"),
    "is_not_in_list": ({"column": "money", "forbidden": ["ZZZ"]}, "money = 'ZZZ'"),
    "sql_expression": ({"expression": "net + tax + rest = 100"}, "net + tax + rest != 100"),
    "is_older_than_col2_for_n_days": (
        {"column1": "day", "column2": "sent", "days": 1},
        "datediff(sent, day) < 1",
    ),
    "is_older_than_n_days": (
        {"column": "seen", "days": 1, "curr_date": None},
        "seen > TIMESTAMP'2026-01-01'",
    ),
    "is_not_in_future": ({"column": "seen"}, "seen > TIMESTAMP'2026-11-20'"),
    "is_not_in_near_future": ({"column": "seen", "offset": 10**9}, None),
    "is_equal_to": ({"column": "tongue", "value": "'de'"}, "tongue != 'de'"),
    "is_not_equal_to": ({"column": "quantity", "value": 0}, "quantity = 0"),
    "is_not_less_than": ({"column": "amount", "limit": 0}, "amount < 0"),
    "is_not_greater_than": ({"column": "amount", "limit": 1000}, "amount > 1000"),
    "is_in_range": (
        {"column": "amount", "min_limit": 0, "max_limit": 1000},
        "amount < 0 OR amount > 1000",
    ),
    "is_not_in_range": ({"column": "quantity", "min_limit": -3, "max_limit": 0}, "quantity = 0"),
    "regex_match": ({"column": "code", "regex": "^C-[0-9]$"}, "length(code) > 3"),
    "is_not_null_and_not_empty_array": ({"column": "parts"}, "size(parts) = 0"),
    "is_valid_date": (
        {"column": "moment", "date_format": "yyyy-MM-dd"},
        "moment = '2024-13-45'",
    ),
    "is_valid_timestamp": (
        {"column": "moment", "timestamp_format": "yyyy-MM-dd"},
        "moment = '2024-13-45'",
    ),
    "is_valid_ipv4_address": ({"column": "address"}, "address = '10.0.0.300'"),
    "is_ipv4_address_in_cidr": (
        {"column": "address", "cidr_block": "10.0.0.0/24"},
        "address = '10.0.0.300'",
    ),
    "is_valid_ipv6_address": ({"column": "place"}, "place LIKE '%xyz'"),
    "is_ipv6_address_in_cidr": (
        {"column": "place", "cidr_block": "2001:db8::/32"},
        "place LIKE '%xyz'",
    ),
    "is_valid_email": ({"column": "email"}, "email NOT LIKE '%@%'"),
    "is_valid_uuid": ({"column": "uid"}, "uid = 'no'"),
    "is_valid_country_code": ({"column": "land"}, "land = 'XX'"),
    "is_valid_currency_code": ({"column": "money"}, "money = 'ZZZ'"),
    "is_valid_subdivision_code": ({"column": "region"}, "region = 'DE-ZZ'"),
    "is_valid_language_code": ({"column": "tongue"}, "tongue = 'qq'"),
    "is_valid_national_id": ({"column": "uid"}, None),
    "is_data_fresh": (
        {"column": "back", "max_age_minutes": 60 * 24 * 370, "base_timestamp": "2025-01-01"},
        None,
    ),
    "has_no_outliers": ({"column": "amount"}, None),
    "is_unique": ({"columns": ["ticket"]}, _TWICE),
    "foreign_key": (
        {"columns": ["customer_id"], "ref_columns": ["customer_id"], "ref_df_name": "customers"},
        "customer_id > 80000",
    ),
    "sql_query": (
        {
            "query": "SELECT bill_to, max(net + tax + rest < 95) AS condition "
            "FROM {{ input_view }} GROUP BY bill_to",
            "merge_columns": ["bill_to"],
        },
        None,
    ),
    "is_aggr_not_greater_than": ({"column": "amount", "limit": 60, "aggr_type": "avg"}, None),
    "is_aggr_not_less_than": ({"column": "amount", "limit": 0, "aggr_type": "min"}, None),
    "is_aggr_equal": (
        {
            "column": "bill_to",
            "limit": 1,
            "aggr_type": "count_distinct",
            "group_by": ["ship_to"],
        },
        None,
    ),
    "is_aggr_not_equal": ({"column": "quantity", "limit": 0, "aggr_type": "min"}, None),
    "has_no_aggr_outliers": ({"column": "amount", "time_column": "day"}, None),
    "aggr_matches_dataset": (
        {"column": "customer_id", "ref_df_name": "customers", "aggr_type": "max"},
        None,
    ),
    "compare_datasets": (
        {
            "columns": ["order_id"],
            "ref_columns": ["order_id"],
            "ref_df_name": "sound",
            "exclude_columns": ["quantity"],
        },
        None,
    ),
    "is_data_fresh_per_time_window": (
        {"column": "seen", "window_minutes": 1, "min_records_per_window": 10**6},
        None,
    ),
    "has_no_gaps_per_time_window": (
        {"column": "seen", "window_minutes": 60 * 24 * 30},
        None,
    ),
    "has_valid_schema": ({"expected_schema": _SCHEMA}, None),
    "is_valid_json": ({"column": "note"}, "note = '{gift'"),
    "has_json_keys": ({"column": "note", "keys": ["gift"]}, "note = '{gift'"),
    "has_valid_json_schema": ({"column": "note", "schema": "gift boolean"}, "note = '{gift'"),
}
"""By function: its arguments, and SQL of the rows that fail; None: not by rows."""


def validate(frame: DataFrame, kinds: list[str], watch: Any) -> list[LibraryVerdict]:
    """Return a verdict on each function, from the number of rows that it splits off."""
    from databricks.labs.dqx.engine import DQEngineCore

    spark = frame.sparkSession
    engine = DQEngineCore(MagicMock(), spark)
    folder = frame.inputFiles()[0].rsplit("/", 2)[0]
    others = {name: spark.read.parquet(f"{folder}/{name}") for name in ("customers", "sound")}
    verdicts = []
    for kind in kinds:
        given = {name: value for name, value in RULES[kind][0].items() if value is not None}
        check = {"criticality": "error", "check": {"function": kind, "arguments": given}}
        try:
            _, failing = engine.apply_checks_by_metadata_and_split(frame, [check], ref_dfs=others)
            number = failing.count()
        except Exception:
            verdicts.append(LibraryVerdict(kind, None))
        else:
            verdicts.append(LibraryVerdict(kind, number == 0, number, query=watch.last))
    return verdicts


def kind_of(name: str) -> str:
    """Return the kind of a verdict's check."""
    return name
