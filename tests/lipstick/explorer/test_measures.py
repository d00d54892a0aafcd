"""Groups of inputs have conditions, and annotations common factors."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa

from lipstick.capture.manifest import RelationRecord
from lipstick.explorer.captures.contributions import conditions
from lipstick.explorer.captures.why import tree
from lipstick.explorer.conditions import read_condition
from lipstick.questions.contributions.axes import Axis
from lipstick.questions.why.sources import SourceRows
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.token import Token


def test_groups_of_times_and_ranges_haveconditions_that_select_them() -> None:
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
    axis = Axis(0, "t", source, np.arange(60))
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
        for group, condition in enumerate(conditions(groups, np.arange(groups.count))):
            members = np.flatnonzero(groups.codes == group).tolist()
            if condition is None:
                assert (column, members) == ("real", [0])
                continue
            read = read_condition(condition, "t", table.column_names)
            mask = read.mask(lambda name: table.column(name).combine_chunks()).to_pylist()
            assert [at for at, holds in enumerate(mask) if holds] == members, condition


def test_common_factors_are_taken_out_of_sums_withconditions() -> None:
    x, y, z = (Polynomial.token(Token("r", (name,))) for name in "xyz")
    some = Expression.of(x + y).delta()
    shown = tree(some * Expression.of(x) + some * Expression.of(z) + some)
    assert [part["op"] for part in shown["parts"]] == ["delta", "sum"]
    leaves = [part["op"] for part in shown["parts"][1]["parts"]]
    assert sorted(leaves) == ["number", "token", "token"]
