"""Suites of Great Expectations 1.x, as JSON: each expectation a query in the meaning of Spark."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureError, QueryError
from lipstick.questions.checks.check import DataCheck, ValueBounds, number_bounds
from rewriter.dialect.renames import rename_relations
from rewriter.emit.templates import fill

_Kwargs = Mapping[str, Any]


def _between(value: str) -> Callable[[_Kwargs], str]:
    """Return a condition that fails for values outside of the bounds in an expectation."""

    def condition(kwargs: _Kwargs) -> str:
        low, high = (">" if kwargs.get(f"strict_{end}") else ">=" for end in ("min", "max"))
        parts = []
        if kwargs.get("min_value") is not None:
            parts.append(f"{value} {low} :min_value")
        if kwargs.get("max_value") is not None:
            parts.append(f":max_value {high} {value}")
        if not parts:
            raise CaptureError("it has neither min_value nor max_value")
        return f"NOT ({' AND '.join(parts)})"

    return condition


def _listed(test: str, *, negated: bool) -> Callable[[_Kwargs], str]:
    """Return a condition over each pattern of a list."""

    def condition(kwargs: _Kwargs) -> str:
        patterns = kwargs.get("regex_list") or kwargs.get("like_pattern_list") or []
        if not patterns:
            raise CaptureError("it has no patterns")
        tests = [f"x {test} :p{number}" for number in range(len(patterns))]
        if negated:
            return " OR ".join(tests)
        word = " AND " if kwargs.get("match_on") == "all" else " OR "
        return f"NOT ({word.join(tests)})"

    return condition


def _pairwise(kwargs: _Kwargs) -> str:
    names = [f"x{number}" for number in range(len(kwargs["column_list"]))]
    return " OR ".join(f"{a} <=> {b}" for i, a in enumerate(names) for b in names[i + 1 :])


def _total(kwargs: _Kwargs) -> str:
    names = [f"coalesce(x{number}, 0)" for number in range(len(kwargs["column_list"]))]
    return f"{' + '.join(names)} <> :sum_total"


def _greater(kwargs: _Kwargs) -> str:
    return "NOT (x0 >= x1 OR x0 <=> x1)" if kwargs.get("or_equal") else "NOT (x0 > x1)"


def _pairs(kwargs: _Kwargs) -> str:
    pairs = kwargs.get("value_pairs_set") or []
    tests = [f"(x0 <=> :a{number} AND x1 <=> :b{number})" for number in range(len(pairs))]
    return f"NOT ({' OR '.join(tests)})"


_ROWS: Mapping[str, str | Callable[[_Kwargs], str]] = {
    "expect_column_values_to_not_be_null": "x IS NULL",
    "expect_column_values_to_be_null": "x IS NOT NULL",
    "expect_column_values_to_be_between": _between("x"),
    "expect_column_values_to_be_in_set": "NOT (x IN (:value_set))",
    "expect_column_values_to_not_be_in_set": "x IN (:value_set)",
    "expect_column_distinct_values_to_be_in_set": "NOT (x IN (:value_set))",
    "expect_column_values_to_match_regex": "NOT (x RLIKE :regex)",
    "expect_column_values_to_not_match_regex": "x RLIKE :regex",
    "expect_column_values_to_match_regex_list": _listed("RLIKE", negated=False),
    "expect_column_values_to_not_match_regex_list": _listed("RLIKE", negated=True),
    "expect_column_values_to_match_like_pattern": "NOT (x LIKE :like_pattern)",
    "expect_column_values_to_not_match_like_pattern": "x LIKE :like_pattern",
    "expect_column_values_to_match_like_pattern_list": _listed("LIKE", negated=False),
    "expect_column_values_to_not_match_like_pattern_list": _listed("LIKE", negated=True),
    "expect_column_value_lengths_to_be_between": _between("length(x)"),
    "expect_column_value_lengths_to_equal": "length(x) <> :value",
    "expect_column_pair_values_to_be_equal": "NOT (x0 <=> x1)",
    "expect_column_pair_values_a_to_be_greater_than_b": _greater,
    "expect_column_pair_values_to_be_in_set": _pairs,
    "expect_multicolumn_sum_to_equal": _total,
    "expect_select_column_values_to_be_unique_within_record": _pairwise,
}
"""From an expectation about each row to the condition of rows that fail it."""

_GROUPS: Mapping[str, str] = {
    "expect_column_values_to_be_unique": "x",
    "expect_compound_columns_to_be_unique": "xs",
}
"""From an expectation that no two rows are alike to the columns that they are compared by."""

_VALUES: Mapping[str, str] = {
    "expect_column_mean_to_be_between": "avg(x)",
    "expect_column_median_to_be_between": "percentile(x, 0.5)",
    "expect_column_sum_to_be_between": "sum(x)",
    "expect_column_min_to_be_between": "min(x)",
    "expect_column_max_to_be_between": "max(x)",
    "expect_column_stdev_to_be_between": "stddev_samp(x)",
    "expect_column_unique_value_count_to_be_between": "count(DISTINCT x)",
    "expect_column_proportion_of_unique_values_to_be_between": "count(DISTINCT x) / count(x)",
    "expect_column_proportion_of_non_null_values_to_be_between": "count(x) / count(*)",
    "expect_table_row_count_to_be_between": "count(*)",
    "expect_table_row_count_to_equal": "count(*)",
    "expect_column_distinct_values_to_contain_set": (
        "count(DISTINCT CASE WHEN x IN (:value_set) THEN x END)"
    ),
}
"""From an expectation about a number to its value."""

_ABOUT_SCHEMA = (
    "expect_column_to_exist",
    "expect_column_values_to_be_of_type",
    "expect_column_values_to_be_in_type_list",
    "expect_table_column_count_to_be_between",
    "expect_table_column_count_to_equal",
    "expect_table_columns_to_match_ordered_list",
    "expect_table_columns_to_match_set",
)

_OPERATORS = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class ExpectationSuite:
    """The expectations of a suite, as a file context keeps it in ``expectations/NAME.json``."""

    def read(self, path: Path, relation: str | None) -> Iterator[DataCheck]:
        """Yield the expectations; see :class:`CheckReader`."""
        try:
            document = json.loads(path.read_text("utf-8"))
            expectations = [(str(e["type"]), dict(e["kwargs"])) for e in document["expectations"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CaptureError(
                f"{path} is not a suite of Great Expectations 1.x: {error}\nGive the JSON of a "
                "suite, whose expectations have type and kwargs."
            ) from error
        for kind, kwargs in expectations:
            yield from _checks(kind, kwargs, relation or str(document.get("name") or path.stem))


def _checks(kind: str, kwargs: dict[str, Any], relation: str) -> Iterator[DataCheck]:
    columns = _columns(kwargs)
    about = ", ".join(_names(kwargs))
    name = f"{kind}({about})" if about else kind
    try:
        where = _condition(kwargs.get("row_condition"), kwargs.get("condition_parser"))
        if kind == "expect_column_quantile_values_to_be_between":
            yield from _quantiles(name, kwargs, columns, relation, where)
            return
        if kind == "expect_column_distinct_values_to_equal_set":
            yield from _checks("expect_column_distinct_values_to_be_in_set", kwargs, relation)
            yield from _checks("expect_column_distinct_values_to_contain_set", kwargs, relation)
            return
        if kwargs.get("value_set") == []:
            raise CaptureError("its value_set is empty")
        if kind == "unexpected_rows_expectation":
            yield _unexpected(kwargs, relation, where)
            return
        template, bounds, is_value = _query(kind, kwargs)
        values = {**kwargs, **_patterns(kwargs)}
        sql = fill(template, relation, columns, values, where)
        yield DataCheck(name, sql, bounds, is_value, (relation,))
    except (CaptureError, QueryError, KeyError, TypeError) as error:
        yield DataCheck(name, relations=(relation,), refused=str(error))


def _query(kind: str, kwargs: _Kwargs) -> tuple[str, ValueBounds, bool]:
    """Return the template of an expectation, its bounds, and whether it has a value."""
    mostly = float(kwargs.get("mostly", 1.0))
    if kind in _ROWS:
        written = _ROWS[kind]
        fails = written if isinstance(written, str) else written(kwargs)
        among = _among(kind, kwargs)
        if mostly >= 1.0:
            failing = f"({fails}) AND ({among})" if among else fails
            return f"SELECT * FROM r WHERE {failing}", ValueBounds(high=0), False
        # A row whose condition is NULL is none that fails.
        share = f"sum(CASE WHEN {fails} THEN 0 ELSE 1 END) / count(*)"
        template = f"SELECT {share} AS value FROM r" + (f" WHERE {among}" if among else "")
        return template, ValueBounds(low=mostly), True
    if kind in _GROUPS:
        if mostly < 1.0:
            raise CaptureError("mostly is for expectations about single rows here")
        key = _GROUPS[kind]
        among = _among(kind, kwargs)
        where = f" WHERE {among}" if among else ""
        template = f"SELECT {key}, count(*) AS n FROM r{where} GROUP BY {key} HAVING count(*) > 1"
        return template, ValueBounds(high=0), False
    if kind in _VALUES:
        bounds = number_bounds(kwargs)
        if "value" in kwargs:
            bounds = ValueBounds(float(kwargs["value"]), float(kwargs["value"]))
        if "value_set" in kwargs:
            bounds = ValueBounds(low=float(len(set(kwargs["value_set"]))))
        if bounds == ValueBounds():
            raise CaptureError("it allows any number")
        return f"SELECT {_VALUES[kind]} AS value FROM r", bounds, True
    if kind == "expect_table_row_count_to_equal_other_table":
        other = fill("SELECT count(*) FROM r", str(kwargs["other_table_name"]), {})
        return f"SELECT count(*) - ({other}) AS value FROM r", ValueBounds(0, 0), True
    if kind in _ABOUT_SCHEMA:
        raise CaptureError("it is about the columns of a table, and no row is at fault")
    raise CaptureError(f"{kind} is not among the expectations that are known here")


def _unexpected(kwargs: _Kwargs, relation: str, where: str | None) -> DataCheck:
    """Return the check of a query whose rows are unexpected; {batch} is the relation."""
    if where is not None:
        raise CaptureError("it has a row_condition beside its query")
    written = str(kwargs["unexpected_rows_query"]).replace("{batch}", relation)
    sql, _ = rename_relations(written, {})
    return DataCheck("unexpected_rows_expectation", sql, ValueBounds(high=0), False, (relation,))


def _among(kind: str, kwargs: _Kwargs) -> str | None:
    """Return the condition of the rows that an expectation is about; None: all."""
    if "column" in kwargs:
        is_about_null = kind.endswith("_be_null")
        return None if is_about_null else "x IS NOT NULL"
    names = [f"x{number}" for number in range(len(_names(kwargs)))]
    ignored = str(kwargs.get("ignore_row_if") or "all_values_are_missing")
    if ignored == "never":
        return None
    word = " AND " if ignored.startswith(("any", "either")) else " OR "
    return word.join(f"{name} IS NOT NULL" for name in names)


def _names(kwargs: _Kwargs) -> list[str]:
    if "column" in kwargs:
        return [str(kwargs["column"])]
    if "column_A" in kwargs:
        return [str(kwargs["column_A"]), str(kwargs["column_B"])]
    return [str(name) for name in kwargs.get("column_list", ())]


def _columns(kwargs: _Kwargs) -> dict[str, Any]:
    """Return what the columns of templates stand for: ``x``, ``x0``, ``x1`` ... and ``xs``."""
    names = _names(kwargs)
    numbered = {f"x{number}": name for number, name in enumerate(names)}
    return {"x": names[0], "xs": names, **numbered} if names else {}


def _patterns(kwargs: _Kwargs) -> dict[str, Any]:
    patterns = kwargs.get("regex_list") or kwargs.get("like_pattern_list") or []
    values = {f"p{number}": pattern for number, pattern in enumerate(patterns)}
    for number, (a, b) in enumerate(kwargs.get("value_pairs_set") or []):
        values.update({f"a{number}": a, f"b{number}": b})
    return values


def _quantiles(
    name: str, kwargs: _Kwargs, columns: dict[str, Any], relation: str, where: str | None
) -> Iterator[DataCheck]:
    ranges = kwargs["quantile_ranges"]
    for quantile, (low, high) in zip(ranges["quantiles"], ranges["value_ranges"], strict=True):
        template = "SELECT percentile(x, :q) AS value FROM r"
        sql = fill(template, relation, columns, {"q": float(quantile)}, where)
        bounds = number_bounds({"min_value": low, "max_value": high})
        yield DataCheck(f"{name}[{quantile}]", sql, bounds, True, (relation,))


def _condition(condition: Any, parser: str | None) -> str | None:
    """Return a row condition as Spark SQL.

    Raises
    ------
    CaptureError
        For conditions in the language of pandas.
    """
    if condition is None:
        return None
    if isinstance(condition, Mapping):
        return _structured(condition, parser)
    if parser != "spark":
        raise CaptureError(f"its row_condition is for {parser}, and not for Spark")
    return str(condition)


def _structured(condition: Mapping[str, Any], parser: str | None) -> str:
    kind = condition["type"]
    if kind == "pass_through":
        return _condition(str(condition["pass_through_filter"]), parser) or ""
    if kind in ("and", "or"):
        parts = [f"({_structured(each, parser)})" for each in condition["conditions"]]
        return f" {kind.upper()} ".join(parts)
    column, value = {"x": str(condition["column"]["name"])}, {"v": condition.get("parameter")}
    if kind == "nullity":
        test = "x IS NULL" if condition["is_null"] else "x IS NOT NULL"
    elif condition["operator"] in _OPERATORS:
        test = f"x {_OPERATORS[condition['operator']]} :v"
    elif condition["operator"] == "IN":
        test = "x IN (:v)"
    elif condition["operator"] == "NOT_IN":
        test = "NOT (x IN (:v))"
    else:
        raise CaptureError(f"its row_condition has the operator {condition['operator']!r}")
    # A template is a query; its condition is what follows WHERE.
    return fill(f"SELECT 1 FROM r WHERE {test}", "r", column, value).split(" WHERE ", 1)[1]
