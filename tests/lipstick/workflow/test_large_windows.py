"""Windows over many rows: values are black boxes of nodes that stand for several rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from lipstick.workflow import Specification
from lipstick.workflow.derivation import value_nodes
from tests.lipstick.workflow.rerun import Ran, Rows, deletions, relation

A = relation("id int, x int")
INPUTS: dict[str, Rows] = {"A": [(number, number % 3) for number in range(7)]}
QUERIES = {
    "Running": "SELECT id, sum(x) OVER (ORDER BY id) AS s FROM A",
    "Whole": "SELECT id, sum(x) OVER () AS s FROM A",
    "Lagged": "SELECT id, CAST(lag(x, 3) OVER (ORDER BY id) AS BIGINT) AS s FROM A",
    "Around": "SELECT id, sum(x) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING) AS s "
    "FROM A",
}
SPECIFICATION = Specification(
    "s", {"A": A}, {name: relation("id int, s bigint") for name in QUERIES}, QUERIES
)


def test_black_boxes_of_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_nodes, "_MOST", 9)
    ran = Ran.of(SPECIFICATION, INPUTS, tmp_path / "all")
    segments = ran.graph.segments
    assert any(".rows" in segment.name for segment in segments)
    # One frame of all rows has few edges.
    assert {s.label for s in segments if s.name == "m#1/Whole.made.s"} == {"SUM"}
    assert {s.label for s in segments if s.name == "m#1/Running.made.s"} == {"SUM OVER"}
    for number, gone in enumerate(deletions(INPUTS, 1)):
        again = Ran.of(SPECIFICATION, ran.without(gone), tmp_path / str(number))
        for name, left in ran.left(gone).items():
            assert left.known <= again.answer(name)
    # The rows before the one that is gone are as they were, and so are those far from it.
    last = ran.left({"A": [6]})
    assert {name: left.stale for name, left in last.items()} == {
        "Running": 0,
        "Whole": 0,
        "Lagged": 0,
        "Around": 3,
    }
    middle = ran.left({"A": [3]})
    assert {name: left.stale for name, left in middle.items()} == {
        "Running": 3,
        "Whole": 0,
        "Lagged": 3,
        "Around": 5,
    }
