"""Measures of groups are what a plain program over single inputs finds."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lipstick.capture.manifest import RelationRecord
from lipstick.explorer.captures.axes import Axis
from lipstick.explorer.captures.measures import Inputs, measured, ranked
from lipstick.explorer.captures.why import tree
from lipstick.explorer.conditions import read_condition
from lipstick.questions.why.sources import SourceRows
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.token import Token

FUNCTIONS = ["SUM", "COUNT", "AVG", "MIN", "MAX", "COUNT DISTINCT", "SUM DISTINCT"]


class Rows:
    """Rows of a table."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self.schema = table, table.schema

    def column(self, name: str, /) -> pa.Array:
        return self.table.column(name).combine_chunks()

    def take(self, rows: Any, /) -> pa.Table:
        return self.table.take(pa.array(rows))


def aggregated(function: str, values: list[int]) -> Any:
    """Return an aggregate of values; None over none but for counts."""
    name, _, distinct = function.partition(" ")
    values = list(set(values)) if distinct else values
    if name == "COUNT":
        return len(values)
    if not values:
        return None
    if name == "AVG":
        return Fraction(sum(values), len(values))
    return {"SUM": sum, "MIN": min, "MAX": max}[name](values)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_measures_are_those_of_single_inputs(function: str) -> None:
    name, _, distinct = function.partition(" ")
    for seed in range(60):
        random = np.random.default_rng(seed)
        values = random.integers(-5, 9, random.integers(1, 30)).tolist()
        rows = random.integers(-1, 6, len(values))
        letters = pa.table({"letter": pa.array(["a", "b", None, "a", "c", "b"])})
        axis = Axis(0, "t", None, (), Rows(letters), rows)
        inputs = Inputs("v", "", None, name, bool(distinct), pa.array(values), [axis])
        kept = np.flatnonzero(random.random(len(values)) < 0.8)
        if not len(kept):
            continue
        narrowed = Axis(0, "t", None, (), Rows(letters), rows[kept])
        groups = narrowed.groups("letter", "")
        counts = np.bincount(groups.codes, minlength=groups.count)
        found = measured(inputs, kept, groups, counts).to_pylist()
        whole = aggregated(function, values)
        named = [None if row < 0 else letters["letter"][row].as_py() for row in rows.tolist()]
        labels = groups.labels(np.arange(groups.count))
        assert sorted(map(str, labels)) == sorted(map(str, {named[at] for at in kept.tolist()}))
        for label, measure in zip(labels, found, strict=True):
            inside = {at for at in kept.tolist() if named[at] == label}
            own = [values[at] for at in sorted(inside)]
            if name in ("MIN", "MAX"):
                assert measure == aggregated(function, own)
            elif name == "AVG":
                pull = float((sum(own) - len(own) * whole) / len(values))
                assert measure == pytest.approx(pull)
            else:
                others = [value for at, value in enumerate(values) if at not in inside]
                assert measure == whole - (aggregated(function, others) or 0)
        order = ranked(inputs, pa.array(found), len(found)).tolist()
        sizes = [found[at] if name in ("MIN", "MAX") else -abs(found[at]) for at in order]
        assert sizes == sorted(sizes, reverse=name == "MAX")


def test_groups_of_times_and_ranges_have_conditions_that_select_them() -> None:
    """Also where a bound is not a number of binary fractions, and with NaN and NULL."""
    random = np.random.default_rng(3)
    cents = [Decimal(int(n)) / 100 for n in random.integers(-40, 90, 60)]
    days = [
        None,
        *(dt.date(1995, 1, 1) + dt.timedelta(int(n)) for n in random.integers(0, 900, 59)),
    ]
    table = pa.table(
        {
            "k": np.arange(60),
            "exact": pa.array([None, *cents[1:]], pa.decimal128(10, 2)),
            "real": [float("nan"), *(float(n) for n in cents[1:])],
            "day": pa.array(days, pa.date32()),
        }
    )
    record = RelationRecord("t", "view", "key", ("k",), tuple(table.column_names), True, "t")
    source = SourceRows.of_table(record, table, whole=True)
    axis = Axis(0, "t", "t", ("k",), source, np.arange(60))
    for column, unit in [
        ("exact", "range"),
        ("real", "range"),
        ("day", "month"),
        ("day", "year"),
        ("day", "day"),
        ("exact", ""),
    ]:
        groups = axis.groups(column, unit)
        assert groups.ordered == bool(unit)
        for group, condition in enumerate(groups.conditions(np.arange(groups.count))):
            members = np.flatnonzero(groups.codes == group).tolist()
            if condition is None:
                assert (column, members) == ("real", [0])
                continue
            read = read_condition(condition, "t", table.column_names)
            mask = read.mask(lambda name: table.column(name).combine_chunks()).to_pylist()
            assert [at for at, holds in enumerate(mask) if holds] == members, condition


def test_common_factors_are_taken_out_of_sums_with_conditions() -> None:
    x, y, z = (Polynomial.token(Token("r", (name,))) for name in "xyz")
    some = Expression.of(x + y).delta()
    shown = tree(some * Expression.of(x) + some * Expression.of(z) + some)
    assert [part["op"] for part in shown["parts"]] == ["delta", "sum"]
    leaves = [part["op"] for part in shown["parts"][1]["parts"]]
    assert sorted(leaves) == ["number", "token", "token"]
