"""State relations as values: identity, differences as bags, runs of ordinals."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lipstick.workflow.execution.invocation import (
    StateRelation,
    difference,
    matching,
    ranges,
    spread,
)

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string())])

rows = st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.sampled_from("ab")))


def _table(values: list[tuple[int | None, str]]) -> pa.Table:
    columns = [pa.array([row[i] for row in values], SCHEMA.field(i).type) for i in range(2)]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _bag(table: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_an_empty_state_stays_empty() -> None:
    state = StateRelation.empty(SCHEMA)
    assert state.plus(SCHEMA.empty_table(), "m#1/S.new") is state
    assert state.without(np.empty(0, dtype=np.int64)) is state


def test_tuples_keep_the_nodes_they_came_with() -> None:
    state = StateRelation.empty(SCHEMA).plus(_table([(1, "a"), (2, "b")]), "m/S")
    state = state.plus(_table([(3, "c")]), "m#1/S.new").without(np.array([0]))
    assert state.table.to_pylist() == [{"k": 2, "v": "b"}, {"k": 3, "v": "c"}]
    names = [state.origin.names[int(number)] for number in state.origin.segments]
    assert names == ["m/S", "m#1/S.new"]
    assert state.origin.ordinals.tolist() == [1, 0]
    assert state.rows_of("m#1/S.new", np.array([0])).tolist() == [1]
    assert state.rows_of("m/S", np.array([1])).tolist() == [0]
    groups = {name: places.tolist() for name, places in state.origin.groups()}
    assert groups == {"m/S": [0], "m#1/S.new": [1]}


@given(rows, rows)
def test_the_difference_of_bags(
    old: list[tuple[int | None, str]], new: list[tuple[int | None, str]]
) -> None:
    gone, came = difference(_table(old), _table(new))
    before, after = Counter(old), Counter(new)
    assert Counter(old[int(row)] for row in gone) == before - after
    assert Counter(new[int(row)] for row in came) == after - before


@given(rows, st.lists(st.one_of(st.none(), st.integers(0, 5))))
def test_rows_are_found_by_key(
    values: list[tuple[int | None, str]], keys: list[int | None]
) -> None:
    table = pa.table({"k": pa.array(keys, pa.int64())})
    matched = matching(_table(values), table)
    assert matched.tolist() == [row for row, (key, _) in enumerate(values) if key in keys]


@given(st.sets(st.integers(0, 60)))
def test_runs_of_ordinals(ordinals: set[int]) -> None:
    array = np.array(sorted(ordinals), dtype=np.int64)
    runs = ranges(array)
    assert spread(runs).tolist() == array.tolist()
    assert all(stop < start for (_, stop), (start, _) in pairwise(runs))
