"""Spark's functions by name: the ones with a sqlglot class, the aggregates, the ones with a unit.

sqlglot's function classes are made for translation: they merge functions that Spark distinguishes
and forget arguments. Here a call stays as the user wrote it, ``exp.Anonymous`` with its name and
its arguments, unless the class has the same meaning. Aggregates are ``exp.AggFunc``.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

Builder = Callable[[list[exp.Expr]], exp.Expr]

_AGGREGATES = """
    any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
    approx_top_k_combine array_agg avg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg
    bitmap_or_agg bool_and bool_or collect_list collect_set collect_union corr count count_if
    count_min_sketch covar_pop covar_samp every first first_value grouping grouping_id
    histogram_numeric hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double
    kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kurtosis
    last last_value listagg max max_by mean measure median min min_by mode percentile
    percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness
    some std stddev stddev_pop stddev_samp string_agg sum theta_intersection_agg theta_sketch_agg
    theta_union_agg try_avg try_sum tuple_intersection_agg_double tuple_intersection_agg_integer
    tuple_sketch_agg_double tuple_sketch_agg_integer tuple_union_agg_double
    tuple_union_agg_integer var_pop var_samp variance vector_avg vector_sum
"""

AGGREGATES = frozenset(_AGGREGATES.split())
"""Names of Spark's built-in aggregate functions (4.3), in lower case."""

_GENERATORS = """
    explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack
    variant_explode variant_explode_outer
"""

GENERATORS = frozenset(_GENERATORS.split())
"""Names of the functions that make several rows of one, in lower case."""

_WITH_UNIT = ("date_add", "date_diff", "dateadd", "datediff", "timestampadd", "timestampdiff")


def _aggregate(name: str) -> Builder:
    def build(args: list[exp.Expr]) -> exp.Expr:
        return exp.AnonymousAggFunc(this=name, expressions=args)

    return build


def _unary_aggregate(name: str, node: type[exp.AggFunc]) -> Builder:
    def build(args: list[exp.Expr]) -> exp.Expr:
        return node(this=args[0]) if len(args) == 1 else _aggregate(name)(args)

    return build


def _count(args: list[exp.Expr]) -> exp.Expr:
    return exp.Count(this=args[0], expressions=args[1:]) if args else _aggregate("count")(args)


def _coalesce(args: list[exp.Expr]) -> exp.Expr:
    if not args:
        return exp.Anonymous(this="coalesce", expressions=args)
    return exp.Coalesce(this=args[0], expressions=args[1:])


def _nullif(args: list[exp.Expr]) -> exp.Expr:
    if len(args) != 2:
        return exp.Anonymous(this="nullif", expressions=args)
    return exp.Nullif(this=args[0], expression=args[1])


def _with_unit(name: str) -> Builder:
    """Build a call whose first argument of three is a unit: a word, not a column."""

    def build(args: list[exp.Expr]) -> exp.Expr:
        unit = args[0] if len(args) == 3 else None
        if isinstance(unit, exp.Column) and not unit.table and not unit.this.quoted:
            args = [exp.var(unit.name), *args[1:]]
        return exp.Anonymous(this=name, expressions=args)

    return build


BUILDERS: dict[str, Builder] = {
    **{name.upper(): _aggregate(name) for name in AGGREGATES},
    **{name.upper(): _with_unit(name) for name in _WITH_UNIT},
    "AVG": _unary_aggregate("avg", exp.Avg),
    "COALESCE": _coalesce,
    "COUNT": _count,
    "MAX": _unary_aggregate("max", exp.Max),
    "MIN": _unary_aggregate("min", exp.Min),
    "NULLIF": _nullif,
    "SUM": _unary_aggregate("sum", exp.Sum),
}
"""Parser.FUNCTIONS: the calls that do not become plain ``exp.Anonymous``."""
