"""Checks of dbt, Great Expectations, Deequ, Soda and Pandera: read, run, explained."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lipstick
from lipstick.errors import CapabilityError, CaptureError
from lipstick.questions.checks.check import CheckResult, DataCheck, ValueBounds
from tests.oracle.database import Database, Relation
from tests.oracle.duck import connected_duck
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.written import write_capture

_ORDERS = pa.table(
    {
        "id": [1, 2, 3, 4, 5, 5],
        "customer": [10, 11, 12, None, 10, 13],
        "status": ["paid", "open", "lost", "paid", None, "paid"],
        "amount": [5.0, -3.0, 7.0, 80.0, 90.0, None],
        "paid": [5.0, 3.0, None, 90.0, 90.0, None],
    }
)
_SCHEMA = "id bigint, customer bigint, status string, amount double, paid double"


def _number(check: DataCheck) -> float:
    """Return what an independent engine finds: the number of failing rows, or the value."""
    with connected_duck() as connection:
        connection.register("orders", _ORDERS)
        rows = connection.execute(to_duckdb(check.sql)).fetchall()
    if check.is_value:
        return float(rows[0][0])
    return float(sum(row[-1] for row in rows) if check.counts_rows else len(rows))


def _suite(folder: Path, expectations: list[tuple[str, Mapping[str, Any]]]) -> Path:
    document = {
        "name": "orders",
        "id": "5d6c2a0e-8a0c-4a55-a2a6-6f6d37f40e9b",
        "expectations": [
            {"type": f"expect_{kind}", "kwargs": kwargs, "meta": {}, "severity": "critical"}
            for kind, kwargs in expectations
        ],
        "meta": {"great_expectations_version": "1.24.1"},
        "notes": None,
    }
    path = folder / "orders.json"
    path.write_text(json.dumps(document), "utf-8")
    return path


_COLUMN = {"column": "amount"}
_PAIR = {"column_A": "amount", "column_B": "paid"}
_LIST = {"column_list": ["amount", "paid"]}
_EXPECTATIONS: list[tuple[str, dict[str, Any], float, bool]] = [
    ("column_values_to_not_be_null", _COLUMN, 1, False),
    ("column_values_to_not_be_null", {**_COLUMN, "mostly": 0.8}, 5 / 6, True),
    ("column_values_to_be_null", _COLUMN, 5, False),
    ("column_values_to_be_between", {**_COLUMN, "min_value": 5, "max_value": 80}, 2, False),
    ("column_values_to_be_between", {**_COLUMN, "min_value": 5, "strict_min": True}, 2, False),
    ("column_values_to_be_between", {**_COLUMN, "max_value": 9, "mostly": 0.9}, 0.6, False),
    ("column_values_to_be_in_set", {"column": "status", "value_set": ["paid"]}, 2, False),
    ("column_values_to_not_be_in_set", {"column": "status", "value_set": ["paid"]}, 3, False),
    ("column_values_to_match_regex", {"column": "status", "regex": "^p"}, 2, False),
    ("column_values_to_not_match_regex", {"column": "status", "regex": "^p"}, 3, False),
    ("column_values_to_match_regex_list", {"column": "status", "regex_list": ["p", "s"]}, 0, True),
    (
        "column_values_to_match_regex_list",
        {"column": "status", "regex_list": ["p", "n"], "match_on": "all"},
        4,
        False,
    ),
    ("column_values_to_not_match_regex_list", {"column": "status", "regex_list": ["^o"]}, 1, False),
    ("column_values_to_match_like_pattern", {"column": "status", "like_pattern": "%p%"}, 1, False),
    ("column_value_lengths_to_be_between", {"column": "status", "max_value": 3}, 5, False),
    ("column_value_lengths_to_equal", {"column": "status", "value": 4}, 0, True),
    ("column_pair_values_to_be_equal", _PAIR, 3, False),
    ("column_pair_values_a_to_be_greater_than_b", _PAIR, 4, False),
    ("column_pair_values_a_to_be_greater_than_b", {**_PAIR, "or_equal": True}, 2, False),
    ("column_pair_values_to_be_in_set", {**_PAIR, "value_pairs_set": [[5, 5], [7, 7]]}, 4, False),
    ("multicolumn_sum_to_equal", {**_LIST, "sum_total": 10}, 4, False),
    ("select_column_values_to_be_unique_within_record", _LIST, 2, False),
    ("column_values_to_be_unique", {"column": "id"}, 2, False),
    ("column_values_to_be_unique", {"column": "id", "mostly": 0.6}, 4 / 6, True),
    ("multicolumn_values_to_be_equal", _LIST, 3, False),
    ("compound_columns_to_be_unique", {"column_list": ["id", "status"]}, 0, True),
    ("column_mean_to_be_between", {**_COLUMN, "max_value": 20}, 35.8, False),
    ("column_median_to_be_between", {**_COLUMN, "max_value": 20}, 7, True),
    ("column_sum_to_be_between", {**_COLUMN, "min_value": 20}, 179, True),
    ("column_min_to_be_between", {**_COLUMN, "min_value": 0}, -3, False),
    ("column_max_to_be_between", {**_COLUMN, "max_value": 90, "strict_max": True}, 90, False),
    ("column_stdev_to_be_between", {**_COLUMN, "max_value": 50}, 45.2073003, True),
    ("column_unique_value_count_to_be_between", {"column": "id", "max_value": 4}, 5, False),
    (
        "column_proportion_of_unique_values_to_be_between",
        {"column": "id", "min_value": 1.0},
        5 / 6,
        False,
    ),
    (
        "column_proportion_of_non_null_values_to_be_between",
        {**_COLUMN, "min_value": 1},
        5 / 6,
        False,
    ),
    ("table_row_count_to_be_between", {"min_value": 6}, 6, True),
    ("table_row_count_to_equal", {"value": 5}, 6, False),
    ("column_distinct_values_to_be_in_set", {"column": "status", "value_set": ["paid"]}, 2, False),
    (
        "column_distinct_values_to_contain_set",
        {"column": "status", "value_set": ["paid", "sent"]},
        1,
        False,
    ),
    (
        "column_quantile_values_to_be_between",
        {**_COLUMN, "quantile_ranges": {"quantiles": [0.75], "value_ranges": [[None, 50]]}},
        80,
        False,
    ),
    (
        "column_values_to_not_be_null",
        {
            **_COLUMN,
            "row_condition": {
                "type": "and",
                "conditions": [
                    {
                        "column": {"name": "status"},
                        "operator": "==",
                        "parameter": "paid",
                        "type": "comparison",
                    },
                    {"column": {"name": "customer"}, "is_null": False, "type": "nullity"},
                ],
            },
        },
        1,
        False,
    ),
]


def test_expectations_mean_what_they_mean_in_great_expectations(tmp_path: Path) -> None:
    suite = _suite(tmp_path, [(kind, kwargs) for kind, kwargs, _, _ in _EXPECTATIONS])
    checks = lipstick.read_checks(suite, "great_expectations")
    assert len(checks) == len(_EXPECTATIONS)
    for check, (kind, kwargs, number, passes) in zip(checks, _EXPECTATIONS, strict=True):
        assert check.refused is None, (kind, check.refused)
        found = _number(check)
        assert found == pytest.approx(number), (kind, kwargs, check.sql, found)
        assert (check.bounds.side(found) is None) == passes, (kind, kwargs, found)


def _result(check: DataCheck, folder: Path) -> CheckResult:
    orders = Relation("orders", ("id",), _SCHEMA, _ORDERS.slice(0, 5))
    customers = Relation(
        "customers", ("customer",), "customer bigint", pa.table({"customer": [10, 11]})
    )
    database = Database({"orders": orders, "customers": customers})
    return CheckResult(check, write_capture(check.sql, database, folder / "capture"))


def _sources(result: CheckResult) -> dict[str, pa.Table]:
    tables = {"orders": _ORDERS.slice(0, 5), "customers": pa.table({"customer": [10, 11]})}
    return {name: tables[name] for name in result.frame.manifest.relations}  # type: ignore[union-attr]


def test_a_red_expectation_about_a_mean_is_explained_and_its_rows_set_aside(tmp_path: Path) -> None:
    kwargs = {"column": "amount", "max_value": 20, "strict_max": True}
    suite = _suite(tmp_path, [("column_mean_to_be_between", kwargs)])
    (check,) = lipstick.read_checks(suite, "great_expectations")
    result = _result(check, tmp_path)
    assert not result.passed
    assert result.sentence.endswith("fails: its value is 35.8, less than 20.")
    said = result.why(sources=_sources(result), limit=1)
    (cause,) = said.causes
    answer = cause.what_if().df
    assert answer.column("value")[0].as_py() == pytest.approx(cause.after)
    assert cause.after < result.number
    assert said.repairs(1).size == 2
    aside = result.quarantine(sources=_sources(result), limit=1)
    assert {90.0} <= {*aside.column("amount").to_pylist()} <= {80.0, 90.0}
    assert all(r.startswith("expect_column_mean") for r in aside.column("_reasons").to_pylist())


def test_only_the_rows_without_which_nothing_fails_are_set_aside(tmp_path: Path) -> None:
    accounts = pa.table({"account": [*range(1, 7)], "source": ["qb1"] + ["qb2"] * 5})
    invoices = pa.table(
        {"invoice": [*range(11)], "account": [1] * 6 + [*range(2, 7)], "n": [7] * 11}
    )
    tables = {"accounts": accounts, "invoices": invoices}
    database = Database(
        {
            "accounts": Relation(
                "accounts", ("account",), "account bigint, source string", accounts
            ),
            "invoices": Relation(
                "invoices", ("invoice",), "invoice bigint, account bigint, n bigint", invoices
            ),
        }
    )
    query = (
        "SELECT n, count(*) AS rows FROM invoices JOIN accounts USING (account) GROUP BY n "
        "HAVING count(*) > 5"
    )
    capture = write_capture(query, database, tmp_path / "capture")
    said = capture.why(sources=tables, limit=1, columns={"accounts": ["source"], "invoices": ["n"]})
    (cause,) = said.causes
    assert (cause.relation, cause.after) == ("accounts", 0)
    aside = said.quarantine()
    assert aside.column("_reasons").to_pylist() == [cause.text]
    assert said.quarantine("accounts").equals(aside)
    assert said.top(1).column("account").to_pylist() == [1]
    assert said.repairs(1).size == 1
    assert said.quarantine("invoices").num_rows == 11


def test_what_is_not_about_rows_is_refused_before_it_runs(tmp_path: Path) -> None:
    refused: list[tuple[str, dict[str, Any], str]] = [
        ("column_to_exist", {"column": "a"}, "about the columns of a table"),
        ("column_kl_divergence_to_be_less_than", {"column": "a"}, "not among the expectations"),
        ("column_values_to_be_between", {"column": "a"}, "neither min_value nor max_value"),
        ("column_mean_to_be_between", {"column": "a"}, "allows any value"),
        ("column_values_to_be_in_set", {"column": "a", "value_set": []}, "value_set is empty"),
        ("column_values_to_not_be_null", {"column": "a", "mostly": "x"}, "ValueError: could not"),
        ("column_values_to_be_null", {"column": "a", "tolerance": 3}, "its tolerance is not read"),
        (
            "column_max_to_be_between",
            {"column": "a", "max_value": {"$PARAMETER": "m"}},
            "parameter",
        ),
        ("column_values_to_be_in_set", {"column": "a", "value_set": None}, "value_set is empty"),
        ("column_pair_values_to_be_equal", {"column_list": 5}, "does not name its columns"),
        (
            "column_values_to_be_null",
            {
                "column": "a",
                "row_condition": 'col("b") like 1',
                "condition_parser": "great_expectations",
            },
            "not col.NAME. == VALUE",
        ),
        (
            "column_values_to_be_null",
            {"column": "a", "row_condition": "b==1", "condition_parser": "pandas"},
            "for pandas",
        ),
        (
            "column_values_to_be_null",
            {"column": "a", "row_condition": "b = = 1", "condition_parser": "spark"},
            "cannot be parsed",
        ),
    ]
    suite = _suite(tmp_path, [(kind, kwargs) for kind, kwargs, _ in refused])
    checks = lipstick.read_checks(suite, "great_expectations")
    session = object.__new__(lipstick.Session)  # It is refused before the session is used.
    for check, (_, _, message) in zip(checks, refused, strict=True):
        with pytest.raises(CapabilityError, match=message):
            check.run(session)
    suite.write_text("[]", "utf-8")
    with pytest.raises(CaptureError, match="not a suite of Great Expectations"):
        lipstick.read_checks(suite, "great_expectations")


def _model(name: str) -> dict[str, Any]:
    return {
        "resource_type": "model",
        "name": name,
        "alias": f"{name}_v1",
        "database": None,
        "schema": "shop",
        "relation_name": f"shop.{name}_v1",
    }


def _target(folder: Path, **tests: Mapping[str, Any]) -> Path:
    """Write the artifacts of a project with two models and some tests."""
    nodes: dict[str, Any] = {f"model.s.{n}": _model(n) for n in ("orders", "customers")}
    results = []
    for name, test in tests.items():
        nodes[f"test.s.{name}"] = {
            "resource_type": "test",
            "name": name,
            "compiled_path": f"target/compiled/s/{name}.sql",
            "compiled_code": test.get("code"),
            "depends_on": {"macros": [], "nodes": ["model.s.orders", "model.s.customers"]},
            "config": {
                "severity": "ERROR",
                "fail_calc": "count(*)",
                "warn_if": "!= 0",
                "error_if": "!= 0",
                **test.get("config", {}),
            },
        }
        results.append({"unique_id": f"test.s.{name}", "status": "fail", "failures": 1})
    schema = "https://schemas.getdbt.com/dbt"
    manifest = {
        "metadata": {"dbt_schema_version": f"{schema}/manifest/v12.json", "adapter_type": "spark"},
        "nodes": nodes,
        "sources": {},
    }
    run = {
        "metadata": {"dbt_schema_version": f"{schema}/run-results/v6.json"},
        "results": results,
    }
    target = folder / "target"
    target.mkdir(exist_ok=True)
    (target / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    (target / "run_results.json").write_text(json.dumps(run), "utf-8")
    return target


_RELATIONSHIPS = """
with child as (
    select customer as from_field from shop.orders_v1 where customer is not null
),
parent as (select customer as to_field from `shop`.`customers_v1`)
select from_field from child
left join parent on child.from_field = parent.to_field
where parent.to_field is null
"""


def test_a_generic_test_of_dbt_leads_to_the_rows_without_a_partner(tmp_path: Path) -> None:
    target = _target(tmp_path, relationships_orders_customer={"code": _RELATIONSHIPS})
    (check,) = lipstick.read_checks(target, "dbt")
    assert (check.relations, check.recorded) == (("orders", "customers"), 1.0)
    result = _result(check, tmp_path)
    assert (result.number, result.passed) == (1.0, False)
    aside = result.quarantine("orders", sources=_sources(result))
    assert aside.column("id").to_pylist() == [3]
    assert result.sentence == (
        "relationships_orders_customer fails: the number of failures is 1, at most 0."
    )
    (reason,) = aside.column("_reasons").to_pylist()
    assert reason.startswith("relationships_orders_customer: ")


def test_thresholds_and_singular_tests_of_dbt(tmp_path: Path) -> None:
    singular = "select id from shop.orders_v1 as o where o.amount < 0"
    none, few, ten = ValueBounds(high=0), ValueBounds(high=3, below=True), ValueBounds(high=10)
    lacking, two = ValueBounds(0, 0, outside=True), ValueBounds(1, 2, outside=True)
    cases: dict[str, tuple[dict[str, Any], tuple[ValueBounds, ValueBounds | None] | str]] = {
        "plain": ({}, (none, None)),
        "warns": ({"severity": "warn", "warn_if": ">= 3", "error_if": "> 9"}, (ValueBounds(), few)),
        "fails": ({"warn_if": ">5", "error_if": ">10"}, (ten, ValueBounds(high=5))),
        "lacks": ({"error_if": "= 0"}, (lacking, none)),
        "other": ({"warn_if": "between 1 and 2"}, (none, two)),
        "odd": ({"warn_if": "like 1"}, "a number of failures is meant"),
        "summed": ({"fail_calc": "sum(n)"}, "and not count"),
    }
    tests = {n: {"code": singular, "config": config} for n, (config, _) in cases.items()}
    target = _target(tmp_path, absent={}, broken={"code": "select from where"}, **tests)
    checks = {check.name: check for check in lipstick.read_checks(target, "dbt")}
    assert "is not compiled" in (checks["absent"].refused or "")
    assert "is not understood" in (checks["broken"].refused or "")
    for name, (_, expected) in cases.items():
        if isinstance(expected, str):
            assert expected in (checks[name].refused or "")
        else:
            assert (checks[name].bounds, checks[name].warns) == expected
            assert _number(checks[name]) == 1
    compiled = tmp_path / "target/compiled/s/absent.sql"
    compiled.parent.mkdir(parents=True)
    compiled.write_text(singular, "utf-8")
    assert lipstick.read_checks(target, "dbt")[0].refused is None
    (target / "manifest.json").write_text('{"metadata": {}}', "utf-8")
    with pytest.raises(CaptureError, match="not a manifest of dbt"):
        lipstick.read_checks(target, "dbt")


_CONSTRAINTS = """
.isComplete("amount").isUnique("id")
.isContainedIn("status", ["paid", "open"])
.isNonNegative("amount")
.isLessThan("amount", "paid")
.hasSize(lambda x: x >= 7)
.hasCompleteness("amount", lambda x: x >= 0.9)
.hasMean("amount", lambda x: x <= 20)
.hasNumberOfDistinctValues("id", lambda x: x < 5)
.hasApproxQuantile("amount", 0.5, lambda x: x <= 5)
.satisfies("amount > 0", "positive", lambda x: x >= 0.9)
.satisfies("amount > 0", "positive")
.hasMax("amount", lambda x: 0 < x and x < limit)
.containsURL("status")
.hasEntropy("amount", lambda x: x < 1)
"""


def test_constraints_of_deequ_are_read_from_calls_and_results(tmp_path: Path) -> None:
    path = tmp_path / "constraints.txt"
    path.write_text(_CONSTRAINTS, "utf-8")
    checks = lipstick.read_checks(path, "deequ", "orders")
    asked = [check for check in checks if check.refused is None]
    numbers = [1, 2, 1, 1, 4, 6, 5 / 6, 35.8, 5, 7, 4 / 6, 2]
    assert [_number(check) for check in asked] == pytest.approx(numbers)
    assert all(check.bounds.side(_number(check)) is not None for check in asked)
    assert [check.refused for check in checks[-3:]] == [
        "its assertion is lambda x: 0 < x and x < limit: compare with a number",
        "containsURL is not among the constraints that are known here",
        "hasEntropy is not among the constraints that are known here",
    ]
    results = [
        {"constraint": "CompletenessConstraint(Completeness(amount,None,None))"},
        {"constraint": "UniquenessConstraint(Uniqueness(List(id),None,None))"},
        {"constraint": "MeanConstraint(Mean(amount,None,None))"},
        {"code_for_constraint": '.isNonNegative("amount")'},
    ]
    path.write_text(json.dumps(results), "utf-8")
    checks = lipstick.read_checks(path, "deequ", "orders")
    assert "do not have what it asserts" in (checks.pop(2).refused or "")
    assert [_number(check) for check in checks] == [1, 2, 1]
    with pytest.raises(CaptureError, match="name no relation"):
        lipstick.read_checks(path, "deequ")
    path.write_text("{", "utf-8")
    with pytest.raises(CaptureError, match="neither JSON nor Python"):
        lipstick.read_checks(path, "deequ", "orders")


_SODA = """
filter orders [daily]:
  where: id > 1
checks for orders:
  - row_count between 7 and 9
  - missing_count(amount) = 0
  - missing_percent(amount) < 10%
  - missing_count(status) < 1:
      missing values: [lost, open]
  - duplicate_count(id) = 0
  - duplicate_count(id, customer) = 0
  - invalid_count(status) = 0:
      valid values: [paid, open]
      filter: id < 9
  - invalid_percent(amount) <= 10:
      valid min: 0
  - invalid_count(status) = 0:
      valid regex: ^p
      name: states begin with p
  - avg(amount):
      warn: when > 100
      fail: when > 20
  - max(amount) < 90
  - sum(amount) > 0:
      valid max: -1
  - min_length(status) >= 5
  - row_count != 0
  - freshness(loaded) < 1d
  - avg(amount) != 5
  - anomaly detection for row_count
  - schema:
      fail:
        when required column missing: [id]
"""


def test_checks_of_soda_are_read_with_their_thresholds(tmp_path: Path) -> None:
    path = tmp_path / "checks.yml"
    path.write_text(_SODA, "utf-8")
    checks = lipstick.read_checks(path, "soda")
    asked = [check for check in checks if check.refused is None]
    numbers = [6, 1, 16.67, 3, 1, 0, 1, 16.67, 2, 35.8, 90, -3, 4, 6, 35.8]
    assert [_number(check) for check in asked] == pytest.approx(numbers)
    passing = {"duplicate_count(id, customer) = 0", "row_count != 0", "avg(amount) != 5"}
    right = {check.name for check in asked if check.bounds.side(_number(check)) is None}
    assert right == passing
    assert asked[8].name == "states begin with p"
    refused = {check.name: check.refused for check in checks if check.refused is not None}
    assert list(refused) == [
        "freshness(loaded) < 1d",
        "anomaly detection for row_count",
        "schema",
    ]
    assert "threshold '< 1d' is not read" in (refused["freshness(loaded) < 1d"] or "")
    (asked_of_other,) = [
        c for c in lipstick.read_checks(path, "soda", "o") if c.name == "max(amount) < 90"
    ]
    assert asked_of_other.relations == ("o",)
    path.write_text("- row_count > 0", "utf-8")
    with pytest.raises(CaptureError, match="has no checks of Soda"):
        lipstick.read_checks(path, "soda")


_PANDERA = """
schema_type: dataframe
columns:
  id: {dtype: int64, unique: true, greater_than: 1}
  customer:
    nullable: true
    notin: [13]
    less_than: {max_value: 13, ignore_na: false}
  status:
    dtype: string[python]
    nullable: true
    isin: [paid, open]
    str_matches: p|l
    str_contains: a
    str_startswith: p
    str_length: {min_value: null, max_value: null, exact_value: 4}
  amount:
    dtype: float64
    checks:
      in_range: {min_value: -3, max_value: 90, include_min: false, include_max: true}
      equal_to: {value: 5.0, options: {raise_warning: true}}
      mine: {statistics: 1}
  "x.*": {dtype: int64, regex: true}
checks:
  mine: 1
name: orders
unique: [id, customer]
"""


def test_schemas_of_pandera_are_read_as_it_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "schema.yml"
    path.write_text(_PANDERA, "utf-8")
    checks = lipstick.read_checks(path, "pandera")
    found = {check.name: _number(check) for check in checks if check.refused is None}
    assert found == {
        "not_nullable(id)": 0,
        "unique(id)": 2,
        "greater_than(id)": 1,
        "notin(customer)": 1,
        "less_than(customer)": 2,
        "isin(status)": 1,
        "str_matches(status)": 1,
        "str_contains(status)": 2,
        "str_startswith(status)": 2,
        "str_length(status)": 0,
        "not_nullable(amount)": 1,
        "in_range(amount)": 1,
        "equal_to(amount)": 4,
        "unique(id, customer)": 0,
    }
    assert [check.name for check in checks if check.refused] == ["mine(amount)", "x.*", "checks"]
    path.write_text(json.dumps({"columns": {"id": None}}), "utf-8")
    (check,) = lipstick.read_checks(path, "pandera", "orders")
    assert check.sql == "SELECT * FROM orders WHERE `id` IS NULL"
    path.write_text("columns: [id]", "utf-8")
    with pytest.raises(CaptureError, match="not a schema of Pandera"):
        lipstick.read_checks(path, "pandera")


def test_a_distinct_value_too_many_has_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "constraints.py"
    path.write_text('check.hasNumberOfDistinctValues("status", lambda x: x < 3)', "utf-8")
    (check,) = lipstick.read_checks(path, "deequ", "orders")
    sets = _result(check, tmp_path).why().repairs(5)
    assert (sets.size, sets.count) == (2, 3)


def test_a_check_that_only_warns_is_explained(tmp_path: Path) -> None:
    low, high = ValueBounds(high=30), ValueBounds(high=90)
    check = DataCheck("mean", "SELECT avg(amount) AS value FROM orders", high, True, warns=low)
    result = _result(check, tmp_path)
    assert (result.verdict, result.passed) == ("warns", False)
    assert result.sentence == "mean warns: its value is 35.8, at most 30."
    (cause,) = result.why(sources=_sources(result), limit=1).causes
    assert cause.after <= 30


def test_bounds_are_dates_times_or_texts(tmp_path: Path) -> None:
    cases = [
        ("2024-02-04", "max(`d`) <= CAST('2024-02-04' AS DATE)"),
        ("2024-02-04T05:00:00", "max(`d`) <= CAST('2024-02-04 05:00:00' AS TIMESTAMP_NTZ)"),
        ("zz", "max(`d`) <= 'zz'"),
    ]
    for text, compared in cases:
        kwargs = {"column": "d", "max_value": text}
        suite = _suite(tmp_path, [("column_max_to_be_between", kwargs)])
        (check,) = lipstick.read_checks(suite, "great_expectations")
        assert check.sql == f"SELECT max(`d`) AS value, {compared} AS holds FROM orders"


@pytest.mark.parametrize(("last", "verdict"), [("2024-02-04", "fails"), ("2024-12-31", "passes")])
def test_a_date_is_within_its_bounds_or_explained(tmp_path: Path, last: str, verdict: str) -> None:
    days = [date(2024, 1, 1) + timedelta(days=7 * number) for number in range(8)]
    loads = pa.table({"id": [*range(8)], "d": days, "c": ["a"] * 5 + ["b"] * 3})
    database = Database({"loads": Relation("loads", ("id",), "id bigint, d date, c string", loads)})
    kwargs = {"column": "d", "min_value": "2024-01-01", "max_value": last}
    suite = _suite(tmp_path, [("column_max_to_be_between", kwargs)])
    (check,) = lipstick.read_checks(suite, "great_expectations", "loads")
    result = CheckResult(check, write_capture(check.sql, database, tmp_path / "capture"))
    assert (result.number, result.verdict) == (date(2024, 2, 19), verdict)
    end = f"its value is 2024-02-19, at least 2024-01-01 and at most {last}."
    assert result.sentence.endswith(f"{verdict}: {end}")
    if verdict == "fails":
        (cause,) = result.why(sources={"loads": loads}, limit=1).causes
        assert (cause.text, cause.after) == ("c = 'b'", 0)


def test_a_date_is_not_compared_with_a_number(tmp_path: Path) -> None:
    check = DataCheck("m", "SELECT max(status) AS value FROM orders", ValueBounds(5), True)
    with pytest.raises(CapabilityError, match="its value is of type string"):
        _ = _result(check, tmp_path).verdict


def test_a_check_that_passes_or_lacks_rows_has_nothing_to_explain(tmp_path: Path) -> None:
    passing = DataCheck("few", "SELECT id FROM orders WHERE amount < 0", ValueBounds(high=1))
    with pytest.raises(CaptureError, match="nothing to explain"):
        _result(passing, tmp_path / "1").why()
    lacking = DataCheck("many", "SELECT id FROM orders WHERE amount < 0", ValueBounds(low=3))
    with pytest.raises(CaptureError, match="Rows are missing"):
        _result(lacking, tmp_path / "2").why()
    null = DataCheck(
        "null",
        "SELECT avg(amount) AS value FROM orders WHERE id > 9",
        ValueBounds(3),
        is_value=True,
    )
    result = _result(null, tmp_path / "3")
    assert not result.passed
    with pytest.raises(CaptureError, match="is NULL"):
        result.why()
