"""The core gallery of Great Expectations."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pyspark.sql import DataFrame

from tests.checks_by_running.tables import COLUMNS

RULES: dict[str, tuple[dict[str, Any], str | None]] = {
    "column_to_exist": ({"column": "audited"}, None),
    "column_values_to_not_be_null": ({"column": "customer_id"}, "customer_id IS NULL"),
    "column_values_to_be_null": ({"column": "refund"}, "refund IS NOT NULL"),
    "column_values_to_be_between": (
        {"column": "amount", "min_value": 0, "max_value": 1000},
        "amount < 0 OR amount > 1000",
    ),
    "column_values_to_be_in_set": (
        {"column": "status", "value_set": ["new", "paid", "sent"]},
        "status = 'lost?'",
    ),
    "column_values_to_not_be_in_set": ({"column": "quantity", "value_set": [0]}, "quantity = 0"),
    "column_values_to_match_regex": (
        {"column": "email", "regex": "^[^@]+@[^@]+$"},
        "email NOT LIKE '%@%'",
    ),
    "column_values_to_not_match_regex": (
        {"column": "code", "regex": "^C-[0-9]{4,}"},
        "length(code) > 3",
    ),
    "column_values_to_match_regex_list": (
        {"column": "code", "regex_list": ["^C-[0-9]$", "^D"], "match_on": "any"},
        "length(code) > 3",
    ),
    "column_values_to_not_match_regex_list": (
        {"column": "email", "regex_list": [r"^u\d+\.", "^z"]},
        "email NOT LIKE '%@%'",
    ),
    "column_values_to_match_like_pattern": ({"column": "code", "like_pattern": "C-_"}, None),
    "column_values_to_not_match_like_pattern": ({"column": "code", "like_pattern": "C-_"}, None),
    "column_values_to_match_like_pattern_list": (
        {"column": "code", "like_pattern_list": ["C-_"]},
        None,
    ),
    "column_values_to_not_match_like_pattern_list": (
        {"column": "code", "like_pattern_list": ["C-_"]},
        None,
    ),
    "column_values_to_match_strftime_format": (
        {"column": "moment", "strftime_format": "%Y-%m-%d"},
        "moment = '2024-13-45'",
    ),
    "column_values_to_be_dateutil_parseable": ({"column": "moment"}, None),
    "column_values_to_be_json_parseable": ({"column": "note"}, "note = '{gift'"),
    "column_values_to_match_json_schema": (
        {"column": "note", "json_schema": {"type": "object"}},
        "note = '{gift'",
    ),
    "column_values_to_be_of_type": ({"column": "quantity", "type_": "LongType"}, None),
    "column_type_to_be": ({"column": "quantity", "type_": "BIGINT"}, None),
    "column_values_to_be_in_type_list": ({"column": "quantity", "type_list": ["LongType"]}, None),
    "column_values_to_be_unique": (
        {"column": "ticket"},
        "ticket IN (SELECT ticket FROM o GROUP BY ticket HAVING count(*) > 1)",
    ),
    "column_values_to_be_increasing": ({"column": "day"}, "order"),
    "column_values_to_be_decreasing": ({"column": "back"}, "order"),
    "column_value_lengths_to_equal": ({"column": "code", "value": 3}, "length(code) != 3"),
    "column_value_lengths_to_be_between": (
        {"column": "uid", "min_value": 30, "max_value": 40},
        "uid = 'no'",
    ),
    "column_value_z_scores_to_be_less_than": (
        {"column": "amount", "threshold": 3, "double_sided": True},
        "abs(amount - (SELECT avg(amount) FROM o)) / (SELECT stddev_samp(amount) FROM o) >= 3",
    ),
    "column_values_to_not_be_outliers": (
        {"column": "amount", "method": "std", "multiplier": 3},
        "abs(amount - (SELECT avg(amount) FROM o)) / (SELECT stddev_samp(amount) FROM o) > 3",
    ),
    "column_max_to_be_between": ({"column": "amount", "max_value": 1000}, None),
    "column_min_to_be_between": ({"column": "amount", "min_value": 0}, None),
    "column_mean_to_be_between": ({"column": "amount", "max_value": 60}, None),
    "column_median_to_be_between": ({"column": "customer_id", "max_value": 250.5}, None),
    "column_sum_to_be_between": ({"column": "refund", "min_value": 0, "max_value": 1}, None),
    "column_stdev_to_be_between": ({"column": "amount", "max_value": 100}, None),
    "column_distinct_values_to_be_in_set": (
        {"column": "land", "value_set": ["DE"]},
        "land = 'XX'",
    ),
    "column_distinct_values_to_contain_set": ({"column": "channel", "value_set": ["fax"]}, None),
    "column_distinct_values_to_equal_set": (
        {"column": "money", "value_set": ["EUR"]},
        "money = 'ZZZ'",
    ),
    "column_unique_value_count_to_be_between": ({"column": "tongue", "max_value": 1}, None),
    "column_proportion_of_unique_values_to_be_between": (
        {"column": "ticket", "min_value": 1},
        None,
    ),
    "column_proportion_of_non_null_values_to_be_between": (
        {"column": "email", "min_value": 1},
        None,
    ),
    "column_most_common_value_to_be_in_set": ({"column": "channel", "value_set": ["fax"]}, None),
    "column_quantile_values_to_be_between": (
        {
            "column": "quantity",
            "quantile_ranges": {"quantiles": [0.0, 0.5], "value_ranges": [[1, 1], [2, 4]]},
        },
        None,
    ),
    "column_kl_divergence_to_be_less_than": (
        {
            "column": "region",
            "partition_object": {"values": ["DE-BY", "DE-BE"], "weights": [0.9, 0.1]},
            "threshold": 0.2,
        },
        None,
    ),
    "column_pair_values_to_be_equal": (
        {"column_A": "bill_to", "column_B": "ship_to"},
        "bill_to != ship_to",
    ),
    "column_pair_values_a_to_be_greater_than_b": (
        {"column_A": "sent", "column_B": "day", "or_equal": True},
        "sent < day",
    ),
    "column_pair_values_to_be_in_set": (
        {"column_A": "land", "column_B": "money", "value_pairs_set": [["DE", "EUR"]]},
        "land != 'DE' OR money != 'EUR'",
    ),
    "column_pair_cramers_phi_value_to_be_less_than": (
        {"column_A": "land", "column_B": "money"},
        None,
    ),
    "compound_columns_to_be_unique": (
        {"column_list": ["ticket", "ship_to"]},
        "(ticket, ship_to) IN "
        "(SELECT ticket, ship_to FROM o GROUP BY ticket, ship_to HAVING count(*) > 1)",
    ),
    "multicolumn_sum_to_equal": (
        {"column_list": ["net", "tax", "rest"], "sum_total": 100},
        "net + tax + rest != 100",
    ),
    "multicolumn_values_to_be_equal": (
        {"column_list": ["bill_to", "ship_to"]},
        "bill_to != ship_to",
    ),
    "select_column_values_to_be_unique_within_record": (
        {"column_list": ["land", "money", "region"]},
        None,
    ),
    "table_row_count_to_be_between": ({"min_value": 10**6}, None),
    "table_row_count_to_equal": ({"value": 41}, None),
    "table_column_count_to_be_between": ({"min_value": len(COLUMNS) + 1}, None),
    "table_column_count_to_equal": ({"value": len(COLUMNS) + 1}, None),
    "table_columns_to_match_ordered_list": ({"column_list": [*COLUMNS, "audited"]}, None),
    "table_columns_to_match_set": ({"column_set": [*COLUMNS, "audited"]}, None),
    "table_row_count_to_equal_other_table": ({"other_table_name": "customers"}, None),
    "query_results_to_match_comparison": (
        {
            "base_query": "SELECT count(*) FROM {batch}",
            "comparison_data_source_name": "s",
            "comparison_query": "SELECT 41",
        },
        None,
    ),
    "unexpected_rows_expectation": (
        {"unexpected_rows_query": "SELECT * FROM {batch} WHERE quantity * amount > 40000"},
        "quantity * amount > 40000",
    ),
}
"""By kind of expectation: its arguments, and SQL of the rows that fail; None: not by rows."""


def _type(kind: str) -> str:
    return kind if kind.startswith("unexpected") else f"expect_{kind}"


def validate(frame: DataFrame, kinds: list[str], watch: Any) -> Any:
    """Return the validation result of a batch."""
    import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    with_progress = getattr(context, "variables", None)
    if with_progress is not None:
        with_progress.progress_bars = {"globally": False}
    found = [(_type(kind), RULES[kind][0]) for kind in kinds]
    if gx.__version__.startswith("0."):
        from great_expectations.core import ExpectationConfiguration as Old

        asset = context.sources.add_spark("s").add_dataframe_asset("t")
        validator = context.get_validator(
            batch_request=asset.build_batch_request(dataframe=frame),
            create_expectation_suite_with_name="all",
        )
        for kind, kwargs in found:
            validator.expectation_suite.add_expectation(Old(kind, kwargs))
        return validator.validate(catch_exceptions=True)
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    asset = context.data_sources.add_spark("s").add_dataframe_asset("t")
    batch = asset.add_batch_definition_whole_dataframe("b").get_batch({"dataframe": frame})
    suite = gx.ExpectationSuite(name="all")
    for kind, kwargs in found:
        with suppress(Exception):  # kinds that this version does not have
            suite.add_expectation_configuration(ExpectationConfiguration(kind, kwargs))
    return batch.validate(suite)


def kind_of(name: str) -> str:
    """Return the kind of a verdict's check."""
    return name.partition("(")[0].removeprefix("expect_")
