"""Spark's functions of more than one row."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from rewriter.dialect import AGGREGATES
from rewriter.scalars.row_functions import SCALAR_FUNCTIONS

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
"""Aggregates that are no functions of their group's bag: why, and what to write instead."""

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


def is_drawn(scalar: exp.Expr) -> bool:
    """Tell whether chance decides what a scalar is."""
    return any(node.name.lower() in DRAWN for node in scalar.find_all(exp.Anonymous))
