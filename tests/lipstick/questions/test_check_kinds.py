"""Every kind of check that a tool has is read or refused by name; what is read means the same.

The expected failures and values are computed here from rows, in Python, as each tool documents its
checks; the queries are run by DuckDB.
"""

from __future__ import annotations

import itertools
import json
import random
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

import lipstick
from lipstick.questions.checks.check import DataCheck
from tests.oracle.duck import connected_duck
from tests.oracle.duck_sql import to_duckdb

Row = Mapping[str, Any]
Rows = list[Row]
Verdict = str | tuple[float, str]
"""Refused by a message; or the number of failures or the value, and passes, warns or fails."""


def _rows(seed: int) -> Rows:
    draw = random.Random(seed)
    states = ["ok", "bad", "a1", "7", "x@y.io", None]
    return [
        {
            "id": draw.choice([*range(12), None]),
            "a": draw.choice([None, -2.0, 0.0, 1.0, 2.5, 9.0]),
            "b": draw.choice([None, 0.0, 1.0, 2.5, 9.0]),
            "s": draw.choice(states),
        }
        for _ in range(12 + seed)
    ]


_SCHEMA = pa.schema(
    [("id", pa.int64()), ("a", pa.float64()), ("b", pa.float64()), ("s", pa.string())]
)
_SEEDS = range(6)


def _verdicts(checks: list[DataCheck], rows: Rows) -> list[Verdict]:
    """Return what checks find over rows, with DuckDB in the place of Spark."""
    with connected_duck() as connection:
        connection.register("t", pa.Table.from_pylist([dict(row) for row in rows], _SCHEMA))
        connection.register("dim", pa.table({"id": [1, 2, 3], "k": ["ok", "bad", "a1"]}))
        return [
            check.refused or _verdict(check, connection.execute(to_duckdb(check.sql)).fetchall())
            for check in checks
        ]


def _verdict(check: DataCheck, found: list[Any]) -> Verdict:
    if check.is_value:
        number = found[0][0]
    else:
        number = sum(row[-1] for row in found) if check.counts_rows else len(found)
    if number is None:
        return float("nan"), "fails"
    if check.bounds.side(number) is not None:
        return float(number), "fails"
    warned = check.warns is not None and check.warns.side(number) is not None
    return float(number), "warns" if warned else "passes"


def _agree(checks: list[DataCheck], expected: Sequence[tuple[Any, Any]], rows: Rows) -> None:
    assert len(checks) == len(expected), [check.name for check in checks]
    cases = zip(checks, expected, _verdicts(checks, rows), strict=True)
    for check, (kind, meaning), found in cases:
        wanted = meaning(rows) if callable(meaning) else meaning
        if isinstance(wanted, str):
            assert isinstance(found, str), (kind, check.sql)
            assert wanted in found, (kind, found)
        else:
            assert not isinstance(found, str), (kind, found)
            assert found[0] == pytest.approx(wanted[0], nan_ok=True), (kind, check.sql)
            assert found[1] == wanted[1], (kind, found, check.bounds, check.sql)


def _count(fails: Callable[[Row], bool]) -> Callable[[Rows], Verdict]:
    """Return the meaning of a check that no row fails."""

    def meaning(rows: Rows) -> Verdict:
        number = sum(bool(fails(row)) for row in rows)
        return number, "fails" if number else "passes"

    return meaning


def _value(
    value: Callable[[Rows], float | None], right: Callable[[float], bool]
) -> Callable[[Rows], Verdict]:
    def meaning(rows: Rows) -> Verdict:
        number = value(rows)
        if number is None:
            return float("nan"), "fails"
        return number, "passes" if right(number) else "fails"

    return meaning


def _share(holds: Callable[[Row], bool]) -> Callable[[Rows], float]:
    return lambda rows: sum(bool(holds(row)) for row in rows) / len(rows)


def _there(column: str, rows: Rows) -> list[Any]:
    return [row[column] for row in rows if row[column] is not None]


def _alike(columns: list[str], rows: Rows, *, any_null: bool = False) -> list[int]:
    """Return the numbers of rows of each value of columns, those with (only) NULL left out."""
    values = [tuple(row[name] for name in columns) for row in rows]
    keep = all if any_null else any
    return list(Counter(v for v in values if keep(x is not None for x in v)).values())


def _rows_alike(columns: list[str], **options: bool) -> Callable[[Rows], Verdict]:
    def meaning(rows: Rows) -> Verdict:
        number = sum(n for n in _alike(columns, rows, **options) if n > 1)
        return number, "fails" if number else "passes"

    return meaning


# -- Great Expectations ----------------------------------------------------------------------------

_GX: list[tuple[str, dict[str, Any], Any]] = [
    ("column_values_to_not_be_null", {"column": "a"}, _count(lambda r: r["a"] is None)),
    ("column_values_to_be_null", {"column": "a"}, _count(lambda r: r["a"] is not None)),
    (
        "column_values_to_be_in_set",
        {"column": "s", "value_set": ["ok", "bad", None]},
        _count(lambda r: r["s"] not in ("ok", "bad", None)),
    ),
    (
        "column_values_to_be_in_set",
        {"column": "s", "value_set": [None]},
        _count(lambda r: r["s"] is not None),
    ),
    (
        "column_values_to_not_be_in_set",
        {"column": "s", "value_set": ["ok", None]},
        _count(lambda r: r["s"] == "ok"),
    ),
    (
        "column_values_to_be_between",
        {"column": "a", "min_value": 0, "max_value": 2.5, "strict_max": True},
        _count(lambda r: r["a"] is not None and not 0 <= r["a"] < 2.5),
    ),
    ("column_values_to_be_unique", {"column": "id"}, _rows_alike(["id"])),
    (
        "column_values_to_be_unique",
        {"column": "id", "mostly": 0.5},
        _value(
            lambda rows: _alike(["id"], rows).count(1) / sum(_alike(["id"], rows)),
            lambda v: v >= 0.5,
        ),
    ),
    ("compound_columns_to_be_unique", {"column_list": ["id", "s"]}, _rows_alike(["id", "s"])),
    (
        "compound_columns_to_be_unique",
        {"column_list": ["id", "s"], "ignore_row_if": "any_value_is_missing"},
        _rows_alike(["id", "s"], any_null=True),
    ),
    (
        "multicolumn_values_to_be_equal",
        {"column_list": ["a", "b"]},
        _count(lambda r: r["a"] != r["b"]),
    ),
    (
        "column_pair_values_to_be_equal",
        {"column_A": "a", "column_B": "b", "ignore_row_if": "neither"},
        _count(lambda r: r["a"] != r["b"]),
    ),
    (
        "column_pair_values_to_be_equal",
        {"column_A": "a", "column_B": "b", "ignore_row_if": "either_value_is_missing"},
        _count(lambda r: None not in (r["a"], r["b"]) and r["a"] != r["b"]),
    ),
    (
        "column_mean_to_be_between",
        {"column": "a", "min_value": "1", "strict_min": True},
        _value(lambda rows: statistics.fmean(_there("a", rows)), lambda v: v > 1),
    ),
    (
        "column_values_to_not_be_null",
        {
            "column": "a",
            "row_condition": 'col("s")=="ok"',
            "condition_parser": "great_expectations__experimental__",
        },
        _count(lambda r: r["s"] == "ok" and r["a"] is None),
    ),
    (
        "column_values_to_be_null",
        {
            "column": "a",
            "row_condition": 'col("s").notNull()',
            "condition_parser": "great_expectations",
        },
        _count(lambda r: r["s"] is not None and r["a"] is not None),
    ),
    (
        "column_values_to_be_null",
        {
            "column": "a",
            "row_condition": 'col("b") >= 1.5',
            "condition_parser": "great_expectations",
        },
        _count(lambda r: r["b"] is not None and r["b"] >= 1.5 and r["a"] is not None),
    ),
    (
        "column_distinct_values_to_contain_set",
        {"column": "s", "value_set": ["ok", "bad"]},
        _value(lambda rows: len({"ok", "bad"} & set(_there("s", rows))), lambda v: v == 2),
    ),
    (
        "table_row_count_to_equal_other_table",
        {"other_table_name": "dim"},
        _value(lambda rows: len(rows) - 3, lambda v: v == 0),
    ),
    *(
        (kind, {"column": "a"}, "not among the expectations")
        for kind in (
            "column_kl_divergence_to_be_less_than",
            "column_most_common_value_to_be_in_set",
            "column_value_z_scores_to_be_less_than",
            "column_values_to_be_dateutil_parseable",
            "column_values_to_be_decreasing",
            "column_values_to_be_increasing",
            "column_values_to_be_json_parseable",
            "column_values_to_match_json_schema",
            "column_values_to_match_strftime_format",
            "column_values_to_not_be_outliers",
        )
    ),
    *(
        (kind, {"column": "a"}, "about the columns of a table")
        for kind in (
            "column_to_exist",
            "column_type_to_be",
            "column_values_to_be_of_type",
            "column_values_to_be_in_type_list",
            "table_column_count_to_equal",
            "table_columns_to_match_set",
        )
    ),
    ("query_results_to_match_comparison", {}, "does not name its columns"),
]


@pytest.mark.parametrize("of_version_0", [False, True])
def test_expectations_of_all_versions_mean_what_they_document(
    tmp_path: Path, of_version_0: bool
) -> None:
    kind_of, name_of = (
        ("expectation_type", "expectation_suite_name")
        if of_version_0
        else (
            "type",
            "name",
        )
    )
    expectations = [{kind_of: f"expect_{kind}", "kwargs": kwargs} for kind, kwargs, _ in _GX]
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({name_of: "t", "expectations": expectations}), "utf-8")
    checks = lipstick.read_checks(path, "great_expectations")
    for seed in _SEEDS:
        _agree(checks, [(kind, meaning) for kind, _, meaning in _GX], _rows(seed))


# -- Deequ -----------------------------------------------------------------------------------------


def _complies(fails: Callable[[Row], bool]) -> Callable[[Rows], Verdict]:
    """Return the meaning of a constraint that half of the rows comply."""
    return _value(_share(lambda row: not fails(row)), lambda v: v >= 0.5)


def _groups(
    value: Callable[[list[int]], float], right: Callable[[float], bool], *columns: str
) -> Callable[[Rows], Verdict]:
    return _value(lambda rows: value(_alike(list(columns), rows)), right)


def _unlike(holds: Callable[[float, float], bool], row: Row) -> bool:
    return None in (row["a"], row["b"]) or not holds(row["a"], row["b"])


_DEEQU: list[tuple[str, Any]] = [
    ('isComplete("a", "a hint")', _count(lambda r: r["a"] is None)),
    ('isComplete("a").where("b > 1")', _count(lambda r: (r["b"] or 0) > 1 and r["a"] is None)),
    ('hasCompleteness("a", lambda x: x >= 0.5)', _complies(lambda r: r["a"] is None)),
    ('areComplete(["a", "b"])', _count(lambda r: None in (r["a"], r["b"]))),
    ('areComplete(columns=["a", "b"])', _count(lambda r: None in (r["a"], r["b"]))),
    ('areAnyComplete(["a", "b"])', _count(lambda r: r["a"] is None and r["b"] is None)),
    (
        'haveCompleteness(["a", "b"], lambda x: x >= 0.5)',
        _complies(lambda r: None in (r["a"], r["b"])),
    ),
    (
        'haveAnyCompleteness(["a", "b"], lambda x: x >= 0.5)',
        _complies(lambda r: r["a"] is None and r["b"] is None),
    ),
    ('isUnique("id")', _rows_alike(["id"])),
    (
        'isUnique("id").where("b > 1")',
        lambda rows: _rows_alike(["id"])([row for row in rows if (row["b"] or 0) > 1]),
    ),
    ('isPrimaryKey("id", "s")', _rows_alike(["id", "s"])),
    (
        'hasUniqueness(["id", "s"], assertion=lambda x: 0.2 <= x < 0.9)',
        _groups(lambda g: g.count(1) / sum(g), lambda v: 0.2 <= v < 0.9, "id", "s"),
    ),
    (
        'hasUniqueness("id", lambda x: x == 1)',
        _rows_alike(["id"]),
    ),
    (
        'hasDistinctness(["a", "b"], lambda x: x > 0.5)',
        _groups(lambda g: len(g) / sum(g), lambda v: v > 0.5, "a", "b"),
    ),
    (
        'hasUniqueValueRatio(["a"], lambda x: x > 0.5)',
        _groups(lambda g: g.count(1) / len(g), lambda v: v > 0.5, "a"),
    ),
    (
        'hasNumberOfDistinctValues("s", lambda x: x < 6)',
        _value(lambda rows: len({row["s"] for row in rows}), lambda v: v < 6),
    ),
    ("hasSize(lambda x: x > 3 and x <= 14)", _value(len, lambda v: 3 < v <= 14)),
    (
        'hasMean("a", lambda x: 1 <= x)',
        _value(lambda rows: statistics.fmean(_there("a", rows)), lambda v: v >= 1),
    ),
    (
        'hasSum("a", lambda x: x > 9).where("s IS NOT NULL")',
        _value(
            lambda rows: sum(row["a"] or 0 for row in rows if row["s"] is not None), lambda v: v > 9
        ),
    ),
    (
        'hasMin("a", lambda x: x != -2)',
        _value(lambda rows: min(_there("a", rows)), lambda v: v != -2),
    ),
    ('hasMax("a", lambda x: x < 9)', _value(lambda rows: max(_there("a", rows)), lambda v: v < 9)),
    (
        'hasMinLength("s", lambda x: x >= 2)',
        _value(lambda rows: min(map(len, _there("s", rows))), lambda v: v >= 2),
    ),
    (
        'hasMaxLength("s", lambda x: x < 6)',
        _value(lambda rows: max(map(len, _there("s", rows))), lambda v: v < 6),
    ),
    (
        'isContainedIn("s", ["ok", "bad", None])',
        _count(lambda r: r["s"] not in ("ok", "bad", None)),
    ),
    (
        'isContainedIn("s", allowed_values=["ok"], assertion=lambda x: x >= 0.5)',
        _complies(lambda r: r["s"] not in ("ok", None)),
    ),
    ('isNonNegative("a")', _count(lambda r: (r["a"] or 0) < 0)),
    (
        'isPositive("a", lambda x: x >= 0.5)',
        _complies(lambda r: r["a"] is not None and r["a"] <= 0),
    ),
    *(
        (f'{name}("a", "b")', _count(partial(_unlike, holds)))
        for name, holds in (
            ("isLessThan", lambda a, b: a < b),
            ("isLessThanOrEqualTo", lambda a, b: a <= b),
            ("isGreaterThan", lambda a, b: a > b),
            ("isGreaterThanOrEqualTo", lambda a, b: a >= b),
        )
    ),
    (
        'satisfies("a > b", "greater")',
        _count(lambda r: None in (r["a"], r["b"]) or r["a"] <= r["b"]),
    ),
    (
        'satisfies("a > b", "greater", lambda x: x >= 0.5)',
        _complies(lambda r: None in (r["a"], r["b"]) or r["a"] <= r["b"]),
    ),
    ('hasPattern("s", "[a-z][0-9]")', _count(lambda r: r["s"] != "a1")),
    *(
        (text, "not among the constraints")
        for text in (
            'hasEntropy("s", lambda x: x > 1)',
            'hasMutualInformation("a", "b", lambda x: x > 1)',
            'hasHistogramValues("s", lambda x: x > 1, None, 10)',
            'hasDataType("s", ConstrainableDataTypes.Integral)',
            'kllSketchSatisfies("a", lambda x: x.parameters().apply(0) == 1.0)',
            'containsCreditCardNumber("s")',
            'containsEmail("s")',
            'containsURL("s")',
            'containsSocialSecurityNumber("s")',
        )
    ),
    ('isComplete("a", column="b", row_level=True)', "its 'row_level' is not read"),
    ("isComplete(name)", "its column is name, and not a literal"),
    ("isComplete()", "does not name its columns"),
    ('isComplete("a").where(condition)', "its where is condition, and not a literal"),
    ('hasMean("a", limit)', "compare with a number"),
    ('hasMean("a", lambda x: x > 1 or x < 0)', "compare with a number"),
    ('hasNumberOfDistinctValues("s", lambda x: x < 6, binning, 9)', "and not a literal"),
]


def test_constraints_of_deequ_mean_what_they_document(tmp_path: Path) -> None:
    path = tmp_path / "checks.py"
    for written in (
        "\n".join(f"    .{text}" for text, _ in _DEEQU),
        "check" + "".join(f".{text}" for text, _ in _DEEQU),
    ):
        path.write_text(written, "utf-8")
        checks = lipstick.read_checks(path, "deequ", "t")
        assert [check.name for check in checks][1] == "isComplete('a').where('b > 1')"
        for seed in _SEEDS:
            _agree(checks, _DEEQU, _rows(seed))


def test_results_of_deequ_with_a_filter_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    names = ["Completeness(a,Some(b > 1),None)", "Uniqueness(List(id, s),None,None)"]
    document = [{"constraint": f"{name.split('(')[0]}Constraint({name})"} for name in names]
    path.write_text(json.dumps([*document, {"code_for_constraint": ".isComplete("}]), "utf-8")
    expected = [
        ("filter", "filter or options"),
        ("two", _rows_alike(["id", "s"])),
        ("bad", "neither"),
    ]
    _agree(lipstick.read_checks(path, "deequ", "t"), expected, _rows(1))


# -- Soda ------------------------------------------------------------------------------------------

_SODA: list[tuple[Any, Any]] = [
    ("row_count between (12 and 15]", _value(len, lambda v: 12 < v <= 15)),
    ("row_count between [12 and 15)", _value(len, lambda v: 12 <= v < 15)),
    ("row_count not between 12 and 14", _value(len, lambda v: not 12 <= v <= 14)),
    ("row_count same as dim", _value(lambda rows: len(rows) - 3, lambda v: v == 0)),
    (
        {"row_count > 3": {"attributes": {"a": 1}, "samples limit": 2, "identity": "i"}},
        _value(len, lambda v: v > 3),
    ),
    ("missing_count(a) = 0", _count(lambda r: r["a"] is None)),
    (
        {"missing_count(s) = 0": {"missing values": ["7", None], "missing regex": "^x"}},
        _count(lambda r: r["s"] in (None, "7", "x@y.io")),
    ),
    (
        "missing_percent(a) < 10.5%",
        _value(
            lambda rows: round(sum(row["a"] is None for row in rows) * 100 / len(rows), 2),
            lambda v: v < 10.5,
        ),
    ),
    (
        {"invalid_count(s) = 0": {"valid values": ["ok", None], "filter": "b > 1"}},
        _count(lambda r: (r["b"] or 0) > 1 and r["s"] not in ("ok", None)),
    ),
    (
        {"invalid_count(s) = 0": {"valid format": "integer"}},
        _count(lambda r: r["s"] not in (None, "7")),
    ),
    ({"invalid_count(s) = 0": {"valid format": "email"}}, "its valid format 'email' is not read"),
    (
        {"valid_count(s) > 2": {"valid values": ["ok", "bad"]}},
        _value(lambda rows: sum(row["s"] in ("ok", "bad") for row in rows), lambda v: v > 2),
    ),
    ("invalid_count(id) = 0", _count(lambda r: r["id"] is not None and r["id"] > 9)),
    (
        "duplicate_count(id) = 0",
        lambda rows: (
            n := sum(k > 1 for k in _alike(["id"], rows)),
            "fails" if n else "passes",
        ),
    ),
    (
        {"avg(a)": {"warn": "when > 1", "fail": "when > 3"}},
        lambda rows: (
            v := statistics.fmean(_there("a", rows)),
            "fails" if v > 3 else "warns" if v > 1 else "passes",
        ),
    ),
    (
        {"row_count": {"warn": "when between 12 and 14"}},
        lambda rows: (len(rows), "warns" if 12 <= len(rows) <= 14 else "passes"),
    ),
    ("max(a) <= 2.5", _value(lambda rows: max(_there("a", rows)), lambda v: v <= 2.5)),
    (
        "values in (s) must exist in dim (k)",
        _count(lambda r: r["s"] not in ("ok", "bad", "a1", None)),
    ),
    ("values in s must exist in dim k", _count(lambda r: r["s"] not in ("ok", "bad", "a1", None))),
    (
        {"values in (id, s) must exist in dim (id, k)": {"samples limit": 5}},
        _count(lambda r: (r["id"], r["s"]) not in ((1, "ok"), (2, "bad"), (3, "a1"), (None, None))),
    ),
    (
        {"failed rows": {"name": "none", "fail condition": "a > b"}},
        _count(lambda r: None not in (r["a"], r["b"]) and r["a"] > r["b"]),
    ),
    (
        {"failed rows": {"fail query": "SELECT * FROM t WHERE a < 0;", "warn": "when > 0"}},
        lambda rows: (
            n := sum((row["a"] or 0) < 0 for row in rows),
            "warns" if n else "passes",
        ),
    ),
    (
        {"twice < 4": {"twice expression": "2 * count(DISTINCT s)"}},
        _value(lambda rows: 2 * len(set(_there("s", rows))), lambda v: v < 4),
    ),
    ("row_count > ${LEAST}", _value(len, lambda v: v > 13)),
    ("row_count > ${MOST}", "the variable MOST has no value"),
    ("row_count > 1.2.3", "threshold '> 1.2.3' is not read"),
    ({"row_count > 1": {"method": "psi"}}, "its 'method' is not read"),
    ({"row_count > 1": 5}, "its 'its own value' is not read"),
    ("anomaly detection for row_count", "is not read"),
    ("anomaly score for row_count < default", "is not read"),
    ("change for row_count < 5", "is not read"),
    ("freshness(ts) < 1d", "is not read"),
    ("duplicate_percent(id) < 5", "not among the metrics"),
    ("percentile(a, 0.95) < 5", "not among the metrics"),
    ({"distribution_difference(a) > 0.05": {"method": "ks"}}, "its 'method' is not read"),
    ({"schema": {"fail": {"when required column missing": ["id"]}}}, "is not read"),
    ({"group by": {"query": "SELECT 1", "fields": ["a"]}}, "is not read"),
    ({"group evolution": {"query": "SELECT 1"}}, "is not read"),
    ([1, 2], "it is not a metric with a threshold"),
    (None, "it has no threshold"),
]


def test_checks_of_soda_mean_what_they_document(tmp_path: Path) -> None:
    path = tmp_path / "checks.yml"
    document = {
        "checks for t": [{"attributes": {"team": "x"}}, *(check for check, _ in _SODA)],
        "configurations for t": {"valid max for id": 9},
        "filter t [big]": {"where": "b > 1"},
        "checks for t [big]": ["row_count > 0", {"missing_count(a) = 0": {"filter": "s = 'ok'"}}],
        "checks for t [small]": ["row_count > 0"],
        "for each dataset d": {"datasets": ["t"], "checks": ["row_count > 0"]},
        "profile columns": {"columns": ["%"]},
    }
    path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    checks = lipstick.read_checks(path, "soda", variables={"LEAST": 13})
    expected = [
        *_SODA,
        ("part", _value(lambda rows: sum((row["b"] or 0) > 1 for row in rows), lambda v: v > 0)),
        ("part", _count(lambda r: (r["b"] or 0) > 1 and r["s"] == "ok" and r["a"] is None)),
        ("part", "its filter [small] is not in the file"),
        ("for each", "parts of Soda's files other than"),
        ("profile", "parts of Soda's files other than"),
    ]
    for seed in _SEEDS:
        _agree(checks, expected, _rows(seed))


# -- Pandera ---------------------------------------------------------------------------------------

_BUILT_IN: Mapping[str, tuple[Any, str, Callable[[Any], bool]]] = {
    "equal_to": (1, "a", lambda v: v == 1),
    "not_equal_to": (1, "a", lambda v: v != 1),
    "greater_than": (0, "a", lambda v: v > 0),
    "greater_than_or_equal_to": (0, "a", lambda v: v >= 0),
    "less_than": (2.5, "a", lambda v: v < 2.5),
    "less_than_or_equal_to": (2.5, "a", lambda v: v <= 2.5),
    "in_range": (
        {"min_value": 0, "max_value": 2.5, "include_max": False},
        "a",
        lambda v: 0 <= v < 2.5,
    ),
    "isin": (["ok", "bad"], "s", lambda v: v in ("ok", "bad")),
    "notin": (["ok", "bad"], "s", lambda v: v not in ("ok", "bad")),
    "str_matches": ("a|o", "s", lambda v: v[0] in "ao"),
    "str_contains": ("a", "s", lambda v: "a" in v),
    "str_startswith": ("o", "s", lambda v: v.startswith("o")),
    "str_endswith": ("d", "s", lambda v: v.endswith("d")),
    "str_length": ({"min_value": 2, "max_value": 3}, "s", lambda v: 2 <= len(v) <= 3),
}
_ARGUMENT = {"isin": "allowed_values", "notin": "forbidden_values", "str_startswith": "string"}


def _fails(column: str, holds: Callable[[Any], bool], accepts_null: bool, row: Row) -> bool:
    return not accepts_null if row[column] is None else not holds(row[column])


def _pandera() -> list[tuple[str, dict[str, Any], Callable[[Row], bool], bool]]:
    """Return columns with one check, the rows that fail it, and whether it only warns.

    NULL fails with ignore_na: false, unless it is among allowed values; it differs from any value,
    as pandas has it.
    """
    cases: list[tuple[str, dict[str, Any], Callable[[Row], bool], bool]] = []
    for (kind, (value, column, holds)), ignored, null, warns in itertools.product(
        _BUILT_IN.items(), (True, False), (False, True), (False, True)
    ):
        if null and kind not in ("isin", "notin"):
            continue
        given = [*value, None] if null else value
        if not isinstance(given, dict):
            given = {_ARGUMENT.get(kind, "value"): given}
        options = {"ignore_na": ignored, "raise_warning": warns}
        accepts_null = ignored or (
            null if kind == "isin" else kind in ("notin", "not_equal_to") and not null
        )

        fails = partial(_fails, column, holds, accepts_null)
        cases.append((column, {kind: {**given, "options": options}}, fails, warns))
    return cases


def test_checks_of_pandera_mean_what_pandas_makes_of_them(tmp_path: Path) -> None:
    path = tmp_path / "schema.yml"
    for column, check, fails, warns in _pandera():
        document = {"name": "t", "columns": {column: {"nullable": True, "checks": check}}}
        path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
        checks = lipstick.read_checks(path, "pandera")
        for seed in (0, 3):
            number = sum(fails(row) for row in _rows(seed))
            verdict = "passes" if not number else "warns" if warns else "fails"
            _agree(checks, [(str(check), (number, verdict))], _rows(seed))


def test_a_bad_column_of_pandera_does_not_take_the_others(tmp_path: Path) -> None:
    path = tmp_path / "schema.yml"
    path.write_text(
        yaml.safe_dump(
            {
                "columns": {
                    "id": ["int"],
                    "a": {"checks": [{"value": 0, "options": {"check_name": "greater_than"}}]},
                    "b": {"checks": 5, "nullable": True},
                    "s": {"unique": True, "report_duplicates": "exclude_first", "in_range": 7},
                    "id,s": {"unique_values_eq": ["a"], "nullable": True},
                },
                "unique": ["id", "s"],
                "index": [{"dtype": "int64"}],
            },
            sort_keys=False,
        ),
        "utf-8",
    )
    expected = [
        ("list", "ValueError"),
        ("not null", _count(lambda r: r["a"] is None)),
        ("list of checks", _count(lambda r: r["a"] is not None and r["a"] <= 0)),
        ("checks", "TypeError"),
        ("not null", _count(lambda r: r["s"] is None)),
        (
            "unique",
            lambda rows: (
                n := sum(k - 1 for k in Counter(row["s"] for row in rows).values()),
                "fails" if n else "passes",
            ),
        ),
        ("range", "KeyError"),
        ("values", "unique_values_eq is not among"),
        (
            "two",
            lambda rows: (
                n := sum(k for k in Counter((r["id"], r["s"]) for r in rows).values() if k > 1),
                "fails" if n else "passes",
            ),
        ),
        ("index", "index of schemas are not read"),
    ]
    for seed in _SEEDS:
        _agree(lipstick.read_checks(path, "pandera", "t"), expected, _rows(seed))


# -- every tool ------------------------------------------------------------------------------------

_BAD: Mapping[str, Callable[[Any], Any]] = {
    "great_expectations": lambda bad: {
        "name": "t",
        "expectations": [
            {"type": "expect_column_values_to_not_be_null", "kwargs": {"column": "a"}},
            bad,
            {"type": "expect_column_mean_to_be_between", "kwargs": bad},
            {
                "type": "expect_column_values_to_be_between",
                "kwargs": {"column": bad, "min_value": bad, "mostly": bad, "value_set": bad},
            },
        ],
    },
    "soda": lambda bad: {
        "checks for t": [
            "missing_count(a) = 0",
            bad,
            {"row_count > 0": bad},
            {"invalid_count(a) = 0": {"valid values": bad, "filter": bad}},
        ],
        "configurations for t": bad,
        "filter t [p]": bad,
    },
    "pandera": lambda bad: {
        "name": "t",
        "columns": {"a": {}, "b": bad, "s": {"isin": bad, "unique": bad, "checks": bad}},
    },
}


@pytest.mark.parametrize("tool", list(_BAD))
@pytest.mark.parametrize(
    "bad", [None, 5, "x", [], [1, None], {}, {"a": {"b": 1}}, [[1]], -0.5, True]
)
def test_one_bad_check_never_takes_the_others(tmp_path: Path, tool: Any, bad: Any) -> None:
    path = tmp_path / "document"
    path.write_text(json.dumps(_BAD[tool](bad)), "utf-8")
    first, *others = lipstick.read_checks(path, tool)
    assert _verdicts([first], _rows(2)) == [_count(lambda r: r["a"] is None)(_rows(2))]
    assert all(check.refused or check.sql for check in others)
