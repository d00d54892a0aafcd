"""Run the documented checks of libraries under a watch, and print a table of what became of them.

``python -m tests.checks_by_running [LIBRARY ...]`` runs the libraries that the interpreter has:
Great Expectations (0.18 or 1), Soda Core on data frames of Spark, Pandera. For each it prints how
many checks are documented, ran, failed, are tied to the query that made them, and explained; then
each failing check that is not, with the reason. Libraries that are not installed are named.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import lipstick
from semiring.errors import LipstickError

ROWS = [(n, "a" if n % 4 else None, n % 7, n / 2, "2024-01-0x", "{") for n in range(40)]
COLUMNS = "id int, c string, k int, x double, d string, j string"

EXPECTATIONS: list[tuple[str, dict[str, Any]]] = [
    ("column_to_exist", {"column": "zz"}),
    ("column_values_to_not_be_null", {"column": "c"}),
    ("column_values_to_be_null", {"column": "c"}),
    ("column_values_to_be_between", {"column": "k", "min_value": 0, "max_value": 5}),
    ("column_values_to_be_in_set", {"column": "k", "value_set": [1, 2]}),
    ("column_values_to_not_be_in_set", {"column": "k", "value_set": [1, 2]}),
    ("column_values_to_match_regex", {"column": "c", "regex": "^b"}),
    ("column_values_to_not_match_regex", {"column": "d", "regex": "^2024"}),
    ("column_values_to_match_regex_list", {"column": "d", "regex_list": ["^b", "^z"]}),
    ("column_values_to_not_match_regex_list", {"column": "d", "regex_list": ["^2", "^z"]}),
    ("column_values_to_match_strftime_format", {"column": "d", "strftime_format": "%Y-%m-%d"}),
    ("column_values_to_be_dateutil_parseable", {"column": "d"}),
    ("column_values_to_be_json_parseable", {"column": "j"}),
    ("column_values_to_match_json_schema", {"column": "j", "json_schema": {"type": "object"}}),
    ("column_values_to_be_of_type", {"column": "k", "type_": "StringType"}),
    ("column_values_to_be_in_type_list", {"column": "k", "type_list": ["StringType"]}),
    ("column_values_to_be_unique", {"column": "k"}),
    ("column_values_to_be_increasing", {"column": "k"}),
    ("column_values_to_be_decreasing", {"column": "x"}),
    ("column_value_lengths_to_equal", {"column": "c", "value": 2}),
    ("column_value_lengths_to_be_between", {"column": "d", "min_value": 1, "max_value": 3}),
    (
        "column_value_z_scores_to_be_less_than",
        {"column": "x", "threshold": 1, "double_sided": True},
    ),
    ("column_max_to_be_between", {"column": "x", "min_value": 0, "max_value": 5}),
    ("column_min_to_be_between", {"column": "x", "min_value": 3, "max_value": 5}),
    ("column_mean_to_be_between", {"column": "x", "min_value": 0, "max_value": 5}),
    ("column_median_to_be_between", {"column": "x", "min_value": 0, "max_value": 5}),
    ("column_sum_to_be_between", {"column": "x", "min_value": 0, "max_value": 5}),
    ("column_stdev_to_be_between", {"column": "x", "min_value": 0, "max_value": 1}),
    ("column_distinct_values_to_be_in_set", {"column": "k", "value_set": [1]}),
    ("column_distinct_values_to_contain_set", {"column": "k", "value_set": [99]}),
    ("column_distinct_values_to_equal_set", {"column": "k", "value_set": [1]}),
    ("column_unique_value_count_to_be_between", {"column": "k", "min_value": 0, "max_value": 3}),
    (
        "column_proportion_of_unique_values_to_be_between",
        {"column": "k", "min_value": 0.5, "max_value": 1},
    ),
    (
        "column_proportion_of_non_null_values_to_be_between",
        {"column": "c", "min_value": 0.9, "max_value": 1},
    ),
    ("column_most_common_value_to_be_in_set", {"column": "c", "value_set": ["z"]}),
    (
        "column_quantile_values_to_be_between",
        {"column": "x", "quantile_ranges": {"quantiles": [0.5], "value_ranges": [[0, 1]]}},
    ),
    (
        "column_kl_divergence_to_be_less_than",
        {
            "column": "c",
            "partition_object": {"values": ["a", "b"], "weights": [0.5, 0.5]},
            "threshold": 0.1,
        },
    ),
    ("column_pair_values_to_be_equal", {"column_A": "id", "column_B": "k"}),
    ("column_pair_values_a_to_be_greater_than_b", {"column_A": "k", "column_B": "id"}),
    (
        "column_pair_values_to_be_in_set",
        {"column_A": "id", "column_B": "k", "value_pairs_set": [[1, 1]]},
    ),
    ("compound_columns_to_be_unique", {"column_list": ["c", "k"]}),
    ("multicolumn_sum_to_equal", {"column_list": ["id", "k"], "sum_total": 3}),
    ("select_column_values_to_be_unique_within_record", {"column_list": ["id", "k"]}),
    ("table_row_count_to_be_between", {"min_value": 1, "max_value": 10}),
    ("table_row_count_to_equal", {"value": 41}),
    ("table_column_count_to_be_between", {"min_value": 1, "max_value": 2}),
    ("table_column_count_to_equal", {"value": 2}),
    ("table_columns_to_match_ordered_list", {"column_list": ["k"]}),
    ("table_columns_to_match_set", {"column_set": ["k"]}),
]

SODA = """
checks for t:
  - row_count < 10
  - missing_count(c) = 0
  - missing_percent(c) = 0
  - invalid_count(k) = 0:
      valid max: 5
  - invalid_percent(k) = 0:
      valid max: 5
  - invalid_count(d) = 0:
      valid regex: z.*
  - invalid_count(c) = 0:
      valid values: [b]
  - invalid_count(j) = 0:
      valid min length: 3
  - duplicate_count(k) = 0
  - duplicate_percent(k) = 0
  - avg(x) < 5
  - max(x) < 5
  - min(x) > 5
  - sum(x) < 5
  - avg_length(d) < 3
  - max_length(d) < 3
  - min_length(c) > 3
  - stddev(x) < 1
  - stddev_pop(x) < 1
  - stddev_samp(x) < 1
  - variance(x) < 1
  - var_pop(x) < 1
  - var_samp(x) < 1
  - percentile(x, 0.9) < 1
  - failed rows:
      name: failed rows by condition
      fail condition: k > 5
  - failed rows:
      name: failed rows by query
      fail query: SELECT * FROM t WHERE k = 6
  - values in (k) must exist in s (k)
  - schema:
      fail:
        when required column missing: [zz]
  - total > 3:
      name: user-defined metric
      total expression: sum(k)
"""


def great_expectations(frame: DataFrame) -> tuple[int, Any]:
    """Validate all kinds of expectations; return their number and the report."""
    import great_expectations as gx

    found = [(f"expect_{kind}", kwargs) for kind, kwargs in EXPECTATIONS]
    context = gx.get_context(mode="ephemeral")
    if gx.__version__.startswith("0."):
        from great_expectations.core import ExpectationConfiguration as Old

        asset = context.sources.add_spark("s").add_dataframe_asset("t")
        validator = context.get_validator(
            batch_request=asset.build_batch_request(dataframe=frame),
            create_expectation_suite_with_name="all",
        )
        for kind, kwargs in found:
            validator.expectation_suite.add_expectation(Old(kind, kwargs))
        return len(found), validator.validate(catch_exceptions=True)
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    asset = context.data_sources.add_spark("s").add_dataframe_asset("t")
    batch = asset.add_batch_definition_whole_dataframe("b").get_batch({"dataframe": frame})
    suite = gx.ExpectationSuite(name="all")
    for kind, kwargs in found:
        try:
            suite.add_expectation_configuration(ExpectationConfiguration(kind, kwargs))
        except Exception as error:
            print(f"  not made: {kind}: {str(error).splitlines()[0][:90]}")
    return len(found), batch.validate(suite)


def soda(frame: DataFrame) -> tuple[int, Any]:
    """Scan a view of the frame with all kinds of checks of SodaCL that one table can have."""
    from soda.scan import Scan

    frame.createOrReplaceTempView("t")
    frame.where("k < 3").createOrReplaceTempView("s")
    scan = Scan()
    scan.disable_telemetry()
    scan.set_scan_definition_name("all")
    scan.set_data_source_name("spark_df")
    scan.add_spark_session(frame.sparkSession, data_source_name="spark_df")
    scan.add_sodacl_yaml_str(SODA)
    scan.execute()
    return sum(line.startswith("  - ") for line in SODA.splitlines()), scan


def pandera(frame: DataFrame) -> tuple[int, Any]:
    """Validate a frame by all checks of Pandera for PySpark."""
    import pandera.pyspark as pa
    import pyspark.sql.types as T

    check = pa.Check
    number = [
        check.equal_to(1),
        check.not_equal_to(1),
        check.greater_than(3),
        check.greater_than_or_equal_to(3),
        check.less_than(3),
        check.less_than_or_equal_to(3),
        check.in_range(2, 4),
        check.isin([1, 2]),
        check.notin([1, 2]),
    ]
    text = [
        check.str_startswith("z"),
        check.str_endswith("z"),
        check.str_contains("z"),
    ]
    schema = pa.DataFrameSchema(
        {
            "c": pa.Column(T.StringType(), nullable=False),
            "k": pa.Column(T.IntegerType(), number),
            "d": pa.Column(T.StringType(), text),
        }
    )
    return len(number) + len(text) + 1, schema.validate(frame)


LIBRARIES: dict[str, Callable[[DataFrame], tuple[int, Any]]] = {
    "great_expectations": great_expectations,
    "soda": soda,
    "pandera": pandera,
}


def ran(name: str, frame: DataFrame, watch: Any) -> Iterator[str]:
    """Run the checks of a library; yield the line of the table, and those that are not tied."""
    with watch.checks() as run:
        documented, report = LIBRARIES[name](frame)
    results = run.results(report)
    red = [each for each in results if each.passed is False]
    tied = [each for each in red if each.query is not None]
    explained, lines = 0, []
    for each in red:
        if each.query is None:
            lines.append(f"  {each.name}: {each.reason}")
            continue
        try:
            each.why(budget=5)
            explained += 1
        except LipstickError as error:
            lines.append(f"  {each.name}: {str(error).splitlines()[0][:110]}")
    lines += [
        f"  {each.name}: the library could not run it" for each in results if each.passed is None
    ]
    yield (
        f"{name:20}{documented:11}{len(results):8}{len(run.queries):9}{len(red):7}{len(tied):6}"
        f"{explained:11}"
    )
    yield from lines


def main(arguments: list[str]) -> int:
    """Print the table."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")  # libraries try what fails
    with tempfile.TemporaryDirectory() as folder, lipstick.watch(spark) as watch:
        spark.createDataFrame(ROWS, COLUMNS).coalesce(1).write.parquet(f"{folder}/t")
        frame = spark.read.parquet(f"{folder}/t")
        print("library              documented reported  queries   red  tied  explained")
        for name in arguments or LIBRARIES:
            try:
                lines = list(ran(name, frame, watch))
            except ImportError as error:
                print(f"{name}: not installed ({error.name})")
            else:
                print("\n".join(lines), flush=True)
    print("dqx and pydeequ: not run, their checks are columns of a frame, and jobs of the JVM")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
