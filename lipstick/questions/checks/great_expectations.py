"""Suites of Great Expectations, as JSON: each expectation a query in the meaning of Spark."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureError
from lipstick.questions.checks.check import CheckBuilder, DataCheck, ValueBounds, WrittenCheck
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


def _equal(kwargs: _Kwargs) -> str:
    tests = [f"x0 <=> x{number}" for number in range(1, len(kwargs["column_list"]))]
    return f"NOT ({' AND '.join(tests)})"


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
    "expect_multicolumn_values_to_be_equal": _equal,
    "expect_multicolumn_values_to_be_unique": _pairwise,
    "expect_select_column_values_to_be_unique_within_record": _pairwise,
}
"""From an expectation about each row to the condition of rows that fail it."""

_UNIQUE = ("expect_column_values_to_be_unique", "expect_compound_columns_to_be_unique")
"""The expectations that no two rows are alike."""

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
    "expect_column_type_to_be",
    "expect_table_column_count_to_be_between",
    "expect_table_column_count_to_equal",
    "expect_table_columns_to_match_ordered_list",
    "expect_table_columns_to_match_set",
)

_OPERATORS = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

_READ = {"column", "column_A", "column_B", "column_list", "columns", "min_value", "max_value"}
_READ |= {"strict_min", "strict_max", "mostly", "row_condition", "condition_parser", "value_set"}
_READ |= {"ignore_row_if", "regex", "regex_list", "like_pattern", "like_pattern_list", "match_on"}
_READ |= {
    "value",
    "or_equal",
    "value_pairs_set",
    "sum_total",
    "quantile_ranges",
    "other_table_name",
}
_READ |= {"unexpected_rows_query"}
"""The arguments that are read."""

_LABELS = {"result_format", "include_config", "catch_exceptions", "batch_id", "meta", "notes"}
_LABELS |= {"severity", "description", "windows", "rendered_content", "allow_relative_error"}
"""The arguments that change no verdict."""

_COLUMN_CONDITION = re.compile(
    r"""\s*col\("(?P<column>[^"]+)"\)\s*(?:(?P<present>\.notnull\(\))|(?P<operator>[<>=!]=?)\s*
    (?:date\((?P<date>"[^"]*"|'[^']*')\)|(?P<value>"[^"]*"|'[^']*'|[+-]?\d+(?:\.\d*)?)))\s*$""",
    re.VERBOSE | re.IGNORECASE,
)
"""A condition in the language of Great Expectations: ``col("state") == "paid"``."""


class ExpectationSuite:
    """The expectations of a suite, as a file context keeps it in ``expectations/NAME.json``.

    Suites of versions before 1.0 have other names of the same fields.
    """

    def read(self, path: Path, relation: str | None) -> Iterator[WrittenCheck]:
        """Yield the expectations; see :class:`CheckReader`."""
        try:
            document = json.loads(path.read_text("utf-8"))
            expectations = list(document["expectations"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CaptureError(
                f"{path} is not a suite of Great Expectations: {error}\nGive the JSON of a "
                "suite, whose expectations have type and kwargs."
            ) from error
        named = document.get("name") or document.get("expectation_suite_name") or path.stem
        for each in expectations:
            fields = each if isinstance(each, Mapping) else {}
            kind = str(fields.get("type") or fields.get("expectation_type") or each)
            kwargs: Any = fields.get("kwargs")
            about = ", ".join(_names(kwargs)) if isinstance(kwargs, Mapping) else ""
            name = f"{kind}({about})" if about else kind
            read = partial(_checks, name, kind, kwargs, relation or str(named))
            yield WrittenCheck(name, (relation or str(named),), read)


def _checks(name: str, kind: str, kwargs: _Kwargs, relation: str) -> Iterator[DataCheck]:
    for argument, given in kwargs.items():
        if isinstance(given, Mapping) and "$PARAMETER" in given:
            raise CaptureError(f"its {argument} is a parameter: write the value")
        if argument not in _READ | _LABELS and given not in (None, False):
            raise CaptureError(f"its {argument} is not read here")
    if kwargs.get("value_set", True) in ([], None):
        raise CaptureError("its value_set is empty")
    if len(_names(kwargs)) < (
        2 if "_pair_" in kind else "table" not in kind and "rows" not in kind
    ):
        raise CaptureError("it does not name its columns")
    where = _condition(kwargs.get("row_condition"), kwargs.get("condition_parser"))
    values = {**kwargs, **_patterns(kwargs)}
    check = CheckBuilder(name, relation, _names(kwargs), values, where)
    if kind == "expect_column_quantile_values_to_be_between":
        yield from _quantiles(check, kwargs)
    elif kind == "expect_column_distinct_values_to_equal_set":
        yield _check("expect_column_distinct_values_to_be_in_set", kwargs, check)
        yield _check("expect_column_distinct_values_to_contain_set", kwargs, check)
    else:
        yield _check(kind, kwargs, check)


def _check(kind: str, kwargs: _Kwargs, check: CheckBuilder) -> DataCheck:
    mostly = float(kwargs.get("mostly") or 1.0)
    among = _among(kind, kwargs) or ""
    if kind in _ROWS:
        written = _ROWS[kind]
        fails = written if isinstance(written, str) else written(kwargs)
        if mostly >= 1.0:
            return check.failing(f"({fails}) AND ({among})" if among else fails)
        # A row whose condition is NULL is none that fails.
        share = f"sum(CASE WHEN {fails} THEN 0 ELSE 1 END) / count(*)"
        return check.value(share, ValueBounds(low=mostly), among=among)
    if kind in _UNIQUE:
        if mostly >= 1.0:
            return check.duplicates(among=among)
        where = f" WHERE {among}" if among else ""
        groups = f"(SELECT count(*) AS n FROM r{where} GROUP BY xs) AS g"
        share = "sum(CASE WHEN n = 1 THEN 1 ELSE 0 END) / sum(n)"
        return check.value(share, ValueBounds(low=mostly), source=groups)
    if kind in _VALUES:
        bounds = _bounds(kwargs)
        if "value" in kwargs:
            bounds = ValueBounds(float(kwargs["value"]), float(kwargs["value"]))
        if "value_set" in kwargs:
            bounds = ValueBounds(low=float(len(set(kwargs["value_set"]))))
        return check.value(_VALUES[kind], bounds)
    if kind == "expect_table_row_count_to_equal_other_table":
        other = str(kwargs["other_table_name"])
        counted = f"count(*) - ({fill('SELECT count(*) FROM r', other, {})})"
        made = check.value(counted, ValueBounds(0, 0))
        return replace(made, relations=(check.relation, other))
    if kind == "unexpected_rows_expectation":
        return _unexpected(kwargs, check)
    if kind in _ABOUT_SCHEMA:
        raise CaptureError("it is about the columns of a table, and no row is at fault")
    raise CaptureError(f"{kind} is not among the expectations that are known here")


def _unexpected(kwargs: _Kwargs, check: CheckBuilder) -> DataCheck:
    """Return the check of a query whose rows are unexpected; {batch} is the relation."""
    if check.where is not None:
        raise CaptureError("it has a row_condition beside its query")
    written = str(kwargs["unexpected_rows_query"]).replace("{batch}", check.relation)
    sql, _ = rename_relations(written, {})
    return DataCheck(check.name, sql, relations=(check.relation,))


def _among(kind: str, kwargs: _Kwargs) -> str | None:
    """Return the condition of the rows that an expectation is about; None: all."""
    if "column" in kwargs:
        is_about_null = kind.endswith("_be_null")
        return None if is_about_null else "x IS NOT NULL"
    names = [f"x{number}" for number in range(len(_names(kwargs)))]
    ignored = str(kwargs.get("ignore_row_if") or "all_values_are_missing")
    if ignored in ("never", "neither"):
        return None
    word = " AND " if ignored.startswith(("any", "either")) else " OR "
    return word.join(f"{name} IS NOT NULL" for name in names)


def _names(kwargs: _Kwargs) -> list[str]:
    if "column" in kwargs:
        return [str(kwargs["column"])]
    if "column_A" in kwargs:
        return [str(kwargs["column_A"]), str(kwargs["column_B"])]
    listed = kwargs.get("column_list")
    return [str(name) for name in listed] if isinstance(listed, list) else []


def _patterns(kwargs: _Kwargs) -> dict[str, Any]:
    patterns = kwargs.get("regex_list") or kwargs.get("like_pattern_list") or []
    values = {f"p{number}": pattern for number, pattern in enumerate(patterns)}
    for number, (a, b) in enumerate(kwargs.get("value_pairs_set") or []):
        values.update({f"a{number}": a, f"b{number}": b})
    return values


def _quantiles(check: CheckBuilder, kwargs: _Kwargs) -> Iterator[DataCheck]:
    ranges = kwargs["quantile_ranges"]
    for quantile, (low, high) in zip(ranges["quantiles"], ranges["value_ranges"], strict=True):
        one = replace(check, name=f"{check.name}[{quantile}]", values={"q": float(quantile)})
        bounds = _bounds({"min_value": low, "max_value": high})
        yield one.value("percentile(x, :q)", bounds)


def _bounds(kwargs: _Kwargs) -> ValueBounds:
    """Return the bounds ``min_value`` and ``max_value``, numbers or dates, as far as given."""
    ends = (_bound(kwargs.get("min_value")), _bound(kwargs.get("max_value")))
    return ValueBounds(*ends, bool(kwargs.get("strict_min")), bool(kwargs.get("strict_max")))


def _bound(value: Any) -> Any:
    """Return a bound as a number, a date, a time or a text."""
    if value is None or not isinstance(value, str):
        return None if value is None else float(value)
    for kind in (float, date.fromisoformat, datetime.fromisoformat):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


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
    if str(parser).startswith("great_expectations"):
        match = _COLUMN_CONDITION.match(str(condition))
        if match is None:
            raise CaptureError(f"its row_condition is {condition!r}, and not col(NAME) == VALUE")
        if match["present"]:
            return _compared(match["column"], "x IS NOT NULL", None)
        value = ast.literal_eval(match["date"] or match["value"])
        value = _bound(value) if match["date"] else value
        return _compared(match["column"], f"x {_OPERATORS[match['operator']]} :v", value)
    if parser != "spark":
        raise CaptureError(f"its row_condition is for {parser}, and not for Spark")
    return str(condition)


def _compared(column: str, test: str, value: Any) -> str:
    """Return a condition on a column as Spark SQL: what follows WHERE in a query."""
    template = f"SELECT 1 FROM r WHERE {test}"
    return fill(template, "r", {"x": column}, {"v": value}).split(" WHERE ", 1)[1]


def _structured(condition: Mapping[str, Any], parser: str | None) -> str:
    kind = condition["type"]
    if kind == "pass_through":
        return _condition(str(condition["pass_through_filter"]), parser) or ""
    if kind in ("and", "or"):
        parts = [f"({_structured(each, parser)})" for each in condition["conditions"]]
        return f" {kind.upper()} ".join(parts)
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
    return _compared(str(condition["column"]["name"]), test, condition.get("parameter"))
