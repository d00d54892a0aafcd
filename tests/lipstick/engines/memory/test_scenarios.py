"""Deletions and new values in numbered scenarios."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.places import beside, contains, pack, positions_of, scenarios_of
from lipstick.engines.memory.scenarios import Deleted, Scenarios, Updated, Updates
from semiring.arrays.segments import union
from tests.lipstick.engines.memory.test_failures import DATABASE
from tests.oracle.written import written


def test_places_sort_by_scenario_and_are_positions_in_the_first() -> None:
    places = pack(np.array([1, 0, 1, 0]), np.array([0, 4, 0, 2]))
    together = union(places, np.array([4]))
    assert scenarios_of(together).tolist() == [0, 0, 1]
    assert positions_of(together).tolist() == [2, 4, 0]
    assert together[:2].tolist() == [2, 4]
    assert contains(together, places).tolist() == [True] * 4
    assert (
        beside(places, np.array([7, -1, 3, 0])).tolist()
        == pack(np.array([1, -1, 1, 0]), np.array([7, -1, 3, 0])).tolist()
    )
    assert len(union()) == len(union(together[:0], together[:0])) == 0


def test_new_values_of_one_scenario() -> None:
    r = Updated("r", pa.table({"id": [1, 2, 1], "x": [5, 6, 7]}), np.array([0, 0, 1]))
    s = Updated("s", pa.table({"id": [9]}), np.array([1]))
    updates = Updates(pa.array(["a", "b", "c"]), (r, s))
    first, second, third = (updates.updated_in(number) for number in range(3))
    assert {name: table.to_pydict() for name, table in first.items()} == {
        "r": {"id": [1, 2], "x": [5, 6]}
    }
    assert {name: table.to_pydict() for name, table in second.items()} == {
        "r": {"id": [1], "x": [7]},
        "s": {"id": [9]},
    }
    assert third == {}


def test_scenarios_say_how_many_touch_the_answer(tmp_path: Path) -> None:
    memory = written("SELECT id FROM l WHERE x > 3", DATABASE, tmp_path)
    deleted = Deleted(pa.table({"id": pa.array([1, 3, 2], pa.int32())}), np.array([0, 1, 2]))
    many = memory.what_if_many(Scenarios(pa.array(["a", "b", "c"]), {"l": deleted}))
    assert repr(many) == "WhatIfMany(3 scenarios, 2 of them touch the answer)"
    assert many.changes.column("scenario").to_pylist() == ["a", "c"]
