"""Names of Spark's functions, of one row and of more, and calls of registered aggregates.

A registered aggregate is a black box over the bag of a group: an ``exp.AnonymousAggFunc`` whose
name is none of Spark's own aggregates.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from rewriter.dialect import AGGREGATES

_NAMES = """
abs acos acosh add_months aes_decrypt aes_encrypt aggregate and approx_top_k_estimate array
array_append array_compact array_contains array_distinct array_except array_insert array_intersect
array_join array_max array_min array_position array_prepend array_remove array_repeat array_size
array_sort array_union arrays_overlap arrays_zip ascii asin asinh assert_true atan atan2 atanh
base64 between bigint bin binary bit_count bit_get bit_length bitmap_bit_position
bitmap_bucket_number bitmap_count boolean bround btrim cardinality case cast cbrt ceil ceiling
char char_length character_length chr coalesce collate collation concat concat_ws contains conv
convert_timezone cos cosh cot crc32 csc curdate current_catalog current_database current_date
current_path current_schema current_time current_timestamp current_timezone current_user date
date_add date_diff date_format date_from_unix_date date_part date_sub date_trunc dateadd datediff
datepart day dayname dayofmonth dayofweek dayofyear decimal decode degrees div double e element_at
elt encode endswith equal_null exists exp expm1 extract factorial filter find_in_set flatten float
floor forall format_number format_string from_avro from_base32 from_csv from_json from_protobuf
from_unixtime from_utc_timestamp from_xml get get_json_object getbit greatest hash hex
hll_sketch_estimate hll_union hmac hour hypot if ifnull ilike in initcap instr int is_valid_utf8
is_valid_variant is_variant_null isnan isnotnull isnull jaro_winkler_similarity json_array_length
json_object_keys kll_sketch_get_n_bigint kll_sketch_get_n_double kll_sketch_get_n_float
kll_sketch_get_quantile_bigint kll_sketch_get_quantile_double kll_sketch_get_quantile_float
kll_sketch_get_rank_bigint kll_sketch_get_rank_double kll_sketch_get_rank_float
kll_sketch_merge_bigint kll_sketch_merge_double kll_sketch_merge_float kll_sketch_to_string_bigint
kll_sketch_to_string_double kll_sketch_to_string_float last_day lcase least left len length
levenshtein like ln localtime localtimestamp locate log log10 log1p log2 lower lpad ltrim
luhn_check make_date make_dt_interval make_interval make_time make_timestamp make_timestamp_ltz
make_timestamp_ntz make_valid_utf8 make_ym_interval map map_concat map_contains_key map_entries
map_filter map_from_arrays map_from_entries map_keys map_values map_zip_with mask md5 minute mod
month monthname months_between named_struct nanvl negative next_day not now nullif nullifzero nvl
nvl2 octet_length or overlay parse_json parse_url pi pmod position positive pow power printf
quarter quote radians raise_error reduce regexp regexp_count regexp_extract regexp_extract_all
regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right rint rlike
round rpad rtrim schema_of_avro schema_of_csv schema_of_json schema_of_variant schema_of_xml sec
second sentences sequence session_user sha sha1 sha2 shiftleft shiftright shiftrightunsigned sign
signum sin sinh size slice smallint sort_array soundex space split split_part sqrt st_asbinary
st_geogfromwkb st_geomfromwkb st_setsrid st_srid startswith str_to_map string struct substr
substring substring_index tan tanh theta_difference theta_intersection theta_sketch_estimate
theta_union time time_bucket time_diff time_from_micros time_from_millis time_from_seconds
time_to_micros time_to_millis time_to_seconds time_trunc timestamp timestamp_micros
timestamp_millis timestamp_nanos timestamp_seconds timestampadd timestampdiff tinyint to_avro
to_base32 to_binary to_char to_csv to_date to_json to_number to_protobuf to_time to_timestamp
to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp to_varchar to_variant_object
to_xml transform transform_keys transform_values translate trim trunc try_add try_aes_decrypt
try_cast try_divide try_element_at try_make_interval try_make_timestamp try_make_timestamp_ltz
try_make_timestamp_ntz try_mod try_multiply try_parse_json try_parse_url try_subtract
try_to_binary try_to_date try_to_number try_to_time try_to_timestamp try_url_decode
try_validate_utf8 try_variant_array_append try_variant_get try_variant_insert try_variant_set
tuple_difference_double tuple_difference_integer tuple_difference_theta_double
tuple_difference_theta_integer tuple_intersection_double tuple_intersection_integer
tuple_intersection_theta_double tuple_intersection_theta_integer tuple_sketch_estimate_double
tuple_sketch_estimate_integer tuple_sketch_summary_double tuple_sketch_summary_integer
tuple_sketch_theta_double tuple_sketch_theta_integer tuple_union_double tuple_union_integer
tuple_union_theta_double tuple_union_theta_integer typeof ucase unbase64 unhex unix_date
unix_micros unix_millis unix_nanos unix_seconds unix_timestamp upper url_decode url_encode user
validate_utf8 variant_array_append variant_delete variant_get variant_insert variant_set
variant_strip_nulls vector_cosine_similarity vector_inner_product vector_l2_distance vector_norm
vector_normalize version weekday weekofyear when width_bucket xpath xpath_boolean xpath_double
xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string xxhash64 year zeroifnull
zip_with
"""

SCALAR_FUNCTIONS = frozenset(_NAMES.split())
"""The functions that SHOW FUNCTIONS names in Spark 4.3, and ones that only its grammar knows."""

_ORDER = "whose value depends on the order of the rows"
_DRAWS = "which draws random numbers"
_OF_ITEMS = "Count the items: GROUP BY them, ORDER BY count(*) DESC LIMIT n."
_OF_KLL = "Use percentile, or approx_percentile."

REFUSED_AGGREGATES: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("approx_top_k", "approx_top_k_accumulate", "approx_top_k_combine"), (_ORDER, _OF_ITEMS)
    ),
    "histogram_numeric": (_ORDER, "Count by width_bucket: GROUP BY width_bucket(x, low, high, n)."),
    **{
        f"kll_{kind}_agg_{number}": (_DRAWS, _OF_KLL)
        for kind in ("sketch", "merge")
        for number in ("bigint", "double", "float")
    },
    "measure": ("which means something in metric views only", "Write the aggregate it stands for."),
}
"""Aggregates that are not functions of their group's bag: why, and what to write instead."""

_WINDOW_FUNCTIONS = """
counter_diff cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number
"""

GROUPING_FUNCTIONS = frozenset({"grouping", "grouping_id"})
"""Functions of the grouping set of a row: which keys it is not grouped by."""

WINDOW_FUNCTIONS = frozenset(_WINDOW_FUNCTIONS.split())
"""Functions that only mean something with OVER."""

IN_WINDOWS = (WINDOW_FUNCTIONS | AGGREGATES) - REFUSED_AGGREGATES.keys() - GROUPING_FUNCTIONS
"""Functions with a rule for OVER."""

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
"""Functions of the file that is being read, unknown above a scan."""

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


def is_drawn(scalar: exp.Expr) -> bool:
    """Return True if chance decides the value of a scalar."""
    return any(node.name.lower() in DRAWN for node in scalar.find_all(exp.Anonymous))


def is_opaque(call: exp.Expr) -> bool:
    """Return True if an expression is the call of a registered aggregate function."""
    return isinstance(call, exp.AnonymousAggFunc) and str(call.this).lower() not in AGGREGATES


def as_aggregate(call: exp.Expr) -> exp.Expr:
    """Return the call of an aggregate function, which the parser takes for one of any function."""
    if not isinstance(call, exp.Anonymous):
        return call
    aggregate = exp.AnonymousAggFunc(this=str(call.this).lower(), expressions=call.expressions)
    aggregate.meta.update(call.meta)
    return aggregate
