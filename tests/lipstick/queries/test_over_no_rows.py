"""Aggregates over no rows, where a correlated scalar subquery finds none: as Spark has them."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import UnsupportedError
from rewriter.dialect import AGGREGATES

pytestmark = pytest.mark.classic

_ONE = """
    any_value approx_count_distinct array_agg avg bit_and bit_or bit_xor collect_list collect_set
    count first first_value hll_sketch_agg kurtosis last last_value max mean median min mode
    skewness std stddev stddev_pop stddev_samp sum theta_sketch_agg try_avg try_sum var_pop
    var_samp variance
"""
_TWO = """
    corr covar_pop covar_samp max_by min_by regr_avgx regr_avgy regr_count regr_intercept regr_r2
    regr_slope regr_sxx regr_sxy regr_syy tuple_sketch_agg_double tuple_sketch_agg_integer
"""

CALLS = {
    **{name: f"{name}(x)" for name in _ONE.split()},
    **{name: f"{name}(x, x)" for name in _TWO.split()},
    **{
        name: f"{name}(x > 0)"
        for name in ("any", "bool_and", "bool_or", "count_if", "every", "some")
    },
    "approx_percentile": "approx_percentile(x, 0.5D)",
    "bitmap_and_agg": "bitmap_and_agg(b)",
    "bitmap_construct_agg": "bitmap_construct_agg(x)",
    "bitmap_or_agg": "bitmap_or_agg(b)",
    "collect_union": "collect_union(array(x))",
    "count_min_sketch": "count_min_sketch(x, 0.5D, 0.5D, 1)",
    "hll_union_agg": "hll_union_agg(b)",
    "listagg": "listagg(s)",
    "percentile": "percentile(x, 0.5D)",
    "percentile_approx": "percentile_approx(x, 0.5D)",
    "percentile_cont": "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)",
    "percentile_disc": "percentile_disc(0.5) WITHIN GROUP (ORDER BY x)",
    "schema_of_variant_agg": "schema_of_variant_agg(to_variant_object(struct(x)))",
    "string_agg": "string_agg(s)",
    "theta_intersection_agg": "theta_intersection_agg(b)",
    "theta_union_agg": "theta_union_agg(b)",
    "tuple_intersection_agg_double": "tuple_intersection_agg_double(b)",
    "tuple_intersection_agg_integer": "tuple_intersection_agg_integer(b)",
    "tuple_union_agg_double": "tuple_union_agg_double(b)",
    "tuple_union_agg_integer": "tuple_union_agg_integer(b)",
    "vector_avg": "vector_avg(array(CAST(x AS FLOAT)))",
    "vector_sum": "vector_sum(array(CAST(x AS FLOAT)))",
}
"""Aggregate functions, each in a call over columns x of integers, s of texts, b of bytes."""

REFUSED = {
    "approx_top_k": "approx_top_k(x)",
    "approx_top_k_accumulate": "approx_top_k_accumulate(x)",
    "histogram_numeric": "histogram_numeric(x, 2)",
    "kll_merge_agg_bigint": "kll_merge_agg_bigint(b)",
    "kll_merge_agg_double": "kll_merge_agg_double(b)",
    "kll_merge_agg_float": "kll_merge_agg_float(b)",
    "kll_sketch_agg_bigint": "kll_sketch_agg_bigint(x)",
    "kll_sketch_agg_double": "kll_sketch_agg_double(CAST(x AS DOUBLE))",
    "kll_sketch_agg_float": "kll_sketch_agg_float(CAST(x AS FLOAT))",
}
"""Aggregates whose value is not a function of the set of rows."""

NO_SUBQUERY = {"approx_top_k_combine", "grouping", "grouping_id", "measure"}
"""Functions of what a subquery has not: of states that are refused, grouping sets, metric views."""


def _known(spark: SparkSession, name: str) -> bool:
    return spark.catalog.functionExists(name)


def test_every_aggregate_has_a_call() -> None:
    assert {*CALLS, *REFUSED, *NO_SUBQUERY} == AGGREGATES


@pytest.mark.many(3)
@pytest.mark.parametrize(
    "names", [sorted(CALLS)[start::5] for start in range(5)], ids=lambda names: names[0]
)
def test_value_over_no_rows(spark: SparkSession, names: list[str]) -> None:
    calls = [CALLS[name] for name in names if _known(spark, name)]
    items = ", ".join(
        f"(SELECT to_json(struct({call} AS v)) FROM e WHERE e.k = o.k) AS v{number}"
        if "schema_of" not in call
        else f"(SELECT {call} FROM e WHERE e.k = o.k) AS v{number}"
        for number, call in enumerate(calls)
    )
    schema = "id int, k int, x int, s string, b binary"
    with lipstick.session(spark) as ls:
        ls.track("e", spark.createDataFrame([], schema), key="id")
        ls.track("o", spark.createDataFrame([(1,)], "k int"), key="k")
        q = ls.sql(f"SELECT k, {items} FROM o")
        (expected,), (actual,) = q.df.collect(), q.plan.annotated.collect()
    different = {
        call: (plain_value, annotated_value)
        for call, plain_value, annotated_value in zip(
            ["k", *calls], expected, actual[:-1], strict=True
        )
        if plain_value != annotated_value
    }
    assert not different


def test_others_are_refused(spark: SparkSession) -> None:
    schema = "id int, k int, x int, s string, b binary"
    with lipstick.session(spark) as ls:
        ls.track("e", spark.createDataFrame([], schema), key="id")
        for name, call in REFUSED.items():
            if _known(spark, name):
                with pytest.raises(UnsupportedError, match=f"aggregate {name}"):
                    ls.sql(f"SELECT {call} FROM e")
