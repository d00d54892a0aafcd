"""Spark's functions that are not functions of one row."""

from __future__ import annotations

from rewriter.bind.scalar_functions import SCALAR_FUNCTIONS

_AGGREGATES = """
any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
approx_top_k_combine array_agg avg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg
bitmap_or_agg bool_and bool_or collect_list collect_set collect_union corr count count_if
count_min_sketch covar_pop covar_samp every first first_value grouping grouping_id
histogram_numeric hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double
kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kurtosis last
last_value listagg max max_by mean measure median min min_by mode percentile percentile_approx
percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std stddev stddev_pop stddev_samp
string_agg sum theta_intersection_agg theta_sketch_agg theta_union_agg try_avg try_sum
tuple_intersection_agg_double tuple_intersection_agg_integer tuple_sketch_agg_double
tuple_sketch_agg_integer tuple_union_agg_double tuple_union_agg_integer var_pop var_samp variance
vector_avg vector_sum
"""

AGGREGATES = frozenset(_AGGREGATES.split())
"""Aggregate functions of Spark 4.3."""

_RECOMPUTED = """
any approx_count_distinct array_agg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg
bitmap_or_agg bool_and bool_or collect_list collect_set corr count_if covar_pop covar_samp every
kurtosis median percentile regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
regr_sxy regr_syy skewness some std stddev stddev_pop stddev_samp try_avg try_sum var_pop var_samp
variance
"""

RECOMPUTED = frozenset(_RECOMPUTED.split())
"""Aggregates that are no monoids, or have no tensor here, but are functions of their group's bag.

They are computed anew, by Spark, from the values of the members that are left. The order of what
``collect_list`` collects is Spark's, and not defined there either.
"""

_WINDOW_FUNCTIONS = """
counter_diff cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number
"""

WINDOW_FUNCTIONS = frozenset(_WINDOW_FUNCTIONS.split())
"""Functions that only mean something with OVER."""

_IN_WINDOWS = """
any_value counter_diff cume_dist dense_rank first first_value lag last last_value lead nth_value
ntile percent_rank rank row_number
"""

IN_WINDOWS = frozenset(_IN_WINDOWS.split())
"""Functions with a rule for OVER beside the aggregates that have one for groups."""

_GENERATORS = """
collations explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer
sql_keywords stack variant_explode variant_explode_outer
"""

GENERATORS = frozenset(_GENERATORS.split())
"""Functions that make several rows of one."""

_OF_FILES = """
input_file_block_length input_file_block_start input_file_name
"""

OF_FILES = frozenset(_OF_FILES.split())
"""Functions of the file that is being read, of which nothing is known above a scan."""

_DRAWN = """
java_method monotonically_increasing_id rand randn random randstr reflect shuffle
spark_partition_id try_reflect uniform uuid
"""

DRAWN = frozenset(_DRAWN.split())
"""Functions whose value depends on more than their arguments and the time of the query.

With a seed too: the values that it gives depend on how Spark divides the rows among tasks.
"""

TIME_WINDOWS = frozenset(["session_window", "window", "window_time"])
"""Functions that stand for a whole rewriting of the query in Spark."""

OF_SPARK = (
    SCALAR_FUNCTIONS | AGGREGATES | GENERATORS | OF_FILES | DRAWN | TIME_WINDOWS | WINDOW_FUNCTIONS
)
"""All names of Spark's: a call of one is not of a registered function."""
