"""Measures of groups are what a plain program over single inputs finds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lipstick.explorer.captures.axes import Axis
from lipstick.explorer.captures.measures import Inputs, measured, ranked

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
        order = ranked(inputs, pa.array(found)).tolist()
        sizes = [found[at] if name in ("MIN", "MAX") else -abs(found[at]) for at in order]
        assert sizes == sorted(sizes, reverse=name == "MAX")


def test_groups_of_times_and_ranges_have_conditions_that_select_them() -> None:
    days = pa.array(["1995-01-31", "1995-02-01", None, "1996-12-31"]).cast(pa.date32())
    numbers = pa.array([0.5, 10.0, 12.0, None])
    table = pa.table({"day": days, "n": numbers})
    axis = Axis(0, "t", "t", ("n", "day"), Rows(table), np.array([0, 1, 2, 3, 3]))
    months = axis.groups("day", "month")
    assert months.ordered
    labels = months.labels(np.arange(months.count))
    assert set(labels) == {"1995-01", "1995-02", None, "1996-12"}
    ranges = axis.groups("n", "range")
    assert {label for label in ranges.labels(np.arange(ranges.count)) if label} >= {"10 to 11"}
